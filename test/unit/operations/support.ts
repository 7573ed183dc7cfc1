import type { IDataObject } from 'n8n-workflow';

import type { ItemParameters } from '../../../nodes/PushCampaign/n8n/parameters';
import { readerOf } from '../../../nodes/PushCampaign/n8n/parameters';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { prepareSend } from '../../../nodes/PushCampaign/operations/send';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import type { Client, ServiceRequest } from '../../../nodes/PushCampaign/service/client';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';

interface Context {
	readonly timezone?: string;
	readonly input?: IDataObject;
	/** What expressions give, by the path of their field. */
	readonly gives?: Readonly<Record<string, unknown>>;
}

/**
 * The parameters of one item. What begins with `=` is an expression: it gives what is said for its path, or else the text
 * that fields of the input item make.
 */
export const itemOf = (
	parameters: object,
	{ timezone = 'UTC', input = {}, gives = {} }: Context = {},
): ItemParameters => readerOf(parameters, timezone, input, (path) => gives[path]);

/** What every send needs. */
export const content = {
	title: 'Summer sale',
	message: 'Everything must go',
	targetUrl: 'https://shop.example/sale',
};

/** The same in the service's names. */
export const contentBody = {
	title: 'Summer sale',
	message: 'Everything must go',
	target_url: 'https://shop.example/sale',
};

/** Reads a send to all, with what is given beside or instead of what every send needs. */
export const prepare = (
	parameters: object,
	context?: Context,
	operation: SendOperation = sendToAll,
) => prepareSend(itemOf({ ...content, ...parameters }, context), operation);

function thrownBy(read: () => unknown): unknown {
	try {
		return read();
	} catch (error) {
		return error;
	}
}

/** Why reading is refused. */
export function refusalOf(read: () => unknown): string {
	const error = thrownBy(read);
	return error instanceof InvalidInput ? error.message : 'Nothing is refused';
}

/** What to do where reading is refused. */
export function adviceOf(read: () => unknown): string {
	const error = thrownBy(read);
	return error instanceof InvalidInput ? error.advice : 'Nothing is refused';
}

/** A client that keeps what it is asked, and gives one answer to everything. */
export function recordingClient(answer: object) {
	const asked: Array<{ request: ServiceRequest; timeoutMs: number }> = [];
	const client: Client = {
		async request(request, schema, timeoutMs) {
			asked.push({ request, timeoutMs });
			const parsed = schema.safeParse(answer);
			if (!parsed.success) throw new Error('The answer is not usable');
			return { answered: true, value: parsed.data, raw: answer };
		},
	};
	return { client, asked };
}

/** A client that is refused for one reason. */
export const refusingClient = (problem: Problem): Client => ({
	request: async () => ({ answered: false, problem }),
});
