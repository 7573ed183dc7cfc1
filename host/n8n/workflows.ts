import { randomUUID } from 'node:crypto';
import type {
	IConnections,
	INode,
	INodeParameters,
	IWorkflowSettings,
	NodeConnectionType,
} from 'n8n-workflow';
import { z } from 'zod';

/** A credential as n8n lists it: without its data. */
export const credentialSchema = z.object({ id: z.string(), name: z.string(), type: z.string() });

export type Credential = z.infer<typeof credentialSchema>;

export interface WorkflowDraft {
	name: string;
	nodes: INode[];
	connections: IConnections;
	settings: IWorkflowSettings;
}

export const packageName = 'n8n-nodes-push-campaign';
export const actionType = `${packageName}.pushCampaign`;
export const triggerType = `${packageName}.pushCampaignTrigger`;
export const credentialType = 'pushCampaignApi';

type NodeExtras = Partial<Omit<INode, 'id' | 'name' | 'type' | 'parameters' | 'credentials'>> & {
	credential?: Credential;
};

/** A node of any type; `extras` are its settings (`onError`, `retryOnFail`, …) and its credential. */
export function node(
	name: string,
	type: string,
	parameters: INodeParameters = {},
	{ credential, ...extras }: NodeExtras = {},
): INode {
	const credentials =
		credential === undefined
			? {}
			: { credentials: { [credential.type]: { id: credential.id, name: credential.name } } };
	return {
		id: randomUUID(),
		name,
		type,
		typeVersion: 1,
		position: [0, 0],
		parameters,
		...credentials,
		...extras,
	};
}

/** The package's action node. */
export function pushCampaign(
	parameters: INodeParameters,
	{ name = 'Push Campaign', ...extras }: NodeExtras & { name?: string } = {},
): INode {
	return node(name, actionType, parameters, extras);
}

/** The package's trigger node; polls every five seconds unless `pollTimes` says otherwise. */
export function pushCampaignTrigger(
	parameters: INodeParameters,
	{ name = 'Push Campaign Trigger', ...extras }: NodeExtras & { name?: string } = {},
): INode {
	return node(name, triggerType, { pollTimes: pollEvery(5), ...parameters }, extras);
}

/**
 * Poll times `seconds` apart, below the minute that n8n asks of a single one: several together may
 * be closer.
 *
 * @param seconds a divisor of 60
 */
export function pollEvery(seconds: number): { item: INodeParameters[] } {
	const item = Array.from({ length: 60 / seconds }, (_, turn) => ({
		mode: 'custom',
		cronExpression: `${turn * seconds} * * * * *`,
	}));
	return { item };
}

/** A workflow of nodes one after another. */
export function chain(name: string, nodes: INode[]): WorkflowDraft {
	const connections: IConnections = {};
	nodes.forEach((from, index) => {
		const to = nodes[index + 1];
		if (to === undefined) return;
		connections[from.name] = { main: [[{ node: to.name, type: 'main', index: 0 }]] };
	});
	const placed = nodes.map((each, index) => ({
		...each,
		position: [index * 220, 0] satisfies [number, number],
	}));
	return { name, nodes: placed, connections, settings: { executionOrder: 'v1' } };
}

/** Adds a connection from one output of a node to the first input of another. */
export function connect(
	draft: WorkflowDraft,
	from: string,
	to: string,
	{ output = 0, type = 'main' }: { output?: number; type?: NodeConnectionType } = {},
): WorkflowDraft {
	const connections = structuredClone(draft.connections);
	const outputs = ((connections[from] ??= {})[type] ??= []);
	while (outputs.length <= output) outputs.push([]);
	outputs[output]?.push({ node: to, type, index: 0 });
	return { ...draft, connections };
}

/**
 * One call of the webhook `path` is one production execution: the nodes under test get the call's
 * `items` (`runWebhook(path, { items: [{ … }, … ] })`) as their input, and the call answers the last
 * node's items.
 */
export function webhookWorkflow(path: string, nodes: INode[]): WorkflowDraft {
	const webhook = node(
		'Webhook',
		'n8n-nodes-base.webhook',
		{ httpMethod: 'POST', path, responseMode: 'lastNode', responseData: 'allEntries', options: {} },
		{ typeVersion: 2, webhookId: path },
	);
	const items = node('Items', 'n8n-nodes-base.splitOut', {
		fieldToSplitOut: 'body.items',
		options: {},
	});
	return chain(path, [webhook, items, ...nodes]);
}
