import type { IDataObject } from 'n8n-workflow';

import type { PreparedSend } from '../operations/operation';
import type { Problem } from '../service/problems';

/** How an item of a run ended, and the item that it gives. */
export interface ItemEnd {
	readonly index: number;
	/**
	 * - `sent`: now. `sentEarlier`: in an earlier try of this execution, or earlier under its key.
	 * - `repeated`: an earlier item of this run has its key, and was sent.
	 * - `previewed`: a dry run. `unsendable`: a dry run of what can't be sent.
	 * - `toNobody`: an item of a test run beside the first one.
	 * - `failed`: not sent, or unknown. `notStarted`: another item failed before.
	 */
	readonly how:
		| 'sent'
		| 'sentEarlier'
		| 'repeated'
		| 'previewed'
		| 'unsendable'
		| 'toNobody'
		| 'failed'
		| 'notStarted';
	readonly row: IDataObject;
	/** As it was sent, or would be. */
	readonly send?: PreparedSend | undefined;
	/** In a test run: as it is meant. */
	readonly meant?: PreparedSend | undefined;
	/** In a dry run: what the editor would send instead. */
	readonly test?: PreparedSend | undefined;
	/** Of an item that failed, or can't be sent. */
	readonly problem?: Problem | undefined;
}

/** An item that failed, or can't be sent. */
export type FailedEnd = ItemEnd & { readonly problem: Problem };

const isFailed = (end: ItemEnd): end is FailedEnd => end.problem !== undefined;

export const failuresIn = (ends: readonly ItemEnd[]): FailedEnd[] =>
	ends.filter(isFailed).filter(({ how }) => how === 'failed');

export const unsendableIn = (ends: readonly ItemEnd[]): FailedEnd[] =>
	ends.filter(isFailed).filter(({ how }) => how === 'unsendable');

/** How many items of a run ended in each way. */
export interface Tally {
	readonly items: number;
	readonly sent: number;
	readonly sentEarlier: number;
	readonly repeated: number;
	readonly notSent: number;
	readonly unknown: number;
}

export function tallyOf(ends: readonly ItemEnd[]): Tally {
	const count = (how: ItemEnd['how']) => ends.filter((end) => end.how === how).length;
	const unknown = failuresIn(ends).filter(({ problem }) => problem.outcome === 'unknown').length;
	return {
		items: ends.length,
		sent: count('sent'),
		sentEarlier: count('sentEarlier'),
		repeated: count('repeated'),
		notSent: count('failed') - unknown + count('notStarted'),
		unknown,
	};
}

/** A message names at most this many items. */
const mostNamed = 10;

/** The subscriber of an item that is for one. */
export function subscriberOf({ row }: ItemEnd): string | undefined {
	const id = row['subscriberId'];
	return typeof id === 'string' ? id : undefined;
}

/** Names items by their numbers, as the editor counts, from 0: `item 2 (subscriber 5003)`, `items 2, 5, …` */
export function nameItems(ends: readonly ItemEnd[]): string {
	const [first] = ends;
	const subscriber = first && subscriberOf(first);
	if (first !== undefined && ends.length === 1) {
		return `item ${first.index}${subscriber === undefined ? '' : ` (subscriber ${subscriber})`}`;
	}
	const numbers = ends.slice(0, mostNamed).map(({ index }) => index);
	return `items ${numbers.join(', ')}${ends.length > mostNamed ? ', …' : ''}`;
}

/** The failures that have the same message, in the order of their first items. */
export function groupByReason(failures: readonly FailedEnd[]): Map<string, FailedEnd[]> {
	const groups = new Map<string, FailedEnd[]>();
	for (const failure of failures) {
		const { message } = failure.problem;
		groups.set(message, [...(groups.get(message) ?? []), failure]);
	}
	return groups;
}
