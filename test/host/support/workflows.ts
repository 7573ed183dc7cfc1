import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import {
	chain,
	connect,
	node,
	until,
	webhookWorkflow,
	type Execution,
	type WorkflowDraft,
} from '../../../host';
import type { Stage } from './stage';

export type Item = Record<string, unknown>;
type Source = Pick<Stage, 'client'>;

/** A published workflow behind a webhook. */
export interface PublishedWorkflow {
	id: string;
	/** Starts a production execution; resolves when n8n has answered the call. */
	call(items: Item[]): Promise<unknown>;
	/** Starts a production execution and waits until it is saved. */
	run(items: Item[]): Promise<Execution>;
	/** Saves it with these nodes changed, by name: what is published stays as it was. */
	save(...changed: INode[]): Promise<void>;
}

/** Creates and publishes a workflow; its webhook's path is given to whoever draws it. */
export async function publish(
	{ client }: Source,
	draw: (path: string) => WorkflowDraft,
): Promise<PublishedWorkflow> {
	const path = randomUUID();
	const draft = draw(path);
	const { id } = await client.createWorkflow(draft);
	await client.activate(id);
	const call = async (items: Item[]) => await client.runWebhook(path, { items });
	return {
		id,
		call,
		run: async (items) => {
			const before = new Set((await client.executions({ workflowId: id })).map((each) => each.id));
			// n8n's executions tell, not its answer: a busy one leaves a call unanswered now and then.
			call(items).catch(() => undefined);
			const begun = await until(
				async () =>
					(await client.executions({ workflowId: id })).find((each) => !before.has(each.id)),
				(found) => found !== undefined,
				{ within: 120_000, late: () => 'n8n started no execution' },
			);
			return await client.waitForExecution(begun?.id ?? '');
		},
		save: async (...changed) => {
			const byName = new Map(changed.map((each) => [each.name, each]));
			// An edit keeps a node's ID.
			const nodes = draft.nodes.map((each) => ({
				...(byName.get(each.name) ?? each),
				id: each.id,
			}));
			await client.updateWorkflow(id, { nodes });
		},
	};
}

/** The items one at a time through Loop Over Items and these nodes, and in the end all of them through the last one. */
export function loopOver(path: string, nodes: INode[], behind: INode): WorkflowDraft {
	const loop = node(
		'Loop',
		'n8n-nodes-base.splitInBatches',
		{ batchSize: 1, options: {} },
		{ typeVersion: 3 },
	);
	const { connections, ...draft } = webhookWorkflow(path, [loop, ...nodes]);
	// The first output is for what is done, the second one is the loop.
	const main = [[], ...(connections[loop.name]?.['main'] ?? [])];
	const whole = {
		...draft,
		nodes: [...draft.nodes, behind],
		connections: { ...connections, [loop.name]: { main } },
	};
	const back = connect(whole, nodes.at(-1)?.name ?? '', loop.name);
	return connect(back, loop.name, behind.name);
}

/** The node that calls a sub-workflow: with all items at once, or in an execution for each. */
export const callNode = (subId: string, mode: 'once' | 'each'): INode =>
	node(
		'Call',
		'n8n-nodes-base.executeWorkflow',
		{
			source: 'database',
			workflowId: { __rl: true, mode: 'id', value: subId },
			workflowInputs: { mappingMode: 'defineBelow', value: {} },
			mode,
			options: {},
		},
		{ typeVersion: 1.3 },
	);

/** Creates and publishes a sub-workflow of these nodes; gives its ID. */
export async function subWorkflow({ client }: Source, nodes: INode[]): Promise<string> {
	const start = node(
		'Start',
		'n8n-nodes-base.executeWorkflowTrigger',
		{ inputSource: 'passthrough' },
		{ typeVersion: 1.1 },
	);
	const { id } = await client.createWorkflow(chain('Sub-workflow', [start, ...nodes]));
	await client.activate(id);
	return id;
}
