import fc from 'fast-check';
import {
	runQueue,
	type Attempt,
	type Job,
	type QueueOptions,
} from '../../../nodes/PushCampaign/delivery/queue';
import { deliver, SimulatedClock, type ServiceOptions } from './simulatedService';

const limited = (perSecond: number, burst = perSecond) => ({ limit: () => ({ perSecond, burst }) });
const falls = {
	limit: (accepted: number) =>
		accepted < 900 ? { perSecond: 200, burst: 100 } : { perSecond: 20, burst: 20 },
};
const perMinute = { quota: { requests: 60, periodMs: 60_000 } };

describe('every item arrives once, in little more time than the limit needs:', () => {
	test.each<[name: string, items: number, service: ServiceOptions, needed: number, most: number]>([
		['100 a second', 2000, limited(100), 19_000, 1.05],
		// Needs all hundred requests in flight.
		['100 a second, answers after 1 s', 1000, { ...limited(100), latencyMs: 1000 }, 10_000, 1.3],
		['100 a second, with Retry-After', 2000, { ...limited(100), retryAfter: 1 }, 19_000, 1.1],
		['200 a second that fall to 20', 1200, falls, 19_000, 1.05],
		['20 a second, answers after 2 s', 400, { ...limited(20), latencyMs: 2000 }, 19_000, 2],
		['60 in each minute', 150, perMinute, 120_000, 1.45],
		['one request in a hundred refused by chance', 2000, { unlucky: 0.01 }, 1000, 8],
	])('%s', async (_name, items, service, needed, most) => {
		for (const random of [() => 0, () => 0.99]) {
			const delivery = await deliver(items, service, { random });
			expect(delivery.sent).toBe(items);
			expect(new Set(delivery.accepted).size).toBe(items);
			expect(delivery.accepted).toHaveLength(items);
			expect(delivery.mostInFlight).toBeLessThanOrEqual(100);
			expect(delivery.tooEarly).toBe(0);
			// One that never slows down makes three for each item.
			expect(delivery.requests / items).toBeLessThan(2.2);
			expect(delivery.elapsedMs / needed).toBeLessThan(most);
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
					const service = { ...limited(perSecond, burst), latencyMs, retryAfter, outage };
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

test.each([0, 82])(
	'a quota of %i that is used up ends the run after the pauses of 85 s',
	async (quota) => {
		const { accepted, requests, hasGivenUp, elapsedMs } = await deliver(
			2000,
			{ quota: { requests: quota, periodMs: Infinity } },
			{ random: () => 0 },
		);
		expect({ accepted: accepted.length, hasGivenUp }).toEqual({
			accepted: quota,
			hasGivenUp: true,
		});
		expect(requests).toBeLessThan(quota + 125);
		expect(elapsedMs - 85_250).toBeLessThan(1_000);
	},
);

test('a service that accepts nothing gets 25 requests in all', async () => {
	const { requests } = await deliver(2000, { quota: { requests: 0, periodMs: Infinity } });
	expect(requests).toBe(25);
});

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
		const queue = runQueue(jobs, { stopOnFailure, now, sleep, random: () => 0, ...more });
		return { outcomes: await clock.run(queue), tries };
	}

	test('that is refused pauses the whole run and goes to the end of the queue', async () => {
		const jobs = [[refused()], ...Array.from({ length: 30 }, () => [])];
		const { tries } = await run(jobs);
		expect(tries.at(20)).toEqual({ job: 20, at: 10 + 250 });
		expect(tries.at(-1)).toEqual({ job: 0, at: 10 + 250 });
	});

	test('that is refused halves the requests in flight, and leaves one alone if nothing was accepted in between', async () => {
		const accepted = Array.from({ length: 10 }, () => []);
		const twice = Array.from({ length: 30 }, () => [refused(), refused()]);
		const { tries } = await run([...accepted, ...twice]);
		const startsAt = (time: number) => tries.filter(({ at }) => at === time).length;
		// Ten were accepted, so thirty may be in flight when the first refusal comes.
		expect([0, 10, 260, 1_270].map(startsAt)).toEqual([20, 10, 15, 1]);
	});

	test('that is refused pauses up to a tenth less, at random: runs that were refused together come back apart', async () => {
		const { tries } = await run([[refused()]], { random: () => 0.4 });
		expect(tries.map(({ at }) => at)).toEqual([0, 10 + 240]);
	});

	test('that is refused with Retry-After pauses the run for that time, or for its own pause if that is longer', async () => {
		const { tries } = await run([[refused(7_000), refused(100)]]);
		expect(tries.map(({ at }) => at)).toEqual([0, 7_010, 8_020]);
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
		expect(asked.slice(0, 3)).toEqual([0, 10 + 100, 10 + 100 + 10 + 150]);
		expect((asked[40] ?? 0) - (asked[39] ?? 0)).toBe(10 + 2_000);
	});

	test('that only waited for somebody else ends no row of refusals', async () => {
		const { outcomes } = await run([
			Array.from({ length: 9 }, () => refused()),
			Array.from({ length: 60 }, () => held),
		]);
		expect(outcomes[0]).toBe('refused');
	});

	test('that ended without a request ends no row of refusals', async () => {
		const others = Array.from({ length: 40 }, () => [failed('end')]);
		const { outcomes } = await run([Array.from({ length: 6 }, () => refused()), ...others]);
		expect(outcomes[0]).toBe('refused');
	});

	test('that never succeeds is a failure, which ends a run that stops at one', async () => {
		const waiting = Array.from({ length: 40 }, () => held);
		const { outcomes } = await run([[again, again, again], waiting], { stopOnFailure: true });
		expect(outcomes).toEqual(['again', undefined]);
	});

	test('that may succeed now is tried twice more, after the pauses of the run', async () => {
		expect((await run([[again, again]])).outcomes).toEqual(['sent']);
		const { outcomes, tries } = await run([[again, again, again]]);
		expect(outcomes).toEqual(['again']);
		expect(tries.map(({ at }) => at)).toEqual([0, 260, 1_270]);
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
});
