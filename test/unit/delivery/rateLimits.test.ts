import fc from 'fast-check';
import { simulate, type Load, type ServiceOptions } from './support';

const limited = (perSecond: number, burst = perSecond) => ({ limit: () => ({ perSecond, burst }) });
const perMinute = { quota: { requests: 60, periodMs: 60_000 } };
const falls: ServiceOptions = {
	limit: (accepted) =>
		accepted < 900 ? { perSecond: 200, burst: 100 } : { perSecond: 20, burst: 20 },
};
const rises: ServiceOptions = {
	limit: (accepted) =>
		accepted < 200 ? { perSecond: 20, burst: 20 } : { perSecond: 200, burst: 200 },
};
const always = { retryAfter: 1 };
const randoms = [() => 0, () => 0.99];

/** Everything arrives, once, and no item is refused more often than it is tried again. */
async function deliver(load: Load, service: ServiceOptions) {
	const delivery = await simulate(load, service);
	const all = load.items * (load.executions ?? 1);
	expect(delivery.failed).toBe(0);
	expect(delivery.accepted).toHaveLength(all);
	expect(new Set(delivery.accepted).size).toBe(all);
	expect(delivery.mostRequests).toBeLessThanOrEqual(6);
	expect(delivery.mostUnderWay).toBeLessThanOrEqual((load.ceiling ?? 100) * (load.executions ?? 1));
	if (load.executions === undefined) expect(delivery.startedTooEarly).toBe(0);
	return delivery;
}

describe('a service that refuses too many requests gets everything, in a multiple of the time it needs', () => {
	test.each<[what: string, load: Load, service: ServiceOptions, neededMs: number, most: number]>([
		['100 a second', { items: 2000 }, limited(100), 19_000, 1.03],
		['100 a second, Retry-After', { items: 2000 }, { ...limited(100), ...always }, 19_000, 1.1],
		['and at times', { items: 2000 }, { ...limited(100), retryAfter: 0.5 }, 19_000, 1.1],
		['100 a second at 5 ms', { items: 2000 }, { ...limited(100), latencyMs: 5 }, 19_000, 1.03],
		['100 a second at 500 ms', { items: 2000 }, { ...limited(100), latencyMs: 500 }, 19_000, 1.1],
		['20 a second at 2 s', { items: 400 }, { ...limited(20), latencyMs: 2000 }, 19_000, 1.5],
		['200 a second, then 20', { items: 1200 }, falls, 19_000, 1.03],
		['200 a second, then 20, Retry-After', { items: 1200 }, { ...falls, ...always }, 19_000, 1.15],
		['20 a second, then 200', { items: 1000 }, rises, 12_000, 1.35],
		['20 a second', { items: 400 }, limited(20), 19_000, 1.02],
		['20 a second, Retry-After', { items: 400 }, { ...limited(20), ...always }, 19_000, 1.1],
		['20 a second, in order', { items: 400, ceiling: 1 }, limited(20), 19_000, 1.1],
		['20 a second, two at once', { items: 400, ceiling: 2 }, limited(20), 19_000, 1.03],
		['100 a second, 10 at once', { items: 400 }, limited(100, 10), 3900, 1.07],
		['1 a second', { items: 30 }, limited(1), 29_000, 1.45],
		['60 a minute', { items: 150 }, perMinute, 120_000, 1.45],
		['60 a minute, in order', { items: 70, ceiling: 1 }, perMinute, 60_000, 1.5],
		['60 a minute, and a last one', { items: 61 }, perMinute, 60_000, 1.45],
		['three executions at once', { items: 700, executions: 3 }, limited(100), 20_000, 1.25],
		['one in a hundred by chance', { items: 2000 }, { unlucky: 0.01 }, 1000, 8],
		['one in ten by chance', { items: 500 }, { unlucky: 0.1 }, 1000, 30],
	])('%s', async (_what, load, service, neededMs, most) => {
		for (const random of randoms) {
			const { elapsedMs } = await deliver({ ...load, random }, service);
			expect(elapsedMs / neededMs).toBeLessThan(most);
		}
	});

	test('whatever its limit and its latency are', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.integer({ min: 2, max: 500 }),
				fc.integer({ min: 5, max: 200 }),
				fc.constantFrom(5, 50, 300),
				fc.constantFrom(0, 0.5, 1),
				fc.constantFrom(1, 2, 100, 500),
				fc.double({ min: 0, max: 0.99, noNaN: true }),
				async (perSecond, burst, latencyMs, retryAfter, ceiling, random) => {
					const { starts, elapsedMs } = await deliver(
						{ items: 150, ceiling, random: () => random },
						{ ...limited(perSecond, burst), latencyMs, retryAfter },
					);
					expect(starts.length).toBeLessThan(3 * 150);
					const roundTrips = (150 / Math.min(ceiling, 20)) * latencyMs;
					expect(elapsedMs).toBeLessThan(30_000 + 2 * ((150 / perSecond) * 1000 + roundTrips));
				},
			),
		);
	});
});

test('a service without a limit is asked by few at first, and by as many as the ceiling soon', async () => {
	const { starts, mostUnderWay, elapsedMs } = await simulate({ items: 200 }, {});
	expect(starts.filter(({ at }) => at < 50)).toHaveLength(20);
	expect(mostUnderWay).toBe(100);
	expect(elapsedMs).toBe(150);
});

test('single items that are refused for good hold up no other, wherever they stand', async () => {
	const places = fc.uniqueArray(fc.nat({ max: 499 }), { minLength: 2, maxLength: 9 });
	await fc.assert(
		fc.asyncProperty(
			places,
			fc.constantFrom(20, 50),
			fc.constantFrom({}, limited(100)),
			fc.constantFrom(...randoms),
			async (capped, latencyMs, limit, random) => {
				const delivery = await simulate({ items: 500, random }, { latencyMs, ...limit, capped });
				expect(delivery.failed).toBe(capped.length);
				expect(delivery.accepted).toHaveLength(500 - capped.length);
				expect(delivery.lastAcceptedMs).toBeLessThan(15_000);
				expect(delivery.elapsedMs).toBeLessThan(110_000);
				expect(delivery.mostRequests).toBeLessThanOrEqual(6);
			},
		),
		{
			numRuns: 30,
			examples: [
				[0, 100, 200, 300, 400],
				[0, 1, 2, 3, 4],
				[495, 496, 497, 498, 499],
			].map((capped): [number[], number, object, () => number] => [capped, 50, {}, () => 0]),
		},
	);
});

describe('a quota that is used up ends the run when the pauses are over', () => {
	test.each([
		[0, 100],
		[82, 100],
		[82, 1],
	])('after %d, %d at once', async (requests, ceiling) => {
		for (const random of randoms) {
			const service = { quota: { requests, periodMs: Infinity } };
			const delivery = await simulate({ items: 2000, ceiling, random }, service);
			expect(delivery.accepted).toHaveLength(requests);
			expect(delivery.failed).toBe(2000 - requests);
			expect(delivery.starts.length).toBeLessThan(requests + 110);
			expect(delivery.elapsedMs).toBeGreaterThan(60_000);
			expect(delivery.elapsedMs).toBeLessThan(90_500);
		}
	});
});
