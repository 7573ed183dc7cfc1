import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import type { Ending, PreparedSend, SendOperation } from '../operations/operation';
import { toRow, toRowAsEntered } from '../operations/send';
import { titleField } from '../operations/sendFields';
import { asEntered } from '../operations/values';
import type { Key } from '../send/once';
import type { Problem } from '../service/problems';
import { quote } from '../service/text';

/** What is known of each item of a run that sends, before it is read. */
export interface KnownItem {
	readonly index: number;
	readonly parameters: ItemParameters;
	/** Its position in the execution; a call of an agent's tool has none: it is known by its content. */
	readonly position?: string | undefined;
	/** Whom it is for, if it is for one: as entered, valid or not. */
	readonly subscriberId?: string | undefined;
	/** What it is sent once under, if that can be read. */
	readonly key?: Key | undefined;
}

/** An item that was read and checked. */
interface Checked extends KnownItem {
	readonly send: PreparedSend;
	/** What goes to the test subscriber in its place. */
	readonly test?: PreparedSend | undefined;
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
	| (Checked & { readonly state: 'ready' })
	/** A dry run shows it, or a test that goes to the first item's subscriber alone. */
	| (Checked & { readonly state: 'shown' })
	/** It was sent now, itself or with the item that it is the same as. */
	| (Checked & { readonly state: 'sent'; readonly row: IDataObject })
	/** An earlier try of this execution has sent it, or an earlier execution under its ID. */
	| (KnownItem & { readonly state: 'before'; readonly row: IDataObject })
	/** Its subscriber is gone, or it was reported as unknown already: the run goes on. */
	| (Refused & { readonly state: 'reported' })
	/** It was not sent, or nobody knows; or a dry run shows that it could not be sent. */
	| (Refused & { readonly state: 'failed' });

export type ItemIn<State extends RunItem['state']> = Extract<RunItem, { readonly state: State }>;
export type FailedItem = ItemIn<'failed'>;

export const failuresIn = (items: readonly RunItem[]): FailedItem[] =>
	items.filter((item) => item.state === 'failed');

export const unknownIn = (items: readonly RunItem[]): FailedItem[] =>
	failuresIn(items).filter(({ problem }) => problem.outcome === 'unknown');

/** Whether the service has no such subscriber: that is about this item alone. */
export const isGone = (item: RunItem): boolean =>
	item.state === 'failed' && item.problem.type === 'invalid_sid' && item.subscriberId !== undefined;

/** Items with what somebody looks for in the dashboard: it lists campaigns by their titles. */
export const withTitles = <Item extends KnownItem>(items: readonly Item[]) =>
	items.map((item) => {
		const title = item.subscriberId === undefined && asEntered(item.parameters, titleField);
		return title ? { ...item, title: quote(title) } : item;
	});

/** The row that a send would give, as far as it is known. */
export const rowWith = (
	{ send, parameters }: Pick<Refused, 'send' | 'parameters'>,
	operation: SendOperation,
	ending: Ending,
): IDataObject =>
	send === undefined ? toRowAsEntered(parameters, operation, ending) : toRow(send, ending);
