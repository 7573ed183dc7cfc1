import { randomUUID } from 'node:crypto';
import type { Credential } from './client';

export interface NodeDraft {
	id: string;
	name: string;
	type: string;
	typeVersion: number;
	position: [number, number];
	parameters: Record<string, unknown>;
	credentials?: Record<string, { id: string; name: string }>;
	webhookId?: string;
	retryOnFail?: boolean;
	maxTries?: number;
	waitBetweenTries?: number;
	onError?: 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';
	alwaysOutputData?: boolean;
	disabled?: boolean;
}

interface Target {
	node: string;
	type: string;
	index: number;
}

/** By the name of the node that a connection leaves, its type, and the output. */
export type Connections = Record<string, Record<string, Array<Target[] | null>>>;

export interface WorkflowDraft {
	name: string;
	nodes: NodeDraft[];
	connections: Connections;
	settings: Record<string, unknown>;
}

export const actionType = 'n8n-nodes-push-campaign.pushCampaign';
export const triggerType = 'n8n-nodes-push-campaign.pushCampaignTrigger';
export const credentialType = 'pushCampaignApi';

type NodeExtras = Partial<
	Omit<NodeDraft, 'id' | 'name' | 'type' | 'parameters' | 'credentials'>
> & {
	credential?: Credential;
};

/** A node of any type; `extras` are its settings (`onError`, `retryOnFail`, …) and its credential. */
export function node(
	name: string,
	type: string,
	parameters: Record<string, unknown> = {},
	{ credential, ...extras }: NodeExtras = {},
): NodeDraft {
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
	parameters: Record<string, unknown>,
	extras: NodeExtras & { name?: string } = {},
): NodeDraft {
	const { name = 'Push Campaign', ...others } = extras;
	return node(name, actionType, parameters, others);
}

/** The package's trigger node; polls every five seconds unless `pollTimes` says otherwise. */
export function pushCampaignTrigger(
	parameters: Record<string, unknown>,
	extras: NodeExtras & { name?: string } = {},
): NodeDraft {
	const { name = 'Push Campaign Trigger', ...others } = extras;
	return node(name, triggerType, { pollTimes: pollEvery(5), ...parameters }, others);
}

/**
 * Poll times `seconds` apart, below the minute that n8n asks of a single one: several together may
 * be closer.
 *
 * @param seconds a divisor of 60
 */
export function pollEvery(seconds: number): { item: Array<Record<string, unknown>> } {
	const item = Array.from({ length: 60 / seconds }, (_, turn) => ({
		mode: 'custom',
		cronExpression: `${turn * seconds} * * * * *`,
	}));
	return { item };
}

/** A workflow of nodes one after another. */
export function chain(name: string, nodes: NodeDraft[]): WorkflowDraft {
	const connections: Connections = {};
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
	{ output = 0, type = 'main' }: { output?: number; type?: string } = {},
): WorkflowDraft {
	const outputs = [...(draft.connections[from]?.[type] ?? [])];
	while (outputs.length <= output) outputs.push([]);
	outputs[output] = [...(outputs[output] ?? []), { node: to, type, index: 0 }];
	return {
		...draft,
		connections: {
			...draft.connections,
			[from]: { ...draft.connections[from], [type]: outputs },
		},
	};
}

/**
 * One call of the webhook `path` is one production execution: the nodes under test get the call's
 * `items` (`runWebhook(path, { items: [{ … }, … ] })`) as their input, and the call answers the last
 * node's items.
 */
export function webhookWorkflow(path: string, nodes: NodeDraft[]): WorkflowDraft {
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
