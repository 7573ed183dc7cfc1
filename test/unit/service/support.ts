import { campaignCreated } from '../../../nodes/PushCampaign/service/answers';
import type { ClientOptions, ServiceRequest } from '../../../nodes/PushCampaign/service/client';
import { createClient } from '../../../nodes/PushCampaign/service/client';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';

/** What an action refuses its input with; fails the test if it accepts it. */
export function refusal(action: () => unknown): InvalidInput {
	try {
		action();
	} catch (error) {
		if (error instanceof InvalidInput) return error;
	}
	throw new TypeError('The input was not refused');
}

export const settings = {
	baseUrl: 'https://push.example:8443/api',
	headers: { serviceKey: 'the-key-of-the-site', serviceAuthToken: 'the-token-of-the-site' },
};
export const body = { title: 'Sale', message: 'Today', target_url: 'https://shop.example' };
export const send: ServiceRequest = { isSend: true, path: '/v1/notification/send/all', body };
export const readStatus: ServiceRequest = {
	isSend: false,
	path: '/v1/notification/status/id/1001',
	named: { what: 'such campaign', fix: 'Correct the ID.' },
};
export const readCount: ServiceRequest = { isSend: false, path: '/v1/site/subscriber_count' };

export const success = { status: 'success', description: 'Campaign created', ID: 1001 };
export const page = '<!doctype html><title>Bad gateway</title>';

export const clientOf = (transport: ClientOptions['transport'], signal?: AbortSignal) =>
	createClient({ settings, transport, signal });

/** Why a request has no result after an answer, or after none. */
export async function problemAfter(
	request: ServiceRequest,
	transport: ClientOptions['transport'],
	timeoutMs = 30_000,
	signal?: AbortSignal,
) {
	const result = await clientOf(transport, signal).request(request, campaignCreated, timeoutMs);
	if (result.answered) throw new TypeError('It was answered');
	return result.problem;
}
export const answering = (given: unknown, statusCode = 200, headers: object = {}) => {
	const text = typeof given === 'string' ? given : JSON.stringify(given);
	return async () => ({ statusCode, headers, body: text });
};
export const failing = (type: string | null, description = 'No', statusCode = 200, headers = {}) =>
	answering({ status: 'failure', type, description }, statusCode, headers);
