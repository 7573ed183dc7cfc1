import type { IConnections, INode, INodeParameters, IWorkflowSettings } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { chain as draftOf, connect as connectIn } from '../../../host/n8n/workflows';

/** As much of a saved workflow as the engine needs. */
export interface WorkflowJson {
	nodes: INode[];
	connections: IConnections;
	settings?: IWorkflowSettings;
}

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
const START = 'Start';

/**
 * A workflow of nodes one after another, behind a manual trigger called 'Start'.
 * @param sketches the nodes in their order, each fed by the first output of the one before it
 */
export function chain(sketches: NodeSketch[], settings: IWorkflowSettings = {}): WorkflowJson {
	const start = nodeFrom({ name: START, type: 'n8n-nodes-base.manualTrigger' });
	const { nodes, connections } = draftOf('Workflow', [start, ...sketches.map(nodeFrom)]);
	return { nodes, connections, settings: { executionOrder: 'v1', ...settings } };
}

/**
 * Draws one more connection into a workflow.
 * @param output 0 is the first one
 */
export function connect(
	json: WorkflowJson,
	from: string,
	to: string,
	output = 0,
	type: 'main' | 'ai_tool' = NodeConnectionTypes.Main,
): void {
	const draft = { name: 'Workflow', settings: {}, ...json };
	json.connections = connectIn(draft, from, to, { output, type }).connections;
}
