import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { SendReceipt } from '../service/answers';
import { campaignCreated, notificationSent } from '../service/answers';
import { audienceRules } from '../service/rules';
import type { SendOperation } from './operation';
import type { PreparedSend } from './sendFields';
import { sendProperties, sendReader } from './sendFields';

/** What an item says of a send, in the order in which users see it; without what is not there. */
function toRow(
	{ audience, body, options }: PreparedSend,
	{ campaignId, description, sendAt }: Partial<SendReceipt>,
	status?: 'success' | 'alreadySent',
): IDataObject {
	const fields: IDataObject = {
		campaignId,
		subscriberId: body.sid,
		audience,
		status,
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

/** Warns who lets an agent use a send as its tool. */
export const toolNotice = (reached: string): INodeProperties => ({
	displayName: `The agent can send this to ${reached} without asking you. Add a step for approval, such as a human review, or choose Send to Subscriber.`,
	name: 'toolNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [true] } },
});

/** Makes an operation that sends of what it adds to the fields that all sends share. */
export function sendOperation(
	own: Pick<SendOperation, 'audience' | 'option' | 'properties' | 'select'>,
): SendOperation {
	const { audience } = own;
	const { path, becomesCampaign } = audienceRules[audience];
	const answer = becomesCampaign ? campaignCreated : notificationSent;
	const readSend = sendReader(own);
	return {
		...own,
		kind: 'send',
		resource: 'campaign',
		properties: [...own.properties, ...sendProperties(audience)],
		prepare(item) {
			const send = readSend(item);
			const { body, options, schedule } = send;
			const sendAt = schedule?.text;
			return {
				content: [audience, body],
				options,
				schedule,
				send,
				async perform(client) {
					const request = { kind: 'send', path, body } as const;
					const result = await client.request(request, answer, options.timeout);
					if (result.kind === 'failed') return result;
					const { ID: campaignId, description }: { ID?: string; description: string } =
						result.value;
					return { kind: 'done', value: { campaignId, description, sendAt } };
				},
				toItem(receipt) {
					if (receipt !== undefined) return toRow(send, receipt, 'success');
					const description = 'Sent earlier under this idempotency key; nothing was sent now';
					return toRow(send, { description, sendAt }, 'alreadySent');
				},
				// The row of a real send, and the very request, without its headers.
				toDryRunItem: (baseUrl) => ({
					...toRow(send, { sendAt }),
					dryRun: true,
					request: { method: 'POST', url: `${baseUrl}${path}`, body: { ...body } },
				}),
			};
		},
	};
}
