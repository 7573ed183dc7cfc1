import type { IDataObject } from 'n8n-workflow';

import type { SendReceipt } from '../service/answers';
import { campaignCreated, notificationSent } from '../service/answers';
import type { Client, Result } from '../service/client';
import { audienceRules } from '../service/rules';
import type { Schedule } from '../service/schedule';
import type { CampaignBody } from '../service/schemas';
import { findBodyIssues, isCampaignBody } from '../service/schemas';
import { issueField, readCampaignFields } from './campaignFields';
import { invalid } from './fields';
import type { ItemParameters } from './itemParameters';
import type { AudienceSelection, SendOperation } from './operation';
import type { RequestOptions } from './options';
import { readRequestOptions } from './options';

/** One item's send, checked and ready to leave. */
export interface PreparedSend {
	readonly operation: SendOperation;
	readonly body: CampaignBody;
	readonly selection: AudienceSelection;
	readonly schedule?: Schedule | undefined;
	readonly options: RequestOptions;
}

/**
 * Reads one item's send from its parameters and checks it against the service's rules, all but the
 * schedule's lead, which depends on the moment of sending.
 * @throws InvalidInput naming the field
 */
export function prepareSend(operation: SendOperation, item: ItemParameters): PreparedSend {
	const { audience } = operation;
	const options = readRequestOptions(item);
	const selection = operation.select(item);
	const { body: fields, schedule } = readCampaignFields(item, audience);
	const body = { ...fields, ...selection };
	if (!isCampaignBody(audience, body)) {
		const [issue] = findBodyIssues(audience, body);
		throw invalid(issueField(issue?.path ?? []), issue?.message ?? 'is not valid');
	}
	return { operation, body, selection, schedule, options };
}

/** Makes the send once. */
export async function performSend(
	{ operation, body, schedule, options }: PreparedSend,
	client: Client,
): Promise<Result<SendReceipt>> {
	const request = {
		endpoint: 'send',
		method: 'POST',
		path: audienceRules[operation.audience].path,
		body,
	} as const;
	const sendAt = schedule === undefined ? {} : { sendAt: schedule.text };
	if (operation.audience === 'subscriber') {
		const result = await client.request(request, notificationSent, options.timeout);
		if (!result.ok) return result;
		const { description } = result.value;
		return { ok: true, value: { description, ...sendAt }, raw: result.raw };
	}
	const result = await client.request(request, campaignCreated, options.timeout);
	if (!result.ok) return result;
	const { ID: campaignId, description } = result.value;
	return { ok: true, value: { campaignId, description, ...sendAt }, raw: result.raw };
}

/** The item that a send puts out. */
export function sentItem(
	{ operation, selection }: PreparedSend,
	receipt: SendReceipt,
): IDataObject {
	return {
		...operation.identify(selection, receipt),
		audience: operation.audience,
		status: 'success',
		description: receipt.description,
		...(receipt.sendAt === undefined ? {} : { sendAt: receipt.sendAt }),
	};
}

/** The item that a dry run puts out: the very request, without its headers. */
export function dryRunItem({ operation, body }: PreparedSend, baseUrl: string): IDataObject {
	return {
		dryRun: true,
		request: {
			method: 'POST',
			url: `${baseUrl}${audienceRules[operation.audience].path}`,
			body: { ...body },
		},
	};
}
