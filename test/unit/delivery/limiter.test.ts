import fc from 'fast-check';
import { Limiter } from '../../../nodes/PushCampaign/delivery/limiter';
import { SimulatedClock, simulate } from './support';

const seconds = ({ elapsedMs }: { elapsedMs: number }) => elapsedMs / 1000;

const roundTrips = (elapsedMs: number) => elapsedMs / 50;

const randoms = [0, 0.5, 0.99];

/**
 * The time that finding out a limit may cost beside the time that the limit itself needs, in seconds: four
 * refusals with their pauses of a quarter of a second. `Retry-After` rounds each of them up to a whole one.
 */
const probing = 1;
const probingWithRetryAfter = 2;

describe('a service without a limit', () => {
	it('is asked by few at first and by as many as the ceiling soon', async () => {
		const { service, elapsedMs } = await simulate(200, 100, { latencyMs: 50 });

		expect(service.mostUnderWay).toBe(100);
		expect(service.mostUnderWayWithin(50)).toBeLessThan(50);
		expect(roundTrips(elapsedMs)).toBeLessThanOrEqual(3);
	});

	it('is asked by as many as the ceiling at once where it is known to take them', async () => {
		const delivery = await simulate(200, 100, { latencyMs: 50 }, undefined, true);

		expect(delivery.service.mostUnderWayWithin(1)).toBe(100);
		expect(roundTrips(delivery.elapsedMs)).toBe(2);
		expect(delivery.wasRefused).toBe(false);
	});

	it('never has more requests under way than the ceiling', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.integer({ min: 1, max: 500 }),
				fc.integer({ min: 1, max: 300 }),
				async (ceiling, items) => {
					const { service } = await simulate(items, ceiling, { latencyMs: 20 });
					expect(service.mostUnderWay).toBeLessThanOrEqual(ceiling);
					expect(service.accepted).toHaveLength(items);
				},
			),
			{ numRuns: 25 },
		);
	});
});

describe('a service with a limit', () => {
	const limit = { perSecond: 100, burst: 100 };
	const needed = (2000 - limit.burst) / limit.perSecond;

	it.each(randoms)('gets 2,000 items at its own pace (random %d)', async (random) => {
		const delivery = await simulate(2000, 100, { latencyMs: 50, limit }, () => random);

		expect(delivery.failed).toBe(0);
		expect(new Set(delivery.service.accepted).size).toBe(2000);
		expect(delivery.service.accepted).toHaveLength(2000);
		expect(seconds(delivery)).toBeLessThan(needed + probing);
		// No item needs more than its retries, and nine of ten requests are accepted.
		expect(delivery.mostRefusals).toBeLessThanOrEqual(5);
		expect(delivery.refusals).toBeLessThan(2000 / 10);
		expect(delivery.wasRefused).toBe(true);
	});

	it.each(randoms)('is waited for as it asks with Retry-After (random %d)', async (random) => {
		const service = { latencyMs: 50, limit, retryAfter: true };
		const delivery = await simulate(2000, 100, service, () => random);

		expect(delivery.failed).toBe(0);
		expect(seconds(delivery)).toBeLessThan(needed + probingWithRetryAfter);
		expect(delivery.service.startedTooEarly).toBe(0);
	});

	it.each(randoms)('may lower its limit midway (random %d)', async (random) => {
		const then = { perSecond: 20, burst: 20, afterAccepted: 900 };
		const before = { perSecond: 200, burst: 100 };
		const service = { latencyMs: 50, limit: before, then };
		const delivery = await simulate(1200, 100, service, () => random);

		expect(delivery.failed).toBe(0);
		expect(delivery.service.accepted).toHaveLength(1200);
		// Both limits are found out, and the second while requests at the pace of the first are under way.
		const needs = (900 - 100) / 200 + (300 - 20) / 20;
		expect(seconds(delivery)).toBeLessThan(needs + 2 * probing);
	});

	it('may raise its limit midway', async () => {
		const then = { perSecond: 200, burst: 200, afterAccepted: 200 };
		const service = { latencyMs: 50, limit: { perSecond: 20, burst: 20 }, then };
		const delivery = await simulate(2000, 100, service);

		expect(delivery.failed).toBe(0);
		// At the old pace it would be 99 s.
		expect(seconds(delivery)).toBeLessThan(40);
	});

	it('loses no item, whatever the limit and the latency are', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.record({
					perSecond: fc.integer({ min: 2, max: 500 }),
					burst: fc.integer({ min: 5, max: 200 }),
				}),
				fc.constantFrom(5, 50, 300),
				fc.boolean(),
				fc.double({ min: 0, max: 0.99, noNaN: true }),
				async (anyLimit, latencyMs, retryAfter, random) => {
					const service = { latencyMs, limit: anyLimit, retryAfter };
					const delivery = await simulate(150, 100, service, () => random);
					expect(delivery.failed).toBe(0);
					expect(new Set(delivery.service.accepted).size).toBe(150);
					expect(delivery.service.startedTooEarly).toBe(0);
				},
			),
			{ numRuns: 40 },
		);
	});
});

describe('a service that refuses single items for good', () => {
	const everyHundredth = new Set([0, 100, 200, 300, 400]);
	const neighbours = new Set([0, 1, 2, 3, 4]);
	const last = new Set([495, 496, 497, 498, 499]);

	it.each([
		['here and there', everyHundredth],
		['the first', neighbours],
		['the last', last],
	])(
		'gets all others at once, and those as often as they may be tried: %s',
		async (_where, capped) => {
			for (const random of randoms) {
				const delivery = await simulate(500, 100, { latencyMs: 50, capped }, () => random);

				expect(delivery.failed).toBe(5);
				expect(new Set(delivery.service.accepted).size).toBe(495);
				expect(Math.max(...delivery.service.acceptedAt)).toBeLessThan(10_000);
				expect(seconds(delivery)).toBeLessThan(90);
				expect(delivery.mostRefusals).toBeLessThanOrEqual(6);
			}
		},
	);

	it('lets none of them hold up another, wherever they stand', async () => {
		const places = fc.uniqueArray(fc.nat({ max: 499 }), { minLength: 2, maxLength: 9 });
		await fc.assert(
			fc.asyncProperty(places, fc.constantFrom(20, 50, 200), async (capped, latencyMs) => {
				const service = { latencyMs, capped: new Set(capped) };
				const delivery = await simulate(500, 100, service);
				expect(delivery.failed).toBe(capped.length);
				expect(new Set(delivery.service.accepted).size).toBe(500 - capped.length);
				expect(seconds(delivery)).toBeLessThan(95);
			}),
			{ numRuns: 40 },
		);
	});

	it('does so under a limit, too', async () => {
		const limit = { perSecond: 100, burst: 100 };
		const service = { latencyMs: 50, limit, capped: everyHundredth };
		const delivery = await simulate(500, 100, service);

		expect(delivery.failed).toBe(5);
		expect(seconds(delivery)).toBeLessThan(95);
	});

	it('holds up the others where there is no time to wait alone', async () => {
		const service = { latencyMs: 50, capped: new Set([0, 1, 2, 3, 4]) };
		const delivery = await simulate(500, 100, service, undefined, false, false);

		expect(delivery.failed).toBe(5);
		expect(Math.max(...delivery.service.acceptedAt)).toBeGreaterThan(10_000);
	});

	it('ends where many are refused', async () => {
		const capped = new Set(Array.from({ length: 50 }, (_, index) => index * 10));
		const delivery = await simulate(500, 100, { latencyMs: 50, capped });

		expect(delivery.failed).toBe(50);
		expect(seconds(delivery)).toBeLessThan(300);
	});
});

describe('a quota', () => {
	it.each([0, 82])('that is used up after %d ends the run', async (requests) => {
		for (const random of randoms) {
			const service = { latencyMs: 50, quota: { requests, periodMs: Infinity } };
			const delivery = await simulate(2000, 100, service, () => random);

			expect(delivery.service.accepted).toHaveLength(requests);
			expect(delivery.outcomes.filter(({ kind }) => kind === 'failed')).toHaveLength(
				2000 - requests,
			);
			expect(delivery.service.starts.length).toBeLessThan(requests + 110);
			expect(seconds(delivery)).toBeGreaterThan(60);
			expect(seconds(delivery)).toBeLessThan(90);
		}
	});

	it('of each minute is waited for', async () => {
		const quota = { requests: 100, periodMs: 60_000 };
		const delivery = await simulate(250, 100, { latencyMs: 50, quota });

		expect(delivery.failed).toBe(0);
		expect(new Set(delivery.service.accepted).size).toBe(250);
		expect(seconds(delivery)).toBeLessThan(240);
	});
});

test('while nothing is accepted, refused ones and others take turns: it may be theirs alone', async () => {
	const { service } = await simulate(40, 2, { latencyMs: 10, quota: { requests: 0, periodMs: 1 } });

	// Two at once, then one by one: 2 after the second refusal in a row, 3 after the fourth.
	expect(service.starts).toEqual([0, 1, 0, 2, 1, 3, 0]);
});

describe('one at a time', () => {
	it('goes strictly in order, a refused item before the next', async () => {
		const limit = { perSecond: 5, burst: 3 };
		const { service, failed } = await simulate(20, 1, { latencyMs: 10, limit });

		expect(failed).toBe(0);
		expect(service.mostUnderWay).toBe(1);
		expect(service.accepted).toEqual(Array.from({ length: 20 }, (_, item) => item));
		expect(service.starts).toEqual([...service.starts].sort((one, other) => one - other));
	});
});

describe('a limiter', () => {
	const open = (clock: SimulatedClock) =>
		new Limiter({ ceiling: 1, now: clock.now, sleep: clock.sleep, random: () => 0.5 });

	/** Refused while under way: gives the place back and waits for another one. */
	const refused = async (limiter: Limiter, retryAfterMs?: number) => {
		limiter.slowDown(retryAfterMs);
		return await limiter.requeue();
	};

	it('lets a refused request in before one that has not started', async () => {
		const clock = new SimulatedClock();
		const limiter = open(clock);
		const order: string[] = [];
		await limiter.acquire();
		const next = limiter.acquire().then(() => {
			order.push('next');
			limiter.release(true);
		});
		const again = refused(limiter).then(() => {
			order.push('refused');
			limiter.release(true);
		});
		await clock.run(Promise.all([next, again]));

		expect(order).toEqual(['refused', 'next']);
	});

	it('waits as long as the service asks', async () => {
		const clock = new SimulatedClock();
		const limiter = open(clock);
		await limiter.acquire();
		await clock.run(refused(limiter, 7000));

		expect(clock.now()).toBe(7000);
	});

	it('goes on at once when what was refused was about single items', async () => {
		const clock = new SimulatedClock();
		const limiter = open(clock);
		await limiter.acquire();
		const again = refused(limiter, 600_000);
		limiter.speedUp();

		expect(await clock.run(again)).toBe(true);
		expect(clock.now()).toBeLessThan(1000);
		expect(limiter.wasRefused).toBe(false);
	});

	it('sends away what waits, at once, when it is closed', async () => {
		const clock = new SimulatedClock();
		const limiter = open(clock);
		await limiter.acquire();
		const again = refused(limiter, 600_000);
		const next = limiter.acquire();
		limiter.close();

		expect(await Promise.all([again, next])).toEqual([false, false]);
		expect(clock.now()).toBe(0);
		expect(await limiter.acquire()).toBe(false);
	});

	it('waits with one timer, however many wait', async () => {
		const clock = new SimulatedClock();
		const sleep = jest.fn(clock.sleep);
		const limiter = new Limiter({ ceiling: 9, now: clock.now, sleep, random: () => 0.5 });
		limiter.slowDown(1000);
		const passing = [0, 1].map(async () => {
			expect(await limiter.acquire()).toBe(true);
			limiter.release(true);
		});
		expect(sleep.mock.calls.map(([milliseconds]) => milliseconds)).toEqual([1000]);
		await clock.run(Promise.all(passing));
	});
});
