import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import type { PreparedSend } from '../operations/operation';
import type { Send } from '../send/once';
import type { Problem } from '../service/problems';
import { clip } from '../service/text';

/**
 * How an item stands:
 * - `ready`: it is to be sent. It stays so if another item fails before, or if it only waits.
 * - `sent`: now. `sentEarlier`: in an earlier try of this execution. `alreadySent`: earlier, under its key.
 * - `repeated`: an earlier item of this run has its key, and was sent.
 * - `previewed`: a dry run. `unsendable`: a dry run of what can't be sent.
 * - `toNobody`: an item of a test run beside the first one.
 * - `failed`: not sent, or unknown.
 */
type How =
	| 'ready'
	| 'sent'
	| 'sentEarlier'
	| 'alreadySent'
	| 'repeated'
	| 'previewed'
	| 'unsendable'
	| 'toNobody'
	| 'failed';

/** An item of a run that sends, from its plan to its end. */
export interface RunItem {
	readonly index: number;
	readonly parameters: ItemParameters;
	readonly how: How;
	/** Whom it is for, if it is for one. */
	readonly subscriberId?: string | undefined;
	/** Whether it has Send Only Once; if it was sent earlier, whether it had it then. */
	readonly hasKey: boolean;
	/** As it goes out, or would; missing if it can't be read, or was sent in an earlier try. */
	readonly send?: PreparedSend | undefined;
	/** As it goes out when the workflow runs by itself: in a test run to others. It is there if `send` is. */
	readonly meant?: PreparedSend | undefined;
	/** In a dry run: what the editor would send instead. */
	readonly test?: PreparedSend | undefined;
	/** Where it goes to. */
	readonly connection?: Connection | undefined;
	/** What it is sent once under. */
	readonly key?: string | undefined;
	/** How it is sent, if it is ready. */
	readonly once?: Send | undefined;
	/** The item that has its key and is sent, if it repeats one. */
	readonly first?: number | undefined;
	/** Why it failed, or can't be sent. */
	readonly problem?: Problem | undefined;
	/** What it gives, if it was sent in this execution. */
	readonly row?: IDataObject | undefined;
}

/** An item that failed, or can't be sent. */
export type FailedItem = RunItem & { readonly problem: Problem };

const hasProblem = (item: RunItem): item is FailedItem => item.problem !== undefined;

export const failuresIn = (items: readonly RunItem[]): FailedItem[] =>
	items.filter(hasProblem).filter(({ how }) => how === 'failed');

export const unsendableIn = (items: readonly RunItem[]): FailedItem[] =>
	items.filter(hasProblem).filter(({ how }) => how === 'unsendable');

/** How many items of a run ended in each way; of those that are unknown, which. */
export function tallyOf(items: readonly RunItem[]) {
	const count = (...ways: How[]) => items.filter(({ how }) => ways.includes(how)).length;
	const unknown = failuresIn(items).filter(({ problem }) => problem.outcome === 'unknown');
	return {
		sent: count('sent'),
		/** In an earlier try, or earlier under their keys. */
		earlier: count('sentEarlier', 'alreadySent'),
		repeated: count('repeated'),
		notSent: count('failed', 'ready') - unknown.length,
		unknown,
	};
}

/** A message names at most this many items. */
const mostNamed = 10;

/** What a message names of an item, of a send or of a read. */
export interface Named {
	readonly index: number;
	readonly subscriberId?: string | undefined;
}

const nameOf = ({ index, subscriberId }: Named) =>
	subscriberId === undefined ? String(index) : `${index} (subscriber ${subscriberId})`;

/** Names items by their numbers, as the editor counts, from 0: `item 2 (subscriber 5003)`, `items 2, 5, …` */
export function nameItems(items: readonly Named[]): string {
	const named = items.slice(0, mostNamed).map(nameOf).join(', ');
	return `${items.length === 1 ? 'item' : 'items'} ${named}${items.length > mostNamed ? ', …' : ''}`;
}

/** Values of the same name, in the order of the first one of each. */
export function groupBy<Value>(
	values: readonly Value[],
	nameOfGroup: (value: Value) => string,
): Map<string, Value[]> {
	const groups = new Map<string, Value[]>();
	for (const value of values) {
		const name = nameOfGroup(value);
		const group = groups.get(name);
		if (group === undefined) groups.set(name, [value]);
		else group.push(value);
	}
	return groups;
}

/** An item with the reason why it is not valid. */
export type Refused = Named & { readonly problem: Problem };

/** A message gives at most this many reasons. */
const mostReasons = 10;

/** Each reason, with the items that it is about: `item 1: 'Title' is missing`. */
export function reasonsOf(refused: readonly Refused[], most = mostReasons): string[] {
	const groups = [...groupBy(refused, ({ problem }) => problem.message)];
	const reasons = groups.map(([reason, items]) => `${nameItems(items)}: ${clip(reason)}`);
	const more = reasons.length - most;
	if (more <= 0) return reasons;
	return [...reasons.slice(0, most), `and ${more} more ${more === 1 ? 'reason' : 'reasons'}`];
}

/** Whether several items failed for one reason: a credential or a database that can't be had. */
export const haveOneProblem = (failures: readonly Refused[]): boolean =>
	failures.length > 1 && failures.every(({ problem }) => problem === failures[0]?.problem);

/** How many items are not valid, and each reason; if there is one for the run, no more than that. */
export function notValid(failures: readonly Refused[], items: number): string {
	const refused = failures.filter(({ problem }) => problem.type === 'validation');
	const [first] = refused;
	if (first !== undefined && (items === 1 || haveOneProblem(refused))) return first.problem.message;
	const are = refused.length === 1 ? 'is' : 'are';
	return `${refused.length} of ${items} items ${are} not valid (counted from 0): ${reasonsOf(refused).join('; ')}`;
}
