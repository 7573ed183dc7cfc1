import type { IDataObject, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { SendReceipt } from '../service/answers';
import type { Client, Result } from '../service/client';
import type { SendKind } from '../service/kinds';
import type { Audience } from '../service/rules';
import type { Schedule } from '../service/schedule';
import type { CampaignBody } from '../service/schemas';
import type { Judge } from './judgeText';
import type { ReadOptions, SendOptions } from './options';
import type { ItemParameters, Parameter } from './parameters';

export interface OperationBase {
	readonly resource: 'campaign' | 'site';
	/** The operation's entry in the list that users choose from. */
	readonly option: INodePropertyOptions & { readonly value: string };
	/** The panel that users see. */
	readonly properties: readonly INodeProperties[];
	/**
	 * The item that is returned if its parameters can't be used. It names what was entered, if that can be read.
	 * Throws nothing.
	 */
	readonly toInvalidItem: (item: ItemParameters, failure: ItemFailure) => IDataObject;
}

/** Why an item failed, as its output item reports it. */
export interface ItemFailure {
	/** Whether it was sent. Missing for a read, and in a dry run. */
	readonly status?: string | undefined;
	/** The reason in one sentence, if the item has a status. */
	readonly description?: string | undefined;
	/** Whether the item was only checked. */
	readonly dryRun?: true;
	readonly error: IDataObject;
}

/** One item's send, checked, as it would leave at a moment. */
export interface TimedSend {
	readonly audience: Audience;
	readonly body: CampaignBody;
	readonly options: SendOptions;
	/** Missing if it is sent right away. */
	readonly schedule?: Schedule | undefined;
	/** Whether its schedule is the end of quiet hours, and not what was entered. */
	readonly isMoved?: boolean;
	/** IANA name of the time zone that Send At and Quiet Hours are read in. */
	readonly timezone: string;
}

/** One item's send, checked and ready to be made. */
export interface PreparedSend {
	readonly kind: SendKind;
	/** What identifies it, as the user entered it: any JSON. No time that is calculated, or a Retry would send again. */
	readonly content: readonly unknown[];
	/** Whom it is for: the same text means the same subscribers. */
	readonly recipients: string;
	/** What they get, as it is sent, without a time that quiet hours calculate. */
	readonly notification: object;
	readonly options: SendOptions;
	/**
	 * Returns the same for one subscriber alone, as a test; `undefined` if no Test Subscriber ID was entered.
	 * Missing in a test.
	 * @throws InvalidInput
	 */
	readonly toTest?: () => PreparedSend | undefined;
	/** Whom a test goes to; missing if it is none. */
	readonly testSubscriberId?: string | undefined;
	/** The time that must be far enough ahead when the request leaves; missing if there is none. */
	readonly schedule?: Schedule | undefined;
	/** The send as it would leave now. */
	readonly preview: () => TimedSend;
	/** The send as it left. */
	readonly asSent: (receipt: SendReceipt) => TimedSend;
	readonly perform: (client: Client) => Promise<Result<SendReceipt>>;
	/** The item that is returned. */
	readonly toItem: (receipt: SendReceipt) => IDataObject;
	/** The item that is returned if it was sent earlier, under its idempotency key. */
	readonly toSentEarlierItem: () => IDataObject;
	/** The item that is returned if it failed and the node continues. */
	readonly toFailedItem: (failure: ItemFailure) => IDataObject;
	/** The item that a dry run returns. */
	readonly toDryRunItem: (baseUrl: string) => IDataObject;
}

/** An operation that sends a campaign: what it adds to the fields that all sends share. */
export interface SendOperation extends OperationBase {
	readonly kind: SendKind;
	readonly audience: Audience;
	/** @throws InvalidInput naming the parameter */
	readonly prepare: (item: ItemParameters) => PreparedSend;
	/**
	 * Reads from an item what names the subscribers in the body.
	 * @throws InvalidInput naming the parameter
	 */
	readonly select: (
		item: ItemParameters,
		judge: Judge,
	) => Pick<CampaignBody, 'attribute' | 'segment' | 'sid'>;
	/** The parameter with the ID of the subscriber, if it is for one: an item that is not valid names it. */
	readonly subscriber?: Parameter;
	/** Asks how many subscribers it would reach, within a time in milliseconds. Missing if the service can't tell. */
	readonly countReached?: (client: Client, timeoutMs: number) => Promise<number | undefined>;
}

/** One item's read, checked and ready to be made. */
export interface PreparedRead {
	/** Reads of the same key get the same answer. */
	readonly key: string;
	readonly options: ReadOptions;
	/** Gives the item that is returned. */
	readonly perform: (client: Client) => Promise<Result<IDataObject>>;
	/** The item that is returned if it failed and the node continues. */
	readonly toFailedItem: (failure: ItemFailure) => IDataObject;
}

/** An operation that only reads: it is made again if it fails, and equal reads share a request. */
export interface ReadOperation extends OperationBase {
	readonly kind: 'read';
	/** @throws InvalidInput naming the parameter */
	readonly prepare: (item: ItemParameters) => PreparedRead;
}

export type Operation = SendOperation | ReadOperation;
