import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { Poller, type PollOptions } from './support/poll';
import { credentialsFor, useSimulator } from './support/pushCampaign';

const simulator = useSimulator();

const zero = {
	total_attempts: 0,
	successfully_sent: 0,
	failed_to_send: 0,
	delivered: 0,
	clicked: 0,
	closed: 0,
};
const poller = (parameters: INodeParameters, options: Partial<PollOptions> = {}) =>
	new Poller(parameters, { credentials: credentialsFor(simulator()), ...options });
const jsonOf = (items: INodeExecutionData[] | null) => items?.map(({ json }) => json);
const idsOf = (items: INodeExecutionData[] | null) => items?.map(({ json }) => json['campaignId']);
const changesOf = (items: INodeExecutionData[] | null) => items?.map(({ json }) => json['changes']);
const addCampaign = (counters = {}, id?: string) =>
	simulator().addCampaign({
		status: 'Sent',
		counters: { ...zero, ...counters },
		...(id === undefined ? {} : { id }),
	});

const engines = [{ engine: 'classic' }, { engine: 'durable' }] as const;
describe.each(engines)('in the $engine engine', ({ engine }) => {
	test('a campaign counts from zero, then from its last event, also after a restart', async () => {
		const id = addCampaign({ delivered: 5, clicked: 3 });
		const trigger = poller({ campaignIds: id }, { engine });
		const before = Date.now();
		const first = await trigger.poll();
		expect(jsonOf(first.items)).toStrictEqual([
			{
				campaignId: id,
				status: 'Sent',
				delivered: 5,
				clicked: 3,
				closed: 0,
				totalAttempts: 0,
				successfullySent: 0,
				failedToSend: 0,
				deliveryRate: null,
				clickRate: 0.6,
				changes: { delivered: { from: 0, to: 5, by: 5 }, clicked: { from: 0, to: 3, by: 3 } },
				firstSeen: true,
				observedAt: matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
			},
		]);
		const observed = jsonOf(first.items)?.[0]?.['observedAt'];
		const observedAt = typeof observed === 'string' ? Date.parse(observed) : NaN;
		expect(observedAt).toBeGreaterThanOrEqual(before);
		expect(observedAt).toBeLessThanOrEqual(Date.now());

		expect((await trigger.poll()).items).toBeNull();
		simulator().setCounters(id, { clicked: 9 });
		const third = await trigger.poll();
		expect(changesOf(third.items)).toStrictEqual([{ clicked: { from: 3, to: 9, by: 6 } }]);
		expect(jsonOf(third.items)?.[0]).toMatchObject({ firstSeen: false });
		expect(trigger.errors).toStrictEqual([]);

		const later = trigger.restarted();
		expect((await later.poll()).items).toBeNull();
		simulator().setCounters(id, { clicked: 10 });
		const last = await later.poll();
		expect(changesOf(last.items)).toStrictEqual([{ clicked: { from: 9, to: 10, by: 1 } }]);
	});

	test('a campaign that reaches a number is emitted once, also after a restart', async () => {
		const id = addCampaign({ clicked: 3 });
		const parameters = { event: 'campaignReached', campaignIds: id, counter: 'clicked', number: 5 };
		const trigger = poller(parameters, { engine });
		expect((await trigger.poll()).items).toBeNull();
		simulator().setCounters(id, { clicked: 5 });
		expect(changesOf((await trigger.poll()).items)).toStrictEqual([
			{ clicked: { from: 0, to: 5, by: 5 } },
		]);
		const later = trigger.restarted();
		for (const clicked of [4, 6]) {
			simulator().setCounters(id, { clicked });
			expect((await later.poll()).items).toBeNull();
		}
	});

	test('a watched status is emitted from null, then when it changes', async () => {
		const id = simulator().addCampaign({ status: 'Scheduled', counters: zero });
		const trigger = poller({ campaignIds: id, watch: ['status'] }, { engine });
		expect(changesOf((await trigger.poll()).items)).toStrictEqual([
			{ status: { from: null, to: 'Scheduled' } },
		]);
		expect((await trigger.poll()).items).toBeNull();
		simulator().removeCampaign(id);
		addCampaign({}, id);
		const later = trigger.restarted();
		expect(changesOf((await later.poll()).items)).toStrictEqual([
			{ status: { from: 'Scheduled', to: 'Sent' } },
		]);
	});

	test('the subscriber counts are emitted when they change, and when one reaches a number', async () => {
		const count = (activeSubscribers: number) =>
			simulator().configure({ subscribers: { active: activeSubscribers, lifetime: 90 } });
		count(40);
		const changed = poller({ event: 'subscribersChanged' }, { engine });
		const number = { event: 'subscribersReached', count: 'activeSubscribers', number: 41 };
		const reached = poller(number, { engine });
		expect(jsonOf((await changed.poll()).items)).toStrictEqual([
			{
				activeSubscribers: 40,
				totalLifetimeSubscribers: 90,
				changes: {
					activeSubscribers: { from: 0, to: 40, by: 40 },
					totalLifetimeSubscribers: { from: 0, to: 90, by: 90 },
				},
				firstSeen: true,
				observedAt: matching(/Z$/),
			},
		]);
		expect((await reached.poll()).items).toBeNull();
		count(41);
		expect(changesOf((await changed.restarted().poll()).items)).toStrictEqual([
			{ activeSubscribers: { from: 40, to: 41, by: 1 } },
		]);
		expect((await reached.poll()).items).toHaveLength(1);
		expect((await reached.restarted().poll()).items).toBeNull();
	});

	test('a failing campaign holds back no other, and is reported in its second poll, once until it heals', async () => {
		const [bad, good] = [addCampaign({ clicked: 1 }), addCampaign({ clicked: 1 })];
		let clicked = 1;
		const trigger = poller({ campaignIds: `${bad},${good}` }, { engine, activation: 'init' });
		const round = async () => {
			clicked += 1;
			simulator().setCounters(good, { clicked });
			const { items, errors } = await trigger.poll();
			return { ids: idsOf(items), errors, items };
		};
		await trigger.poll();
		simulator().removeCampaign(bad);
		expect(await round()).toMatchObject({ ids: [good], errors: [] });
		expect(await round()).toMatchObject({
			ids: [good],
			errors: [
				{
					name: 'NodeApiError',
					message: matching(new RegExp(`^Campaign ${bad} can't be read: `)),
					httpCode: '404',
					failure: { cause: 'configuration-invalid' },
				},
			],
		});
		expect(await round()).toMatchObject({ errors: [] });
		addCampaign({ clicked: 7 }, bad);
		const healed = await round();
		expect(healed.errors).toHaveLength(0);
		expect(changesOf(healed.items)).toMatchObject([
			{ clicked: { from: 1, to: 7, by: 6 } },
			{ clicked: { by: 1 } },
		]);
		simulator().removeCampaign(bad);
		expect([(await round()).errors.length, (await round()).errors.length]).toEqual([0, 1]);
	});
});

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
test('a poll ends within its budget: what hangs is not reached, and read first the next time', async () => {
	const ids = Array.from({ length: 3 }, () => addCampaign({ clicked: 1 }));
	const [good = '', refused = '', after = ''] = ids;
	const budgetMs = 2_000;
	const match = { path: `/id/${refused}` };
	// Asked for again when there is too little time left for an answer that never comes.
	const headers = { 'retry-after': '1' };
	const later = { kind: 'failure', type: 'rate_limit', description: 'Later', headers } as const;
	simulator().addFault({ match, action: later });
	simulator().addFault({ match, times: 0, action: { kind: 'hang', process: false } });
	const trigger = poller({ campaignIds: ids.join() }, { activation: 'init', budgetMs });
	// What hangs would hang for ever.
	const { items } = await trigger.poll();
	expect(idsOf(items)).toEqual([good, after]);
	simulator().clearFaults();
	const asked = simulator().requests.length;
	await trigger.poll();
	expect(simulator().requests[asked]).toMatchObject({ path: matching(new RegExp(`/${refused}$`)) });
}, 30_000);

test('a status that is not there yet is null, starts nothing, and the numbers are watched', async () => {
	const id = simulator().addCampaign({ status: '', counters: zero });
	const trigger = poller({ campaignIds: id, watch: ['status', 'clicked'] }, { activation: 'init' });
	const quiet = await trigger.poll();
	expect([quiet.items, quiet.errors]).toEqual([null, []]);
	simulator().setCounters(id, { clicked: 3 });
	expect(jsonOf((await trigger.poll()).items)).toMatchObject([
		{ status: null, changes: { clicked: { from: 0, to: 3, by: 3 } } },
	]);
});

test('counters that are not there yet are null, start nothing and keep their place', async () => {
	simulator().configure({ waitingCounters: 'null' });
	const id = simulator().addCampaign({ dueAt: Date.now() + 60_000 });
	const trigger = poller({ campaignIds: id }, { activation: 'init' });
	const quiet = await trigger.poll();
	expect([quiet.items, quiet.errors]).toEqual([null, []]);

	simulator().setCounters(id, { delivered: 10 });
	expect(jsonOf((await trigger.poll()).items)).toMatchObject([
		{
			status: 'Scheduled',
			delivered: 10,
			clicked: null,
			totalAttempts: null,
			deliveryRate: null,
			clickRate: null,
			changes: { delivered: { from: 0, to: 10, by: 10 } },
		},
	]);
	simulator().setCounters(id, { clicked: 3 });
	const third = await trigger.poll();
	expect(changesOf(third.items)).toEqual([{ clicked: { from: 0, to: 3, by: 3 } }]);
	expect(jsonOf(third.items)).toMatchObject([{ clickRate: 0.3, firstSeen: false }]);
});

test('polls that overlap in the durable engine emit each change once', async () => {
	const first = addCampaign({ delivered: 5 });
	const second = addCampaign({ clicked: 2 });
	const trigger = poller({ campaignIds: `${first},${second}` }, { engine: 'durable' });
	const together = await Promise.all([trigger.poll(), trigger.poll(), trigger.poll()]);
	expect(together.flatMap(({ items }) => idsOf(items) ?? [])).toStrictEqual([first, second]);
	expect((await trigger.poll()).items).toBeNull();
});
