import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import type { Receipt } from '../service/answers';
import { campaignCreated, notificationSent } from '../service/answers';
import type { Client, Result, ServiceRequest } from '../service/client';
import type { Audience, CampaignBody } from '../service/rules';
import { audienceRules } from '../service/rules';
import type { SendOptions } from './options';
import { readSendOptions, readSubscriberId, testSubscriberField } from './options';
import { readBody, readTimingOf } from './sendFields';
import type { Timing } from './timing';

/** An operation that sends: what it adds to the fields that all sends share. */
export interface SendOperation {
	readonly resource: 'campaign';
	/** The operation's entry in the list that users choose from. */
	readonly option: INodePropertyOptions & { readonly value: string };
	readonly audience: Audience;
	/** The panel that users see. */
	readonly properties: readonly INodeProperties[];
	/**
	 * Reads what names the subscribers in the body.
	 * @throws InvalidInput naming the field
	 */
	readonly select: (item: ItemParameters) => Pick<CampaignBody, 'attribute' | 'segment' | 'sid'>;
	/** The field with the subscriber's ID, if it is for one. */
	readonly subscriber?: Field;
}

/** One item's send, checked and ready to be made. */
export interface PreparedSend {
	readonly audience: Audience;
	/** Whether it goes to the test subscriber instead of those whom it is meant for. */
	readonly isTest: boolean;
	/** Exactly what is sent. */
	readonly body: CampaignBody;
	readonly timing: Timing;
	readonly options: SendOptions;
	/** What a key is made of: audience and everything that is sent, as entered. */
	readonly content: string;
	/** Whom it is for: the same text means the same subscribers. */
	readonly recipients: string;
}

/** The order of attributes and segments changes nothing, nor whether an ID is a number. */
function recipientsOf(audience: Audience, { attribute, segment, sid }: CampaignBody): unknown[] {
	const attributes = Object.entries(attribute ?? {}).sort(([one], [other]) =>
		one < other ? -1 : 1,
	);
	return [audience, attributes, segment?.map(String).sort(), sid];
}

/** Without the time that quiet hours make of it: that is another one tomorrow. */
function contentOf(audience: Audience, body: CampaignBody, timing: Timing): string {
	const { quietHours, entered } = timing;
	const notification = {
		...body,
		attribute: undefined,
		segment: undefined,
		send_at: entered?.text,
	};
	return JSON.stringify([recipientsOf(audience, body), notification, quietHours]);
}

function prepare(
	item: ItemParameters,
	{ audience, select }: Pick<SendOperation, 'audience' | 'select'>,
	options: SendOptions,
	timing: Timing,
): PreparedSend {
	const recipients = select(item);
	const body = { ...readBody(item, audience, timing), ...recipients };
	return {
		audience,
		isTest: false,
		body,
		timing,
		options,
		content: contentOf(audience, body, timing),
		recipients: JSON.stringify(recipientsOf(audience, body)),
	};
}

/**
 * Reads one item's send and checks it against the service's rules, all but the time that Send At has to be ahead: that
 * depends on the moment of sending.
 * @throws InvalidInput naming the field
 */
export function prepareSend(
	item: ItemParameters,
	operation: Pick<SendOperation, 'audience' | 'select'>,
): PreparedSend {
	const options = readSendOptions(item);
	return prepare(item, operation, options, readTimingOf(item));
}

/**
 * The same send for the test subscriber alone: Send to Subscriber, without what that does not take, and without a key,
 * which would keep the real send from going out.
 * @returns undefined if no Test Subscriber ID was added
 * @throws InvalidInput
 */
export function testOf(item: ItemParameters, send: PreparedSend): PreparedSend | undefined {
	if (item.written(testSubscriberField.path) === undefined) return undefined;
	const { idempotencyKey: _key, ...options } = send.options;
	const toTestSubscriber = () => ({ sid: readSubscriberId(item, testSubscriberField) });
	const operation = { audience: 'subscriber', select: toTestSubscriber } as const;
	return { ...prepare(item, operation, options, send.timing), isTest: true };
}

/** The field that names the subscriber of a send to one. */
export const subscriberId = {
	displayName: 'Subscriber ID',
	name: 'subscriberId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 5001',
	description: 'Digits only; enter a long one as text',
} satisfies INodeProperties;

/** Makes the request. */
export async function performSend(client: Client, send: PreparedSend): Promise<Result<Receipt>> {
	const { audience, body, isTest, options } = send;
	const { path, isCampaign } = audienceRules[audience];
	const { displayName } = isTest ? testSubscriberField : subscriberId;
	const about = { of: 'subscriber', displayName, id: body.sid ?? '' } as const;
	const request: ServiceRequest = {
		isSend: true,
		path,
		body,
		...(body.sid === undefined ? {} : { about }),
	};
	const answer = isCampaign ? campaignCreated : notificationSent;
	return await client.request(request, answer, options.timeoutMs);
}
