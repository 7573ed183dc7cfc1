import { randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { actionType, connect, node, webhookWorkflow, type WorkflowDraft } from '../../host';
import { acceptedTitles, lostAnswer, publish, useStage } from './support';
import { startModel, type ModelServer, type ToolCall } from './support/model';

// A model that is scripted calls the node as a tool, in the three ways in which n8n runs tools.

const stage = useStage();

const models: ModelServer[] = [];
afterEach(async () => {
	for (const model of models.splice(0)) await model.close();
});

/** What the editor writes into a parameter when a user lets the model fill it in. */
const fromModel = (key: string) =>
	`={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`\`, 'string') }}`;

const content: INodeParameters = {
	title: fromModel('Title'),
	message: fromModel('Message'),
	targetUrl: fromModel('Target_URL'),
};
const given = { Title: 'Sale', Message: 'Today', Target_URL: 'https://shop.example/sale' };
const body = { title: 'Sale', message: 'Today', target_url: 'https://shop.example/sale' };

interface Tool {
	name: string;
	parameters: INodeParameters;
}

/** One tool for each operation, with what the model calls it with. */
const tools: Array<Tool & { call: Record<string, string> }> = [
	{ name: 'To_all', parameters: { operation: 'sendToAll', ...content }, call: given },
	{
		name: 'To_attributes',
		parameters: {
			operation: 'sendToAttributes',
			specifyAttributes: 'json',
			attributesJson: fromModel('Attributes'),
			...content,
		},
		call: { ...given, Attributes: '{"city":"Oslo"}' },
	},
	{
		name: 'To_segments',
		parameters: { operation: 'sendToSegments', segmentIds: fromModel('Segments'), ...content },
		call: { ...given, Segments: '11, 12' },
	},
	{
		name: 'To_subscriber',
		parameters: {
			operation: 'sendToSubscriber',
			subscriberId: fromModel('Subscriber'),
			...content,
		},
		call: { ...given, Subscriber: '5001' },
	},
	{
		name: 'Status',
		parameters: { operation: 'getStatus', campaignId: fromModel('Campaign') },
		call: { Campaign: '1001' },
	},
	{ name: 'Count', parameters: { resource: 'site', operation: 'getSubscriberCount' }, call: {} },
];
const callsOfAll: ToolCall[][] = tools.map(({ name, call }) => [{ tool: name, arguments: call }]);

/** Expects that every operation did what the model asked for, and that the model was told. */
function expectAllDone(told: readonly string[]): void {
	const sent = stage().simulator.requests.filter(({ method }) => method === 'POST');
	expect(sent.map(({ path, json }) => [path.split('/').at(-1), json])).toEqual([
		['all', body],
		['attribute', { ...body, attribute: { city: 'Oslo' } }],
		['segment', { ...body, segment: ['11', '12'] }],
		['sid', { ...body, sid: '5001' }],
	]);
	const words = ['1001', '1002', '1003', '5001', 'deliveryRate', 'activeSubscribers'];
	expect(told).toHaveLength(words.length);
	words.forEach((word, index) => expect(told[index]).toContain(word));
}

const toolNodes = (offered: readonly Tool[]) =>
	offered.map(({ name, parameters }) =>
		node(name, `${actionType}Tool`, parameters, { credential: stage().credential }),
	);

const newModel = async (rounds: ToolCall[][]): Promise<ModelServer> => {
	const model = await startModel(rounds);
	models.push(model);
	return model;
};

describe('as a tool of the AI Agent node', () => {
	/** Runs an agent once, in a workflow; gives what the model was told. */
	const runAgent = async (rounds: ToolCall[][], offered: readonly Tool[]) => {
		const { client } = stage();
		const model = await newModel(rounds);
		const access = { apiKey: 'no-key', url: model.url };
		const modelCredential = await client.createCredential('Model', 'openAiApi', access);
		const agent = node(
			'AI Agent',
			'@n8n/n8n-nodes-langchain.agent',
			{ promptType: 'define', text: 'Tell all about the sale', options: {} },
			{ typeVersion: 3.1 },
		);
		const chat = node(
			'Model',
			'@n8n/n8n-nodes-langchain.lmChatOpenAi',
			{ model: { __rl: true, mode: 'id', value: 'scripted' }, options: {} },
			{ typeVersion: 1.2, credential: modelCredential },
		);
		const workflow = await publish(stage(), (path) => {
			const alone = webhookWorkflow(path, [agent]);
			const parts = toolNodes(offered);
			const all = { ...alone, nodes: [...alone.nodes, chat, ...parts] };
			const withModel = connect(all, chat.name, agent.name, { type: 'ai_languageModel' });
			return parts.reduce(
				(draft, { name }) => connect(draft, name, agent.name, { type: 'ai_tool' }),
				withModel,
			);
		});
		expect((await workflow.run([{}])).status).toBe('success');
		return model;
	};

	test('every operation does what the model asks for', async () => {
		const model = await runAgent(callsOfAll, tools);
		const offered = model.requests[0]?.tools.map(({ function: { name } }) => name);
		expect(offered?.sort()).toEqual(tools.map(({ name }) => name).sort());
		expectAllDone(model.told());
	});

	test('a call that the model repeats is not sent again, whether its answer came or was lost', async () => {
		stage().simulator.addFault(lostAnswer('Lost'));
		const call = (title: string): ToolCall[] => [
			{ tool: 'To_all', arguments: { ...given, Title: title } },
		];
		const rounds = [call('First'), call('Lost'), call('First'), call('Lost')];
		const model = await runAgent(rounds, tools.slice(0, 1));
		expect(acceptedTitles(stage())).toEqual(['First', 'Lost']);
		const [first, lost, again, lostAgain] = model.told();
		expect(first).toContain('1001');
		expect(again).toBe(first);
		expect(lost).toContain('is unknown whether this was sent');
		expect(lostAgain).toContain('is unknown whether this was sent');
	});
});

describe('by MCP', () => {
	const answerSchema = z.object({
		result: z.object({ content: z.array(z.object({ text: z.string() })) }),
	});

	test('every operation does what the client asks for', async () => {
		const { client, server } = stage();
		const path = randomUUID();
		const trigger = node(
			'MCP Server Trigger',
			'@n8n/n8n-nodes-langchain.mcpTrigger',
			{ authentication: 'none', path },
			{ typeVersion: 2, webhookId: path },
		);
		const parts = toolNodes(tools);
		const alone = { name: 'MCP', nodes: [trigger, ...parts], connections: {}, settings: {} };
		const draft = parts.reduce(
			(whole: WorkflowDraft, { name }) => connect(whole, name, trigger.name, { type: 'ai_tool' }),
			alone,
		);
		const { id } = await client.createWorkflow(draft);
		await client.activate(id);

		let session: Record<string, string> = {};
		const ask = async (method: string, params: object, isRequest = true) => {
			const answer = await fetch(`${server.url}/mcp/${path}`, {
				method: 'POST',
				headers: {
					accept: 'application/json, text/event-stream',
					'content-type': 'application/json',
					...session,
				},
				body: JSON.stringify({ jsonrpc: '2.0', method, params, ...(isRequest && { id: 1 }) }),
			});
			const sessionId = answer.headers.get('mcp-session-id');
			if (sessionId !== null) session = { 'mcp-session-id': sessionId };
			const text = await answer.text();
			return text.replace(/^(event|id):.*\n/gm, '').replace(/^data: /m, '');
		};
		const clientInfo = { name: 'test', version: '1.0.0' };
		await ask('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo });
		await ask('notifications/initialized', {}, false);
		const told: string[] = [];
		for (const { name, call } of tools) {
			const answer = await ask('tools/call', { name, arguments: call });
			const { content: parts } = answerSchema.parse(JSON.parse(answer)).result;
			told.push(parts.map(({ text }) => text).join());
		}
		expectAllDone(told);
	});
});

describe("as a tool of n8n's own Agents", () => {
	/** Chats once with an agent that has these tools; gives what the model was told. */
	const chat = async (rounds: ToolCall[][], offered: readonly Tool[]): Promise<string[]> => {
		const { client, credential } = stage();
		const model = await newModel(rounds);
		const access = { apiKey: 'no-key', url: model.url };
		const modelCredential = await client.createCredential('Model', 'deepSeekApi', access);
		const withId = z.object({ id: z.string() });
		const project = withId.parse(await client.request('GET', 'projects/personal'));
		const agents = `projects/${project.id}/agents/v2`;
		const schema = {
			name: 'Marketing',
			model: 'deepseek/scripted',
			credential: modelCredential.id,
			instructions: 'Tell all about the sale',
			tools: offered.map(({ name, parameters }) => ({
				type: 'node',
				name,
				description: name,
				node: {
					nodeType: `${actionType}Tool`,
					nodeTypeVersion: 1,
					nodeParameters: parameters,
					credentials: { [credential.type]: { id: credential.id, name: credential.name } },
				},
			})),
		};
		const agent = withId.parse(await client.request('POST', agents, { name: 'Marketing', schema }));
		const path = `${agents}/${agent.id}/chat`;
		const events = await client.requestText('POST', path, { message: 'Go' });
		expect(events).toContain('"done"');
		return model.told();
	};

	test('every operation does what the model asks for', async () => {
		expectAllDone(await chat(callsOfAll, tools));
	});

	test('Send Only Once is refused, in words that say why, and nothing is sent', async () => {
		const parameters = { operation: 'sendToAll', ...content, options: { idempotencyKey: 'sale' } };
		const [told] = await chat(callsOfAll.slice(0, 1), [{ name: 'To_all', parameters }]);
		expect(told).toContain('Send Only Once');
		expect(told).toMatch(/agent/i);
		expect(stage().simulator.requestCount).toBe(0);
	});
});
