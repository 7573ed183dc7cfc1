import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import type { NodeTypeTable } from './nodeTypes';

type Execute = (this: IExecuteFunctions) => Promise<INodeExecutionData[][]>;

const describe = (
	name: string,
	properties: INodeProperties[],
	more: Partial<INodeTypeDescription>,
): INodeTypeDescription => ({
	displayName: name,
	name,
	group: ['transform'],
	version: 1,
	description: 'Stands in for a node in a test',
	defaults: { name },
	inputs: [NodeConnectionTypes.Main],
	outputs: [NodeConnectionTypes.Main],
	properties,
	...more,
});

/**
 * A node type made of a function, for whatever a test needs beside the nodes under test.
 * @param execute what the node does; `this` is what n8n gives a real node's `execute`
 */
export const nodeOf = (
	name: string,
	execute: Execute,
	properties: INodeProperties[] = [],
	more: Partial<INodeTypeDescription> = {},
): INodeType => ({ description: describe(name, properties, more), execute });

const passOn: Execute = async function () {
	return [this.getInputData()];
};

const start = nodeOf('manualTrigger', passOn, [], { group: ['trigger'], inputs: [] });

/** Hands its input to the first output ('loop') `times` times, then to the second one ('done'). */
const loop = nodeOf(
	'loop',
	async function () {
		const context = this.getContext('node');
		const round = typeof context['round'] === 'number' ? context['round'] : 0;
		const items = this.getInputData();
		if (round >= Number(this.getNodeParameter('times', 0))) return [[], items];
		context['round'] = round + 1;
		return [items, []];
	},
	[{ displayName: 'Times', name: 'times', type: 'number', default: 2 }],
	{ outputs: [NodeConnectionTypes.Main, NodeConnectionTypes.Main] },
);

/** Throws when the test asks it to, else hands its input on: for failures after the node under test. */
const stumble = nodeOf(
	'stumble',
	async function () {
		const items = this.getInputData();
		if (this.getNodeParameter('fail', 0) === true) throw new Error('Stumbled on purpose');
		return [items];
	},
	[{ displayName: 'Fail', name: 'fail', type: 'boolean', default: true }],
);

/** Small stand-ins for the built-in nodes that a workflow needs around the nodes under test. */
export const doubles: NodeTypeTable = {
	'n8n-nodes-base.manualTrigger': start,
	'n8n-nodes-base.noOp': nodeOf('noOp', passOn),
	'test.loop': loop,
	'test.stumble': stumble,
};
