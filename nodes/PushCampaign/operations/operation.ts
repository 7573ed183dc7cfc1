import type { IDataObject, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { SendReceipt } from '../service/answers';
import type { Client, Result } from '../service/client';
import type { ChangeKind } from '../service/kinds';
import type { Audience } from '../service/rules';
import type { Schedule } from '../service/schedule';
import type { CampaignBody } from '../service/schemas';
import type { RequestOptions, SendOptions } from './options';
import type { ItemParameters } from './parameters';
import type { PreparedSend } from './sendFields';

export interface OperationBase {
	readonly resource: 'campaign' | 'site';
	/** The operation's entry in the list that users choose from. */
	readonly option: INodePropertyOptions & { readonly value: string };
	/** The panel that users see. */
	readonly properties: readonly INodeProperties[];
}

/** One item's change of something at the service, checked and ready to be made. */
export interface PreparedChange {
	/** What tells it from another one: any JSON. */
	readonly content: readonly unknown[];
	readonly options: SendOptions;
	/** When it takes effect; missing where that is at once. */
	readonly schedule?: Schedule | undefined;
	/** What hints tell of it, where it is a send. */
	readonly send?: PreparedSend;
	readonly perform: (client: Client) => Promise<Result<SendReceipt>>;
	/** The item that is put out; without a receipt it was made earlier, under its idempotency key. */
	readonly toItem: (receipt?: SendReceipt) => IDataObject;
	/** The item that a dry run puts out. */
	readonly toDryRunItem: (baseUrl: string) => IDataObject;
}

/** An operation that changes something: it is made once, and whatever it came to is told of each item. */
export interface ChangeOperation extends OperationBase {
	readonly kind: ChangeKind;
	/** @throws InvalidInput naming the parameter */
	readonly prepare: (item: ItemParameters) => PreparedChange;
}

/** An operation that sends a campaign: what it adds to the fields that all sends share. */
export interface SendOperation extends ChangeOperation {
	readonly kind: 'send';
	readonly audience: Audience;
	/**
	 * Reads from an item what names the subscribers in the body.
	 * @throws InvalidInput naming the parameter
	 */
	readonly select: (item: ItemParameters) => Pick<CampaignBody, 'attribute' | 'segment' | 'sid'>;
}

/** An operation that only reads: it is made again where it failed, and equal ones share a request. */
export interface ReadOperation extends OperationBase {
	readonly kind: 'read';
	/** @throws InvalidInput naming the parameter */
	readonly prepare: (item: ItemParameters) => {
		/** Reads of the same key get the same answer. */
		readonly key: string;
		readonly options: RequestOptions;
		/** Gives the item that is put out. */
		readonly perform: (client: Client) => Promise<Result<IDataObject>>;
	};
}

export type Operation = ChangeOperation | ReadOperation;
