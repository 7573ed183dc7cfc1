import fc from 'fast-check';
import { simulate, type Load, type ServiceOptions } from './support';

const per100 = { limit: { perSecond: 100, burst: 100 } };
const per20 = { limit: { perSecond: 20, burst: 20 } };
const perMinute = { quota: { requests: 60, periodMs: 60_000 } };
const falls = {
	limit: { perSecond: 200, burst: 100 },
	then: { perSecond: 20, burst: 20, afterAccepted: 900 },
};
const rises = {
	limit: { perSecond: 20, burst: 20 },
	then: { perSecond: 200, burst: 200, afterAccepted: 200 },
};
const always = { retryAfter: 1 };
const sometimes = { retryAfter: 0.5 };
const randoms = [0, 0.99];

/** Everything arrives, once, and no item is refused more often than it is tried again. */
async function deliver(load: Load, service: ServiceOptions) {
	const delivery = await simulate(load, service);
	const all = load.items * (load.executions ?? 1);
	expect(delivery.failed).toBe(0);
	expect(delivery.service.accepted).toHaveLength(all);
	expect(new Set(delivery.service.accepted).size).toBe(all);
	expect(delivery.mostRefusals).toBeLessThanOrEqual(5);
	return delivery;
}

describe('a service that refuses too many requests gets everything, in a multiple of the time it needs', () => {
	test.each<[what: string, load: Load, service: ServiceOptions, neededMs: number, most: number]>([
		['100 a second', { items: 2000 }, per100, 19_000, 1.03],
		['100 a second, Retry-After', { items: 2000 }, { ...per100, ...always }, 19_000, 1.1],
		[
			'100 a second, Retry-After at times',
			{ items: 2000 },
			{ ...per100, ...sometimes },
			19_000,
			1.1,
		],
		['100 a second at 5 ms', { items: 2000 }, { ...per100, latencyMs: 5 }, 19_000, 1.03],
		['100 a second at 500 ms', { items: 2000 }, { ...per100, latencyMs: 500 }, 19_000, 1.1],
		['20 a second at 2 s', { items: 400 }, { ...per20, latencyMs: 2000 }, 19_000, 1.5],
		['200 a second, then 20', { items: 1200 }, falls, 19_000, 1.03],
		['200 a second, then 20, Retry-After', { items: 1200 }, { ...falls, ...always }, 19_000, 1.15],
		['20 a second, then 200', { items: 1000 }, rises, 12_000, 1.35],
		['20 a second', { items: 400 }, per20, 19_000, 1.02],
		['20 a second, Retry-After', { items: 400 }, { ...per20, ...always }, 19_000, 1.1],
		[
			'20 a second, one by one',
			{ items: 400, ceiling: 1 },
			{ ...per20, latencyMs: 5 },
			19_000,
			1.1,
		],
		['20 a second, two at once', { items: 400, ceiling: 2 }, per20, 19_000, 1.03],
		[
			'100 a second, 10 at once',
			{ items: 400 },
			{ limit: { perSecond: 100, burst: 10 } },
			3900,
			1.07,
		],
		['1 a second', { items: 30 }, { limit: { perSecond: 1, burst: 1 } }, 29_000, 1.45],
		['60 a minute', { items: 150 }, perMinute, 120_000, 1.45],
		['60 a minute, one by one', { items: 70, ceiling: 1 }, perMinute, 60_000, 1.5],
		['60 a minute, and a last one', { items: 61 }, perMinute, 60_000, 1.45],
		['three executions at once', { items: 700, executions: 3 }, per100, 20_000, 1.25],
		['one in a hundred by chance', { items: 2000 }, { unlucky: 0.01 }, 1000, 8],
		['one in ten by chance', { items: 500 }, { unlucky: 0.1 }, 1000, 30],
	])('%s', async (_what, load, service, neededMs, most) => {
		for (const random of randoms) {
			const delivery = await deliver({ ...load, random: () => random }, service);
			expect(delivery.elapsedMs / neededMs).toBeLessThan(most);
			if (load.executions === undefined) expect(delivery.service.startedTooEarly).toBe(0);
		}
	});

	test('whatever its limit and its latency are', async () => {
		const limits = fc.record({
			perSecond: fc.integer({ min: 2, max: 500 }),
			burst: fc.integer({ min: 5, max: 200 }),
		});
		await fc.assert(
			fc.asyncProperty(
				fc.record({
					limit: limits,
					latencyMs: fc.constantFrom(5, 50, 300),
					retryAfter: fc.constantFrom(0, 0.5, 1),
				}),
				fc.constantFrom(1, 2, 100, 500),
				fc.double({ min: 0, max: 0.99, noNaN: true }),
				async (service, ceiling, random) => {
					const load = { items: 150, ceiling, random: () => random };
					const { service: asked, elapsedMs } = await deliver(load, service);
					expect(asked.startedTooEarly).toBe(0);
					expect(asked.starts.length).toBeLessThan(3 * 150);
					expect(Math.max(...asked.starts.map(({ underWay }) => underWay))).toBeLessThanOrEqual(
						ceiling,
					);
					const { perSecond } = service.limit;
					const roundTrips = (150 / Math.min(ceiling, 20)) * service.latencyMs;
					expect(elapsedMs).toBeLessThan(30_000 + 2 * ((150 / perSecond) * 1000 + roundTrips));
				},
			),
			{ numRuns: 60 },
		);
	});
});

test('a service without a limit is asked by few at first, and by as many as the ceiling soon', async () => {
	const { service, elapsedMs } = await simulate({ items: 200 }, {});
	expect(service.starts.filter(({ at }) => at < 50)).toHaveLength(20);
	expect(Math.max(...service.starts.map(({ underWay }) => underWay))).toBe(100);
	expect(elapsedMs).toBe(150);
});

test('one at a time goes strictly in order, a refused item before the next', async () => {
	const limit = { perSecond: 5, burst: 3 };
	const { service } = await deliver({ items: 20, ceiling: 1 }, { latencyMs: 10, limit });
	const asked = service.starts.map(({ item }) => item);
	expect(asked).toEqual([...asked].sort((one, other) => one - other));
	expect(service.starts.every(({ underWay }) => underWay === 1)).toBe(true);
});

describe('single items that are refused for good', () => {
	const five = [
		[0, 100, 200, 300, 400],
		[0, 1, 2, 3, 4],
		[495, 496, 497, 498, 499],
	];
	test.each(five)('hold up no other: %d, %d, …', async (...capped) => {
		for (const random of randoms) {
			const load = { items: 500, random: () => random };
			const delivery = await simulate(load, { capped: new Set(capped) });
			expect(delivery.failed).toBe(5);
			expect(delivery.service.accepted).toHaveLength(495);
			expect(delivery.lastAcceptedMs).toBeLessThan(10_000);
			expect(delivery.elapsedMs).toBeLessThan(100_000);
			expect(delivery.mostRefusals).toBeLessThanOrEqual(6);
		}
	});

	test('hold up no other wherever they stand, also under a limit', async () => {
		const places = fc.uniqueArray(fc.nat({ max: 499 }), { minLength: 2, maxLength: 9 });
		const limits = fc.constantFrom({}, per100);
		await fc.assert(
			fc.asyncProperty(
				places,
				fc.constantFrom(20, 50),
				limits,
				async (capped, latencyMs, limit) => {
					const service = { latencyMs, ...limit, capped: new Set(capped) };
					const delivery = await simulate({ items: 500 }, service);
					expect(delivery.failed).toBe(capped.length);
					expect(delivery.lastAcceptedMs).toBeLessThan(15_000);
					expect(delivery.elapsedMs).toBeLessThan(110_000);
				},
			),
			{ numRuns: 30 },
		);
	});
});

describe('a quota that is used up ends the run when the pauses are over', () => {
	test.each([
		[0, 100],
		[82, 100],
		[82, 1],
	])('after %d, %d at once', async (requests, ceiling) => {
		for (const random of randoms) {
			const service = { quota: { requests, periodMs: Infinity } };
			const delivery = await simulate({ items: 2000, ceiling, random: () => random }, service);
			expect(delivery.service.accepted).toHaveLength(requests);
			expect(delivery.outcomes.filter(({ kind }) => kind === 'failed')).toHaveLength(
				2000 - requests,
			);
			expect(delivery.service.starts.length).toBeLessThan(requests + 110);
			expect(delivery.elapsedMs).toBeGreaterThan(60_000);
			expect(delivery.elapsedMs).toBeLessThan(90_500);
		}
	});
});
