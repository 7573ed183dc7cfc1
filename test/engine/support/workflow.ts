import { readFileSync } from 'node:fs';
import {
	NodeConnectionTypes,
	type IConnections,
	type INode,
	type INodeParameters,
	type IWorkflowSettings,
} from 'n8n-workflow';
import { z } from 'zod';

/** As much of a saved workflow as the engine needs. */
export interface WorkflowJson {
	name?: string;
	nodes: INode[];
	connections: IConnections;
	settings?: IWorkflowSettings;
}

const record = z.record(z.unknown());

const node = z
	.object({
		id: z.string(),
		name: z.string(),
		type: z.string(),
		typeVersion: z.number(),
		position: z.tuple([z.number(), z.number()]),
		parameters: record,
	})
	.passthrough();

const isNode = (value: unknown): value is INode => node.safeParse(value).success;
const isConnections = (value: unknown): value is IConnections => record.safeParse(value).success;
const isSettings = (value: unknown): value is IWorkflowSettings => record.safeParse(value).success;

const workflow = z.object({
	name: z.string().default('Workflow'),
	nodes: z.array(z.custom<INode>(isNode, 'not a node')),
	connections: z.custom<IConnections>(isConnections, 'not connections'),
	settings: z.custom<IWorkflowSettings>(isSettings, 'not settings').default({}),
});

/** Reads a workflow as n8n exports it; throws a ZodError when the file is not one. */
export const readWorkflow = (path: string): WorkflowJson =>
	workflow.parse(JSON.parse(readFileSync(path, 'utf8')));

/** A node of a workflow under construction: its type and name, the rest as n8n's defaults. */
export type NodeSketch = Partial<Omit<INode, 'parameters'>> &
	Pick<INode, 'name' | 'type'> & { parameters?: INodeParameters };

/** Completes a sketch to a node as n8n saves it. */
export const nodeFrom = (sketch: NodeSketch): INode => ({
	id: sketch.name,
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
	...sketch,
});

/** The node that every chain starts with; its output is the run's `input`. */
export const START = 'Start';

/**
 * A workflow of nodes one after another, behind a manual trigger called 'Start'.
 * @param sketches the nodes in their order, each fed by the first output of the one before it
 */
export const chain = (sketches: NodeSketch[], settings: IWorkflowSettings = {}): WorkflowJson => {
	const first = nodeFrom({ name: START, type: 'n8n-nodes-base.manualTrigger' });
	const nodes = [first, ...sketches.map(nodeFrom)];
	const workflowJson: WorkflowJson = {
		nodes,
		connections: {},
		settings: { executionOrder: 'v1', ...settings },
	};
	nodes
		.slice(1)
		.forEach((to, index) => connect(workflowJson, nodes[index]?.name ?? START, to.name));
	return workflowJson;
};

/** Draws one more connection into a workflow, from the given output (0 is the first). */
export const connect = (
	{ connections }: WorkflowJson,
	from: string,
	to: string,
	output = 0,
): void => {
	const outputs = ((connections[from] ??= {})[NodeConnectionTypes.Main] ??= []);
	while (outputs.length <= output) outputs.push([]);
	(outputs[output] ??= []).push({ node: to, type: NodeConnectionTypes.Main, index: 0 });
};
