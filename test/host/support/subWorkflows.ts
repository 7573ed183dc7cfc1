import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import { chain, node, webhookWorkflow, type Execution } from '../../../host';
import { newExecution } from './sends';
import type { Stage } from '.';

/** A workflow that calls another one, and that one. */
export interface CallingWorkflow {
	/** Of the sub-workflow. */
	subId: string;
	/** Starts a production execution of the caller, and waits until it is saved. */
	run(items: Array<Record<string, unknown>>): Promise<Execution>;
	/** The sub-workflow's own executions, the newest first. */
	subExecutions(): Promise<Execution[]>;
}

/** How the Execute Workflow node hands on its items: all at once, or in an execution for each. */
export type CallMode = 'once' | 'each';

/** The nodes at both ends of a call: the one that calls, and the one by which the sub-workflow begins. */
export const callNode = (subId: string, mode: CallMode): INode =>
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
const subStart = (): INode =>
	node(
		'Start',
		'n8n-nodes-base.executeWorkflowTrigger',
		{ inputSource: 'passthrough' },
		{ typeVersion: 1.1 },
	);

/** Creates and publishes a sub-workflow of these nodes; gives its ID. */
export async function subWorkflow(
	{ client }: Pick<Stage, 'client'>,
	nodes: INode[],
): Promise<string> {
	const { id } = await client.createWorkflow(chain('Sub-workflow', [subStart(), ...nodes]));
	await client.activate(id);
	return id;
}

/** Creates and publishes a sub-workflow of these nodes, and a workflow that calls it. */
export async function callingWorkflow(
	{ client }: Pick<Stage, 'client'>,
	nodes: INode[],
	mode: CallMode,
): Promise<CallingWorkflow> {
	const subId = await subWorkflow({ client }, nodes);
	const path = randomUUID();
	const { id } = await client.createWorkflow(webhookWorkflow(path, [callNode(subId, mode)]));
	await client.activate(id);
	return {
		subId,
		run: async (items) =>
			await newExecution({ client }, id, () => client.runWebhook(path, { items })),
		subExecutions: async () => {
			const all = await client.executions({ workflowId: subId });
			return await Promise.all(all.map((each) => client.waitForExecution(each.id)));
		},
	};
}
