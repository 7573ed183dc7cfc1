import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { SendReceipt } from '../service/answers';
import { campaignCreated, notificationSent } from '../service/answers';
import type { RequestedId } from '../service/failureWords';
import { audienceRules } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { parseSchedule } from '../service/schedule';
import type { ItemFailure, PreparedSend, SendOperation } from './operation';
import { afterQuietHours, isQuiet } from './quietHours';
import type { EnteredSend, SendNames } from './sendFields';
import { readNames, readSend, sendProperties } from './sendFields';

/** What an item says of a send, in the order in which users see it; without what is not there. */
function toRow(
	{ audience, body, options }: SendNames,
	{ campaignId, description, sendAt }: Partial<SendReceipt>,
	{ status, error }: Partial<ItemFailure> = {},
): IDataObject {
	const fields: IDataObject = {
		campaignId,
		subscriberId: body.sid,
		audience,
		status,
		error,
		description,
		title: body.title,
		name: body.name,
		attributes: body.attribute,
		segmentIds: body.segment?.map(String),
		sendAt,
		idempotencyKey: options.idempotencyKey,
	};
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The subscriber that a send is for, if it is for one. */
const subscriberOf = ({ sid }: PreparedSend['body']): RequestedId | undefined =>
	sid === undefined ? undefined : { of: 'subscriber', id: sid };

/** Warns who lets an agent use a send as its tool. */
export const toolNotice = (reached: string): INodeProperties => ({
	displayName: `The agent can send this to ${reached} without asking you. Add a step for approval, such as a human review, or choose Send to Subscriber.`,
	name: 'toolNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [true] } },
});

/** The same send at another time. */
const withSchedule = (send: PreparedSend, schedule: Schedule): PreparedSend => ({
	...send,
	schedule,
	body: { ...send.body, send_at: schedule.text },
});

/** The send as it is if it leaves now: quiet hours may put it off. */
function sendNow(entered: EnteredSend): PreparedSend {
	const { quietHours, ...send } = entered;
	if (quietHours === undefined) return send;
	const schedule = afterQuietHours(quietHours, send.schedule, Date.now());
	return schedule === undefined ? send : withSchedule(send, schedule);
}

/** Whether quiet hours hold back what would go out at this time. */
const isHeldBack = ({ quietHours }: EnteredSend, { at }: Schedule) =>
	quietHours !== undefined && isQuiet(quietHours, at);

/** The time that must be far enough ahead when the request leaves. */
function judgedSchedule(entered: EnteredSend): Schedule | undefined {
	const { schedule } = entered;
	if (schedule === undefined) return undefined;
	// Quiet hours move it far enough ahead. One that is over already is refused, as it is without them.
	return isHeldBack(entered, schedule) && schedule.at > Date.now() ? undefined : schedule;
}

/** Makes an operation that sends of what it adds to the fields that all sends share. */
export function sendOperation(
	own: Pick<
		SendOperation,
		'audience' | 'option' | 'properties' | 'select' | 'selectAsEntered' | 'countReached'
	>,
): SendOperation {
	const { audience, countReached } = own;
	const { path, becomesCampaign } = audienceRules[audience];
	const answer = becomesCampaign ? campaignCreated : notificationSent;
	const kind = becomesCampaign ? 'send' : 'sendToOne';
	return {
		...own,
		kind,
		resource: 'campaign',
		properties: [...own.properties, ...sendProperties(audience)],
		toInvalidItem: (item, failure) => toRow(readNames(item, own), {}, failure),
		prepare(item) {
			const entered = readSend(item, own);
			const { body, options, quietHours, schedule } = entered;
			return {
				// As entered: a Retry after the quiet hours is the same send.
				content: [audience, body, quietHours?.from, quietHours?.to],
				recipients: JSON.stringify([audience, body.attribute, body.segment, body.sid]),
				options,
				schedule: judgedSchedule(entered),
				describe(receipt) {
					if (receipt === undefined) return sendNow(entered);
					if (receipt.sendAt === undefined) return entered;
					return withSchedule(entered, parseSchedule(receipt.sendAt, entered.timezone));
				},
				async perform(client) {
					// The item may have waited long: only now it is known when it leaves.
					const send = sendNow(entered);
					const requestedId = subscriberOf(body);
					const hasKey = options.idempotencyKey !== undefined;
					const request = { kind, path, body: send.body, requestedId, hasKey } as const;
					const result = await client.request(request, answer, options.timeout);
					if (result.kind === 'failed') return result;
					const { ID: campaignId, description }: { ID?: string; description: string } =
						result.value;
					return {
						kind: 'done',
						value: { campaignId, description, sendAt: send.schedule?.text },
					};
				},
				toItem(receipt) {
					if (receipt !== undefined) return toRow(entered, receipt, { status: 'success' });
					const by =
						options.idempotencyKey === undefined
							? 'by this execution'
							: 'under this idempotency key';
					const description = `Sent earlier ${by}; nothing was sent now`;
					// When it was put off for is not kept with its key.
					const isKnown = schedule !== undefined && !isHeldBack(entered, schedule);
					const sendAt = isKnown ? schedule.text : undefined;
					return toRow(entered, { description, sendAt }, { status: 'alreadySent' });
				},
				toFailedItem(failure) {
					const send = sendNow(entered);
					return toRow(send, { sendAt: send.schedule?.text }, failure);
				},
				countReached: countReached && ((client) => countReached(client, options.timeout)),
				// The row of a real send, and the very request, without its headers.
				toDryRunItem(baseUrl) {
					const send = sendNow(entered);
					return {
						...toRow(send, { sendAt: send.schedule?.text }),
						dryRun: true,
						request: { method: 'POST', url: `${baseUrl}${path}`, body: { ...send.body } },
					};
				},
			};
		},
	};
}
