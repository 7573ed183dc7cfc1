import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { SendReceipt } from '../service/answers';
import { campaignCreated, notificationSent } from '../service/answers';
import type { RequestedId } from '../service/failureWords';
import type { Audience } from '../service/rules';
import { audienceRules, autoHideValue } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { parseSchedule } from '../service/schedule';
import type { CampaignBody } from '../service/schemas';
import { bodies } from '../service/schemas';
import type { ItemFailure, PreparedSend, SendOperation, TimedSend } from './operation';
import type { SendOptions } from './options';
import { readTestSubscriberId } from './options';
import { asEntered } from './parameters';
import { afterQuietHours, isQuiet } from './quietHours';
import type { EnteredSend } from './sendFields';
import { readSend, sendProperties } from './sendFields';
import { title } from './sendTexts';

/** What is known of a send: of one that can't be read, less. */
interface Named {
	/** Whom it is for, as its item says. */
	readonly audience: Audience | 'test';
	readonly body: { readonly [Field in keyof CampaignBody]?: CampaignBody[Field] | undefined };
	readonly options?: SendOptions;
}

/** What an item says of a send, in the order in which users see it; without what is not there. */
function toRow(
	{ audience, body, options }: Named,
	{ campaignId, description, sendAt }: Partial<SendReceipt>,
	{ status, description: reason, dryRun, error }: Partial<ItemFailure> = {},
): IDataObject {
	const fields: IDataObject = {
		campaignId,
		subscriberId: body.sid,
		audience,
		status,
		description: description ?? reason,
		title: body.title,
		name: body.name,
		attributes: body.attribute,
		segmentIds: body.segment?.map(String),
		sendAt,
		idempotencyKey: options?.idempotencyKey,
		dryRun,
		error,
	};
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The subscriber that a send is for, if it is for one. */
const subscriberOf = ({ sid }: TimedSend['body']): RequestedId | undefined =>
	sid === undefined ? undefined : { of: 'subscriber', id: sid };

/** Warns who lets an agent use a send as its tool. */
export const toolNotice = (reached: string): INodeProperties => ({
	displayName: `The agent can send this to ${reached} without asking you. Add a step for approval, such as a human review, or choose Send to Subscriber.`,
	name: 'toolNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [true] } },
});

/** The same send at another time, to which quiet hours moved it. */
const movedTo = (send: EnteredSend, schedule: Schedule): TimedSend => ({
	...send,
	schedule,
	isMoved: true,
	body: { ...send.body, send_at: schedule.text },
});

/** The send as it is if it leaves now: quiet hours may put it off. */
function sendNow(entered: EnteredSend): TimedSend {
	const { quietHours, schedule } = entered;
	if (quietHours === undefined) return entered;
	const moved = afterQuietHours(quietHours, schedule, Date.now());
	return moved === undefined ? entered : movedTo(entered, moved);
}

/** Whether a send has a Send At that quiet hours move. */
const isHeldBack = ({ quietHours, schedule }: EnteredSend) =>
	quietHours !== undefined && schedule !== undefined && isQuiet(quietHours, schedule.at);

const dayMs = 24 * 60 * 60_000;

/**
 * The time that must be far enough ahead when the request leaves. Quiet hours move a time that lies in them far
 * enough ahead, also if it is over by now; not one of an earlier day, which nobody means any more.
 */
function scheduleToCheck(entered: EnteredSend): Schedule | undefined {
	const { schedule } = entered;
	if (schedule === undefined || Date.now() - schedule.at >= dayMs) return schedule;
	return isHeldBack(entered) ? undefined : schedule;
}

/** The time of a send that nobody saw leave: as it was entered. What quiet hours move has none before it leaves. */
const enteredTime = (entered: EnteredSend): string | undefined =>
	isHeldBack(entered) ? undefined : entered.schedule?.text;

/** Completes 'Sent earlier …'. */
function sentEarlierBy({ idempotencyKey, sendOnce }: SendOptions): string {
	if (idempotencyKey !== undefined) return 'under this idempotency key';
	if (sendOnce === undefined) return 'by this execution';
	return sendOnce === 'perDay' ? 'today (Send Only Once)' : '(Send Only Once)';
}

/** Whom a send is for. The order of segments or attributes changes nothing, nor whether an ID is a number. */
function recipientsOf(shown: Audience | 'test', { attribute, segment, sid }: CampaignBody): string {
	const attributes = Object.entries(attribute ?? {}).sort(([one], [other]) =>
		one < other ? -1 : 1,
	);
	return JSON.stringify([shown, attributes, segment?.map(String).sort(), sid]);
}

/**
 * A send that is ready to be made.
 * @param shown whom it is for, as its item says
 */
function prepare(entered: EnteredSend, shown: Audience | 'test'): PreparedSend {
	const { audience, body, options, quietHours } = entered;
	const { path, kind } = audienceRules[audience];
	const answer = kind === 'send' ? campaignCreated : notificationSent;
	const rowOf = (send: TimedSend, ...more: [Partial<SendReceipt>, Partial<ItemFailure>?]) =>
		toRow({ ...send, audience: shown }, ...more);
	/** As it was requested last. */
	let requested: TimedSend | undefined;
	return {
		kind,
		// As entered: a Retry after the quiet hours is the same send.
		content: [shown, body, quietHours?.from, quietHours?.to, quietHours?.timezone],
		recipients: recipientsOf(shown, body),
		notification: { ...body, attribute: undefined, segment: undefined, sid: undefined },
		options,
		schedule: scheduleToCheck(entered),
		preview: () => sendNow(entered),
		asSent({ sendAt }) {
			if (sendAt === undefined || sendAt === entered.schedule?.text) return entered;
			return movedTo(entered, parseSchedule(sendAt, entered.timezone));
		},
		async perform(client) {
			// The item may have waited long: only now it is known when it leaves.
			const send = sendNow(entered);
			requested = send;
			const requestedId = subscriberOf(body);
			const hasKey = (options.idempotencyKey ?? options.sendOnce) !== undefined;
			const request = { kind, path, body: send.body, requestedId, hasKey } as const;
			const result = await client.request(request, answer, options.timeout);
			if (result.kind === 'failed') return result;
			const { ID: campaignId, description }: { ID?: string; description: string } = result.value;
			return {
				kind: 'done',
				value: { campaignId, description, sendAt: send.schedule?.text },
			};
		},
		toItem: (receipt) => rowOf(entered, receipt, { status: 'success' }),
		toSentEarlierItem() {
			const description = `Sent earlier ${sentEarlierBy(options)}; nothing was sent now`;
			const sendAt = enteredTime(entered);
			return rowOf(entered, { description, sendAt }, { status: 'alreadySent' });
		},
		toFailedItem(failure) {
			const sendAt = requested ? requested.schedule?.text : enteredTime(entered);
			return rowOf(entered, { sendAt }, failure);
		},
		// The row of a real send, and the very request, without its headers.
		toDryRunItem(baseUrl) {
			const send = sendNow(entered);
			return {
				...rowOf(send, { sendAt: send.schedule?.text }),
				dryRun: true,
				request: { method: 'POST', url: `${baseUrl}${path}`, body: { ...send.body } },
			};
		},
	};
}

/** The same send to the test subscriber alone, without what such a send does not take. */
function toTest(entered: EnteredSend, sid: string): PreparedSend {
	const { audience, body, options } = entered;
	const given = bodies.subscriber.parse({ ...body, sid });
	// The same number has another meaning there.
	const closesByItself = body.auto_hide === autoHideValue(audience, true);
	const autoHide =
		body.auto_hide === undefined ? {} : { auto_hide: autoHideValue('subscriber', closesByItself) };
	const test: EnteredSend = {
		...entered,
		audience: 'subscriber',
		body: { ...given, ...autoHide },
		// A key would keep the real send from going out.
		options: { ...options, idempotencyKey: undefined, sendOnce: undefined },
	};
	return { ...prepare(test, 'test'), testSubscriberId: sid };
}

/** Makes an operation that sends of what it adds to the fields that all sends share. */
export function sendOperation(
	own: Pick<
		SendOperation,
		'audience' | 'option' | 'properties' | 'select' | 'subscriber' | 'countReached'
	>,
): SendOperation {
	const { audience, subscriber } = own;
	return {
		...own,
		kind: audienceRules[audience].kind,
		resource: 'campaign',
		properties: [...own.properties, ...sendProperties(audience)],
		toInvalidItem(item, failure) {
			const body = {
				title: asEntered(() => item.get(title)),
				sid: subscriber && asEntered(() => item.get(subscriber)),
			};
			return toRow({ audience, body }, {}, failure);
		},
		prepare(item) {
			const entered = readSend(item, own);
			return {
				...prepare(entered, audience),
				toTest() {
					const sid = readTestSubscriberId(item);
					return sid === undefined ? undefined : toTest(entered, sid);
				},
			};
		},
	};
}
