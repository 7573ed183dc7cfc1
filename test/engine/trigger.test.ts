import fc from 'fast-check';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
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

describe.each(['classic', 'durable'] as const)('in the %s engine', (engine) => {
	test('a campaign counts from zero, then from its last event', async () => {
		const id = addCampaign({ delivered: 5, clicked: 3 });
		const trigger = poller({ campaignIds: id }, { engine });
		const before = Date.now();
		const first = await trigger.poll();
		expect(jsonOf(first.items)).toStrictEqual([
			{
				campaignId: id,
				status: 'Sent',
				counters: {
					totalAttempts: 0,
					successfullySent: 0,
					failedToSend: 0,
					delivered: 5,
					clicked: 3,
					closed: 0,
				},
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
	});

	test('a failing campaign holds back no other, and is told in its second poll, once until it heals', async () => {
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

	test('with one reason for all it throws, each time, and moves nothing', async () => {
		const ids = [addCampaign({ clicked: 1 }), addCampaign({ clicked: 1 })];
		const trigger = poller({ campaignIds: ids.join() }, { engine, activation: 'init' });
		await trigger.poll();
		const { saved } = trigger;
		ids.forEach((id) => simulator().setCounters(id, { clicked: 5 }));
		simulator().addFault({
			times: 0,
			action: {
				kind: 'failure',
				type: 'rate_limit',
				description: 'Not now',
				headers: { 'retry-after': '3600' },
			},
		});
		for (let polls = 0; polls < 2; polls += 1) {
			await expect(trigger.poll()).rejects.toMatchObject({
				name: 'NodeApiError',
				message: matching(/^Campaigns \d+, \d+ can't be read: /),
				failure: { cause: 'rate-limited' },
			});
		}
		expect(trigger.errors).toHaveLength(0);
		expect(trigger.saved).toStrictEqual(saved);
		simulator().clearFaults();
		expect(changesOf((await trigger.poll()).items)).toStrictEqual([
			{ clicked: { from: 1, to: 5, by: 4 } },
			{ clicked: { from: 1, to: 5, by: 4 } },
		]);
	});
});

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
test('under a rate limit all campaigns come, each once', async () => {
	const ids = Array.from({ length: 30 }, () => addCampaign({ clicked: 1 }));
	simulator().setRateLimit({ perSecond: 60, burst: 10 });
	const trigger = poller({ campaignIds: ids.join() }, { activation: 'init' });
	for (let polls = 0; polls < 5 && trigger.emitted.length < ids.length; polls += 1) {
		await trigger.poll().catch(() => undefined);
	}
	expect(new Set(idsOf(trigger.emitted)).size).toBe(ids.length);
	expect(trigger.emitted).toHaveLength(ids.length);
});

describe('a poll ends within its budget, with the events of what was read', () => {
	const hang = (path: string) =>
		simulator().addFault({ match: { path }, times: 0, action: { kind: 'hang', process: false } });

	test('though one campaign hangs and one fails', async () => {
		const ids = Array.from({ length: 50 }, () => addCampaign({ clicked: 1 }));
		const [hanging = '', failing = '', ...good] = ids;
		hang(`/id/${hanging}`);
		simulator().removeCampaign(failing);
		const budgetMs = 6_000;
		const trigger = poller({ campaignIds: ids.join() }, { activation: 'init', budgetMs });
		const before = performance.now();
		const { items } = await trigger.poll();
		expect(performance.now() - before).toBeLessThan(budgetMs);
		expect(idsOf(items)).toEqual(good);
		const { errors } = await trigger.poll();
		expect(errors.map(({ message }) => message)).toEqual([
			matching(
				new RegExp(
					`^Campaign ${hanging} can't be read: .* did not answer .*\\. Campaign ${failing} can't be read: .* no campaign`,
				),
			),
		]);
	}, 60_000);

	test('though what was asked for last hangs: it is not reached, and read first next time', async () => {
		const ids = Array.from({ length: 3 }, () => addCampaign({ clicked: 1 }));
		const [good = '', refused = '', after = ''] = ids;
		const budgetMs = 4_000;
		// Asked for again when there is too little time left for an answer that never comes.
		simulator().addFault({
			match: { path: `/id/${refused}` },
			action: {
				kind: 'failure',
				type: 'rate_limit',
				description: 'Later',
				headers: { 'retry-after': '2' },
			},
		});
		hang(`/id/${refused}`);
		const trigger = poller({ campaignIds: ids.join() }, { activation: 'init', budgetMs });
		const before = performance.now();
		const { items, staticData } = await trigger.poll();
		expect(performance.now() - before).toBeLessThan(budgetMs);
		expect(idsOf(items)).toEqual([good, after]);
		expect(staticData).toMatchObject({ unread: [refused] });
	}, 30_000);
});

describe('counters that are not there yet', () => {
	test('are null, start nothing and keep their place', async () => {
		simulator().configure({ waitingCounters: 'null' });
		const id = simulator().addCampaign({ dueAt: Date.now() + 60_000 });
		const trigger = poller({ campaignIds: id }, { activation: 'init' });
		const quiet = await trigger.poll();
		expect([quiet.items, quiet.errors]).toEqual([null, []]);

		simulator().setCounters(id, { delivered: 10 });
		expect(jsonOf((await trigger.poll()).items)).toMatchObject([
			{
				status: 'Scheduled',
				counters: { delivered: 10, clicked: null, totalAttempts: null },
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
});

test('polls that overlap in the durable engine emit each change once', async () => {
	const first = addCampaign({ delivered: 5 });
	const second = addCampaign({ clicked: 2 });
	const trigger = poller({ campaignIds: `${first},${second}` }, { engine: 'durable' });
	const together = await Promise.all([trigger.poll(), trigger.poll(), trigger.poll()]);
	expect(together.flatMap(({ items }) => idsOf(items) ?? [])).toStrictEqual([first, second]);
	expect((await trigger.poll()).items).toBeNull();
});

// Whatever happens between polls, and however they overlap.

const runs = Number(process.env['FUZZ_RUNS'] ?? 8);

const ids = ['1', '2', '3'];
const service = {
	totalAttempts: 'total_attempts',
	clicked: 'clicked',
	closed: 'closed',
} as const;
const names = ['totalAttempts', 'clicked', 'closed'] as const;

type Step =
	| { kind: 'move'; campaign: number; counter: (typeof names)[number]; by: number }
	| { kind: 'poll' }
	| { kind: 'overlap' }
	| { kind: 'restart' }
	| { kind: 'fail'; campaign: number; type: 'invalid_value' | 'rate_limit' };

const campaign = fc.nat({ max: ids.length - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({
			kind: fc.constant('move' as const),
			campaign,
			counter: fc.constantFrom(...names),
			by: fc.integer({ min: 1, max: 1000 }),
		}),
	},
	{ weight: 4, arbitrary: fc.constant({ kind: 'poll' as const }) },
	{ weight: 1, arbitrary: fc.constant({ kind: 'overlap' as const }) },
	{ weight: 2, arbitrary: fc.constant({ kind: 'restart' as const }) },
	{
		weight: 2,
		arbitrary: fc.record({
			kind: fc.constant('fail' as const),
			campaign,
			type: fc.constantFrom('invalid_value' as const, 'rate_limit' as const),
		}),
	},
);

const event = z.object({
	campaignId: z.string(),
	changes: z.record(z.object({ from: z.number(), to: z.number(), by: z.number() })),
});

/** Follows each counter through the events: each has to begin where the one before it ended. */
function follow(emitted: readonly INodeExecutionData[]): Map<string, number> {
	const reached = new Map<string, number>();
	for (const { json } of emitted) {
		const { campaignId, changes } = event.parse(json);
		for (const [name, { from, to, by }] of Object.entries(changes)) {
			const counter = `${campaignId} ${name}`;
			expect({ counter, from }).toEqual({ counter, from: reached.get(counter) ?? 0 });
			expect(by).toBe(to - from);
			reached.set(counter, to);
		}
	}
	return reached;
}

async function pollOnce(trigger: Poller, emitted: INodeExecutionData[]): Promise<void> {
	// When all fail, the poll does; n8n records it and polls again.
	const { items } = await trigger.poll().catch(() => ({ items: null }));
	emitted.push(...(items ?? []));
}

async function act(one: Step, trigger: Poller, state: State): Promise<Poller> {
	switch (one.kind) {
		case 'move': {
			const id = ids[one.campaign] ?? '';
			const counter = `${id} ${one.counter}`;
			const value = (state.actual.get(counter) ?? 0) + one.by;
			state.actual.set(counter, value);
			simulator().setCounters(id, { [service[one.counter]]: value });
			return trigger;
		}
		case 'fail':
			simulator().addFault({
				match: { path: `/id/${ids[one.campaign] ?? ''}` },
				action: {
					kind: 'failure',
					type: one.type,
					description: 'Not now',
					headers: { 'retry-after': '9999' },
				},
			});
			return trigger;
		case 'restart':
			return trigger.restarted();
		case 'overlap':
			await Promise.all([pollOnce(trigger, state.emitted), pollOnce(trigger, state.emitted)]);
			return trigger;
		default:
			await pollOnce(trigger, state.emitted);
			return trigger;
	}
}

interface State {
	readonly actual: Map<string, number>;
	readonly emitted: INodeExecutionData[];
}

test.each([
	['durable', 1],
	['classic', 1],
	['classic', 50],
] as const)(
	'in the %s engine, from a minimum change of %i, all events add up to the counters',
	async (engine, minimumChange) => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }),
				async (steps) => {
					simulator().reset();
					const counters = { total_attempts: 0, clicked: 0, closed: 0 };
					for (const id of ids) simulator().addCampaign({ id, status: 'Sent', counters });
					const state: State = { actual: new Map(), emitted: [] };
					const parameters = {
						campaignIds: ids.join(),
						counters: [...names],
						options: { minimumChange },
					};
					let trigger = new Poller(parameters, {
						credentials: credentialsFor(simulator()),
						activation: 'init',
						engine,
					});
					for (const one of steps) {
						trigger = await act(one, trigger, state);
					}
					simulator().clearFaults();
					const staticData: IDataObject = trigger.saved;
					const last = new Poller(
						{ ...parameters, options: { minimumChange: 1 } },
						{ credentials: credentialsFor(simulator()), activation: 'init', engine, staticData },
					);
					await pollOnce(last, state.emitted);
					const reached = follow(state.emitted);
					const moved = [...state.actual].filter(([, value]) => value !== 0);
					expect(new Map([...reached].sort())).toEqual(new Map(moved.sort()));
				},
			),
			{ numRuns: runs },
		);
	},
	600_000,
);
