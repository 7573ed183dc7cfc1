import type { IDataObject, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import type { Client, Result, Schema, ServiceRequest } from '../service/client';
import type { Audience, CampaignBody, Selection } from '../service/rules';
import type { readSendOptions } from './options';
import { queryOptions, readTimeout } from './options';
import type { Timing } from './timing';
import { fieldOf, readSwitch, switchProperty } from './values';

interface Operation {
	/** The operation's entry in the list that users choose from. */
	readonly option: INodePropertyOptions & { readonly value: string };
	readonly resource: 'campaign' | 'site';
	readonly properties: INodeProperties[];
}

/** An operation that sends: what it adds to the fields that all sends share. */
export interface SendOperation extends Operation {
	readonly audience: Audience;
	/** Reads what names the subscribers in the body. @throws InvalidInput naming the field */
	readonly select: (item: ItemParameters) => Selection;
	/** The field with the subscriber's ID, if it is for one. */
	readonly subscriber?: Field;
}

/** One item's send, checked and ready to be made. */
export interface PreparedSend {
	readonly audience: Audience;
	/** Exactly what is sent. */
	readonly body: CampaignBody;
	readonly timing: Timing;
	readonly options: ReturnType<typeof readSendOptions>;
	/** Whom it is for: the same text means the same subscribers. */
	readonly recipients: string;
	/** What its subscribers see, and when: the same text means the same notification. */
	readonly notification: string;
	/** Whom it is for, if it is for one. */
	readonly subscriberId?: string | undefined;
	/** Whether it goes to the test subscriber in the place of another send. */
	readonly isTest: boolean;
}

/** How a send ended, as its item says. */
export interface Ending {
	readonly campaignId?: string;
	/** Missing after a dry run. */
	readonly status?: 'success' | 'alreadySent' | 'notSent' | 'unknown';
	readonly description?: string | undefined;
	readonly dryRun?: true;
	/** What a dry run would send. */
	readonly request?: IDataObject;
	readonly error?: IDataObject;
}

/** An operation that asks and sends nothing. */
export interface QueryOperation extends Operation {
	/** @throws InvalidInput naming the field */
	readonly prepare: (item: ItemParameters) => PreparedQuery;
	/** The item of a query that failed: it names what was entered, if that can be read. Throws nothing. */
	readonly toFailedRow: (item: ItemParameters) => IDataObject;
}

/** One item's query, checked and ready to be made. */
interface PreparedQuery {
	/** Queries of the same key give the same. */
	readonly key: string;
	readonly perform: (client: Client) => Promise<Result<IDataObject>>;
}

const simplify = switchProperty(
	'Simplify',
	'simplify',
	'Whether to return a simplified version of the response instead of the raw data',
);

/** What the panels of all queries have at their end. */
export const queryProperties: INodeProperties[] = [simplify, queryOptions];

/** `schema` makes the item of the answer, if it is to be simplified. @throws InvalidInput naming the field */
export function prepareQuery(
	item: ItemParameters,
	request: Omit<ServiceRequest, 'isSend'>,
	schema: Schema<IDataObject>,
): PreparedQuery {
	const isSimplified = readSwitch(item, fieldOf(simplify), simplify.default);
	const timeoutMs = readTimeout(item);
	return {
		key: JSON.stringify([request.path, isSimplified, timeoutMs]),
		async perform(client) {
			const result = await client.request({ ...request, isSend: false }, schema, timeoutMs);
			if (!result.answered || isSimplified) return result;
			const { raw } = result;
			return { answered: true, value: typeof raw === 'object' ? { ...raw } : {}, raw };
		},
	};
}
