import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { actionType, connect, node, webhookWorkflow } from '../../host';
import { useStage } from './support';
import { everyOperation } from './support/fixtures';
import { startModel, type ModelAnswer, type ModelRequest } from './support/modelServer';
import { acceptedTitles, lostAnswer } from './support/reliabilityWorkflow';

/** What the editor writes into a parameter when a user lets the model fill it in. */
const fromModel = (key: string) =>
	`={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`\`, 'string') }}`;

const content = {
	title: fromModel('Title'),
	message: fromModel('Message'),
	targetUrl: fromModel('Target_URL'),
};
const text = { Title: 'Sale', Message: 'Today', Target_URL: 'https://shop.example/sale' };
const body = { title: 'Sale', message: 'Today', target_url: 'https://shop.example/sale' };

interface OperationCase {
	operation: string;
	parameters: INodeParameters;
	/** What the model is to be told of it. */
	description: string;
	/** What the model calls it with: all its fields. */
	given: Record<string, string>;
	/** What is sent then. */
	sent?: [path: string, body: Record<string, unknown>];
	/** What the model is told then. */
	told: string;
}

const operations: OperationCase[] = [
	{
		operation: 'sendToAll',
		parameters: content,
		description: 'Send campaign to all subscribers in Push Campaign',
		given: text,
		sent: ['all', body],
		told: '1001',
	},
	{
		operation: 'sendToAttributes',
		parameters: {
			...content,
			specifyAttributes: 'json',
			attributesJson: fromModel('Attributes__JSON_'),
		},
		description: 'Send campaign to subscribers with attributes in Push Campaign',
		given: { ...text, Attributes__JSON_: '{"city":"Oslo"}' },
		sent: ['attribute', { ...body, attribute: { city: 'Oslo' } }],
		told: '1002',
	},
	{
		operation: 'sendToSegments',
		parameters: { ...content, segmentIds: fromModel('Segment_IDs') },
		description: 'Send campaign to segments in Push Campaign',
		given: { ...text, Segment_IDs: '11, 12' },
		sent: ['segment', { ...body, segment: ['11', '12'] }],
		told: '1003',
	},
	{
		operation: 'sendToSubscriber',
		parameters: { ...content, subscriberId: fromModel('Subscriber_ID') },
		description: 'Send campaign to one subscriber in Push Campaign',
		given: { ...text, Subscriber_ID: '5001' },
		sent: ['sid', { ...body, sid: '5001' }],
		told: '5001',
	},
	{
		operation: 'getStatus',
		parameters: { campaignId: fromModel('Campaign_ID') },
		description: 'Get campaign status in Push Campaign',
		given: { Campaign_ID: '1001' },
		told: 'deliveryRate',
	},
	{
		operation: 'getSubscriberCount',
		parameters: { resource: 'site' },
		description: 'Get subscriber count in Push Campaign',
		given: {},
		told: 'activeSubscribers',
	},
];

const toolName = (operation: string) => `Push_${operation}`;

const everyTool = Object.fromEntries(
	operations.map(({ operation, parameters }) => [
		toolName(operation),
		{ ...parameters, operation },
	]),
);

/** The tool of the tests that have one. */
const tool = 'Push';
const calls = (...titles: string[]): ModelAnswer => ({
	calls: titles.map((Title) => ({ tool, arguments: { ...text, Title } })),
});

const isUnknown = 'It is unknown whether this was sent';

interface Conversation {
	what: string;
	/** What the model says. The answer to the first send of 'Lost' is lost. */
	answers: ModelAnswer[];
	/** The titles that the service accepted, in any order. */
	accepted: string[];
	/** What the model is told of each call: the ID of the campaign with this title, or that nobody knows. */
	told: string[];
}

const conversations: Conversation[] = [
	{
		what: 'calls at the same time, one of whose answers is lost, send nothing again when the model repeats them',
		answers: [calls('First', 'Lost', 'Third'), calls('First'), calls('Lost'), calls('Third')],
		accepted: ['First', 'Lost', 'Third'],
		told: ['First', isUnknown, 'Third', 'First', isUnknown, 'Third'],
	},
	{
		what: 'two equal calls at the same time are sent once, and both get the answer',
		answers: [calls('Sale', 'Sale')],
		accepted: ['Sale'],
		told: ['Sale', 'Sale'],
	},
];

const toEach = { operation: 'sendToSubscriber', ...content, subscriberId: '={{ $json.own }}' };
const titled = { operation: 'sendToAll', ...content, title: '={{ $json.own }}' };
const ids = ['5001', '5002', '5003'];

/** Each item has something of its own (sorted here), which is sent as `field`; the model says the same to all. */
interface ThreeItems {
	readonly name: string;
	readonly inLoop: boolean;
	readonly parameters: INodeParameters;
	/** The field of the request that differs, and its values. */
	readonly field: string;
	readonly values: string[];
}

const three: ThreeItems[] = [
	{
		name: 'three subscribers in a loop get the same words, each once',
		inLoop: true,
		parameters: toEach,
		field: 'sid',
		values: ids,
	},
	{
		name: 'a loop over three titles sends each once, with the same words of the model',
		inLoop: true,
		parameters: titled,
		field: 'title',
		values: ['One', 'Three', 'Two'],
	},
	{
		name: 'three subscribers as items of one run get the same words, each once',
		inLoop: false,
		parameters: toEach,
		field: 'sid',
		values: ids,
	},
];

/**
 * Each agent runs tools in another way: the newer as a node of the workflow, one call after another, the
 * older ones inside themselves, all calls of an answer at once.
 */
const agents = [
	['2', [3.1, 2.2, 1.9]],
	['1', [3, 1.9]],
] as const;

interface AgentRun {
	/** The parameters of the agent's tools, by their names. */
	tools: Record<string, INodeParameters>;
	/** What the model says, round by round for each item of the agent; then "Done". */
	answers: readonly ModelAnswer[];
	items?: Array<Record<string, unknown>>;
	/** Whether a loop hands the items to the agent one by one, each in a run of its own. */
	inLoop?: boolean;
}

describe.each(agents)('the action node as a tool on n8n %s.x', (major, typeVersions) => {
	const stage = useStage({ major });

	/**
	 * Runs an agent once, with a model that says what it is given.
	 *
	 * @returns what the agent said to the model, and what the model was told of its calls, as JSON
	 */
	const runAgent = async (
		typeVersion: number,
		{ tools, answers, items = [{}], inLoop = false }: AgentRun,
	) => {
		const { client, credential } = stage();
		let round = 0;
		const ended: ModelRequest[] = [];
		const model = await startModel((request) => {
			// An agent begins a conversation of its own for each item.
			round = request.messages.some(({ role }) => role === 'tool') ? round + 1 : 0;
			const answer = answers[round];
			if (answer === undefined) ended.push(request);
			return answer ?? { text: 'Done' };
		});
		try {
			const access = { apiKey: 'no-key', url: model.url };
			const modelCredential = await client.createCredential('Model', 'openAiApi', access);
			const agent = node(
				'AI Agent',
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
			// In n8n 1.x this agent ends with the first error of a tool that does not continue.
			const settings: Partial<INode> =
				major === '1' && typeVersion >= 3 ? { onError: 'continueRegularOutput' } : {};
			const toolNodes = Object.entries(tools).map(([name, given]) =>
				node(name, `${actionType}Tool`, given, { credential, ...settings }),
			);
			const path = randomUUID();
			const loop = node('Loop', 'n8n-nodes-base.splitInBatches', {}, { typeVersion: 3 });
			const alone = webhookWorkflow(
				path,
				inLoop ? [loop, node('End', 'n8n-nodes-base.noOp')] : [agent],
			);
			const around = [...(inLoop ? [agent] : []), chat, ...toolNodes];
			let draft = { ...alone, nodes: [...alone.nodes, ...around] };
			if (inLoop) {
				draft = connect(draft, loop.name, agent.name, { output: 1 });
				draft = connect(draft, agent.name, loop.name);
			}
			draft = connect(draft, chat.name, agent.name, { type: 'ai_languageModel' });
			for (const { name } of toolNodes)
				draft = connect(draft, name, agent.name, { type: 'ai_tool' });
			const { id } = await client.createWorkflow(draft);
			await client.activate(id);
			await client.runWebhook(path, { items });
			const [summary] = await client.waitForExecutions({ workflowId: id });
			await client.deactivate(id);
			expect(summary?.status).toBe('success');
			const told = ended
				.flatMap(({ messages }) => messages)
				.filter(({ role }) => role === 'tool')
				.map((message) => JSON.stringify(message.content));
			return { requests: model.requests, told };
		} finally {
			await model.close();
		}
	};

	describe.each(typeVersions)('of an AI Agent %s', (typeVersion) => {
		test('the model is offered every operation, and its calls do what it asks for', async () => {
			expect(operations.map(({ operation }) => operation)).toEqual(everyOperation);
			const { requests, told } = await runAgent(typeVersion, {
				tools: everyTool,
				answers: operations.map(({ operation, given }) => ({
					calls: [{ tool: toolName(operation), arguments: given }],
				})),
			});
			const offered = requests[0]?.tools.map(({ function: offer }) => offer) ?? [];
			expect(offered).toHaveLength(operations.length);
			for (const { operation, description, given } of operations) {
				const offer = offered.find(({ name }) => name === toolName(operation));
				expect(offer?.description).toBe(description);
				const fields = Object.keys(given).sort();
				expect(Object.keys(offer?.parameters.properties ?? {}).sort()).toEqual(fields);
				expect([...(offer?.parameters.required ?? [])].sort()).toEqual(fields);
			}
			const sent = stage()
				.simulator.requests.filter(({ method }) => method === 'POST')
				.map(({ path, json }) => [path.split('/').at(-1), json]);
			expect(sent).toEqual(operations.flatMap((each) => (each.sent ? [each.sent] : [])));
			expect(told).toHaveLength(operations.length);
			operations.forEach((each, index) => expect(told[index]).toContain(each.told));
		});

		test.each(conversations)('$what', async ({ answers, accepted, told: expected }) => {
			const { simulator } = stage();
			simulator.setLatency(300);
			simulator.addFault(lostAnswer('Lost'));
			const tools = { [tool]: { operation: 'sendToAll', ...content } };
			const { told } = await runAgent(typeVersion, { tools, answers });
			expect(acceptedTitles(stage()).sort()).toEqual(accepted);
			const ids = new Map(
				[...simulator.campaigns].map(([id, campaign]) => [campaign.body['title'], id]),
			);
			expect(told).toHaveLength(expected.length);
			expected.forEach((words, index) => {
				// The older agents hand the model an empty text for every error.
				if (words === isUnknown && typeVersion < 3) return;
				expect(told[index]).toContain(ids.get(words) ?? words);
			});
		});

		test('Send At may be a time or the word now, and is refused if it is empty', async () => {
			const timed = (sendAt: string) => ({
				operation: 'sendToAll',
				...content,
				additionalFields: { sendAt },
			});
			const withDefault = `={{ $fromAI('Send_At', 'When to send', 'string', 'now') }}`;
			const call = (name: string, given: Record<string, string>): ModelAnswer => ({
				calls: [{ tool: name, arguments: { ...text, ...given } }],
			});
			const { told } = await runAgent(typeVersion, {
				tools: { [tool]: timed(fromModel('Send_At')), Default: timed(withDefault) },
				answers: [
					call(tool, { Title: 'Empty', Send_At: '' }),
					call(tool, { Title: 'Now', Send_At: 'now' }),
					call(tool, { Title: 'Later', Send_At: '2099-5-17 9:30' }),
					call('Default', { Title: 'Left out' }),
				],
			});
			const sent = [...stage().simulator.campaigns.values()].map(({ body: { title, send_at } }) => [
				title,
				typeof send_at === 'string' ? send_at.slice(0, 16) : send_at,
			]);
			expect(sent).toEqual([
				['Now', undefined],
				['Later', '2099-05-17 09:30'],
				['Left out', undefined],
			]);
			// The older agents hand the model an empty text for every error.
			if (typeVersion >= 3) {
				expect(told[0]).toContain('give a time, or the word now to send right away');
			}
		});

		// To the tools of an older agent n8n shows its first item alone.
		test.each(three.filter(({ inLoop }) => inLoop || typeVersion >= 3))(
			'$name',
			async ({ inLoop, parameters, field, values }) => {
				const { told } = await runAgent(typeVersion, {
					tools: { [tool]: parameters },
					answers: [calls('Sale')],
					items: values.map((own) => ({ own })),
					inLoop,
				});
				const sent = [...stage().simulator.campaigns.values()].map(({ body }) => body[field]);
				expect(sent.sort()).toEqual(values);
				values.forEach((value) => expect(told.join()).toContain(value));
			},
		);
	});
});
