import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import type { PreparedSend } from '../operations/operation';
import type { Send } from '../send/once';
import type { Problem, UnknownOutcome } from '../service/problems';

/** What is known of each item of a run that sends, before it is read. */
export interface KnownItem {
	readonly index: number;
	readonly parameters: ItemParameters;
	/** Its position in the execution; missing for an agent's tool, which knows a call by its content. */
	readonly position?: string | undefined;
	/** What its user chose about what an earlier execution left unknown. */
	readonly choice: UnknownOutcome;
	readonly isDryRun: boolean;
	/** Whether it goes to the test subscriber, or to nobody. */
	readonly isTest: boolean;
	/** Whom it is for, if it is for one: as entered, valid or not. */
	readonly subscriberId?: string | undefined;
}

/** An item that was read and checked. */
interface Checked extends KnownItem {
	/** As it goes out, or would. */
	readonly send: PreparedSend;
	/** Where it goes to. */
	readonly connection: Connection;
	/** What it is sent once under. */
	readonly key?: string | undefined;
	/** The item of this run that has its key, and goes out in its place. */
	readonly first?: number | undefined;
}

/** It was not sent, or nobody knows; or a dry run shows that it can't be sent. */
interface Refused extends KnownItem {
	readonly problem: Problem;
	/** As it would go out, as far as that is known. */
	readonly send?: PreparedSend | undefined;
}

/** An item of a run that sends, from its plan to its end. */
export type RunItem =
	/** It is to be sent. It stays so if another item fails before, or if it only waits. */
	| (Checked & { readonly how: 'ready'; readonly job: Send })
	/** A dry run shows it, and perhaps whom the editor would send it to instead. */
	| (Checked & { readonly how: 'shown'; readonly testSubscriberId?: string | undefined })
	/** It stands behind the first item of a test, and goes to nobody. */
	| (Checked & { readonly how: 'untested' })
	/** It was sent now. */
	| (Checked & { readonly how: 'sent'; readonly row: IDataObject })
	/** It was sent before: in an earlier try of this execution, earlier under its key, or by another item of this run. */
	| (KnownItem & {
			readonly how: 'sentEarlier' | 'alreadySent' | 'repeated';
			readonly row: IDataObject;
	  })
	| (Refused & { readonly how: 'failed' })
	/** A dry run shows that it could not be sent. */
	| (Refused & { readonly how: 'unsendable' });

export type ItemThat<How extends RunItem['how']> = Extract<RunItem, { readonly how: How }>;
export type FailedItem = ItemThat<'failed'>;

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
