import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { connect, node, webhookWorkflow, type Execution } from '../../../host';
import { startModel, type ModelAnswer, type ModelRequest } from './modelServer';
import type { Stage } from './stage';

const toolType = 'n8n-nodes-push-campaign.pushCampaignTool';

export interface AgentRunOptions {
	/** The version of n8n's AI Agent node. */
	typeVersion: number;
	/** The parameters of the agent's tools, by their names. */
	tools: Record<string, INodeParameters>;
	/** The settings of the tools. */
	settings?: Partial<Pick<INode, 'onError'>>;
	/** What the model says, round by round for each item of the agent; then "Done". */
	answers: readonly ModelAnswer[];
	/** The agent's items; one when left out. */
	items?: Array<Record<string, unknown>>;
	/** Whether a loop hands the items to the agent one by one, each in a run of its own. */
	inLoop?: boolean;
}

export interface AgentRun {
	execution: Execution;
	/** What the workflow's caller got. */
	answer: unknown;
	/** What the agent said to the model, in the order of its requests. */
	requests: readonly ModelRequest[];
	/** What the model was told of its calls, conversation by conversation, as JSON. */
	told: string[];
}

const agentName = 'AI Agent';

/** Runs an agent with this package's node as its tools once, with a model that says what it is given. */
export async function runAgent(
	{ client, credential }: Pick<Stage, 'client' | 'credential'>,
	{
		typeVersion,
		tools: parameters,
		settings = {},
		answers,
		items = [{}],
		inLoop = false,
	}: AgentRunOptions,
): Promise<AgentRun> {
	let round = 0;
	const ended: ModelRequest[] = [];
	const model = await startModel((request) => {
		// An agent begins a conversation of its own for each item.
		const goesOn = request.messages.some(({ role }) => role === 'tool');
		round = goesOn ? round + 1 : 0;
		const answer = answers[round];
		if (answer !== undefined) return answer;
		ended.push(request);
		return { text: 'Done' };
	});
	try {
		const modelCredential = await client.createCredential('Model', 'openAiApi', {
			apiKey: 'no-key',
			url: model.url,
		});
		const path = randomUUID();
		const agent = node(
			agentName,
			'@n8n/n8n-nodes-langchain.agent',
			{ agent: 'toolsAgent', promptType: 'define', text: 'Tell all about the sale', options: {} },
			{ typeVersion },
		);
		const chat = node(
			'Model',
			'@n8n/n8n-nodes-langchain.lmChatOpenAi',
			{ model: { __rl: true, mode: 'id', value: 'scripted' }, options: {} },
			{ typeVersion: 1.2, credential: modelCredential },
		);
		const tools = Object.entries(parameters).map(([name, given]) =>
			node(name, toolType, given, { credential, ...settings }),
		);
		const draft = withSubNodes(inLoop ? loopOver(path, agent) : webhookWorkflow(path, [agent]), {
			chat,
			tools,
		});
		const { id } = await client.createWorkflow(draft);
		await client.activate(id);
		const answer = await client.runWebhook(path, { items });
		const [summary] = await client.waitForExecutions({ workflowId: id });
		await client.deactivate(id);
		const execution = await client.execution(summary?.id ?? '');
		const told = ended
			.flatMap(({ messages }) => messages)
			.filter(({ role }) => role === 'tool')
			.map(({ content }) => JSON.stringify(content));
		return { execution, answer: answer.json, requests: model.requests, told };
	} finally {
		await model.close();
	}
}

type Draft = ReturnType<typeof webhookWorkflow>;

function withSubNodes(draft: Draft, { chat, tools }: { chat: INode; tools: INode[] }): Draft {
	const whole = { ...draft, nodes: [...draft.nodes, chat, ...tools] };
	return tools.reduce(
		(connected, { name }) => connect(connected, name, agentName, { type: 'ai_tool' }),
		connect(whole, chat.name, agentName, { type: 'ai_languageModel' }),
	);
}

function loopOver(path: string, agent: INode): Draft {
	const loop = node('Loop', 'n8n-nodes-base.splitInBatches', { options: {} }, { typeVersion: 3 });
	const end = node('End', 'n8n-nodes-base.noOp');
	const draft = webhookWorkflow(path, [loop, end]);
	const whole = { ...draft, nodes: [...draft.nodes, agent] };
	return connect(connect(whole, loop.name, agent.name, { output: 1 }), agent.name, loop.name);
}
