import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import type { Ending, PreparedSend, SendOperation } from '../operations/operation';
import { toRow, toRowAsEntered } from '../operations/send';
import type { Send } from '../send/once';
import type { Problem } from '../service/problems';
import { clip } from '../service/text';

/** What is known of each item of a run that sends, before it is read. */
export interface KnownItem {
	readonly index: number;
	readonly parameters: ItemParameters;
	/** Its position in the execution; missing if nothing remembers it, and for an agent's tool, whose calls are known by content. */
	readonly position?: string | undefined;
	/** Whom it is for, if it is for one: as entered, valid or not. */
	readonly subscriberId?: string | undefined;
	/** What it is sent once under, if that can be read. */
	readonly key?: Send['key'];
}

/** An item that was read and checked. */
interface Checked extends KnownItem {
	/** As it goes out, or would. */
	readonly send: PreparedSend;
	/** Where it goes to. */
	readonly connection: Connection;
	/** The item of this run that is the same, and goes out in its place. */
	readonly sameAs?: number | undefined;
}

interface Refused extends KnownItem {
	readonly problem: Problem;
	/** As it would go out, as far as that is known. */
	readonly send?: PreparedSend | undefined;
}

/** An item of a run that sends, from its plan to its end. */
export type RunItem =
	/** It is to be sent. It stays so if another item fails before, or if it only waits. */
	| (Checked & { readonly how: 'ready' })
	/** A dry run shows it, or a test that goes to the first item's subscriber alone. */
	| (Checked & { readonly how: 'shown'; readonly testSubscriberId?: string | undefined })
	/** It was sent now, itself or with the item that it is the same as. */
	| (Checked & { readonly how: 'sent'; readonly row: IDataObject })
	/** An earlier try of this execution has sent it, or an earlier execution under its ID; or nobody knows whether one has. */
	| (KnownItem & {
			readonly how: 'before';
			readonly row: IDataObject;
			readonly isUnknown: boolean;
	  })
	/** Its subscriber is not there any more, and others were reached. */
	| (Refused & { readonly how: 'gone' })
	/** It was not sent, or nobody knows; or a dry run shows that it could not be sent. */
	| (Refused & { readonly how: 'failed' });

export type ItemThat<How extends RunItem['how']> = Extract<RunItem, { readonly how: How }>;
export type FailedItem = ItemThat<'failed'>;

export const failuresIn = (items: readonly RunItem[]): FailedItem[] =>
	items.filter((item) => item.how === 'failed');

export const unknownIn = (items: readonly RunItem[]): FailedItem[] =>
	failuresIn(items).filter(({ problem }) => problem.outcome === 'unknown');

export const sentNow = (items: readonly RunItem[]): number =>
	items.filter(({ how }) => how === 'sent').length;

/** How many an earlier try or an earlier execution has sent. */
export const sentEarlier = (items: readonly RunItem[]): number =>
	items.filter((item) => item.how === 'before' && !item.isUnknown).length;

/** Whether the service has no such subscriber: that is about this item alone. */
export const isGone = ({ problem, subscriberId }: FailedItem): boolean =>
	problem.type === 'invalid_sid' && subscriberId !== undefined;

/** Whether an item went out, now or earlier, or may have. */
export const isOut = (item: RunItem): boolean =>
	item.how === 'failed'
		? item.problem.outcome === 'unknown'
		: item.how === 'sent' || item.how === 'before';

const nothingSent = 'Nothing was sent for this item:';

export const alreadySentUnderKey: Ending = {
	status: 'alreadySent',
	description: `${nothingSent} its ID was sent earlier`,
};

export const sentByItem = (index: number): Ending => ({
	status: 'alreadySent',
	description: `${nothingSent} the same was sent by item ${index} of this run`,
});

/** Of an ID that an earlier execution has told as unknown. */
export const alreadyUnknown = (id: string): Ending => ({
	status: 'unknown',
	description: `${nothingSent} it is unknown whether its ID '${clip(id)}' was sent earlier`,
});

/** The row that a send would give, as far as it is known. */
export const rowWith = (
	{ send, parameters }: ItemThat<'ready' | 'gone' | 'failed'>,
	operation: SendOperation,
	ending: Ending,
): IDataObject =>
	send === undefined ? toRowAsEntered(parameters, operation, ending) : toRow(send, ending);
