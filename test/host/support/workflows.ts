import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import { connect, node, webhookWorkflow, type Execution, type WorkflowDraft } from '../../../host';
import { newExecution } from './sends';
import type { Stage } from '.';

type Items = Array<Record<string, unknown>>;

/** A published workflow behind a webhook. */
export interface PublishedWorkflow {
	id: string;
	/** Starts a production execution and waits until it is saved. */
	run(items: Items): Promise<Execution>;
	/** Saves it with these nodes changed, by name: what is published stays as it was. */
	save(...changed: INode[]): Promise<void>;
}

/** Creates and publishes a workflow; its webhook's path is given to whoever draws it. */
export async function publish(
	{ client }: Pick<Stage, 'client'>,
	draw: (path: string) => WorkflowDraft,
): Promise<PublishedWorkflow> {
	const path = randomUUID();
	const draft = draw(path);
	const { id } = await client.createWorkflow(draft);
	await client.activate(id);
	return {
		id,
		run: async (items) =>
			await newExecution({ client }, id, () => client.runWebhook(path, { items })),
		save: async (...changed) => {
			const byName = new Map(changed.map((each) => [each.name, each]));
			// An edit keeps a node's ID.
			const nodes = draft.nodes.map((each) => ({ ...each, ...byName.get(each.name), id: each.id }));
			await client.updateWorkflow(id, { nodes });
		},
	};
}

/** Nodes one after another, of which the last one leads back to the first by this output. */
export function ringOf(path: string, nodes: INode[], output = 0): WorkflowDraft {
	const [first] = nodes;
	const last = nodes.at(-1);
	if (first === undefined || last === undefined) throw new Error('A ring has nodes');
	return connect(webhookWorkflow(path, nodes), last.name, first.name, { output });
}

/** The items one at a time through Loop Over Items and these nodes. */
export function loopOver(path: string, nodes: INode[]): WorkflowDraft {
	const loop = node(
		'Loop',
		'n8n-nodes-base.splitInBatches',
		{ batchSize: 1, options: {} },
		{ typeVersion: 3 },
	);
	const { connections, ...draft } = ringOf(path, [loop, ...nodes]);
	// The first output is for what is done, the second one is the loop.
	const main = [[], ...(connections[loop.name]?.['main'] ?? [])];
	return { ...draft, connections: { ...connections, [loop.name]: { main } } };
}
