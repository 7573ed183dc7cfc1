import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import type { PreparedSend } from '../operations/operation';
import type { Send } from '../send/once';
import type { Problem } from '../service/problems';

/** What is known of each item of a run that sends. */
interface Known {
	readonly index: number;
	readonly parameters: ItemParameters;
	/** Whom it is for, if it is for one: as entered, valid or not. */
	readonly subscriberId?: string | undefined;
	/** Whether it goes to the test subscriber, or to nobody. */
	readonly isTest?: boolean;
}

/** An item that was read and checked. */
interface Checked extends Known {
	/** As it goes out, or would. */
	readonly send: PreparedSend;
	/** Where it goes to. */
	readonly connection: Connection;
	/** What it is sent once under. */
	readonly key?: string | undefined;
	/** The item of this run that has its key, and goes out in its place. */
	readonly first?: number | undefined;
}

/** It is to be sent. It stays so if another item fails before, or if it only waits. */
export interface ReadyItem extends Checked {
	readonly how: 'ready';
	readonly job: Send;
}

/** A dry run shows it. */
export interface ShownItem extends Checked {
	readonly how: 'shown';
	/** Whom the editor would send it to instead. */
	readonly testSubscriberId?: string | undefined;
}

/** It stands behind the first item of a test, and goes to nobody. */
export interface UntestedItem extends Checked {
	readonly how: 'untested';
}

/** It was sent now. */
export interface SentItem extends Checked {
	readonly how: 'sent';
	readonly row: IDataObject;
}

/** It was sent before: in an earlier try of this execution, earlier under its key, or by another item of this run. */
export interface SentBeforeItem extends Known {
	readonly how: 'sentEarlier' | 'alreadySent' | 'repeated';
	readonly row: IDataObject;
}

/** It was not sent, or nobody knows; or a dry run shows that it can't be sent. */
interface NotSentItem<How> extends Known {
	readonly how: How;
	readonly problem: Problem;
	/** As it would go out, as far as that is known. */
	readonly send?: PreparedSend | undefined;
}
export type FailedItem = NotSentItem<'failed'>;
export type UnsendableItem = NotSentItem<'unsendable'>;

/** An item of a run that sends, from its plan to its end. */
export type RunItem =
	| ReadyItem
	| ShownItem
	| UntestedItem
	| SentItem
	| SentBeforeItem
	| FailedItem
	| UnsendableItem;

export const failuresIn = (items: readonly RunItem[]): FailedItem[] =>
	items.filter((item) => item.how === 'failed');

export const unknownIn = (items: readonly RunItem[]): FailedItem[] =>
	failuresIn(items).filter(({ problem }) => problem.outcome === 'unknown');

/** What was sent now, or would be: an item that has the key of another one would not. */
export const sentOrShownIn = (items: readonly RunItem[]) => [
	...items.filter((item) => item.how === 'sent'),
	...items.filter((item) => item.how === 'shown').filter(({ first }) => first === undefined),
];

/** Values of the same name, in the order of the first one of each. */
export function groupBy<Value>(
	values: readonly Value[],
	nameOf: (value: Value) => string,
): Map<string, Value[]> {
	const groups = new Map<string, Value[]>();
	for (const value of values) {
		const name = nameOf(value);
		const group = groups.get(name);
		if (group === undefined) groups.set(name, [value]);
		else group.push(value);
	}
	return groups;
}
