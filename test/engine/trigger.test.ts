import dns from 'node:dns';
import {
	ObservableObject,
	type IDataObject,
	type INodeParameters,
	type WorkflowActivateMode,
} from 'n8n-workflow';
import { until } from '../../host/process/until';
import type { FaultAction } from '../../simulator/faults';
import { CredentialsOfTest } from './support/credentials';
import { newWorkflowId, pollerOf, type PollOptions } from './support/poll';
import { credentialsFor, matching, useSimulator } from './support/pushCampaign';
import { declaredIn, declaredTypes, typesIn } from './support/schemas';
import { startEndless } from './support/server';

const simulator = useSimulator();
const anotherSite = useSimulator();

afterEach(() => void jest.restoreAllMocks());

const hang = { kind: 'hang', process: false } as const;
/** A pause of more than ten minutes ends a poll at once. */
const crowded: FaultAction = {
	kind: 'failure',
	type: 'rate_limit',
	description: '',
	headers: { 'retry-after': '601' },
};

/** Has each read of a campaign fail. */
const failing = (id: string, action: FaultAction) =>
	simulator().addFault({ match: { path: `/id/${id}` }, times: 0, action });

/** Has no time end by itself. Those that a poll sets are listed, its own first, and it ends when the test says so. */
function holdTimes() {
	const times: Array<{ milliseconds: number; end: AbortController }> = [];
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
		const end = new AbortController();
		times.push({ milliseconds, end });
		return end.signal;
	});
	// A poll begins with any of its campaigns, here with the first.
	jest.spyOn(Math, 'random').mockReturnValue(0);
	/** Ends the time of the poll as soon as the service has got so many requests. */
	async function endAfter(requests: number) {
		const late = (count: number) => `The service got ${count} of ${requests} requests`;
		const isThere = (count: number) => count >= requests;
		await until(() => simulator().requestCount, isThere, { within: 20_000, every: 5, late });
		times[0]?.end.abort();
	}
	return { times, endAfter };
}

/** A trigger on one of n8n's contexts: each call is a poll. */
function trigger(parameters: INodeParameters, options: Partial<PollOptions> = {}) {
	const poller = pollerOf(parameters, { credentials: credentialsFor(simulator()), ...options });
	return async () => {
		const { items, errors } = await poller();
		return {
			items: items?.map(({ json }) => json) ?? null,
			reports: errors.map(({ message }) => message),
		};
	};
}

/** What several contexts of one trigger in one process share. */
const newTrigger = () => ({
	workflowId: newWorkflowId(),
	staticData: ObservableObject.create({}),
});

const add = (clicked: number) => simulator().addCampaign({ counters: { clicked } });
const addMany = (count: number) => Array.from({ length: count }, () => add(1));
const idsOf = (items: IDataObject[] | null) => items?.map(({ campaignId }) => campaignId);

const noCampaign = `The push service has no campaign 7. The service says: "Invalid notification ID". Correct 'Campaign IDs'.`;

const anyTime = matching(/^\d{4}-\d\d-\d\dT.*Z$/);

/** The fields of the output schema that an item has. */
const schemaFieldsOf = (item: IDataObject = {}) =>
	declaredIn('../v1.0.0').flatMap(([name]) => (name in item ? [name] : []));

describe('an event', () => {
	test('of a campaign is flat, with all fields in the order of the output schema', async () => {
		const counters = { total_attempts: 9, successfully_sent: 8, delivered: 4, clicked: 1 };
		const id = simulator().addCampaign({ status: 'Sent', counters });
		const poll = trigger({ campaignIds: id, watch: ['clicked', 'closed', 'status'] });
		const { items } = await poll();
		expect(items).toEqual([
			{
				...{ campaignId: id, status: 'Sent', statusBefore: null, firstSeen: true },
				...{ delivered: 4, deliveredBy: null, clicked: 1, clickedBy: 1, closed: 0, closedBy: 0 },
				...{ totalAttempts: 9, totalAttemptsBy: null },
				...{ successfullySent: 8, successfullySentBy: null },
				...{ failedToSend: 0, failedToSendBy: null },
				...{ deliveryRate: 0.5, clickRate: 0.25, observedAt: anyTime },
			},
		]);
		expect(Object.keys(items?.[0] ?? {})).toEqual(schemaFieldsOf(items?.[0]));
		expect((await poll()).items).toBeNull();
	});

	test('of the site is flat, too, with both counts', async () => {
		const poll = trigger({ event: 'subscribersReached', number: 10_000 });
		const { items } = await poll();
		expect(items).toEqual([
			{
				...{ firstSeen: true, activeSubscribers: 10_000, activeSubscribersBy: 10_000 },
				...{ totalLifetimeSubscribers: 12_500, totalLifetimeSubscribersBy: null },
				observedAt: anyTime,
			},
		]);
		expect(Object.keys(items?.[0] ?? {})).toEqual(schemaFieldsOf(items?.[0]));
		expect(await poll()).toEqual({ items: null, reports: [] });
	});

	test('has values of the types in the output schema, whatever the service gives', async () => {
		const names = ['total_attempts', 'successfully_sent', 'failed_to_send'];
		const count = Object.fromEntries(
			[...names, 'delivered', 'clicked', 'closed'].map((name) => [name, 1]),
		);
		const record = { notification_id: '1', notification_status: 'Sent' };
		const answers = [
			{ ...record, count: {} },
			{ ...record, notification_status: null, count },
			{ ...record, notification_status: 'Gone', count: {} },
			{ active_subscribers: 1 },
			{ total_life_time_subscribers: 1 },
		];
		for (const answer of answers) {
			simulator().addFault({
				action: { kind: 'respond', status: 200, body: JSON.stringify(answer) },
			});
		}
		const watch = ['status', 'delivered', 'clicked', 'closed', 'totalAttempts', 'successfullySent'];
		const ofCampaign = trigger({ campaignIds: '1', watch: [...watch, 'failedToSend'] });
		const ofSite = trigger({ event: 'subscribersChanged' });
		const items: IDataObject[] = [];
		for (const poll of [ofCampaign, ofCampaign, ofCampaign, ofSite, ofSite]) {
			items.push(...((await poll()).items ?? []));
		}
		expect(typesIn(...items).sort()).toEqual(declaredTypes('../v1.0.0').sort());
	});

	test('follows expressions in the panel', async () => {
		const [first, second] = addMany(2);
		const poll = trigger({ campaignIds: `={{ [${first}, ${second}].join() }}` });
		expect(idsOf((await poll()).items)).toEqual([first, second]);
	});
});

test('polls from one cursor emit once, and a poll that emits nothing leaves the cursor as it is', async () => {
	const workflowId = newWorkflowId();
	const campaignIds = add(1);
	const pollFrom = async (staticData: IDataObject) => {
		const options = { workflowId, staticData, activation: 'update' } as const;
		return idsOf((await trigger({ campaignIds }, options)()).items);
	};
	const one: IDataObject = {};
	const two: IDataObject = {};
	expect([await pollFrom(one), await pollFrom(two)]).toEqual([[campaignIds], undefined]);
	expect(two).toEqual({});

	const known = structuredClone(one);
	expect(await pollFrom(one)).toBeUndefined();
	expect(one).toEqual(known);
	simulator().setCounters(campaignIds, { clicked: 2 });
	expect(await pollFrom(known)).toEqual([campaignIds]);
});

describe('Fetch Test Event', () => {
	test('shows every campaign as if it were seen first, and changes no baseline', async () => {
		const staticData = { revision: 1, site: 'a', baselines: [] };
		const parameters = { event: 'campaignReached', campaignIds: [add(3), add(0)], number: 9 };
		const poll = trigger(parameters, { mode: 'manual', staticData });
		for (let time = 0; time < 2; time += 1) {
			expect((await poll()).items).toMatchObject([
				{ clickedBy: 3, firstSeen: true },
				{ clickedBy: 0, firstSeen: true },
			]);
		}
		expect(staticData).toEqual({ revision: 1, site: 'a', baselines: [] });
	});

	test('fails with the name of each campaign that can’t be read, whatever the reason, though others can', async () => {
		const [good, bad] = [add(1), add(1)];
		failing(bad, crowded);
		const poll = trigger({ campaignIds: ['7', good, bad] }, { mode: 'manual' });
		await expect(poll()).rejects.toMatchObject({
			message: matching(
				new RegExp(`no campaign 7\\. Campaign ${bad} can't be read\\. .* too many requests\\. `),
			),
			httpCode: '404',
		});
	});
});

describe('a first publication fails', () => {
	test('with every campaign and every reason, and the next poll of its context goes on', async () => {
		const [good, bad] = [add(1), add(1)];
		const description = 'Your plan ended on 1 May';
		failing(bad, { kind: 'failure', description, type: 'plan_expired' });
		const poll = trigger({ campaignIds: [good, 'gone', bad] });
		await expect(poll()).rejects.toThrow(
			/no campaign gone\. Campaign \d+ can't be read\. .*"Your plan ended on 1 May"\. Correct .*\. If that /,
		);
		expect(await poll()).toMatchObject({ items: [{ campaignId: good }], reports: [] });
	});

	test('again if it is published again, until nothing is wrong', async () => {
		const known = newTrigger();
		const publish = async (activation: WorkflowActivateMode, campaignIds = '7') =>
			(await trigger({ campaignIds }, { ...known, activation })()).items;
		await expect(publish('activate')).rejects.toThrow(noCampaign);
		await expect(publish('update')).rejects.toThrow(noCampaign);
		expect(await publish('update', add(0))).toBeNull();
		// As the durable engine polls it, or as somebody edits it.
		expect(await publish('update')).toBeNull();

		await expect(publish('activate')).rejects.toThrow(noCampaign);
		expect(await publish('leadershipChange')).toBeNull();
	});

	test('in words that name no item, because a trigger has none', async () => {
		await expect(trigger({ campaignIds: '={{ "" }}' })()).rejects.toThrow(
			`'Campaign IDs': {{ "" }} gave nothing. Check the expression, and the data that it reads.`,
		);
	});

	test('if the credential is not valid', async () => {
		const credentials = credentialsFor({ url: 'ftp://x' });
		await expect(trigger({ campaignIds: 1 }, { credentials })()).rejects.toThrow('Base URL');
	});

	test('if the host does not exist', async () => {
		const lookup = jest.spyOn(dns, 'lookup').mockImplementation((...given: unknown[]) => {
			const done = given.at(-1);
			const error = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
			if (typeof done === 'function') Reflect.apply(done, undefined, [error]);
		});
		const credentials = credentialsFor({ url: 'https://push.example.com' });
		await expect(trigger({ campaignIds: 1 }, { credentials })()).rejects.toThrow(
			"Could not connect to push.example.com: host not found. Check 'Base URL' in",
		);
		expect(lookup).toHaveBeenCalled();
	});

	test('if what comes is not the service’s, or can’t be used, though others can be read', async () => {
		const record = (id: string, clicked: string) =>
			JSON.stringify({ notification_status: 'Sent', notification_id: id, count: { clicked } });
		const answers = [
			{ body: '<html>' },
			{ status: 404, body: '' },
			{ body: '{"ok":1}' },
			{ body: record('77', '1') },
			{ body: record('1005', '1,234') },
		];
		for (const [at, answer] of answers.entries()) {
			const id = simulator().addCampaign({ id: String(1001 + at) });
			failing(id, { kind: 'respond', ...answer });
		}
		const poll = trigger({ campaignIds: [add(1), 1001, 1002, 1003, 1004, 1005] });
		await expect(poll()).rejects.toMatchObject({
			message: [
				"Campaigns 1003, 1004, 1005 can't be read. The answer (HTTP 200) does not hold what the push service promises.",
				"Campaign 1001 can't be read. The answer (HTTP 200) is not the push service's.",
				"Campaign 1002 can't be read. The answer (HTTP 404) is not the push service's.",
				"If 'Base URL' in the Push Campaign API credential is right, ask the support of your push service.",
				"Check 'Base URL' in the Push Campaign API credential.",
			].join(' '),
		});
	});

	test('for what stays wrong alone, if the rest was only not reached in time', async () => {
		const hanging = addMany(30);
		for (const id of hanging) failing(id, hang);
		const { endAfter } = holdTimes();
		// Twenty are in flight at first: one more leaves only behind an answer.
		const ended = endAfter(21);
		const poll = trigger({ campaignIds: ['7', ...hanging] });
		await expect(poll()).rejects.toMatchObject({ message: noCampaign });
		await ended;
	});
});

describe('a first publication goes on, and a later poll reads the rest,', () => {
	test.each<{ name: string; actions: FaultAction[] }>([
		{ name: 'refused for too many requests', actions: [crowded, crowded] },
		{
			name: 'met by an outage',
			actions: [
				{ kind: 'respond', status: 503, body: 'Back soon' },
				{ kind: 'failure', description: 'Something went wrong' },
				{ kind: 'reset-before' },
			],
		},
	])('if some campaigns, or all of them, are $name', async ({ actions }) => {
		const first = add(1);
		const late = addMany(actions.length);
		for (const [at, action] of actions.entries()) failing(late[at] ?? '', action);
		const some = trigger({ campaignIds: [first, ...late] });
		const all = trigger({ campaignIds: late });
		expect(await Promise.all([some(), all()])).toMatchObject([
			{ items: [{ campaignId: first }], reports: [] },
			{ items: null, reports: [] },
		]);
		simulator().clearFaults();
		for (const poll of [some, all]) expect(idsOf((await poll()).items)).toEqual(late);
	});

	test.each([
		// Each of the ten answers lets one more request be in flight.
		{ name: 'some campaigns are', answered: 10, requests: 40 },
		{ name: 'none is', answered: 0, requests: 20 },
	])('if $name reached in time', async ({ answered, requests }) => {
		const ids = addMany(50);
		const late = ids.slice(answered);
		for (const id of late) failing(id, hang);
		const { endAfter } = holdTimes();
		const poll = trigger({ campaignIds: ids });
		const [{ items, reports }] = await Promise.all([poll(), endAfter(requests)]);
		expect([idsOf(items) ?? [], reports]).toEqual([ids.slice(0, answered), []]);
		simulator().clearFaults();
		expect(idsOf((await poll()).items)).toEqual(late);
	});
});

describe('a failure', () => {
	test.each(['init', 'leadershipChange'] as const)(
		'in the mode %s throws nothing, holds up nothing, and is reported once, in the second poll',
		async (activation) => {
			const id = add(1);
			const poll = trigger({ campaignIds: ['7', id] }, { activation });
			expect(await poll()).toMatchObject({ items: [{ clicked: 1 }], reports: [] });
			simulator().setCounters(id, { clicked: 2 });
			expect(await poll()).toMatchObject({ items: [{ clicked: 2 }], reports: [noCampaign] });
			expect(await poll()).toEqual({ items: null, reports: [] });
		},
	);

	test('of a vault throws nothing at a first publication, is reported once, too, and what changed meanwhile is emitted after it', async () => {
		const id = add(1);
		let isDown = true;
		const onOpen = () => {
			if (isDown) throw new Error('The vault is down');
		};
		const poll = trigger({ campaignIds: id }, { onOpen });
		const reports = [await poll(), await poll(), await poll()].map((each) => each.reports);
		expect(reports).toEqual([[], [expect.stringContaining('The vault is down')], []]);
		isDown = false;
		expect(idsOf((await poll()).items)).toEqual([id]);
	});

	test('of the site’s count is reported, too, and the count is emitted after it', async () => {
		const action = { kind: 'failure', type: 'header_invalid', description: '' } as const;
		simulator().addFault({ match: { path: '/subscriber_count' }, times: 0, action });
		const poll = trigger({ event: 'subscribersReached', number: 1 }, { activation: 'init' });
		const reports = [await poll(), await poll(), await poll()].map((each) => each.reports);
		const message = matching(/^The subscriber count can't be read\. The push service did not get /);
		expect(reports).toEqual([[], [message], []]);
		simulator().clearFaults();
		expect((await poll()).items).toMatchObject([{ activeSubscribers: 10_000 }]);
	});

	test('throws nothing when a trigger is published again that has reported, whatever was edited', async () => {
		const known = newTrigger();
		const id = add(1);
		await trigger({ campaignIds: id }, known)();
		const edits: INodeParameters[] = [
			{ campaignIds: [id, '7'] },
			{ campaignIds: '' },
			{ event: 'campaignReached', campaignIds: id },
		];
		for (const parameters of edits) {
			expect(await trigger(parameters, known)()).toMatchObject({ items: null });
		}
		const again = trigger({ campaignIds: '7' }, { ...known, workflowId: newWorkflowId() });
		expect(await again()).toEqual({ items: null, reports: [] });
		expect(await again()).toEqual({ items: null, reports: [noCampaign] });
	});

	test('in the durable engine, whose polls have a context each, is reported once, and says how it goes on', async () => {
		const credentials = credentialsFor(simulator());
		const options: PollOptions = { ...newTrigger(), credentials, activation: 'update' };
		const reports: unknown[] = [];
		for (let count = 0; count < 3; count += 1) {
			reports.push((await pollerOf({ campaignIds: '7' }, options)()).errors);
		}
		const description = 'The trigger goes on with its next poll.';
		expect(reports).toMatchObject([[], [{ message: noCampaign, description }], []]);
	});
});

test('at another site every campaign counts as never emitted', async () => {
	const known = newTrigger();
	const id = add(5);
	anotherSite().addCampaign({ id, counters: { clicked: 2 } });
	const moves: unknown[] = [];
	for (const at of [simulator(), anotherSite(), anotherSite(), simulator()]) {
		const credentials = credentialsFor(at);
		const { items } = await trigger({ campaignIds: id }, { ...known, credentials })();
		moves.push(items?.map(({ firstSeen, clickedBy }) => [firstSeen, clickedBy]) ?? null);
	}
	expect(moves).toEqual([[[true, 5]], [[true, 2]], null, [[true, 5]]]);
});

test('of polls that overlap on one context the second asks nothing and returns nothing', async () => {
	simulator().configure({ latencyMs: 50 });
	const poll = trigger({ campaignIds: add(1) });
	const polls = await Promise.all([poll(), poll()]);
	expect(polls.map(({ items }) => items?.length)).toEqual([1, undefined]);
	expect(simulator().requestCount).toBe(1);
});

describe('the time of a poll, and of a request', () => {
	const init = { activation: 'init' } as const;
	const inEngine = { activation: 'update', budgetMs: 20_000 } as const;
	const long = [240_000, 30_000];
	const durable = [16_000, 12_800];
	const old = [19_200, 15_360];
	test.each<{ at: string; options: Partial<PollOptions>; times: number[][] }>([
		{ at: 'a first publication', options: {}, times: [[12_000, 9_600], long] },
		{ at: 'a start of n8n', options: init, times: [[24_000, 19_200], long] },
		{ at: 'a poll of the durable engine', options: inEngine, times: [durable, durable] },
		{ at: 'a start of n8n 1', options: { ...init, budgetMs: null }, times: [old, old] },
	])(
		'is limited in $at, and in the next poll of its context',
		async ({ options, times: limits }) => {
			const { times } = holdTimes();
			const poll = trigger({ campaignIds: add(1) }, options);
			const found: number[][] = [];
			for (const _limit of limits) {
				await poll();
				found.push(times.splice(0).map(({ milliseconds }) => milliseconds));
			}
			expect(found).toEqual(limits);
		},
	);

	test('ends if n8n does not open the credential', async () => {
		jest
			.spyOn(CredentialsOfTest.prototype, 'getDecrypted')
			.mockImplementation(async () => await new Promise<never>(() => undefined));
		const poll = trigger({ campaignIds: 1 }, { activation: 'init', budgetMs: 100 });
		await poll();
		const message = 'n8n did not open the credential in the time of this poll. Check ';
		expect((await poll()).reports).toEqual([expect.stringContaining(message)]);
	});

	test('ends whatever hangs, and no socket outlives it', async () => {
		const { credentials, close } = await startEndless();
		const campaignIds = Array.from({ length: 30 }, (_, index) => index);
		const poll = trigger({ campaignIds }, { credentials, activation: 'init', budgetMs: 500 });
		expect(await poll()).toEqual({ items: null, reports: [] });
		await close();
	});
});
