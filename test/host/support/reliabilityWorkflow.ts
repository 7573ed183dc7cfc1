import { randomUUID } from 'node:crypto';
import {
	connect,
	node,
	pushCampaign,
	webhookWorkflow,
	type Execution,
	type NodeDraft,
	type WebhookAnswer,
} from '../../../host';
import type { Bed } from './reliabilityBed';

export interface SendWorkflowOptions {
	/** Options of the action node, such as `resendUnknown`. */
	options?: Record<string, unknown>;
	/** Settings of the action node, such as `retryOnFail`. */
	settings?: Partial<Pick<NodeDraft, 'retryOnFail' | 'maxTries' | 'waitBetweenTries' | 'onError'>>;
}

/** An active workflow that sends one campaign for each item of a call. */
export interface SendWorkflow {
	id: string;
	/** Starts an execution; resolves with the call's answer, which n8n gives when it has ended. */
	call(items: Array<Record<string, unknown>>): Promise<WebhookAnswer>;
	/** Starts an execution and waits until it is saved. */
	run(items: Array<Record<string, unknown>>): Promise<Execution>;
	/** Changes the action node of the saved workflow. */
	change(changed: SendWorkflowOptions): Promise<void>;
}

export const sender = 'Push Campaign';

const draft = (bed: Bed, path: string, { options = {}, settings = {} }: SendWorkflowOptions) => {
	const action = pushCampaign(
		{
			operation: 'sendToAll',
			title: '={{ $json.title }}',
			message: 'Twenty percent off',
			targetUrl: 'https://shop.example/sale',
			options,
		},
		{ credential: bed.credential, waitBetweenTries: 100, ...settings },
	);
	const workflow = webhookWorkflow(path, [action]);
	if (settings.onError !== 'continueErrorOutput') return workflow;
	const nodes = ['Sent', 'Not sent'].map((name) => node(name, 'n8n-nodes-base.noOp'));
	const whole = { ...workflow, nodes: [...workflow.nodes, ...nodes] };
	return connect(connect(whole, sender, 'Sent'), sender, 'Not sent', { output: 1 });
};

/** Creates and activates a workflow that sends to all; an item's title is its input's `title`. */
export async function sendWorkflow(
	bed: Bed,
	workflow: SendWorkflowOptions = {},
): Promise<SendWorkflow> {
	const { n8n } = bed;
	const path = `send-${randomUUID()}`;
	const { id } = await n8n.createWorkflow(draft(bed, path, workflow));
	await n8n.activate(id);
	const call = async (items: Array<Record<string, unknown>>) =>
		await n8n.runWebhook(path, { items });
	return {
		id,
		call,
		run: async (items) => {
			const before = await n8n.executions({ workflowId: id });
			await call(items);
			const [newest] = await n8n.waitForExecutions({ workflowId: id, count: before.length + 1 });
			if (newest === undefined) throw new Error('n8n saved no execution');
			return await n8n.execution(newest.id);
		},
		change: async (changed) => {
			await n8n.updateWorkflow(id, draft(bed, path, { ...workflow, ...changed }));
		},
	};
}

/** Items with one title each: `<name> 1`, `<name> 2`, … */
export function titled(name: string, count: number): Array<{ title: string }> {
	return Array.from({ length: count }, (_, index) => ({ title: `${name} ${index + 1}` }));
}

/** The titles that the service accepted, in the order in which they came. */
export function acceptedTitles({ simulator }: Bed): unknown[] {
	return [...simulator.campaigns.values()].map(({ body }) => body['title']);
}

/** What an execution failed with, in the words that the user reads. */
export function failureOf(execution: Execution): { message: string; description: string } {
	const { error } = execution.data.resultData;
	return { message: error?.message ?? '', description: error?.description ?? '' };
}
