import { randomUUID } from 'node:crypto';
import { chain, connect, node, type Credential, type WorkflowDraft } from '../../host';
import { useStage } from './support';
import { startModel, type ModelAnswer, type ModelServer } from './support/modelServer';

const toolType = 'n8n-nodes-push-campaign.pushCampaignTool';

/** What the editor writes into a parameter when a user lets the model fill it in. */
const fromModel = (key: string, type: 'string' | 'number' | 'boolean' = 'string') =>
	`={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`\`, '${type}') }}`;

const content = {
	title: fromModel('Title'),
	message: fromModel('Message'),
	targetUrl: fromModel('Target_URL'),
};

interface Operation {
	parameters: Record<string, unknown>;
	/** What the model is to be told. */
	fields: string[];
	description: string;
}

const operations: Operation[] = [
	{
		parameters: { operation: 'sendToAll', ...content },
		fields: ['Title', 'Message', 'Target_URL'],
		description: 'Send campaign to all subscribers in Push Campaign',
	},
	{
		parameters: { operation: 'sendToSegments', ...content, segmentIds: fromModel('Segment_IDs') },
		fields: ['Title', 'Message', 'Target_URL', 'Segment_IDs'],
		description: 'Send campaign to segments in Push Campaign',
	},
	{
		parameters: {
			operation: 'sendToAttributes',
			...content,
			specifyAttributes: 'json',
			attributesJson: fromModel('Attributes__JSON_'),
		},
		fields: ['Title', 'Message', 'Target_URL', 'Attributes__JSON_'],
		description: 'Send campaign to subscribers with attributes in Push Campaign',
	},
	{
		parameters: {
			operation: 'sendToSubscriber',
			...content,
			subscriberId: fromModel('Subscriber_ID'),
		},
		fields: ['Title', 'Message', 'Target_URL', 'Subscriber_ID'],
		description: 'Send campaign to one subscriber in Push Campaign',
	},
	{
		parameters: { operation: 'getStatus', campaignId: fromModel('Campaign_ID') },
		fields: ['Campaign_ID'],
		description: 'Get campaign status in Push Campaign',
	},
	{
		parameters: { resource: 'site', operation: 'getSubscriberCount' },
		fields: [],
		description: 'Get subscriber count in Push Campaign',
	},
];

const toolName = (operation: unknown) => `Push_${String(operation)}`;

/** Each agent runs tools in another way: the newer as a node of the workflow, the older inside itself. */
const agents = [
	['3.1', 3.1],
	['1.9', 1.9],
] as const;

describe.each(agents)('the action node as a tool of an AI Agent %s', (_name, typeVersion) => {
	const stage = useStage({ major: '2' });
	let model: ModelServer | undefined;
	afterEach(async () => {
		await model?.close();
		model = undefined;
	});

	const agentWorkflow = (
		path: string,
		credential: Credential,
		modelCredential: Credential,
	): WorkflowDraft => {
		const webhook = node(
			'Webhook',
			'n8n-nodes-base.webhook',
			{
				httpMethod: 'POST',
				path,
				responseMode: 'lastNode',
				responseData: 'allEntries',
				options: {},
			},
			{ typeVersion: 2, webhookId: path },
		);
		const agent = node(
			'AI Agent',
			'@n8n/n8n-nodes-langchain.agent',
			{ agent: 'toolsAgent', promptType: 'define', text: '={{ $json.body.text }}', options: {} },
			{ typeVersion },
		);
		const chat = node(
			'Model',
			'@n8n/n8n-nodes-langchain.lmChatOpenAi',
			{ model: { __rl: true, mode: 'id', value: 'scripted' }, options: {} },
			{ typeVersion: 1.2, credential: modelCredential },
		);
		const tools = operations.map(({ parameters }) =>
			node(toolName(parameters['operation']), toolType, parameters, { credential }),
		);
		const draft = chain('Agent', [webhook, agent]);
		const whole = { ...draft, nodes: [...draft.nodes, chat, ...tools] };
		return tools.reduce(
			(connected, { name }) => connect(connected, name, 'AI Agent', { type: 'ai_tool' }),
			connect(whole, 'Model', 'AI Agent', { type: 'ai_languageModel' }),
		);
	};

	/** Runs the agent once with a model that says `answers`, one after another, then "Done". */
	const runAgent = async (answers: ModelAnswer[]) => {
		const { client, credential } = stage();
		const scripted = await startModel((_request, turn) => answers[turn] ?? { text: 'Done' });
		model = scripted;
		const modelCredential = await client.createCredential('Model', 'openAiApi', {
			apiKey: 'no-key',
			url: scripted.url,
		});
		const path = randomUUID();
		const draft = agentWorkflow(path, credential, modelCredential);
		const { id } = await client.createWorkflow(draft);
		await client.activate(id);
		const answer = await client.runWebhook(path, { text: 'Tell all about the sale' });
		const [execution] = await client.waitForExecutions({ workflowId: id });
		await client.deactivate(id);
		const saved = await client.execution(execution?.id ?? '');
		expect(saved.data.resultData.error?.message).toBeUndefined();
		return { answer, status: saved.status, requests: scripted.requests };
	};

	test('the model is offered every operation, named and described, with all its fields', async () => {
		const { requests } = await runAgent([]);
		const offered = requests[0]?.tools.map(({ function: tool }) => ({
			name: tool.name,
			description: tool.description,
			fields: Object.keys(tool.parameters.properties).sort(),
			required: [...tool.parameters.required].sort(),
		}));
		const expected = operations.map(({ parameters, fields, description }) => ({
			name: toolName(parameters['operation']),
			description,
			fields: [...fields].sort(),
			required: [...fields].sort(),
		}));
		const byName = (one: { name: string }, other: { name: string }) =>
			one.name.localeCompare(other.name);
		expect(offered?.sort(byName)).toEqual(expected.sort(byName));
	});

	test("the model's calls send the campaigns that it asks for, and it reads their status", async () => {
		const { simulator } = stage();
		const text = { Title: 'Sale', Message: 'Today', Target_URL: 'https://shop.example/sale' };
		const call = (tool: string, given: Record<string, unknown>) => ({
			calls: [{ tool: toolName(tool), arguments: given }],
		});
		const { answer, status, requests } = await runAgent([
			call('sendToAll', text),
			call('sendToSegments', { ...text, Segment_IDs: '11, 12' }),
			call('sendToAttributes', { ...text, Attributes__JSON_: '{"city":"Oslo"}' }),
			call('sendToSubscriber', { ...text, Subscriber_ID: '5001' }),
			call('getStatus', { Campaign_ID: '1001' }),
			call('getSubscriberCount', {}),
		]);
		expect(answer.json).toMatchObject([{ output: 'Done' }]);
		expect(status).toBe('success');

		const body = { title: 'Sale', message: 'Today', target_url: 'https://shop.example/sale' };
		const sent = simulator.requests
			.filter(({ method }) => method === 'POST')
			.map(({ path, json }) => [path.split('/').at(-1), json]);
		expect(sent).toEqual([
			['all', body],
			['segment', { ...body, segment: ['11', '12'] }],
			['attribute', { ...body, attribute: { city: 'Oslo' } }],
			['sid', { ...body, sid: '5001' }],
		]);
		const told = requests
			.at(-1)
			?.messages.filter(({ role }) => role === 'tool')
			.map(({ content: words }) => JSON.stringify(words));
		expect(told).toHaveLength(operations.length);
		expect(told?.[0]).toContain('1001');
		expect(told?.[4]).toContain('deliveryRate');
		expect(told?.[5]).toContain('activeSubscribers');
	});

	test('the model is told what happened to a send that did not work, and it goes out once', async () => {
		const { simulator } = stage();
		simulator.addFault({ match: { method: 'POST' }, action: { kind: 'reset-after' } });
		const text = { Title: 'Sale', Message: 'Today', Target_URL: 'https://shop.example/sale' };
		const { requests } = await runAgent([
			{ calls: [{ tool: toolName('sendToAll'), arguments: text }] },
		]);
		expect(simulator.campaigns.size).toBe(1);
		const told = requests.at(-1)?.messages.filter(({ role }) => role === 'tool');
		expect(told).toHaveLength(1);
		// The older agent hands the model an empty text for every error.
		if (typeVersion > 3) {
			expect(JSON.stringify(told)).toContain('It is unknown whether this was sent');
		}
	});
});
