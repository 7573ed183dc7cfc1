import type {
	EngineResponse,
	IExecuteFunctions,
	INodeType,
	INodeTypeDescription,
	INodeTypes,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';

const { Main, AiTool } = NodeConnectionTypes;

const descriptionOf = (
	name: string,
	more: Partial<INodeTypeDescription> = {},
): INodeTypeDescription => ({
	displayName: name,
	name,
	group: ['transform'],
	version: 1,
	description: name,
	defaults: { name },
	inputs: [Main],
	outputs: [Main],
	properties: [],
	...more,
});

/** Stands in for a built-in node that hands its input on. */
const passOn: INodeType = {
	description: descriptionOf('passOn', { group: ['trigger'] }),
	async execute() {
		return [this.getInputData()];
	},
};

/** Stands in for Loop Over Items: hands its input to the second output twice, then to the first one. */
const loopTwice: INodeType = {
	description: descriptionOf('loopTwice', { outputs: [Main, Main] }),
	async execute() {
		const context = this.getContext('node');
		const rounds = Number(context['rounds'] ?? 0);
		context['rounds'] = rounds + 1;
		return rounds < 2 ? [[], this.getInputData()] : [this.getInputData(), []];
	},
};

/** Fails, and hands its items on in a Retry. */
const failsOnce: INodeType = {
	description: descriptionOf('failsOnce'),
	async execute() {
		if (this.getMode() !== 'retry') throw new Error('It fails once');
		return [this.getInputData()];
	},
};

/** The name of the tool that the agents here call. */
export const TOOL = 'Push Tool';

const agentDescription = (name: string) =>
	descriptionOf(name, { inputs: [Main, { type: AiTool, displayName: 'Tool' }] });

/** Stands in for today's AI Agent: asks the engine to call a tool once for each input item, and gives its answers. */
const agent: INodeType = {
	description: agentDescription('agent'),
	async execute(this: IExecuteFunctions, response?: EngineResponse) {
		const answers = response?.actionResponses ?? [];
		if (answers.length > 0) {
			return [answers.map(({ data }) => ({ json: data.data?.['ai_tool']?.[0]?.[0]?.json ?? {} }))];
		}
		const actions = this.getInputData().map(({ json }, index) => ({
			actionType: 'ExecutionNodeAction' as const,
			nodeName: TOOL,
			input: json,
			type: AiTool,
			id: `call ${index}`,
			metadata: { itemIndex: index },
		}));
		return { actions, metadata: {} };
	},
};

interface Tool {
	invoke(args: object): Promise<unknown>;
}
const isTool = (value: unknown): value is Tool =>
	typeof value === 'object' && value !== null && 'invoke' in value;

/** Stands in for an older AI Agent, and for n8n's MCP Server Trigger: calls the tool itself, all calls at once. */
const olderAgent: INodeType = {
	description: agentDescription('olderAgent'),
	async execute() {
		const connected: unknown = await this.getInputConnectionData(AiTool, 0);
		const tool: unknown = Array.isArray(connected) ? connected[0] : connected;
		if (!isTool(tool)) throw new Error('The agent has no tool');
		const answers: unknown[] = await Promise.all(
			this.getInputData().map(
				// What a model hands over is not the whole item.
				async ({ json: { kept: _kept, ...args } }) =>
					await tool.invoke(args).catch((error: Error) => error.message),
			),
		);
		return [answers.map((answer) => ({ json: { answer: String(answer) } }))];
	},
};

/** The node as n8n makes a tool of it (n8n 2.41.1: `tool-generation/ai-tools.js`). */
function toolOf(node: INodeType): INodeType {
	const description = { ...node.description, inputs: [], outputs: [AiTool] };
	return { ...node, description, execute: PushCampaign.prototype.execute };
}

const push = new PushCampaign();
const table: Readonly<Record<string, INodeType>> = {
	'n8n-nodes-push-campaign.pushCampaign': push,
	'n8n-nodes-push-campaign.pushCampaignTool': toolOf(push),
	'n8n-nodes-push-campaign.pushCampaignTrigger': new PushCampaignTrigger(),
	'n8n-nodes-base.manualTrigger': passOn,
	'n8n-nodes-base.noOp': passOn,
	'test.loopTwice': loopTwice,
	'test.failsOnce': failsOnce,
	'test.agent': agent,
	'test.olderAgent': olderAgent,
};

const find = (name: string): INodeType => {
	const nodeType = table[name];
	if (nodeType === undefined) throw new Error(`No node type ${name} in the engine tests`);
	return nodeType;
};

/** The node types that the engine tests know, by their full name; throws on any other. */
export const nodeTypes: INodeTypes = {
	getByName: find,
	getByNameAndVersion: find,
	getKnownTypes: () => ({}),
};
