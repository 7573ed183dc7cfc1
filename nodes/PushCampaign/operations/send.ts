import type { IDataObject } from 'n8n-workflow';

import type { SendReceipt } from '../service/answers';
import { campaignCreated, notificationSent } from '../service/answers';
import type { Client, Result } from '../service/client';
import { audienceRules } from '../service/rules';
import type { Schedule } from '../service/schedule';
import type { CampaignBody } from '../service/schemas';
import { bodies, firstIssue } from '../service/schemas';
import type { AudienceSelection, SendOperation } from './operation';
import type { SendOptions } from './options';
import { readSendOptions } from './options';
import type { ItemParameters } from './parameters';
import { readCampaignFields } from './sendFields';

/** One item's send, checked and ready to leave. */
export interface PreparedSend {
	readonly operation: SendOperation;
	readonly body: CampaignBody;
	readonly selection: AudienceSelection;
	readonly schedule?: Schedule | undefined;
	/** IANA name of the timezone in which the user gave the schedule. */
	readonly timezone: string;
	readonly options: SendOptions;
}

/**
 * Reads one item's send from its parameters and checks it against the service's rules, all but the
 * schedule's lead, which depends on the moment of sending.
 * @throws InvalidInput naming the field
 */
export function prepareSend(operation: SendOperation, item: ItemParameters): PreparedSend {
	const { audience } = operation;
	const options = readSendOptions(item);
	const selection = operation.select(item);
	const fields = readCampaignFields(item, audience, options.shortenTexts);
	const { schedule, timezone } = fields;
	const checked = bodies[audience].safeParse({ ...fields.body, ...selection });
	if (!checked.success) throw fields.refuse(firstIssue(checked.error));
	return { operation, body: checked.data, selection, schedule, timezone, options };
}

/** Makes the send once. */
export async function performSend(
	{ operation, body, schedule, options }: PreparedSend,
	client: Client,
): Promise<Result<SendReceipt>> {
	const { path, becomesCampaign } = audienceRules[operation.audience];
	const request = { kind: 'send', path, body } as const;
	const sendAt = schedule === undefined ? {} : { sendAt: schedule.text };
	if (!becomesCampaign) {
		const result = await client.request(request, notificationSent, options.timeout);
		if (result.kind === 'failed') return result;
		return { kind: 'done', value: { description: result.value.description, ...sendAt } };
	}
	const result = await client.request(request, campaignCreated, options.timeout);
	if (result.kind === 'failed') return result;
	const { ID: campaignId, description } = result.value;
	return { kind: 'done', value: { campaignId, description, ...sendAt } };
}

/** What an item says of a send, in the order in which users see it; without what is not there. */
function toItem(
	{ operation, selection, body, options }: PreparedSend,
	receipt: SendReceipt,
	status: 'success' | 'alreadySent',
): IDataObject {
	const { attribute, segment } = selection;
	const fields: Array<[string, IDataObject[string]]> = [
		...Object.entries(operation.identify(selection, receipt)),
		['audience', operation.audience],
		['status', status],
		['description', receipt.description],
		['title', body.title],
		['name', body.name],
		['attributes', attribute],
		['segmentIds', segment?.map(String)],
		['sendAt', receipt.sendAt],
		['idempotencyKey', options.idempotencyKey],
	];
	return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** The item that a send puts out. */
export function sentItem(send: PreparedSend, receipt: SendReceipt): IDataObject {
	return toItem(send, receipt, 'success');
}

/** The item of a send whose idempotency key was sent before: nothing leaves. */
export function alreadySentItem(send: PreparedSend): IDataObject {
	const description = 'Sent earlier under this idempotency key; nothing was sent now';
	return toItem(send, { description, sendAt: send.schedule?.text }, 'alreadySent');
}

/** The item that a dry run puts out: the row of a real send, and the very request, without its headers. */
export function dryRunItem(send: PreparedSend, baseUrl: string): IDataObject {
	const { operation, body, schedule } = send;
	const receipt = { description: '', sendAt: schedule?.text };
	const { status: _status, description: _description, ...row } = toItem(send, receipt, 'success');
	return {
		...row,
		dryRun: true,
		request: {
			method: 'POST',
			url: `${baseUrl}${audienceRules[operation.audience].path}`,
			body: { ...body },
		},
	};
}

/** Makes an operation that sends of what it adds to the fields that all sends share. */
export function sendOperation(own: Omit<SendOperation, 'kind' | 'prepare'>): SendOperation {
	const operation: SendOperation = {
		...own,
		kind: 'send',
		prepare(item) {
			const send = prepareSend(operation, item);
			return {
				content: [operation.audience, send.body],
				options: send.options,
				schedule: send.schedule,
				send,
				perform: async (client) => await performSend(send, client),
				toItem: (receipt) =>
					receipt === undefined ? alreadySentItem(send) : sentItem(send, receipt),
				toDryRunItem: (baseUrl) => dryRunItem(send, baseUrl),
			};
		},
	};
	return operation;
}
