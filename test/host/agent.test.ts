import type { INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import { useStage } from './support';
import { runAgent, type AgentRun, type AgentRunOptions } from './support/agentWorkflow';
import { everyOperation } from './support/fixtures';
import type { ModelAnswer } from './support/modelServer';
import { acceptedTitles } from './support/reliabilityWorkflow';

/** What the editor writes into a parameter when a user lets the model fill it in. */
const fromModel = (key: string, type: 'string' | 'number' | 'boolean' = 'string') =>
	`={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`\`, '${type}') }}`;

const content = {
	title: fromModel('Title'),
	message: fromModel('Message'),
	targetUrl: fromModel('Target_URL'),
};

interface Operation {
	parameters: INodeParameters;
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

const everyTool = Object.fromEntries(
	operations.map(({ parameters }) => [toolName(parameters['operation']), parameters]),
);

/** The tool of the tests that have one. */
const tool = 'Push';
const text = { Title: 'Sale', Message: 'Today', Target_URL: 'https://shop.example/sale' };
const callOf = (given: Record<string, unknown> = {}) => ({
	tool,
	arguments: { ...text, ...given },
});
const calls = (...given: Array<Record<string, unknown>>): ModelAnswer => ({
	calls: given.map(callOf),
});

const lostAnswer = (title: string): Fault => ({
	match: { method: 'POST', bodyIncludes: `"${title}"` },
	action: { kind: 'reset-after' },
});

/**
 * Each agent runs tools in another way: the newer as a node of the workflow, one call after another, the
 * older ones inside themselves, all calls of an answer at once.
 */
const agents = [
	['2', [3.1, 2.2, 1.9]],
	['1', [3, 1.9]],
] as const;

describe.each(agents)('the action node as a tool on n8n %s.x', (major, typeVersions) => {
	const stage = useStage({ major });

	describe.each(typeVersions)('of an AI Agent %s', (typeVersion) => {
		// In n8n 1.x this agent ends with the first error of a tool that does not continue.
		const settings: AgentRunOptions['settings'] =
			major === '1' && typeVersion >= 3 ? { onError: 'continueRegularOutput' } : {};
		const run = async (options: Omit<AgentRunOptions, 'typeVersion'>): Promise<AgentRun> => {
			const result = await runAgent(stage(), { typeVersion, settings, ...options });
			expect(result.execution.data.resultData.error?.message).toBeUndefined();
			return result;
		};

		/** Runs an agent whose tool sends to all what the model says. */
		const runSender = async (...answers: ModelAnswer[]) =>
			await run({ tools: { [tool]: { operation: 'sendToAll', ...content } }, answers });

		test('the model is offered every operation, named and described, with all its fields', async () => {
			const { requests } = await run({ tools: everyTool, answers: [] });
			const offered = requests[0]?.tools.map(({ function: offer }) => ({
				name: offer.name,
				description: offer.description,
				fields: Object.keys(offer.parameters.properties).sort(),
				required: [...offer.parameters.required].sort(),
			}));
			const offers = operations.map(({ parameters }) => parameters['operation']);
			expect([...offers].sort()).toEqual([...everyOperation].sort());
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
			const call = (operation: string, given: Record<string, unknown>) => ({
				calls: [{ tool: toolName(operation), arguments: given }],
			});
			const { answer, execution, told } = await run({
				tools: everyTool,
				answers: [
					call('sendToAll', text),
					call('sendToSegments', { ...text, Segment_IDs: '11, 12' }),
					call('sendToAttributes', { ...text, Attributes__JSON_: '{"city":"Oslo"}' }),
					call('sendToSubscriber', { ...text, Subscriber_ID: '5001' }),
					call('getStatus', { Campaign_ID: '1001' }),
					call('getSubscriberCount', {}),
				],
			});
			expect(answer).toMatchObject([{ output: 'Done' }]);
			expect(execution.status).toBe('success');

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
			expect(told).toHaveLength(operations.length);
			expect(told[0]).toContain('1001');
			expect(told[4]).toContain('deliveryRate');
			expect(told[5]).toContain('activeSubscribers');
		});

		test('the model is told what happened to a send that did not work, and it goes out once', async () => {
			const { simulator } = stage();
			simulator.addFault(lostAnswer('Sale'));
			const { told } = await runSender(calls({}));
			expect(simulator.campaigns.size).toBe(1);
			expect(told).toHaveLength(1);
			// The older agents hand the model an empty text for every error.
			if (typeVersion >= 3) {
				expect(told[0]).toContain('It is unknown whether this was sent');
				expect(told[0]).toContain('dashboard');
			}
		});

		const subscribers = ['5001', '5002', '5003'];

		const sendToEach = async (inLoop: boolean) => {
			const { told } = await run({
				tools: {
					[tool]: {
						operation: 'sendToSubscriber',
						...content,
						subscriberId: '={{ $json.id }}',
					},
				},
				answers: [calls({})],
				items: subscribers.map((id) => ({ id })),
				inLoop,
			});
			const reached = [...stage().simulator.campaigns.values()].map(({ body }) => body['sid']);
			expect(reached.sort()).toEqual(subscribers);
			expect(told).toHaveLength(3);
			subscribers.forEach((id) => expect(told.join()).toContain(id));
		};

		test('three subscribers in a loop get the same words, each once', async () => {
			await sendToEach(true);
		});

		// To the tools of an older agent n8n shows its first item alone.
		if (typeVersion >= 3) {
			test('three subscribers as items of one run get the same words, each once', async () => {
				await sendToEach(false);
			});
		}

		test('a loop over three titles sends each once, with the same words of the model', async () => {
			await run({
				tools: {
					[tool]: { operation: 'sendToAll', ...content, title: '={{ $json.title }}' },
				},
				answers: [calls({})],
				items: [{ title: 'One' }, { title: 'Two' }, { title: 'Three' }],
				inLoop: true,
			});
			expect(acceptedTitles(stage())).toEqual(['One', 'Two', 'Three']);
		});

		test('a call that was answered gives its first answer again', async () => {
			const { told } = await runSender(calls({}), calls({}), calls({ Title: 'Other' }), calls({}));
			expect(acceptedTitles(stage())).toEqual(['Sale', 'Other']);
			expect(told.map((words) => /100[0-9]/.exec(words)?.[0])).toEqual([
				'1001',
				'1001',
				'1002',
				'1001',
			]);
		});

		test('a call whose answer was lost is not sent again', async () => {
			stage().simulator.addFault(lostAnswer('Sale'));
			const { told } = await runSender(calls({}), calls({}));
			expect(acceptedTitles(stage())).toEqual(['Sale']);
			expect(told).toHaveLength(2);
			if (typeVersion >= 3) {
				told.forEach((words) => expect(words).toContain('It is unknown whether this was sent'));
			}
		});

		test('calls at once, the answer of one lost: made again, none is sent again', async () => {
			const { simulator } = stage();
			const titles = ['First', 'Lost', 'Third'];
			simulator.setLatency(300);
			simulator.addFault(lostAnswer('Lost'));
			const again = titles.map((Title) => calls({ Title }));
			const { told } = await runSender(calls(...titles.map((Title) => ({ Title }))), ...again);
			expect(acceptedTitles(stage()).sort()).toEqual(titles);
			expect(told).toHaveLength(6);
			const idOf = new Map(
				[...simulator.campaigns].map(([id, { body }]) => [body['title'], id] as const),
			);
			expect(told[3]).toContain(idOf.get('First'));
			expect(told[5]).toContain(idOf.get('Third'));
		});

		test('two equal calls at once are sent once, and both get the answer', async () => {
			stage().simulator.setLatency(300);
			const { told } = await runSender(calls({}, {}));
			expect(acceptedTitles(stage())).toEqual(['Sale']);
			expect(told).toHaveLength(2);
			told.forEach((words) => expect(words).toContain('1001'));
		});
	});
});
