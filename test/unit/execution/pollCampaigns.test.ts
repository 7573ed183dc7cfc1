import type { IDataObject } from 'n8n-workflow';
import { ObservableObject } from 'n8n-workflow';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';
import { SimulatedClock } from '../delivery/support';
import {
	credential,
	failure,
	noBudgetMs,
	pollFunctions,
	statusAnswer,
	type PollOptions,
	type Service,
} from './support';

// The trigger without n8n, in simulated time. test/engine and test/host show it in n8n.

let mockClock = new SimulatedClock();
jest.mock('../../../nodes/PushCampaign/execution/sleep', () => ({
	sleep: async (ms: number, signal?: AbortSignal) => await mockClock.sleep(ms, signal),
}));

beforeEach(() => {
	mockClock = new SimulatedClock();
	jest.spyOn(performance, 'now').mockImplementation(() => mockClock.now());
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
		const ending = new AbortController();
		mockClock.at(mockClock.now() + ms, () => ending.abort(new Error('The time is over')));
		return ending.signal;
	});
});
afterEach(() => void jest.restoreAllMocks());

const idOf = ({ url }: { url: string }) => decodeURIComponent(url.split('/').at(-1) ?? '');
type Campaigns = Record<string, Record<string, number> | Service>;

/** A service whose campaigns a test moves. A function answers the request itself. */
function serviceOf(campaigns: Campaigns) {
	const asked: string[] = [];
	const service: Service = async (options) => {
		const id = idOf(options);
		asked.push(id);
		const campaign = campaigns[id];
		return typeof campaign === 'function' ? await campaign(options) : statusAnswer(id, campaign);
	};
	return { service, asked, campaigns };
}
const refuse: Service = () => failure('invalid_value');
const hang: Service = async () => await new Promise<never>(() => {});

let nodes = 0;
/** A node that no other test has polled. */
const newNode = () => ({ id: `node of test ${(nodes += 1)}` });

type TriggerOptions = PollOptions & { readonly workflowId?: string };

/** A trigger on one of n8n's contexts. It polls in simulated time. */
function trigger({ workflowId = 'workflow', ...options }: TriggerOptions) {
	const poller = pollFunctions({ node: newNode(), parameters: { campaignIds: '1' }, ...options });
	Object.assign(poller.context, { getWorkflow: () => ({ id: workflowId }) });
	const begin = async () => {
		const given = await new PushCampaignTrigger().poll.call(poller.context);
		return given === null ? null : given.flat().map(({ json }) => json);
	};
	return {
		...poller,
		/** Begins a poll; time passes only while something waits for `poll` or `settle`. */
		begin,
		poll: async () => await settle(begin()),
		messages: () => poller.errors.map(({ message }) => message),
	};
}

/** Lets time pass until the poll has ended. */
const settle = async <Value>(poll: Promise<Value>) => await mockClock.run(poll);
const turns = async () => {
	for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const idsOf = (items: IDataObject[] | null) => items?.map(({ campaignId }) => campaignId);
const changesOf = (items: IDataObject[] | null) => items?.map(({ changes }) => changes);

/** A service that answers when the test says so. */
function slowly(service: Service) {
	const answers: Array<() => void> = [];
	const slow: Service = async (options) => {
		await new Promise<void>((resolve) => answers.push(resolve));
		return await service(options);
	};
	return { slow, answers, answer: () => answers.shift()?.() };
}

/** The engines, by the static data that they hand out. */
const engines = [
	{
		engine: 'classic',
		newData: (): IDataObject => ObservableObject.create({}),
		activation: 'init',
	},
	{ engine: 'durable', newData: (): IDataObject => ({}), activation: 'update' },
] as const;

describe('what a poll returns', () => {
	test('is an item for each campaign that changed, in the order of the list, and nothing twice', async () => {
		const { service, campaigns } = serviceOf({ 1: { clicked: 1 }, 2: {}, constructor: {} });
		const staticData: IDataObject = {};
		const { poll } = trigger({
			parameters: { campaignIds: 'constructor,2,1', watch: ['clicked', 'closed'] },
			service,
			staticData,
		});
		campaigns['constructor'] = { closed: 2, delivered: 3 };
		expect(await poll()).toMatchObject([
			{
				campaignId: 'constructor',
				status: 'Sent',
				changes: { closed: { from: 0, to: 2, by: 2 } },
				firstSeen: true,
			},
			{ campaignId: '1', firstSeen: true },
		]);
		expect(await poll()).toBeNull();
		campaigns['2'] = { clicked: 9 };
		expect(changesOf(await poll())).toEqual([{ clicked: { from: 0, to: 9, by: 9 } }]);
		expect(Object.keys(staticData['baselines'] ?? {}).sort()).toEqual(['1', '2', 'constructor']);
	});

	test('does not depend on campaigns that can’t be read, however many are watched', async () => {
		// The first hundred are read at once.
		const ids = Array.from({ length: 150 }, (_, index) => String(index));
		const { service, campaigns } = serviceOf({});
		for (const id of ids) campaigns[id] = Number(id) < 100 ? refuse : { clicked: 1 };
		const { poll } = trigger({ parameters: { campaignIds: ids }, service });
		expect(idsOf(await poll())).toEqual(ids.slice(100));
	});

	test('goes on from what was emitted before n8n was switched to the durable engine', async () => {
		const { service, campaigns } = serviceOf({ 1: { clicked: 1 } });
		const classicData = engines[0].newData();
		const node = newNode();
		await trigger({ node, service, staticData: classicData }).poll();
		campaigns['1'] = { clicked: 5 };
		// Another workflow stands for another process, which knows nothing but the static data.
		const switched = { node, workflowId: 'another process', service, activation: 'update' };
		const { poll } = trigger({ ...switched, staticData: {}, otherData: classicData });
		expect(changesOf(await poll())).toEqual([{ clicked: { from: 1, to: 5, by: 4 } }]);
		expect(await poll()).toBeNull();
	});

	test('does not depend on the system’s clock, which may be set back', async () => {
		const { service, campaigns } = serviceOf({});
		const { poll } = trigger({ service });
		for (const [index, now] of [5e12, 1e12, 3e12].entries()) {
			jest.spyOn(Date, 'now').mockReturnValue(now);
			campaigns['1'] = { clicked: index + 1 };
			expect(changesOf(await poll())).toEqual([{ clicked: { from: index, to: index + 1, by: 1 } }]);
		}
	});
});

describe('Fetch Test Event', () => {
	test('shows each campaign as if it were seen first, and changes no static data', async () => {
		const { service } = serviceOf({ 1: { clicked: 3 }, 2: {} });
		const staticData = ObservableObject.create({ baselines: {}, lastTimeChecked: 1 });
		const parameters = { event: 'campaignReached', campaignIds: '2,1', number: 9 };
		const { poll } = trigger({ parameters, service, mode: 'manual', staticData });
		for (let time = 0; time < 2; time += 1) {
			expect(await poll()).toMatchObject([
				{ campaignId: '2', changes: {}, firstSeen: true },
				{ campaignId: '1', changes: { clicked: { from: 0, to: 3, by: 3 } }, firstSeen: true },
			]);
		}
		expect(staticData).toEqual({ baselines: {}, lastTimeChecked: 1 });
	});

	test('fails if one of the campaigns can’t be read', async () => {
		const { service } = serviceOf({ 1: { clicked: 3 }, 2: refuse });
		const { poll } = trigger({ parameters: { campaignIds: '1,2' }, service, mode: 'manual' });
		await expect(poll()).rejects.toThrow("Campaign 2 can't be read");
	});
});

const two = { campaignIds: '1,2' };
const oneGone = () => serviceOf({ 1: { clicked: 1 }, 2: refuse });
const missing = "Campaign 2 can't be read: The push service has no campaign with this ID";
const refused = "Campaigns 1, 2 can't be read: The push service does not accept the credential";
const refuseAll = (campaigns: Campaigns) => {
	for (const id of ['1', '2']) campaigns[id] = () => failure('authentication_failure');
};

describe('a failure on the first publication', () => {
	const publications = [
		{ activation: 'activate', engine: 'classic', newData: engines[0].newData },
		{ activation: 'create', engine: 'classic', newData: engines[0].newData },
		{ activation: 'update', engine: 'classic', newData: engines[0].newData },
		{ activation: 'activate', engine: 'durable', newData: engines[1].newData },
		// Another trigger of the workflow was published before.
		{ activation: 'update', engine: 'durable', newData: engines[1].newData },
	] as const;
	const budgetMs = noBudgetMs;

	test.each(publications)(
		'fails it, and the next poll is a scheduled one ($activation, $engine engine)',
		async ({ activation, newData }) => {
			const { service } = oneGone();
			const staticData = newData();
			const { poll } = trigger({ parameters: two, service, activation, staticData, budgetMs });
			await expect(poll()).rejects.toThrow(missing);
			expect(staticData).toEqual({});
			expect(idsOf(await poll())).toEqual(['1']);
		},
	);

	test('fails it if a parameter is not valid, or the credential can’t be opened', async () => {
		const parameters = { event: 'campaignReached', campaignIds: '1' };
		const noNumber = trigger({ parameters, activation: 'activate' });
		await expect(noNumber.poll()).rejects.toThrow('Number is empty');
		const credentials = new Error('Not found');
		const notOpened = trigger({ credentials, activation: 'activate' });
		await expect(notOpened.poll()).rejects.toThrow('Not found');
		const noAddress = trigger({ credentials: { baseUrl: 'ftp://x' }, activation: 'activate' });
		await expect(noAddress.poll()).rejects.toThrow('Base URL');
	});

	describe.each([
		{ name: 'has emitted, in another process', counters: { clicked: 1 }, isNewProcess: true },
		{ name: 'has read without an event, in this process', counters: {}, isNewProcess: false },
	])('of a trigger that $name', ({ counters, isNewProcess }) => {
		test.each(publications)(
			'is reported at once, and fails nothing ($activation, $engine engine)',
			async ({ activation, newData }) => {
				const { service, campaigns } = serviceOf({ 1: counters });
				const node = newNode();
				const staticData = newData();
				await trigger({ node, service, staticData }).poll();
				campaigns['1'] = { clicked: 2 };
				campaigns['2'] = refuse;
				// Another workflow stands for another process, which knows nothing but the static data.
				const workflowId = isNewProcess ? 'another process' : 'workflow';
				const known = { node, workflowId, staticData, parameters: two, service };
				const again = { ...known, activation, budgetMs };
				const { poll, messages } = trigger(again);
				expect(idsOf(await poll())).toEqual(['1']);
				await poll();
				expect(messages()).toEqual([missing]);
				refuseAll(campaigns);
				const third = trigger(again);
				expect(await third.poll()).toBeNull();
				expect(third.messages()).toEqual([refused]);
			},
		);
	});
});

describe('a failure in a scheduled poll', () => {
	test('of all campaigns is reported in the second poll in a row, with its cause, and again a day later', async () => {
		const { service, campaigns } = serviceOf({ 1: { clicked: 1 } });
		const { poll, messages, errors } = trigger({ parameters: two, service });
		await poll();
		refuseAll(campaigns);
		for (let count = 0; count < 5; count += 1) expect(await poll()).toBeNull();
		expect(errors).toMatchObject([{ message: refused, failure: { cause: 'credential-invalid' } }]);
		await mockClock.run(mockClock.sleep(24 * 60 * 60_000));
		for (let count = 0; count < 3; count += 1) await poll();
		expect(messages()).toEqual([refused, refused]);
	});

	test('says which field to check, and where the ID comes from', async () => {
		const { service } = serviceOf({ 1: refuse });
		await expect(trigger({ service, activation: 'activate' }).poll()).rejects.toMatchObject({
			description:
				'The service says: "No". Check Campaign IDs: the node Push Campaign returns the ID of each campaign that it sends, as campaignId.',
		});
	});
});

describe('a failure while n8n starts', () => {
	interface Row {
		readonly name: string;
		readonly activation: string;
		readonly given: PollOptions;
		readonly then: string;
	}
	const rows: Row[] = [
		{
			name: 'of all campaigns',
			activation: 'init',
			given: { parameters: two },
			then: refused,
		},
		{
			name: 'of all campaigns, after another main instance became the leader',
			activation: 'leadershipChange',
			given: { parameters: two },
			then: refused,
		},
		{
			name: 'of a parameter',
			activation: 'init',
			given: { parameters: {} },
			then: 'Campaign IDs is missing',
		},
		{
			name: 'of the credential',
			activation: 'init',
			given: { credentials: new Error('Not found') },
			then: 'Not found',
		},
	];
	test.each(rows)('$name fails no poll, and is reported once', async ({ given, then, ...row }) => {
		const { service, campaigns } = serviceOf({});
		refuseAll(campaigns);
		const { poll, messages } = trigger({ service, activation: row.activation, ...given });
		expect(await poll()).toBeNull();
		expect(messages()).toEqual([]);
		for (let count = 0; count < 3; count += 1) expect(await poll()).toBeNull();
		expect(messages()).toEqual([then]);
	});
});

describe('the credential', () => {
	test('is opened again for each poll, and another address is another site', async () => {
		const { service, campaigns } = serviceOf({ 1: { clicked: 1 } });
		const baseUrls = ['https://one.example', 'https://two.example'];
		const { poll, asked } = trigger({
			service,
			credentialsFor: () => ({ ...credential, baseUrl: baseUrls.shift() ?? '' }),
		});
		await poll();
		campaigns['1'] = { clicked: 3 };
		expect(await poll()).toMatchObject([
			{ changes: { clicked: { from: 0, to: 3, by: 3 } }, firstSeen: true },
		]);
		expect(asked.map(({ options }) => new URL(options.url).host)).toEqual([
			'one.example',
			'two.example',
		]);
	});

	test('of another ID in n8n is another site, and a new key in the same one is not', async () => {
		const { service } = serviceOf({ 1: { clicked: 1 } });
		const common = { service, staticData: ObservableObject.create({}) };
		const node = newNode();
		const pollWith = async (id: string, apiKey: string) => {
			const credentials = { pushCampaignApi: { id, name: 'Shop' } };
			const options = { node: { ...node, credentials }, credentials: { ...credential, apiKey } };
			return idsOf(await trigger({ ...common, ...options }).poll());
		};
		expect(await pollWith('7', 'a key')).toEqual(['1']);
		expect(await pollWith('7', 'a new key')).toBeUndefined();
		expect(await pollWith('8', 'a key')).toEqual(['1']);
	});

	test('fails no poll if its expression can’t be evaluated, and the baselines stay', async () => {
		const { service, campaigns } = serviceOf({ 1: { clicked: 1 } });
		let isBroken = false;
		const { poll, messages } = trigger({
			service,
			credentialsFor: () => (isBroken ? new Error('$vars.key is not defined') : credential),
		});
		await poll();
		isBroken = true;
		for (let count = 0; count < 3; count += 1) expect(await poll()).toBeNull();
		expect(messages()).toEqual(['$vars.key is not defined']);
		isBroken = false;
		campaigns['1'] = { clicked: 2 };
		expect(changesOf(await poll())).toEqual([{ clicked: { from: 1, to: 2, by: 1 } }]);
	});

	test('that is not opened in the poll’s time is reported', async () => {
		const { context, poll, errors } = trigger({ budgetMs: 100 });
		Object.assign(context, { getCredentials: async () => await new Promise<never>(() => {}) });
		await poll();
		await poll();
		expect(errors).toMatchObject([
			{
				message: 'n8n did not open the credential in the time that it gives a poll',
				failure: { cause: 'temporarily-unavailable' },
			},
		]);
	});
});

describe('the time of a poll', () => {
	// What hangs has a millisecond more to end by itself.
	test.each([
		{ name: 'after half of that if a campaign hangs', opensAfterMs: 0, endsAfterMs: 400 + 1 },
		{
			name: 'at its end if a campaign hangs and the credential took most of it',
			opensAfterMs: 700,
			endsAfterMs: 800 + 1,
		},
	])(
		'is four fifths of the budget: what was read is emitted $name',
		async ({ opensAfterMs, endsAfterMs }) => {
			const { service } = serviceOf({ 1: { clicked: 1 }, 2: hang });
			const { context, poll } = trigger({ parameters: two, service, budgetMs: 1000 });
			const getCredentials = async () => {
				await mockClock.sleep(opensAfterMs);
				return credential;
			};
			Object.assign(context, { getCredentials });
			const from = mockClock.now();
			expect(idsOf(await poll())).toEqual(['1']);
			expect(mockClock.now() - from).toBe(endsAfterMs);
		},
	);

	/** A service that refuses, and asks for more patience than the poll has. */
	const busy: Service = () => ({ ...failure('rate_limit'), headers: { 'retry-after': '7' } });

	interface LimitRow {
		readonly name: string;
		readonly activation: string;
		readonly budgetMs: number | 'absent';
		/** When the first poll has ended, and the one after it. */
		readonly then: readonly [number, number];
	}
	const limits: LimitRow[] = [
		{
			name: 'after a start of n8n',
			activation: 'init',
			budgetMs: 300_000,
			then: [48_000, 240_000],
		},
		{
			name: 'on a publication',
			activation: 'activate',
			budgetMs: 300_000,
			then: [48_000, 240_000],
		},
		{
			name: 'of n8n 1, which gives no budget',
			activation: 'init',
			budgetMs: 'absent',
			then: [48_000, 240_000],
		},
		{
			name: 'of n8n’s scheduler, which gives each poll a budget',
			activation: 'update',
			budgetMs: 36_000,
			then: [28_800, 28_800],
		},
	];
	test.each(limits)(
		'is at most a minute for the first poll, and the whole budget for the next one: $name',
		async ({ activation, budgetMs, then }) => {
			const ends: number[] = [];
			// A poll makes its own signal before those of its requests.
			const timeouts = jest.mocked(AbortSignal.timeout).mock.calls;
			const { service } = serviceOf({});
			const { poll } = trigger({ activation, service, budgetMs });
			for (let count = 0; count < 2; count += 1) {
				const from = timeouts.length;
				await poll();
				ends.push(timeouts[from]?.[0] ?? 0);
			}
			expect(ends).toEqual(then);
		},
	);

	interface RequestRow extends Omit<LimitRow, 'then'> {
		/** How long a request of the first poll may take, and of the next one. */
		readonly then: readonly [number, number];
	}
	const requests: RequestRow[] = [
		{ name: 'a budget of a millisecond', activation: 'init', budgetMs: 1, then: [1, 1] },
		{ name: 'a budget of ten seconds', activation: 'init', budgetMs: 10_001, then: [4000, 4000] },
		{ name: 'a budget of 70 s', activation: 'update', budgetMs: 70_000, then: [28_000, 28_000] },
		{
			name: 'a budget of ten minutes',
			activation: 'update',
			budgetMs: 600_000,
			then: [30_000, 30_000],
		},
		{
			name: 'a publication, which has none',
			activation: 'activate',
			budgetMs: noBudgetMs,
			then: [10_000, 30_000],
		},
		{
			name: 'n8n 1, which gives no budget',
			activation: 'init',
			budgetMs: 'absent',
			then: [10_000, 30_000],
		},
	];
	test.each(requests)(
		'leaves a request half of it, at most 10 s in the first poll and 30 s in the next: $name',
		async ({ activation, budgetMs, then }) => {
			const { poll, asked } = trigger({ activation, service: serviceOf({}).service, budgetMs });
			await poll();
			await poll();
			expect(asked.map(({ options }) => options.timeout)).toEqual(then);
		},
	);

	test('is used to read a hundred campaigns at once', async () => {
		const ids = Array.from({ length: 400 }, (_, index) => String(index));
		let inFlight = 0;
		let most = 0;
		const service: Service = async (options) => {
			inFlight += 1;
			most = Math.max(most, inFlight);
			await mockClock.sleep(50);
			inFlight -= 1;
			return statusAnswer(idOf(options), { clicked: 1 });
		};
		const { poll } = trigger({ parameters: { campaignIds: ids }, service });
		expect(idsOf(await poll())).toEqual(ids);
		expect(most).toBe(100);
	});

	test('is given first to what the last poll did not reach, or what was refused', async () => {
		const ids = Array.from({ length: 25 }, (_, index) => String(index));
		const { service, asked, campaigns } = serviceOf({ 0: { clicked: 1 } });
		for (const id of ids.slice(1)) campaigns[id] = busy;
		const { poll } = trigger({ parameters: { campaignIds: ids }, service, budgetMs: 6_000 });
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

describe('polls that overlap', () => {
	const service: Service = (options) => statusAnswer(idOf(options), { clicked: 5 });

	test('on the one context of the classic engine: the second one returns nothing and asks nothing', async () => {
		const { slow, answers, answer } = slowly(service);
		const { begin } = trigger({ service: slow });
		const first = begin();
		expect(await Promise.all([begin(), begin()])).toEqual([null, null]);
		await turns();
		expect(answers).toHaveLength(1);
		answer();
		expect(idsOf(await first)).toEqual(['1']);
		const next = begin();
		await turns();
		answer();
		expect(await next).toBeNull();
	});

	/** Polls on a second context while a poll on the first one waits for its answer. */
	async function pollMeanwhile(before: TriggerOptions, meanwhile: TriggerOptions) {
		const { slow, answer } = slowly(service);
		const node = newNode();
		const first = trigger({ node, service: slow, ...before });
		const inFlight = first.begin();
		await turns();
		const second = await trigger({ node, service, ...meanwhile }).begin();
		answer();
		return { first: idsOf(await inFlight), second: idsOf(second), errors: first.messages() };
	}

	interface Row {
		readonly name: string;
		readonly before: TriggerOptions;
		readonly meanwhile: TriggerOptions;
		readonly then: Record<'first' | 'second', string[] | undefined>;
	}
	const rows: Row[] = [
		{
			name: 'a poll of an older activation leaves everything to the newer one',
			before: {},
			meanwhile: { activation: 'activate' },
			then: { first: undefined, second: ['1'] },
		},
		{
			name: 'a poll of the durable engine emits what another one did not find',
			before: { staticData: {}, activation: 'update' },
			meanwhile: { staticData: {}, activation: 'update', service: serviceOf({}).service },
			then: { first: ['1'], second: undefined },
		},
		{
			name: 'a poll of the durable engine emits nothing that another one has emitted',
			before: { staticData: {}, activation: 'update' },
			meanwhile: { staticData: {}, activation: 'update' },
			then: { first: undefined, second: ['1'] },
		},
		{
			name: 'a poll of another trigger changes nothing',
			before: {},
			meanwhile: { node: newNode() },
			then: { first: ['1'], second: ['1'] },
		},
		{
			name: 'Fetch Test Event changes nothing',
			before: {},
			meanwhile: { mode: 'manual' },
			then: { first: ['1'], second: ['1'] },
		},
	];
	test.each(rows)('on two contexts: $name', async ({ before, meanwhile, then }) => {
		expect(await pollMeanwhile(before, meanwhile)).toMatchObject(then);
	});

	test.each([
		{ name: 'leaves everything to that poll', answers: service, then: [null, ['1']] },
		{
			name: 'fails all the same if its campaign can’t be read',
			answers: refuse,
			then: ['failed', 'failed'],
		},
	])(
		'an activation during which a poll of the context before begins $name',
		async ({ answers, then }) => {
			const node = newNode();
			const { slow, answers: waiting } = slowly(answers);
			const end = async (poll: Promise<IDataObject[] | null>) => {
				const given = await poll.catch(() => 'failed');
				return Array.isArray(given) ? idsOf(given) : given;
			};
			const before = trigger({ node, service: slow, activation: 'activate' });
			const activation = end(trigger({ node, service: slow, activation: 'activate' }).begin());
			await turns();
			const later = end(before.begin());
			await turns();
			for (const answer of waiting) answer();
			expect(await Promise.all([activation, later])).toEqual(then);
		},
	);
});
