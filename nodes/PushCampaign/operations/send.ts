import type { IDataObject } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import type { Receipt } from '../service/answers';
import { campaignCreated, notificationSent } from '../service/answers';
import type { Client, Result, ServiceRequest } from '../service/client';
import type { Audience, CampaignBody, Selection } from '../service/rules';
import { audienceRules } from '../service/rules';
import { clip } from '../service/text';
import { readSubscriberId } from './ids';
import type { Ending, PreparedSend, SendOperation } from './operation';
import { keyField, readSendOptions, testSubscriberField } from './options';
import { contentReaders, nameField, readContent, titleField } from './sendFields';
import type { Timing } from './timing';
import { expiryOf, readTiming } from './timing';
import { allReasons, asEntered, isThere, orUndefined } from './values';

type Selector = Pick<SendOperation, 'audience' | 'select'>;

/** Whom a send is for, as a text: neither the order counts, nor whether a value is a number. */
function toRecipients(audience: Audience, { attribute, segment, sid }: Selection): string {
	const pairs = Object.entries(attribute ?? {}).map((pair) => JSON.stringify(pair.map(String)));
	const segments = new Set(segment?.map(String));
	return JSON.stringify([audience, pairs.sort(), [...segments].sort(), { sid }]);
}

function prepare(
	item: ItemParameters,
	{ audience, select }: Selector,
	options: PreparedSend['options'],
	timing: Timing,
): PreparedSend {
	const selection = select(item);
	const { notification, enteredUrl } = readContent(item, audience, timing);
	const { title, message } = notification;
	const recipients = toRecipients(audience, selection);
	const seen = [recipients, title, message, enteredUrl, timing.effective?.at];
	return {
		audience,
		body: { ...notification, ...selection },
		timing,
		options,
		recipients,
		notification: JSON.stringify(seen),
		subscriberId: selection.sid,
		isTest: false,
	};
}

/**
 * Reads and checks one item's send, all but how far its time is ahead when it leaves.
 * @throws InvalidInput with each reason, of fields that do not depend on each other
 */
export function prepareSend(item: ItemParameters, selector: Selector): PreparedSend {
	try {
		return prepare(item, selector, readSendOptions(item), readTiming(item));
	} catch (error) {
		const content = contentReaders(item, selector.audience);
		const others = [() => selector.select(item), ...Object.values(content).flat()];
		throw allReasons([() => readSendOptions(item), () => readTiming(item), ...others], error);
	}
}

/**
 * The test that stands for a send: to the test subscriber alone, and right away, because somebody waits for it. It has no
 * key, which would keep the send itself from going out.
 * @throws InvalidInput
 */
export function testOf(item: ItemParameters, send: PreparedSend): PreparedSend {
	const select = () => ({ sid: readSubscriberId(item, testSubscriberField) });
	const options = { ...send.options, idempotencyKey: undefined };
	const timing = { ...send.timing, effective: undefined, isMoved: false };
	const test = prepare(item, { audience: 'subscriber', select }, options, timing);
	return { ...test, isTest: true };
}

export const hasTestSubscriber = (item: ItemParameters): boolean =>
	isThere(item, testSubscriberField);

/** The subscriber whom a send names, and what to mend if there is none. */
function namedBy({ subscriberId, isTest }: PreparedSend): ServiceRequest['named'] {
	if (subscriberId === undefined) return undefined;
	return {
		what: `subscriber ${clip(subscriberId)}`,
		fix: isTest ? `Correct ${testSubscriberField.label}.` : 'They may have unsubscribed.',
	};
}

function bodyOf({ body, timing }: PreparedSend): CampaignBody {
	const expiry = expiryOf(timing, Date.now());
	return expiry === undefined ? body : { ...body, expire_push: expiry };
}

export async function performSend(client: Client, send: PreparedSend): Promise<Result<Receipt>> {
	const { audience, options } = send;
	const { path, isCampaign } = audienceRules[audience];
	const answer = isCampaign ? campaignCreated : notificationSent;
	const request = { isSend: true, path, body: bodyOf(send), named: namedBy(send) };
	return await client.request(request, answer, options.timeoutMs);
}

/** The item of what is known of a send, in the order in which users see it, without what is not there. */
function rowOf(
	{ campaignId, status, description, ...rest }: Ending,
	send: IDataObject,
): IDataObject {
	const { subscriberId, audience, ...content } = send;
	const row = { campaignId, subscriberId, audience, status, description, ...content, ...rest };
	return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
}

/** When it goes out. Of what was sent before, quiet hours had moved it to another time. */
const sendAtOf = ({ effective, isMoved }: Timing, { status }: Ending): string | undefined =>
	status === 'alreadySent' && isMoved ? undefined : effective?.text;

/** The item of a send. */
export function toRow(send: PreparedSend, ending: Ending): IDataObject {
	const { audience, body, subscriberId, isTest, options, timing } = send;
	return rowOf(ending, {
		subscriberId,
		audience: isTest ? 'test' : audience,
		title: body.title,
		recipients: describeRecipients(send),
		name: body.name,
		sendAt: sendAtOf(timing, ending),
		idempotencyKey: options.idempotencyKey,
	});
}

/** The item of a send that can't be read: it names what was entered, as far as that can be read. Throws nothing. */
export function toRowAsEntered(
	item: ItemParameters,
	{ audience, subscriber, select }: Pick<SendOperation, 'audience' | 'subscriber' | 'select'>,
	ending: Ending,
): IDataObject {
	const selection = orUndefined(() => select(item));
	return rowOf(ending, {
		subscriberId: subscriber && asEntered(item, subscriber),
		audience,
		title: asEntered(item, titleField),
		recipients: selection && describeRecipients({ body: selection }),
		name: audienceRules[audience].accepts.includes('name') ? asEntered(item, nameField) : undefined,
		sendAt: orUndefined(() => sendAtOf(readTiming(item), ending)),
		idempotencyKey: asEntered(item, keyField),
	});
}

/** The request of a send, without its headers, as a dry run shows it. */
export const toRequest = (baseUrl: string, send: PreparedSend) => ({
	method: 'POST',
	url: `${baseUrl}${audienceRules[send.audience].path}`,
	body: bodyOf(send),
});

/** Whom a send is for, in words; with how many the active subscribers are, if that is known. */
export function describeRecipients(
	{ body: { attribute, segment, sid } }: { readonly body: Selection },
	activeSubscribers?: number,
): string {
	if (sid !== undefined) return `subscriber ${sid}`;
	if (segment !== undefined)
		return `segment${segment.length === 1 ? '' : 's'} ${segment.join(', ')}`;
	if (attribute !== undefined) {
		const pairs = Object.entries(attribute).map((pair) => pair.join(' = '));
		return `every subscriber with ${pairs.join(' or ')}`;
	}
	if (activeSubscribers === undefined) return 'all subscribers';
	return `all ${activeSubscribers.toLocaleString('en-US')} active subscribers`;
}
