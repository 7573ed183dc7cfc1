import type { IDataObject } from 'n8n-workflow';
import { Workflow } from 'n8n-workflow';

import type { ItemParameters } from '../../../nodes/PushCampaign/n8n/parameters';
import { readerOf } from '../../../nodes/PushCampaign/n8n/parameters';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { prepareSend } from '../../../nodes/PushCampaign/operations/send';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import type { Client, ServiceRequest } from '../../../nodes/PushCampaign/service/client';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';
import { nodeTypes } from '../../engine/support/nodeTypes';
import { nodeFrom } from '../../engine/support/workflow';

interface Context {
	readonly timezone?: string;
	readonly input?: IDataObject;
	/** What n8n gives for an expression, if not what it makes of the input item. */
	readonly evaluate?: (expression: string) => unknown;
}

const name = 'No Operation';
const { expression: n8n } = new Workflow({
	nodes: [nodeFrom({ name, type: 'n8n-nodes-base.noOp' })],
	...{ connections: {}, active: false, nodeTypes },
});

/** What n8n makes of an expression and an input item. */
export const evaluated = (expression: string, input: IDataObject): unknown =>
	n8n.getParameterValue(`=${expression}`, null, 0, 0, name, [{ json: input }], 'manual', {});

/** The parameters of one item. What begins with `=` is an expression, which n8n evaluates. */
export function itemOf(parameters: object, context: Context = {}): ItemParameters {
	const { timezone = 'UTC', input = {} } = context;
	const evaluate = context.evaluate ?? ((expression: string) => evaluated(expression, input));
	const item: ItemParameters = readerOf(parameters, timezone, input, {
		expression: evaluate,
		parameter: (path) => evaluate(item.expression({ label: path, path }) ?? ''),
	});
	return item;
}

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

/** All reasons why reading is refused. */
export function reasonsOf(read: () => unknown): string[] {
	const error = thrownBy(read);
	if (!(error instanceof InvalidInput)) return [];
	return [error, ...error.others].map(({ message }) => message);
}

/** What to do where reading is refused. */
export function adviceOf(read: () => unknown): string {
	const error = thrownBy(read);
	return error instanceof InvalidInput ? error.fix : 'Nothing is refused';
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
