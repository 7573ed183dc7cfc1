import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import {
	runQueue,
	type Attempt,
	type Job,
	type QueueOptions,
} from '../../../nodes/PushCampaign/delivery/queue';
import { untilAborted } from '../../../nodes/PushCampaign/service/client';
import { deliver, SimulatedClock, type ServiceOptions } from './simulatedService';

const bucket = (perSecond: number, burst: number) => ({ limit: () => ({ perSecond, burst }) });
const window = (requests: number, seconds: number) => ({
	quota: { requests, periodMs: seconds * 1000 },
});
const falls = {
	limit: (accepted: number) =>
		accepted < 900 ? { perSecond: 200, burst: 100 } : { perSecond: 20, burst: 20 },
};

describe('every item arrives once, in little more time than the limit needs, in one run and in five at once:', () => {
	/** How many times as long it may take: in one run, and in five that share the items. */
	type Most = readonly [one: number, five: number];
	type Row = [name: string, items: number, service: ServiceOptions, seconds: number, most: Most];

	test.each<Row>([
		// It takes no two requests within 10 ms, so that they go out one after another.
		['100 a second, 1 at once', 1000, bucket(100, 1), 9.99, [8, 3.5]],
		['100 a second, 10 at once', 1000, bucket(100, 10), 9.9, [1.05, 1.05]],
		['100 a second, 20 at once', 1000, bucket(100, 20), 9.8, [1.05, 1.05]],
		['100 a second, 100 at once', 1000, bucket(100, 100), 9, [1.05, 1.05]],
		['100 in each second', 1000, window(100, 1), 9, [1.15, 1.6]],
		['120 in each minute', 180, window(120, 60), 60, [1.15, 1.15]],
		['60 in each minute', 150, window(60, 60), 120, [1.15, 1.15]],
		['100 a second, and says when', 1000, { ...bucket(100, 100), retryAfter: 1 }, 9, [1.2, 1.2]],
		['200 a second that fall to 20', 1200, falls, 19, [1.05, 1.15]],
		// Needs all hundred requests in flight.
		[
			'100 a second, answers after 1 s',
			1000,
			{ ...bucket(100, 100), latencyMs: 1000 },
			10,
			[1.3, 1.3],
		],
		['20 a second, answers after 2 s', 400, { ...bucket(20, 20), latencyMs: 2000 }, 19, [1.4, 1.4]],
		['one request in a hundred refused by chance', 2000, { unlucky: 0.01 }, 1, [1.8, 1.5]],
	])('%s', async (_name, items, service, seconds, [mostOfOne, mostOfFive]) => {
		for (const [executions, most] of [
			[1, mostOfOne],
			[5, mostOfFive],
		] as const) {
			for (const seed of [1, 2]) {
				const options = { executions, seed };
				const delivery = await deliver(items / executions, { ...service, spread: 0.5 }, options);
				expect(new Set(delivery.accepted).size).toBe(items);
				expect(delivery).toMatchObject({ sent: items, tooEarly: 0 });
				expect(delivery.accepted).toHaveLength(items);
				// One that never slows down makes three for each item.
				expect(delivery.requests / items).toBeLessThan(2.6);
				expect(delivery.elapsedMs / 1000 / seconds).toBeLessThan(most);
			}
		}
	});

	test('any limit, latency, outage and number of runs', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.record({
					perSecond: fc.integer({ min: 2, max: 500 }),
					burst: fc.integer({ min: 1, max: 200 }),
					latencyMs: fc.constantFrom(5, 50, 300),
					retryAfter: fc.constantFrom(0, 0.5, 1),
					outageMs: fc.constantFrom(0, 1_000, 60_000),
					executions: fc.integer({ min: 1, max: 3 }),
				}),
				async ({ perSecond, burst, latencyMs, retryAfter, outageMs, executions }) => {
					const outage = { from: 100, until: 100 + outageMs };
					const service = { ...bucket(perSecond, burst), latencyMs, retryAfter, outage };
					const { accepted, hasGivenUp, sent } = await deliver(60, service, { executions });
					expect(new Set(accepted).size).toBe(accepted.length);
					expect(sent).toBe(accepted.length);
					// A run alone gets its turn; of several, one may never get one.
					if (executions === 1)
						expect({ hasGivenUp, sent }).toEqual({ hasGivenUp: false, sent: 60 });
				},
			),
			{ numRuns: 40 },
		);
	});
});

test('a service without a limit gets 20 requests at first, twice as many with each round trip, and never more than 100', async () => {
	const { mostInFlight, elapsedMs, requests } = await deliver(340, {});
	expect({ mostInFlight, elapsedMs, requests }).toEqual({
		mostInFlight: 100,
		// 20, 40, 80, 100 and the rest.
		elapsedMs: 250,
		requests: 340,
	});
});

test('items that the service never accepts hold up no other', async () => {
	const { sent, lastAcceptedMs, hasGivenUp } = await deliver(500, {
		capped: [0, 1, 250, 498, 499],
	});
	expect({ sent, hasGivenUp }).toEqual({ sent: 495, hasGivenUp: true });
	expect(lastAcceptedMs).toBeLessThan(15_000);
});

test.each([
	// 20 at first, then one after each pause but the last.
	{ quota: 0, refused: 20 + 11 },
	// Each of 82 has allowed one more in flight, up to a hundred.
	{ quota: 82, refused: 79 },
])(
	'a quota of $quota that is used up ends the run after $refused refused requests and 128 s',
	async ({ quota, refused }) => {
		const service = { quota: { requests: quota, periodMs: Infinity } };
		const delivery = await deliver(2000, service);
		expect(delivery).toMatchObject({ requests: quota + refused, sent: quota, hasGivenUp: true });
		expect(delivery.accepted).toHaveLength(quota);
		expect(delivery.elapsedMs - 128_000).toBeLessThan(1_000);
	},
);

describe('a job', () => {
	const end: Attempt<string> = { outcome: 'sent', then: 'end', isAccepted: true };
	const refused = (retryAfterMs = 0): Attempt<string> => ({
		...{ then: 'refused', outcome: 'refused', retryAfterMs },
	});
	const held: Attempt<string> = { then: 'held' };
	const again: Attempt<string> = { then: 'again', outcome: 'again' };
	const failed = (then: 'end' | 'stop'): Attempt<string> => ({
		...{ then, outcome: then, isAccepted: false },
	});

	/** Runs jobs that give these attempts one after another, and says what happened. */
	async function run(
		attempts: ReadonlyArray<ReadonlyArray<Attempt<string>>>,
		{ stopOnFailure = false, ...more }: Partial<QueueOptions> = {},
	) {
		const clock = new SimulatedClock();
		const tries: Array<{ job: number; at: number }> = [];
		const jobs = attempts.map((given, job): Job<string> => {
			const left = [...given];
			return async () => {
				tries.push({ job, at: clock.now() });
				await clock.sleep(10);
				return left.shift() ?? end;
			};
		});
		const { now, sleep } = clock;
		const queue = runQueue(jobs, { stopOnFailure, now, sleep, ...more });
		return { outcomes: await clock.run(queue), tries };
	}

	test('that is refused pauses the whole run and goes to the end of the queue', async () => {
		const jobs = [[refused()], ...Array.from({ length: 30 }, () => [])];
		const { tries } = await run(jobs);
		expect(tries.at(20)).toEqual({ job: 20, at: 10 + 62.5 });
		expect(tries.at(-1)).toEqual({ job: 0, at: 10 + 62.5 });
	});

	test('that is refused leaves one request in flight, and each that is accepted allows one more', async () => {
		const refusedOnce = Array.from({ length: 20 }, () => [refused()]);
		const { tries } = await run([...refusedOnce, ...Array.from({ length: 30 }, () => [])]);
		const startsAt = (time: number) => tries.filter(({ at }) => at === 10 + 62.5 + time).length;
		expect([0, 10, 20, 30].map(startsAt)).toEqual([1, 2, 4, 8]);
	});

	test('that is refused twelve times, each after a pause twice as long, ends the run if nothing was accepted in between', async () => {
		const refusals = (count: number) => Array.from({ length: count }, () => refused());
		const { outcomes, tries } = await run([refusals(12)]);
		expect(outcomes).toEqual(['refused']);
		const pauses = tries.slice(1).map(({ at }, index) => at - (tries[index]?.at ?? 0) - 10);
		expect(pauses).toEqual(Array.from({ length: 11 }, (_, index) => 62.5 * 2 ** index));
		expect((await run([refusals(11)])).outcomes).toEqual(['sent']);
	});

	test('that is refused with Retry-After pauses the run for that time, or for its own pause if that is longer', async () => {
		const { tries } = await run([[refused(7_000), refused(100)]]);
		expect(tries.map(({ at }) => at)).toEqual([0, 7_010, 7_010 + 10 + 125]);
	});

	test('that is asked to wait ten minutes waits', async () => {
		const { tries } = await run([[refused(600_000)]]);
		expect(tries.map(({ at }) => at)).toEqual([0, 600_010]);
	});

	test('that is asked to wait longer than ten minutes ends the run', async () => {
		const { outcomes, tries } = await run([
			[refused(600_001)],
			...Array.from({ length: 40 }, () => []),
		]);
		expect(tries).toHaveLength(20);
		expect(outcomes[0]).toBe('refused');
		expect(outcomes.slice(1, 20)).toEqual(Array.from({ length: 19 }, () => 'sent'));
		expect(outcomes.slice(20)).toEqual(Array.from({ length: 21 }, () => 'refused'));
	});

	test('that somebody else holds is asked again and holds up no other', async () => {
		const { outcomes, tries } = await run([Array.from({ length: 40 }, () => held), [], []]);
		expect(outcomes).toEqual(['sent', 'sent', 'sent']);
		expect(tries.filter(({ job }) => job > 0).every(({ at }) => at === 0)).toBe(true);
		const asked = tries.filter(({ job }) => job === 0).map(({ at }) => at);
		expect(asked).toHaveLength(41);
		expect(asked.slice(0, 3)).toEqual([0, 10 + 100, 10 + 100 + 10 + 200]);
		expect((asked[40] ?? 0) - (asked[39] ?? 0)).toBe(10 + 2_000);
	});

	test('that only waited for somebody else ends no row of refusals', async () => {
		const { outcomes } = await run([
			Array.from({ length: 12 }, () => refused()),
			Array.from({ length: 80 }, () => held),
		]);
		expect(outcomes[0]).toBe('refused');
	});

	test('that ended without a request ends no row of refusals', async () => {
		const others = Array.from({ length: 40 }, () => [failed('end')]);
		const { outcomes } = await run([Array.from({ length: 12 }, () => refused()), ...others]);
		expect(outcomes[0]).toBe('refused');
	});

	test('that never succeeds is a failure, which ends a run that stops at one', async () => {
		const waiting = Array.from({ length: 40 }, () => held);
		const { outcomes } = await run([[again, again, again], waiting], { stopOnFailure: true });
		expect(outcomes).toEqual(['again', undefined]);
	});

	test('that may succeed now is tried twice more, after 0.25 and 0.5 s', async () => {
		expect((await run([[again, again]])).outcomes).toEqual(['sent']);
		const { outcomes, tries } = await run([[again, again, again]]);
		expect(outcomes).toEqual(['again']);
		expect(tries.map(({ at }) => at)).toEqual([0, 260, 770]);
	});

	test('that only waited when the run ends has no outcome', async () => {
		for (const waiting of [held, again, refused()]) {
			const { outcomes } = await run([[waiting], [failed('stop')]], { stopOnFailure: true });
			expect(outcomes).toEqual([undefined, 'stop']);
		}
	});

	test('that throws ends the run with what it throws, once those in flight have ended', async () => {
		const clock = new SimulatedClock();
		const ended: number[] = [];
		const jobs = Array.from({ length: 40 }, (_, index) => async () => {
			if (index === 5) throw new Error('A defect');
			await clock.sleep(10);
			ended.push(index);
			return end;
		});
		const { now, sleep } = clock;
		const queue = runQueue(jobs, { stopOnFailure: false, now, sleep });
		await expect(clock.run(queue)).rejects.toThrow('A defect');
		expect(ended).toHaveLength(9);
	});

	test('that fails keeps the rest from starting, if the run stops at a failure', async () => {
		const jobs = [[failed('stop')], ...Array.from({ length: 50 }, () => [])];
		const { outcomes } = await run(jobs, { stopOnFailure: true });
		expect(outcomes.slice(0, 21)).toEqual([
			'stop',
			...Array.from({ length: 19 }, () => 'sent'),
			undefined,
		]);
		expect((await run(jobs)).outcomes.slice(1)).toEqual(Array.from({ length: 50 }, () => 'sent'));
	});

	test('that failed earlier stops nothing', async () => {
		const jobs = [[failed('end')], ...Array.from({ length: 50 }, () => [])];
		const { outcomes } = await run(jobs, { stopOnFailure: true });
		expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(50);
	});

	test('is not even tried if the run was stopped before', async () => {
		const { outcomes, tries } = await run([[], []], { signal: AbortSignal.abort() });
		expect(tries).toEqual([]);
		expect(outcomes).toEqual([undefined, undefined]);
	});

	test('that was refused waits by one timer, which ends with the run', async () => {
		const stop = new AbortController();
		const timers: string[] = [];
		const sleep = async (milliseconds: number, signal?: AbortSignal) =>
			await new Promise<void>((resolve, reject) => {
				if (signal === undefined) {
					setImmediate(resolve);
					return;
				}
				timers.push(`begins: ${milliseconds}`);
				signal.addEventListener('abort', () => {
					timers.push('ends');
					reject(new Error('aborted'));
				});
			});
		// Each answer wakes the run, which waits on.
		const refusedAfter =
			(turns: number): Job<string> =>
			async () => {
				for (let turn = 0; turn <= turns; turn += 1) await new Promise(setImmediate);
				if (turns === 9) setImmediate(() => stop.abort());
				return { then: 'refused', outcome: 'refused', retryAfterMs: 600_000 };
			};
		const accepted: Job<string> = async () => end;
		const jobs = [accepted, ...Array.from({ length: 9 }, (_, turns) => refusedAfter(turns + 1))];
		const { signal } = stop;
		await runQueue(jobs, { stopOnFailure: false, signal, sleep, now: () => 0 });
		expect(timers).toEqual(['begins: 600000', 'ends']);
	});

	test('that only waits when the run is stopped does not hold up its end', async () => {
		const stop = new AbortController();
		const clock = new SimulatedClock();
		const { now, sleep } = clock;
		void sleep(50).then(() => stop.abort());
		const options = { stopOnFailure: false, signal: stop.signal, now, sleep };
		await clock.run(runQueue([async () => held], options));
		expect(now()).toBe(50);
	});

	test('in flight is waited for when the run is stopped, and no other starts', async () => {
		const stop = new AbortController();
		const clock = new SimulatedClock();
		const jobs = Array.from({ length: 40 }, (_, index) => async () => {
			if (index === 5) stop.abort();
			await clock.sleep(10);
			return end;
		});
		const { now, sleep } = clock;
		const queue = runQueue(jobs, { stopOnFailure: false, signal: stop.signal, now, sleep });
		const outcomes = await clock.run(queue);
		expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(6);
	});

	test.each(['ends', 'is stopped', 'throws'])(
		'leaves no listener on the signal of its execution when the run %s',
		async (how) => {
			const stop = new AbortController();
			const clock = new SimulatedClock();
			const { now, sleep } = clock;
			const job: Job<string> = async () => {
				await untilAborted(sleep(10), stop.signal);
				if (how === 'is stopped') stop.abort();
				if (how === 'throws') throw new Error('A defect');
				return end;
			};
			const options = { stopOnFailure: false, signal: stop.signal, now, sleep };
			await clock.run(Promise.allSettled([runQueue([job], options)]));
			expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
		},
	);
});
