import type { IDataObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError, ObservableObject } from 'n8n-workflow';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';
import {
	credential,
	failure,
	lost,
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

/** n8n keeps the context of a trigger in memory, and its static data in the database. */
function trigger(options: PollOptions) {
	const poller = pollFunctions(options);
	return {
		...poller,
		async poll() {
			const given = await new PushCampaignTrigger().poll.call(poller.context);
			return given === null ? null : given.map((output) => output.map(({ json }) => json)).flat();
		},
	};
}
let workflows = 0;
/** A node that no other test has polled. */
const newNode = () => ({ id: `node of test ${(workflows += 1)}` });

async function errorOf(options: PollOptions): Promise<NodeApiError | NodeOperationError> {
	try {
		await trigger({ node: newNode(), ...options }).poll();
	} catch (error) {
		if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
		throw error;
	}
	throw new TypeError('The poll did not fail');
}
const idsOf = (events: IDataObject[] | null) => events?.map(({ campaignId }) => campaignId);
const changesOf = (events: IDataObject[] | null) => events?.map(({ changes }) => changes);

describe('parameters', () => {
	test.each([
		[{ campaignIds: '' }, 'Campaign IDs is missing', 'Give at least one campaign ID.'],
		[{ campaignIds: [] }, 'Campaign IDs is missing', 'Give at least one campaign ID.'],
		[{}, 'Campaign IDs is missing', 'Give at least one campaign ID.'],
		[
			{ campaignIds: {} },
			'Campaign IDs is neither text, nor a number, nor an array',
			'Change Campaign IDs and run the workflow again.',
		],
		[
			{ campaignIds: '1,..' },
			'Campaign IDs is not a campaign ID',
			'Change Campaign IDs and run the workflow again.',
		],
		[
			{ campaignIds: '1,__proto__' },
			'Campaign IDs holds __proto__, which no baseline can be kept for',
			'Change Campaign IDs and run the workflow again.',
		],
		[{ campaignIds: '1', counters: [] }, 'Counters is empty', 'Choose at least one counter.'],
		[
			{ campaignIds: '1', counters: ['sold'] },
			'Counters is not a selection from the list',
			'Choose at least one counter.',
		],
		[
			{ campaignIds: '1', options: 'none' },
			'Options is not a set of fields',
			'Change Options and run the workflow again.',
		],
		...[0, 1.5, '2'].map((minimumChange): [IDataObject, string, string] => [
			{ campaignIds: '1', options: { minimumChange } },
			'Minimum Change is not a whole number from 1',
			'Change Minimum Change and run the workflow again.',
		]),
	])('%j: %s', async (parameters, message, advice) => {
		const error = await errorOf({ parameters });
		expect(error).toBeInstanceOf(NodeOperationError);
		expect([error.message, error.description]).toEqual([message, advice]);
	});

	test('that n8n can’t work out are told in its words', async () => {
		const { context } = pollFunctions({});
		Object.assign(context, {
			getNodeParameter: () => {
				throw new Error('x is not defined');
			},
		});
		await expect(new PushCampaignTrigger().poll.call(context)).rejects.toMatchObject({
			message: "Campaign IDs can't be worked out: x is not defined",
			description: 'Correct the expression in Campaign IDs.',
		});
	});

	test.each([
		['without a credential', new Error('Node does not have any credentials set')],
		['with one that is not valid', { ...credential, baseUrl: 'push.example' }],
	])('%s nothing is asked for', async (_what, credentials) => {
		const error = await errorOf({ parameters: { campaignIds: '1' }, credentials });
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.description).toMatch(/credential/);
	});

	test('an ID that is listed twice is read once', async () => {
		const { service, asked } = serviceOf({ 1: { clicked: 1 } });
		const events = await trigger({
			node: newNode(),
			parameters: { campaignIds: [1, '1', ' 1 ', '2'] },
			service,
		}).poll();
		expect(asked).toEqual(['1', '2']);
		expect(idsOf(events)).toEqual(['1']);
	});
});

describe('events', () => {
	test('come for what moved, in the order of the list, and then not again', async () => {
		const { service, campaigns } = serviceOf({ 1: { clicked: 1 }, 2: {}, 3: { closed: 2 } });
		const { poll, staticData } = trigger({
			node: newNode(),
			parameters: { campaignIds: '3,2,1' },
			service,
		});
		expect(await poll()).toEqual([
			expect.objectContaining({
				campaignId: '3',
				status: 'Sent',
				changes: { closed: { from: 0, to: 2, by: 2 } },
				firstSeen: true,
			}),
			expect.objectContaining({ campaignId: '1', firstSeen: true }),
		]);
		expect(await poll()).toBeNull();
		campaigns['2'] = { clicked: 9 };
		expect(changesOf(await poll())).toEqual([{ clicked: { from: 0, to: 9, by: 9 } }]);
		expect(Object.keys(staticData['baselines'] ?? {}).sort()).toEqual(['1', '2', '3']);
	});

	test('hold the counters that are watched, all of them when none is named', async () => {
		const { service } = serviceOf({ 1: { clicked: 5, closed: 2, total_attempts: 9 } });
		const given = async (parameters: IDataObject) =>
			changesOf(
				await trigger({
					node: newNode(),
					parameters: { campaignIds: '1', ...parameters },
					service,
				}).poll(),
			);
		expect(await given({})).toEqual([
			{
				totalAttempts: { from: 0, to: 9, by: 9 },
				clicked: { from: 0, to: 5, by: 5 },
				closed: { from: 0, to: 2, by: 2 },
			},
		]);
		expect(await given({ counters: ['closed'] })).toEqual([{ closed: { from: 0, to: 2, by: 2 } }]);
		expect(await given({ options: { minimumChange: 10 } })).toBeUndefined();
		expect(await given({ options: { minimumChange: 9 } })).toHaveLength(1);
	});

	test('a poll that emits nothing saves nothing', async () => {
		const { service } = serviceOf({ 1: {} });
		const { poll, staticData } = trigger({
			node: newNode(),
			parameters: { campaignIds: '1' },
			service,
		});
		expect(await poll()).toBeNull();
		expect(staticData).toEqual({});
	});

	test('a campaign that is no longer listed is forgotten', async () => {
		const { service } = serviceOf({ 1: { clicked: 1 }, 2: { clicked: 1 } });
		const staticData: IDataObject = {};
		const list = async (campaignIds: string) =>
			idsOf(
				await trigger({ node: newNode(), parameters: { campaignIds }, service, staticData }).poll(),
			);
		expect(await list('1,2')).toEqual(['1', '2']);
		expect(await list('2')).toBeUndefined();
		expect(Object.keys(staticData['baselines'] ?? {})).toEqual(['2']);
		expect(await list('1,2')).toEqual(['1']);
	});

	test('Fetch Test Event shows each campaign as if it were seen first, and keeps nothing', async () => {
		const { service } = serviceOf({ 1: { clicked: 3 }, 2: {} });
		const staticData = { baselines: {}, lastTimeChecked: 1 };
		const { poll } = trigger({
			node: newNode(),
			parameters: { campaignIds: '2,1', counters: ['clicked'] },
			service,
			mode: 'manual',
			staticData,
		});
		for (let time = 0; time < 2; time += 1) {
			expect(await poll()).toMatchObject([
				{ campaignId: '2', changes: {}, firstSeen: true },
				{ campaignId: '1', changes: { clicked: { from: 0, to: 3, by: 3 } }, firstSeen: true },
			]);
		}
		expect(staticData).toEqual({ baselines: {}, lastTimeChecked: 1 });
	});
});

describe('failures', () => {
	const parameters = { campaignIds: '1,2,3' };
	const some = () => serviceOf({ 1: { clicked: 1 }, 2: () => failure('invalid_value') });
	const missing = "Campaign 2 can't be read: The push service has no campaign with this ID";

	test('among healthy campaigns: the events come, and the failure is told once', async () => {
		const { service, campaigns } = some();
		const { poll, errors } = trigger({ node: newNode(), parameters, service });
		expect(idsOf(await poll())).toEqual(['1']);
		expect(errors.map(({ message }) => message)).toEqual([missing]);
		expect(errors[0]).toBeInstanceOf(NodeApiError);
		expect(errors[0]).toHaveProperty(
			'description',
			'The service says: "No". Check Campaign ID: use the one that the node put out when the campaign was sent.',
		);
		campaigns['1'] = { clicked: 2 };
		expect(idsOf(await poll())).toEqual(['1']);
		expect(errors).toHaveLength(1);
		campaigns['2'] = {};
		await poll();
		campaigns['2'] = () => failure('invalid_value');
		await poll();
		expect(errors).toHaveLength(2);
	});

	test.each(['activate', 'create', 'update'])(
		'on activation (%s) any stops it',
		async (activation) => {
			const { service } = some();
			const budgetMs = activation === 'update' ? 'absent' : 60_000;
			const error = await errorOf({ parameters, service, activation, budgetMs });
			expect(error.message).toBe(missing);
		},
	);

	test.each([
		['init', 60_000],
		['init', 'absent'],
		['update', 60_000],
		['leadershipChange', 60_000],
	] as const)('otherwise (%s, %p) none does', async (activation, budgetMs) => {
		const { service } = some();
		const { poll } = trigger({ node: newNode(), parameters, service, activation, budgetMs });
		expect(idsOf(await poll())).toEqual(['1']);
	});

	test('a second publication in the classic engine of n8n 2 is stopped by any', async () => {
		const { service } = some();
		// The classic engine hands out the data itself, which watches for changes.
		const staticData = ObservableObject.create({});
		const error = await errorOf({ parameters, service, activation: 'update', staticData });
		expect(error.message).toBe(missing);
	});

	test('only the first poll is an activation', async () => {
		const { service } = serviceOf({ 1: {} });
		const { poll, context } = trigger({
			node: newNode(),
			parameters: { campaignIds: '1' },
			service,
			activation: 'activate',
		});
		expect(await poll()).toBeNull();
		Object.assign(context, {
			getNodeParameter: (name: string, fallback: unknown) =>
				name === 'campaignIds' ? '1,2' : fallback,
		});
		const gone = serviceOf({ 1: { clicked: 1 }, 2: () => failure('invalid_value') });
		Object.assign(context.helpers, {
			httpRequestWithAuthentication: async (_type: string, options: { url: string }) => ({
				statusCode: 200,
				headers: {},
				...(await gone.service(options)),
			}),
		});
		expect(idsOf(await poll())).toEqual(['1']);
	});

	test('Fetch Test Event fails with any', async () => {
		const { service } = some();
		expect((await errorOf({ parameters, service, mode: 'manual' })).message).toBe(missing);
	});

	test('of all campaigns fail the poll, each time, with one reason that names them', async () => {
		const { service } = serviceOf({
			1: () => failure('authentication_failure'),
			2: () => failure('authentication_failure'),
			3: () => failure('authentication_failure'),
		});
		const { poll, errors } = trigger({ node: newNode(), parameters, service });
		for (let time = 0; time < 2; time += 1) {
			await expect(poll()).rejects.toMatchObject({
				message: "Campaigns 1, 2, 3 can't be read: The push service does not accept the credential",
				failure: { cause: 'credential-invalid' },
			});
		}
		expect(errors).toEqual([]);
	});

	describe('one that is refused for too many requests again and again while the others are not', () => {
		const ids = Array.from({ length: 30 }, (_, index) => String(index));
		const others = ids.filter((id) => id !== '3');
		const refuses: Service = () => ({
			...failure('rate_limit'),
			headers: { 'retry-after': '0.001' },
		});
		const crowdedTrigger = (options: PollOptions = {}) => {
			const moved = Object.fromEntries(others.map((id) => [id, { clicked: 1 }]));
			const { service, asked, campaigns } = serviceOf({ ...moved, 3: refuses });
			const parameters = { campaignIds: ids };
			return { ...trigger({ node: newNode(), parameters, service, ...options }), asked, campaigns };
		};

		test('is read first the next time, and told when it is refused twice in a row, once', async () => {
			const { poll, asked, campaigns, staticData, errors } = crowdedTrigger();
			expect(idsOf(await poll())).toEqual(others);
			expect([errors, staticData['unread'], staticData['reported']]).toEqual([
				[],
				['3'],
				undefined,
			]);

			for (let polls = 0; polls < 3; polls += 1) {
				asked.splice(0);
				expect(await poll()).toBeNull();
				expect(asked[0]).toBe(polls % 2 === 0 ? '3' : '0');
				expect(errors.map(({ message }) => message)).toEqual([
					"Campaign 3 can't be read: The push service is receiving too many requests",
				]);
			}
			campaigns['3'] = { clicked: 1 };
			expect(idsOf(await poll())).toEqual(['3']);
			expect([staticData['unread'], staticData['reported'], errors.length]).toEqual([[], {}, 1]);
		});

		test('is forgotten where it is read the next time', async () => {
			const { poll, campaigns, staticData, errors } = crowdedTrigger();
			await poll();
			campaigns['3'] = { clicked: 1 };
			expect(idsOf(await poll())).toEqual(['3']);
			campaigns['3'] = refuses;
			expect(await poll()).toBeNull();
			expect([errors, staticData['unread']]).toEqual([[], ['3']]);
		});

		test('is read first the next time too where the poll had no time for all its retries', async () => {
			// All leave at once; its pauses, a quarter of a second and then a second, take longer than there is.
			const { service } = serviceOf({ 1: { clicked: 1 }, 3: () => failure('rate_limit') });
			const parameters = { campaignIds: ['1', '3'] };
			const options = { node: newNode(), parameters, service, budgetMs: 600 };
			const { poll, staticData, errors } = trigger(options);
			expect(idsOf(await poll())).toEqual(['1']);
			expect([errors, staticData['unread']]).toEqual([[], ['3']]);
			expect(await poll()).toBeNull();
			expect(errors.map(({ message }) => message)).toEqual([
				"Campaign 3 can't be read: The push service is receiving too many requests",
			]);
		});

		test.each([{ mode: 'manual' }, { activation: 'activate' }] as const)(
			'is told at once with %o',
			async (options) => {
				await expect(crowdedTrigger(options).poll()).rejects.toMatchObject({
					message: "Campaign 3 can't be read: The push service is receiving too many requests",
				});
			},
		);
	});

	test('what was not reached in time is read first the next time', async () => {
		// The first is answered, the others are told to wait for longer than the poll may take.
		const ids = Array.from({ length: 25 }, (_, index) => String(index));
		const refusal = { ...failure('rate_limit'), headers: { 'retry-after': '500' } };
		const { service, asked, campaigns } = serviceOf({ 0: { clicked: 1 } });
		for (const id of ids.slice(1)) campaigns[id] = () => refusal;
		const { poll, staticData, errors } = trigger({
			node: newNode(),
			parameters: { campaignIds: ids },
			service,
			budgetMs: 600,
		});
		expect(idsOf(await poll())).toEqual(['0']);
		const reached = asked.splice(0);
		const unread = ids.filter((id) => !reached.includes(id));
		expect([reached.length > 1, unread.length > 0]).toEqual([true, true]);
		expect(staticData['unread']).toEqual(unread);
		expect(errors.map(({ message }) => message.replace(/ .* can't/, " … can't"))).toEqual([
			"Campaigns … can't be read: The push service is receiving too many requests",
		]);
		for (const id of ids) campaigns[id] = { clicked: 2 };
		expect(idsOf(await poll())).toEqual(ids);
		expect(asked).toEqual([...unread, ...reached]);
		expect(staticData['unread']).toEqual([]);
	});
});

test('a poll ends in its time, though n8n does not open the credential', async () => {
	const { context } = pollFunctions({
		node: newNode(),
		parameters: { campaignIds: '1' },
		budgetMs: 100,
	});
	const never = new Promise<never>(() => {});
	Object.assign(context, { getCredentials: async () => await never });
	const from = performance.now();
	await expect(new PushCampaignTrigger().poll.call(context)).rejects.toMatchObject({
		message: 'n8n did not open the credential in the time that it gives a poll',
		failure: { cause: 'temporarily-unavailable' },
	});
	expect(performance.now() - from).toBeGreaterThan(70);
});

test('campaigns whose IDs are names of every object’s are told like others', async () => {
	const { service } = serviceOf({
		1: { clicked: 1 },
		constructor: (options: { url: string }) => ({
			body: JSON.stringify({
				notification_status: 'Sent',
				notification_id: idOf(options),
				count: { clicked: '3' },
			}),
		}),
	});
	const parameters = { campaignIds: '1,constructor' };
	const { poll } = trigger({ node: newNode(), parameters, service });
	expect(idsOf(await poll())).toEqual(['1', 'constructor']);
	expect(await poll()).toBeNull();
});

test('a poll leaves no timer behind, however large n8n’s budget is', async () => {
	const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
	const before = timers();
	const { service } = serviceOf({ 1: { clicked: 1 } });
	const parameters = { campaignIds: '1' };
	await trigger({ node: newNode(), parameters, service, budgetMs: 600_000 }).poll();
	expect(timers()).toBeLessThanOrEqual(before);
});

test.each([
	[10_000, 4000],
	[600_000, 30_000],
	['absent', 30_000],
] as const)('of a budget of %p a request may take %d ms', async (budgetMs, timeout) => {
	const { service } = serviceOf({ 1: {} });
	const parameters = { campaignIds: '1' };
	const { poll, asked } = trigger({ node: newNode(), parameters, service, budgetMs });
	await poll();
	expect(asked.map(({ options }) => options.timeout)).toEqual([timeout]);
});

describe('polls that overlap', () => {
	test('do not emit twice what one of them has emitted', async () => {
		const node = newNode();
		const answers: Array<() => void> = [];
		const service: Service = async (options) => {
			await new Promise<void>((resolve) => answers.push(resolve));
			return statusAnswer(idOf(options), { clicked: 5 });
		};
		// n8n's durable engine gives each poll a copy of the static data.
		const pollers = [0, 1].map(() =>
			trigger({ node, parameters: { campaignIds: '1' }, service, staticData: {} }),
		);
		const polls = pollers.map(async ({ poll }) => await poll());
		await new Promise((resolve) => setTimeout(resolve, 10));
		for (const answer of answers) answer();
		const given = await Promise.all(polls);
		const quiet = pollers.filter((_poller, index) => given[index] === null);
		expect(quiet.map(({ staticData }) => staticData)).toEqual([{}]);
	});

	const turn = async () => await new Promise((resolve) => setTimeout(resolve, 10));

	test('on the one context of the classic engine: two ask, others leave it to them', async () => {
		const requests: Array<() => void> = [];
		const service: Service = async (options) => {
			await new Promise<void>((resolve) => requests.push(resolve));
			return statusAnswer(idOf(options), { clicked: 5 });
		};
		const { poll } = trigger({ node: newNode(), parameters: { campaignIds: '1' }, service });
		const polls = [poll(), poll(), poll(), poll()];
		await turn();
		expect(requests).toHaveLength(2);
		expect(await Promise.all(polls.slice(2))).toEqual([null, null]);

		requests[1]?.();
		expect(idsOf((await polls[1]) ?? null)).toEqual(['1']);
		const next = poll();
		await turn();
		expect(requests).toHaveLength(3);
		requests[0]?.();
		requests[2]?.();
		expect(await Promise.all([polls[0], next])).toEqual([null, null]);
	});

	test('take nothing back that another one emitted while they waited for another campaign', async () => {
		const hanging: Array<() => void> = [];
		const { service, campaigns } = serviceOf({
			1: { clicked: 5 },
			2: async () => {
				await new Promise<void>((resolve) => hanging.push(resolve));
				return statusAnswer('2', {});
			},
		});
		const { poll } = trigger({ node: newNode(), parameters: { campaignIds: '1, 2' }, service });
		const slow = poll();
		await turn();
		campaigns[1] = { clicked: 8 };
		const quick = poll();
		await turn();
		hanging[1]?.();
		expect(changesOf(await quick)).toEqual([{ clicked: { from: 0, to: 8, by: 8 } }]);
		hanging[0]?.();
		expect(await slow).toBeNull();
	});

	describe('an activation while a poll is under way', () => {
		/** n8n reads what was saved, and makes a context of its own. */
		const activated = (node: { id: string }, options: PollOptions) =>
			trigger({
				staticData: ObservableObject.create({}),
				parameters: { campaignIds: '1' },
				...options,
				node,
			});
		const service: Service = async (options) => statusAnswer(idOf(options), { clicked: 5 });
		/** Answers when it is told to. */
		function slowService() {
			const answers: Array<() => void> = [];
			const slow: Service = async (options) => {
				await new Promise<void>((resolve) => answers.push(resolve));
				return await service(options);
			};
			return { slow, answer: () => answers.shift()?.() };
		}

		test('tells what the poll would have told, and the poll nothing', async () => {
			const node = newNode();
			const { slow, answer } = slowService();
			const before = activated(node, { service: slow });
			const underWay = before.poll();
			await turn();
			const after = activated(node, { service, activation: 'activate' });
			expect(idsOf(await after.poll())).toEqual(['1']);
			answer();
			expect(await underWay).toBeNull();
			expect(before.staticData).not.toHaveProperty('baselines');

			// Where n8n takes the activation back, it goes on with the earlier context.
			const next = before.poll();
			await turn();
			answer();
			expect(idsOf(await next)).toEqual(['1']);
		});

		test('ends the poll without an error of its own', async () => {
			const node = newNode();
			const { slow, answer } = slowService();
			const failing: Service = async (options) => {
				await slow(options);
				return failure('invalid_value');
			};
			const underWay = activated(node, { service: failing }).poll();
			await turn();
			await activated(node, { service }).poll();
			answer();
			expect(await underWay).toBeNull();
		});

		test('that finds a campaign unreadable fails, though a poll of the context before began after it', async () => {
			const node = newNode();
			const { slow, answer } = slowService();
			const failing: Service = async (options) => {
				await slow(options);
				return failure('invalid_value');
			};
			const before = activated(node, { service });
			const activation = activated(node, { service: failing, activation: 'activate' }).poll();
			const refused = expect(activation).rejects.toBeInstanceOf(NodeApiError);
			await turn();
			await before.poll();
			answer();
			await refused;
		});

		test.each<[string, { other?: boolean }, PollOptions]>([
			['of another trigger', { other: true }, {}],
			["by the editor's Fetch Test Event", {}, { mode: 'manual' }],
			['in the durable engine, which has a context for each poll', {}, { staticData: {} }],
		])('%s changes nothing', async (_what, { other = false }, options) => {
			const node = newNode();
			const { slow, answer } = slowService();
			const underWay = activated(node, { service: slow }).poll();
			await turn();
			await activated(other ? newNode() : node, { service, ...options }).poll();
			answer();
			expect(idsOf(await underWay)).toEqual(['1']);
		});
	});

	test('hold up no other when they fail', async () => {
		const { service, asked } = serviceOf({ 1: () => failure('invalid_value') });
		const { poll } = trigger({ node: newNode(), parameters: { campaignIds: '1' }, service });
		for (let polls = 0; polls < 3; polls += 1) {
			await expect(poll()).rejects.toBeInstanceOf(NodeApiError);
		}
		expect(asked).toEqual(['1', '1', '1']);
	});

	test('hold up no other when they take longer than n8n gives them', async () => {
		let budgetMs = 60_000;
		const credentials = new Promise<never>(() => {});
		const { context } = pollFunctions({ node: newNode(), parameters: { campaignIds: '1' } });
		let opened = 0;
		Object.assign(context, {
			getPollBudgetMs: () => budgetMs,
			getCredentials: async () => {
				opened += 1;
				return await credentials;
			},
		});
		const poll = () => void new PushCampaignTrigger().poll.call(context).catch(() => undefined);
		for (let polls = 0; polls < 3; polls += 1) poll();
		await turn();
		expect(opened).toBe(2);
		budgetMs = 10;
		await new Promise((resolve) => setTimeout(resolve, 2 * budgetMs));
		poll();
		await turn();
		expect(opened).toBe(3);
	});
});

test('a request that is lost is made again, and its campaign is not called failed', async () => {
	let asked = 0;
	const { service } = serviceOf({
		1: (options) => ((asked += 1) === 1 ? lost() : statusAnswer(idOf(options), { clicked: 1 })),
	});
	const { poll, errors } = trigger({
		node: newNode(),
		parameters: { campaignIds: '1' },
		service,
	});
	expect(idsOf(await poll())).toEqual(['1']);
	expect([asked, errors]).toEqual([2, []]);
});
