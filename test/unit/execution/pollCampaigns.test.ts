import type { GenericValue, IDataObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError, ObservableObject } from 'n8n-workflow';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';
import {
	credential,
	failure,
	pollFunctions,
	statusAnswer,
	type PollOptions,
	type Service,
} from './support';

// The trigger without n8n's engine, so that each of its corners is reached at once; test/engine and
// test/host show the same in n8n.

const idOf = ({ url }: { url: string }) => decodeURIComponent(url.split('/').at(-1) ?? '');

/** A service whose campaigns a test moves; what is no counter is an answer of its own. */
function serviceOf(campaigns: Record<string, Record<string, number> | Service>) {
	const asked: string[] = [];
	const service: Service = async (options) => {
		const id = idOf(options);
		asked.push(id);
		const campaign = campaigns[id];
		return typeof campaign === 'function' ? await campaign(options) : statusAnswer(id, campaign);
	};
	return { service, asked, campaigns };
}

let nodes = 0;
/** A node that no other test has polled. */
const newNode = () => ({ id: `node of test ${(nodes += 1)}` });

type TriggerOptions = PollOptions & { readonly workflowId?: string };

/** n8n keeps the context of a trigger in memory, and its static data in the database. */
function trigger({ workflowId = 'workflow', ...options }: TriggerOptions) {
	const poller = pollFunctions({ node: newNode(), parameters: { campaignIds: '1' }, ...options });
	Object.assign(poller.context, { getWorkflow: () => ({ id: workflowId }) });
	return {
		...poller,
		async poll() {
			const given = await new PushCampaignTrigger().poll.call(poller.context);
			return given === null ? null : given.map((output) => output.map(({ json }) => json)).flat();
		},
		messages: () => poller.errors.map(({ message }) => message),
	};
}

async function errorOf(options: PollOptions): Promise<NodeApiError | NodeOperationError> {
	try {
		await trigger({ activation: 'activate', ...options }).poll();
	} catch (error) {
		if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
		throw error;
	}
	throw new TypeError('The poll did not fail');
}
const idsOf = (events: IDataObject[] | null) => events?.map(({ campaignId }) => campaignId);
const changesOf = (events: IDataObject[] | null) => events?.map(({ changes }) => changes);
const turn = async () => await new Promise((resolve) => setTimeout(resolve, 10));

/** A service that answers when it is told to. */
function slowly(service: Service) {
	const answers: Array<() => void> = [];
	const slow: Service = async (options) => {
		await new Promise<void>((resolve) => answers.push(resolve));
		return await service(options);
	};
	return { slow, answers, answer: () => answers.shift()?.() };
}

afterEach(() => void jest.restoreAllMocks());

describe('parameters', () => {
	const give = 'Give at least one campaign ID.';
	const choose = 'Choose at least one counter.';
	const change = (name: string) => `Change ${name} and run the workflow again.`;
	const noNumber = 'is not a whole number from 1';
	const [minimum, reaches] = ['Minimum Change', 'When It Reaches'] as const;
	const ids = change('Campaign IDs');
	test.each<readonly [IDataObject, string, string]>([
		[{ campaignIds: '' }, 'Campaign IDs is missing', give],
		[{ campaignIds: {} }, 'Campaign IDs is neither text, nor a number, nor an array', ids],
		[{ campaignIds: '1,..' }, 'Campaign IDs is not a campaign ID', ids],
		[
			{ campaignIds: '__proto__' },
			'Campaign IDs holds __proto__, which no baseline can be kept for',
			ids,
		],
		[{ counters: [] }, 'Counters is empty', choose],
		[{ counters: ['sold'] }, 'Counters is not a selection from the list', choose],
		[{ options: 'none' }, 'Options is not a set of fields', change('Options')],
		[{ options: { minimumChange: 0 } }, `${minimum} ${noNumber}`, change(minimum)],
		[{ options: { reaches: 0 } }, `${reaches} ${noNumber}`, change(reaches)],
		[{ options: { reaches: null } }, `${reaches} ${noNumber}`, change(reaches)],
	])('%j: %s', async (parameters, message, advice) => {
		const error = await errorOf({ parameters: { campaignIds: '1', ...parameters } });
		expect(error).toBeInstanceOf(NodeOperationError);
		expect([error.message, error.description]).toEqual([message, advice]);
	});

	test('that n8n can’t work out are told in its words', async () => {
		const { context, poll } = trigger({ activation: 'activate' });
		Object.assign(context, {
			getNodeParameter: () => {
				throw new Error('x is not defined');
			},
		});
		await expect(poll()).rejects.toMatchObject({
			message: "Campaign IDs can't be worked out: x is not defined",
			description: 'Correct the expression in Campaign IDs.',
		});
	});

	test.each([
		['without a credential', new Error('Node does not have any credentials set')],
		['with one that is not valid', { ...credential, baseUrl: 'push.example' }],
	])('%s nothing is asked for', async (_what, credentials) => {
		const error = await errorOf({ credentials });
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(`${error.message} ${error.description}`).toMatch(/credential/);
	});

	test('an ID is one campaign, however often and with however many zeros it is listed', async () => {
		const { service, asked } = serviceOf({ 1: { clicked: 1 }, 'a-01': {} });
		const { poll, staticData } = trigger({ service });
		const list = async (campaignIds: GenericValue[] | string) =>
			idsOf(await trigger({ parameters: { campaignIds }, service, staticData }).poll());
		expect(await list([1, '1', ' 01 ', 'a-01'])).toEqual(['1']);
		expect(asked).toEqual(['1', 'a-01']);
		expect(await list('001')).toBeUndefined();
		expect(await poll()).toBeNull();
	});
});

describe('events', () => {
	test('come for what moved, in the order of the list, and then not again', async () => {
		const { service, campaigns } = serviceOf({ 1: { clicked: 1 }, 2: {}, constructor: {} });
		const { poll, staticData } = trigger({
			parameters: { campaignIds: 'constructor,2,1', counters: ['clicked', 'closed'] },
			service,
		});
		campaigns['constructor'] = { closed: 2, delivered: 3 };
		expect(await poll()).toEqual([
			expect.objectContaining({
				campaignId: 'constructor',
				status: 'Sent',
				changes: { closed: { from: 0, to: 2, by: 2 } },
				firstSeen: true,
			}),
			expect.objectContaining({ campaignId: '1', firstSeen: true }),
		]);
		expect(await poll()).toBeNull();
		campaigns['2'] = { clicked: 9 };
		expect(changesOf(await poll())).toEqual([{ clicked: { from: 0, to: 9, by: 9 } }]);
		expect(Object.keys(staticData['baselines'] ?? {}).sort()).toEqual(['1', '2', 'constructor']);
	});

	test.each<[IDataObject, number | undefined]>([
		[{ minimumChange: 10 }, undefined],
		[{ minimumChange: 9 }, 1],
		[{ reaches: 10 }, undefined],
		[{ reaches: 9, minimumChange: 50 }, 1],
	])('with %j there are %p for a counter of 9', async (options, count) => {
		const { service } = serviceOf({ 1: { clicked: 9 } });
		const { poll, staticData } = trigger({ parameters: { campaignIds: '1', options }, service });
		expect((await poll())?.length).toBe(count);
		if (count === undefined) expect(staticData).toEqual({});
	});

	test('Fetch Test Event shows each campaign as if it were seen first, and keeps nothing', async () => {
		const { service, campaigns } = serviceOf({ 1: { clicked: 3 }, 2: {} });
		const staticData = ObservableObject.create({ baselines: {}, lastTimeChecked: 1 });
		const parameters = { campaignIds: '2,1', counters: ['clicked'], options: { reaches: 9 } };
		const { poll } = trigger({ parameters, service, mode: 'manual', staticData });
		for (let time = 0; time < 2; time += 1) {
			expect(await poll()).toMatchObject([
				{ campaignId: '2', changes: {}, firstSeen: true },
				{ campaignId: '1', changes: { clicked: { from: 0, to: 3, by: 3 } }, firstSeen: true },
			]);
		}
		expect(staticData).toEqual({ baselines: {}, lastTimeChecked: 1 });
		campaigns['2'] = () => failure('invalid_value');
		await expect(poll()).rejects.toThrow("Campaign 2 can't be read");
	});

	test('of a campaign that was taken off the list count from zero', async () => {
		const { service } = serviceOf({ 1: { clicked: 1 }, 2: { clicked: 1 } });
		const common = { node: newNode(), service, staticData: ObservableObject.create({}) };
		const list = async (campaignIds: string) =>
			await trigger({ ...common, parameters: { campaignIds } }).poll();
		expect(idsOf(await list('1,2'))).toEqual(['1', '2']);
		expect(await list('1')).toBeNull();
		expect(await list('1,2')).toMatchObject([{ campaignId: '2', firstSeen: true }]);
		expect(await list('1,2')).toBeNull();
	});

	test('do not depend on the system’s clock', async () => {
		const { service, campaigns } = serviceOf({});
		const { poll } = trigger({ service });
		for (const [index, now] of [5e12, 1e12, 3e12].entries()) {
			jest.spyOn(Date, 'now').mockReturnValue(now);
			campaigns['1'] = { clicked: index + 1 };
			expect(changesOf(await poll())).toEqual([{ clicked: { from: index, to: index + 1, by: 1 } }]);
		}
	});
});

describe('failures', () => {
	const parameters = { campaignIds: '1,2' };
	const some = () => serviceOf({ 1: { clicked: 1 }, 2: () => failure('invalid_value') });
	const missing = "Campaign 2 can't be read: The push service has no campaign with this ID";
	const refused = "Campaigns 1, 2 can't be read: The push service does not accept the credential";
	const refuseAll = (campaigns: Record<string, Record<string, number> | Service>) => {
		for (const id of ['1', '2']) campaigns[id] = () => failure('authentication_failure');
	};

	// The classic engine hands out the data itself, which watches for changes.
	const classic = () => ObservableObject.create({});
	const durable = () => ({});
	const emitted = { clicked: 1 };

	describe.each([
		['activate', classic],
		['create', classic],
		['update', classic],
		['activate', durable],
	] as const)('on a publication (%s, %p)', (activation, data) => {
		test('any fails the first one, and the next poll is like others', async () => {
			const { service } = some();
			const options = { parameters, service, activation, staticData: data() };
			const { poll, staticData } = trigger(options);
			await expect(poll()).rejects.toThrow(missing);
			expect(staticData).toEqual({});
			expect(idsOf(await poll())).toEqual(['1']);
		});

		test.each([
			['has emitted', emitted],
			['has read', {}],
		])('of a trigger that %s none does: it is told at once', async (_what, first) => {
			const { service, campaigns } = serviceOf({ 1: first });
			const node = newNode();
			const staticData = data();
			await trigger({ node, service, staticData }).poll();
			campaigns['1'] = { clicked: 2 };
			campaigns['2'] = () => failure('invalid_value');
			// What it has emitted is known from its data, by another process too.
			const later = first === emitted ? newNode() : node;
			const again = { node: later, parameters, service, activation, staticData };
			const { poll, messages } = trigger(again);
			expect(idsOf(await poll())).toEqual(['1']);
			await poll();
			expect(messages()).toEqual([missing]);
			refuseAll(campaigns);
			const third = trigger(again);
			expect(await third.poll()).toBeNull();
			expect(third.messages()).toEqual([refused]);
		});
	});

	test('the durable engine calls all its polls an update: none is a publication', async () => {
		const { service } = some();
		const { poll } = trigger({ parameters, service, activation: 'update', staticData: {} });
		expect(idsOf(await poll())).toEqual(['1']);
	});

	test.each<[string, PollOptions, string]>([
		['init', { parameters }, refused],
		['leadershipChange', { parameters }, refused],
		['init', { parameters: {} }, 'Campaign IDs is missing'],
		['init', { credentials: new Error('Not found') }, 'Not found'],
	])(
		'at a start of n8n (%s, %j) the first poll never throws',
		async (activation, options, told) => {
			const { service, campaigns } = serviceOf({});
			refuseAll(campaigns);
			const { poll, messages } = trigger({ service, activation, ...options });
			expect(await poll()).toBeNull();
			expect(messages()).toEqual([told]);
			await expect(poll()).rejects.toThrow(told);
		},
	);

	test('what was not reached in time is read first the next time, and what was refused', async () => {
		// The first is answered, the others are told to wait for longer than the poll may take.
		const ids = Array.from({ length: 25 }, (_, index) => String(index));
		const refusal = { ...failure('rate_limit'), headers: { 'retry-after': '500' } };
		const { service, asked, campaigns } = serviceOf({ 0: { clicked: 1 } });
		for (const id of ids.slice(1)) campaigns[id] = () => refusal;
		const { poll } = trigger({ parameters: { campaignIds: ids }, service, budgetMs: 600 });
		expect(idsOf(await poll())).toEqual(['0']);
		asked.splice(0);
		for (const id of ids) campaigns[id] = { clicked: 2 };
		expect(idsOf(await poll())).toEqual(ids);
		expect(asked).toEqual([...ids.slice(1), '0']);
		asked.splice(0);
		await poll();
		expect(asked).toEqual(ids);
	});
});

describe('time', () => {
	test('a poll ends in its own, though n8n does not open the credential', async () => {
		const { context, poll } = trigger({ budgetMs: 100, activation: 'activate' });
		const never = new Promise<never>(() => {});
		Object.assign(context, { getCredentials: async () => await never });
		const from = performance.now();
		await expect(poll()).rejects.toMatchObject({
			message: 'n8n did not open the credential in the time that it gives a poll',
			description:
				"The next poll tries again. If it stays like this, look at n8n's database, and at the vault where the credential holds external secrets.",
			failure: { cause: 'temporarily-unavailable' },
		});
		expect(performance.now() - from).toBeGreaterThan(70);
	});

	test.each([
		['init', 1, [1, 1]],
		['init', 10_001, [4000, 4000]],
		['init', 70_000, [10_000, 28_000]],
		['activate', 600_000, [10_000, 30_000]],
		['init', 'absent', [10_000, 30_000]],
	] as const)(
		'on %s, of a budget of %p, a request of the first poll, and of the next, may take %p ms',
		async (activation, budgetMs, timeouts) => {
			const { poll, asked } = trigger({ activation, service: serviceOf({}).service, budgetMs });
			await poll();
			await poll();
			expect(asked.map(({ options }) => options.timeout)).toEqual(timeouts);
		},
	);
});

describe('polls that overlap', () => {
	const service: Service = (options) => statusAnswer(idOf(options), { clicked: 5 });

	test('on the one context of the classic engine: one asks, others leave it to that', async () => {
		const { slow, answers, answer } = slowly(service);
		const { poll } = trigger({ service: slow });
		const first = poll();
		expect(await Promise.all([poll(), poll()])).toEqual([null, null]);
		await turn();
		expect(answers).toHaveLength(1);
		answer();
		expect(idsOf(await first)).toEqual(['1']);
		const next = poll();
		await turn();
		answer();
		expect(await next).toBeNull();
	});

	/** Polls on one context while a poll on another one, begun before, waits for its answer. */
	async function polledMeanwhile(before: PollOptions, meanwhile: TriggerOptions) {
		const { slow, answer } = slowly(service);
		const node = newNode();
		const underWay = trigger({ node, service: slow, ...before }).poll();
		await turn();
		const told = await trigger({ node, service, ...meanwhile }).poll();
		answer();
		return [idsOf(await underWay), idsOf(told)];
	}

	test.each<[string, PollOptions, TriggerOptions, Array<string[] | undefined>]>([
		[
			'an activation tells what the poll would have told',
			{},
			{ activation: 'activate' },
			[undefined, ['1']],
		],
		[
			'each poll of the durable engine tells what it finds',
			{ staticData: {} },
			{ staticData: {}, service: serviceOf({}).service },
			[['1'], undefined],
		],
		['one of another trigger changes nothing', {}, { node: newNode() }, [['1'], ['1']]],
		['one of a copy of the workflow changes nothing', {}, { workflowId: 'copy' }, [['1'], ['1']]],
		["the editor's Fetch Test Event changes nothing", {}, { mode: 'manual' }, [['1'], ['1']]],
	])('on two contexts: %s', async (_what, before, meanwhile, told) => {
		expect(await polledMeanwhile(before, meanwhile)).toEqual(told);
	});

	test.each([
		['leaves it to that', service, [null, ['1']]],
		['fails all the same', () => failure('invalid_value'), ['failed', 'failed']],
	])(
		'an activation during which a poll of the context before began %s',
		async (_what, answers, told) => {
			const node = newNode();
			const { slow, answers: waiting } = slowly(answers);
			const end = async (poll: Promise<IDataObject[] | null>) => {
				const given = await poll.catch(() => 'failed');
				return Array.isArray(given) ? idsOf(given) : given;
			};
			const before = trigger({ node, service: slow, activation: 'activate' });
			const activation = end(trigger({ node, service: slow, activation: 'activate' }).poll());
			await turn();
			const later = end(before.poll());
			await turn();
			for (const answer of waiting) answer();
			expect(await Promise.all([activation, later])).toEqual(told);
		},
	);
});
