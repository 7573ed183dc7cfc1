import type { IDataObject } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import type { Receipt } from '../service/answers';
import { campaignCreated, notificationSent } from '../service/answers';
import type { Client, Result, ServiceRequest } from '../service/client';
import type { Audience, CampaignBody } from '../service/rules';
import { audienceRules } from '../service/rules';
import type { Ending, PreparedSend, SendOperation } from './operation';
import type { SendOptions } from './options';
import { readSendOptions } from './options';
import { readBody, titleField } from './sendFields';
import { readSubscriberId, subscriberField, testSubscriberField } from './subscriber';
import type { Timing } from './timing';
import { readTiming } from './timing';
import { asEntered, isThere, readable } from './values';

type Selection = ReturnType<SendOperation['select']>;

/** JSON in which each object has its fields in order, so that the order in which code sets them changes nothing. */
const toSortedJson = (value: unknown): string =>
	JSON.stringify(value, (_name, part: unknown) => {
		if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
		return Object.fromEntries(
			Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)),
		);
	});

/** The order of segments changes nothing, nor whether an ID is a number or there twice. */
const selectedBy = (audience: Audience, { segment, ...selection }: Selection) => ({
	audience,
	...selection,
	segment: segment && [...new Set(segment.map(String))].sort(),
});

function prepare(
	item: ItemParameters,
	{ audience, select }: Pick<SendOperation, 'audience' | 'select'>,
	options: SendOptions,
	timing: Timing,
): PreparedSend {
	const selection = select(item);
	const body = readBody(item, audience, timing);
	const selected = selectedBy(audience, selection);
	const { entered, quietHours } = timing;
	return {
		audience,
		isTest: false,
		body: { ...body, ...selection },
		timing,
		options,
		// As entered: quiet hours make another time of it each day.
		content: toSortedJson({ ...body, ...selected, send_at: entered?.text, quietHours }),
		recipients: toSortedJson(selected),
	};
}

/**
 * Reads one item's send and checks it against the service's rules, all but how far its time is ahead: that depends on the
 * moment of sending.
 * @throws InvalidInput naming the field
 */
export function prepareSend(
	item: ItemParameters,
	operation: Pick<SendOperation, 'audience' | 'select'>,
): PreparedSend {
	const options = readSendOptions(item);
	return prepare(item, operation, options, readTiming(item));
}

/**
 * The same send for the test subscriber alone: Send to Subscriber, without what that does not take, and without a key,
 * which would keep the real send from going out.
 * @returns undefined if Test Subscriber ID was not added
 * @throws InvalidInput
 */
export function testOf(item: ItemParameters, send: PreparedSend): PreparedSend | undefined {
	if (!isThere(item, testSubscriberField)) return undefined;
	const select = () => ({ sid: readSubscriberId(item, testSubscriberField) });
	const options = { ...send.options, idempotencyKey: undefined };
	const test = prepare(item, { audience: 'subscriber', select }, options, send.timing);
	return { ...test, isTest: true };
}

/** The subscriber that a request is about, if it is for one. */
function aboutOf({ body, isTest }: PreparedSend): Pick<ServiceRequest, 'about'> {
	if (body.sid === undefined) return {};
	const { label } = isTest ? testSubscriberField : subscriberField;
	return { about: { of: 'subscriber', label, id: body.sid } };
}

/** Makes the request. */
export async function performSend(client: Client, send: PreparedSend): Promise<Result<Receipt>> {
	const { audience, body, options } = send;
	const { path, isCampaign } = audienceRules[audience];
	const answer = isCampaign ? campaignCreated : notificationSent;
	const request = { isSend: true, path, body, ...aboutOf(send) };
	return await client.request(request, answer, options.timeoutMs);
}

/** What an item says of a send: of one that can't be read, less. */
interface Known {
	readonly audience: Audience | 'test';
	/** In words. */
	readonly recipients?: string | undefined;
	readonly body: { readonly [Name in keyof CampaignBody]?: CampaignBody[Name] | undefined };
	readonly idempotencyKey?: string | undefined;
}

/** In the order in which users see it, without what is not there. */
function rowOf({ audience, recipients, body, idempotencyKey }: Known, ending: Ending): IDataObject {
	const { campaignId, status, description, dryRun, request, error } = ending;
	const fields: IDataObject = {
		campaignId,
		subscriberId: body.sid,
		audience,
		status,
		description,
		title: body.title,
		recipients,
		name: body.name,
		sendAt: body.send_at,
		idempotencyKey,
		dryRun,
		request,
		error,
	};
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The item of a send. */
export function toRow(send: PreparedSend, ending: Ending): IDataObject {
	const { audience, body, isTest, options, timing } = send;
	// Quiet hours moved it to another time when it was sent.
	const hasOtherTime = ending.status === 'alreadySent' && timing.isMoved;
	const known: Known = {
		audience: isTest ? 'test' : audience,
		recipients: describeRecipients(send),
		body: hasOtherTime ? { ...body, send_at: undefined } : body,
		idempotencyKey: options.idempotencyKey === '' ? undefined : options.idempotencyKey,
	};
	return rowOf(known, ending);
}

/** The item of a send that is not valid: it names what was entered, if that can be read. Throws nothing. */
export function toInvalidRow(
	item: ItemParameters,
	{ audience, subscriber, select }: Pick<SendOperation, 'audience' | 'subscriber' | 'select'>,
	ending: Ending,
): IDataObject {
	const title = asEntered(item, titleField);
	const sid = subscriber && asEntered(item, subscriber);
	const selection = readable(() => select(item));
	const recipients = selection && describeRecipients({ audience, body: selection });
	return rowOf({ audience, recipients, body: { title, sid } }, ending);
}

/** The request of a send, without its headers, as a dry run shows it. */
export const toRequest = (baseUrl: string, { audience, body }: PreparedSend) => ({
	method: 'POST',
	url: `${baseUrl}${audienceRules[audience].path}`,
	body,
});

/**
 * Whom a send is for, in words.
 * @param activeSubscribers how many they are, if that is known
 */
export function describeRecipients(
	{ audience, body }: { readonly audience: Audience; readonly body: Selection },
	activeSubscribers?: number,
): string {
	const { attribute = {}, segment = [], sid } = body;
	switch (audience) {
		case 'subscriber':
			return `subscriber ${sid}`;
		case 'segments':
			return `${segment.length === 1 ? 'segment' : 'segments'} ${segment.join(', ')}`;
		case 'attributes': {
			const pairs = Object.entries(attribute).map(([name, value]) => `${name} = ${value}`);
			return `every subscriber with ${pairs.join(' or ')}`;
		}
		case 'all':
			if (activeSubscribers === undefined) return 'all subscribers';
			return `all ${activeSubscribers.toLocaleString('en-US')} active subscribers`;
	}
}
