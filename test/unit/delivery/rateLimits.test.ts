import fc from 'fast-check';
import { randomFrom, simulate, type Load, type ServiceOptions } from './support';

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

/** Every item is accepted, once, and none is refused more often than it may be tried again. */
async function deliver(load: Load, service: ServiceOptions) {
	const delivery = await simulate(load, service);
	const { executions = 1, maxConcurrency = 100, rateLimitRetries = 5 } = load;
	const all = load.items * executions;
	expect(delivery.failed).toBe(0);
	expect(delivery.accepted).toHaveLength(all);
	expect(new Set(delivery.accepted).size).toBe(all);
	expect(delivery.mostRequests).toBeLessThanOrEqual(1 + rateLimitRetries);
	expect(delivery.mostInFlight).toBeLessThanOrEqual(maxConcurrency * executions);
	if (executions === 1) expect(delivery.startedTooEarly).toBe(0);
	return delivery;
}

interface LimitCase {
	/** The service's limit, which stands in the title. */
	readonly name: string;
	readonly load: Load;
	readonly service: ServiceOptions;
	/** The least time that the limit allows. */
	readonly neededMs: number;
	/** The multiple of it that the run may take. */
	readonly most: number;
}

describe('a service with a rate limit gets every item, in little more than the time that the limit needs', () => {
	test.each<LimitCase>([
		{
			name: '100 requests a second',
			load: { items: 2000 },
			service: limited(100),
			neededMs: 19_000,
			most: 1.03,
		},
		{
			name: '100 a second, each refusal with Retry-After',
			load: { items: 2000 },
			service: { ...limited(100), ...always },
			neededMs: 19_000,
			most: 1.1,
		},
		{
			name: '100 a second, every other refusal with Retry-After',
			load: { items: 2000 },
			service: { ...limited(100), retryAfter: 0.5 },
			neededMs: 19_000,
			most: 1.1,
		},
		{
			name: '100 a second, answers after 5 ms',
			load: { items: 2000 },
			service: { ...limited(100), latencyMs: 5 },
			neededMs: 19_000,
			most: 1.03,
		},
		{
			name: '100 a second, answers after 500 ms',
			load: { items: 2000 },
			service: { ...limited(100), latencyMs: 500 },
			neededMs: 19_000,
			most: 1.1,
		},
		{
			name: '20 a second, answers after 2 s',
			load: { items: 400 },
			service: { ...limited(20), latencyMs: 2000 },
			neededMs: 19_000,
			most: 1.5,
		},
		{
			name: '200 a second that fall to 20',
			load: { items: 1200 },
			service: falls,
			neededMs: 19_000,
			most: 1.03,
		},
		{
			name: '200 a second that fall to 20, with Retry-After',
			load: { items: 1200 },
			service: { ...falls, ...always },
			neededMs: 19_000,
			most: 1.15,
		},
		{
			name: '20 a second that rise to 200',
			load: { items: 1000 },
			service: rises,
			neededMs: 12_000,
			most: 1.4,
		},
		{
			name: '20 a second',
			load: { items: 400 },
			service: limited(20),
			neededMs: 19_000,
			most: 1.02,
		},
		{
			name: '20 a second, with Retry-After',
			load: { items: 400 },
			service: { ...limited(20), ...always },
			neededMs: 19_000,
			most: 1.1,
		},
		{
			name: '20 a second, one request at a time',
			load: { items: 400, maxConcurrency: 1 },
			service: limited(20),
			neededMs: 19_000,
			most: 1.1,
		},
		{
			name: '20 a second, two requests at a time',
			load: { items: 400, maxConcurrency: 2 },
			service: limited(20),
			neededMs: 19_000,
			most: 1.03,
		},
		{
			name: '100 a second, 10 of them at once',
			load: { items: 400 },
			service: limited(100, 10),
			neededMs: 3900,
			most: 1.07,
		},
		{
			name: '1 a second',
			load: { items: 30 },
			service: limited(1),
			neededMs: 29_000,
			most: 1.5,
		},
		{
			name: '60 in each minute',
			load: { items: 150 },
			service: perMinute,
			neededMs: 120_000,
			most: 1.45,
		},
		{
			name: '60 in each minute, one request at a time',
			load: { items: 70, maxConcurrency: 1 },
			service: perMinute,
			neededMs: 60_000,
			most: 1.5,
		},
		{
			name: '60 in each minute, and one item more than that',
			load: { items: 61 },
			service: perMinute,
			neededMs: 60_000,
			most: 1.45,
		},
		{
			name: '100 a second, shared by three executions',
			load: { items: 700, executions: 3 },
			service: limited(100),
			neededMs: 20_000,
			most: 1.25,
		},
		{
			name: 'one request in a hundred refused by chance',
			load: { items: 2000 },
			service: { unlucky: 0.01 },
			neededMs: 1000,
			most: 8,
		},
		{
			name: 'one request in ten refused by chance',
			load: { items: 500 },
			service: { unlucky: 0.1 },
			neededMs: 1000,
			most: 30,
		},
	])('$name', async ({ load, service, neededMs, most }) => {
		for (const random of randoms) {
			const { elapsedMs } = await deliver({ ...load, random }, service);
			expect(elapsedMs / neededMs).toBeLessThan(most);
		}
	});

	test('any limit from 2 to 500 a second, at any latency and any Max Parallel Requests', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.integer({ min: 2, max: 500 }),
				fc.integer({ min: 5, max: 200 }),
				fc.constantFrom(5, 50, 300),
				fc.constantFrom(0, 0.5, 1),
				fc.constantFrom(1, 2, 100, 500),
				fc.double({ min: 0, max: 0.99, noNaN: true }),
				async (perSecond, burst, latencyMs, retryAfter, maxConcurrency, random) => {
					const { starts, elapsedMs } = await deliver(
						{ items: 150, maxConcurrency, random: () => random },
						{ ...limited(perSecond, burst), latencyMs, retryAfter },
					);
					expect(starts.length).toBeLessThan(3 * 150);
					const roundTrips = (150 / Math.min(maxConcurrency, 20)) * latencyMs;
					expect(elapsedMs).toBeLessThan(30_000 + 2 * ((150 / perSecond) * 1000 + roundTrips));
				},
			),
		);
	});
});

test('a service without a limit gets 20 requests at first, and Max Parallel Requests after two answers', async () => {
	const { starts, mostInFlight, elapsedMs } = await simulate({ items: 200 }, {});
	expect(starts.filter(({ at }) => at < 50)).toHaveLength(20);
	expect(mostInFlight).toBe(100);
	expect(elapsedMs).toBe(150);
});

test('items that the service never accepts delay no other item, wherever they are in the queue', async () => {
	const positions = fc.uniqueArray(fc.nat({ max: 499 }), { minLength: 2, maxLength: 9 });
	await fc.assert(
		fc.asyncProperty(
			positions,
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

describe('an outage in which the service refuses every request', () => {
	/** In milliseconds, beyond what the service needs for all items. */
	const longestRecoveryMs = 120_000;
	const hoursMs = 3_600_000;
	const durationMs = fc.oneof(
		fc.integer({ min: 1000, max: 60_000 }),
		fc.integer({ min: 60_000, max: hoursMs }),
		fc.integer({ min: hoursMs, max: 16 * hoursMs }),
	);

	test('of 1 s to 16 h is over for all items two minutes after its end', async () => {
		await fc.assert(
			fc.asyncProperty(
				durationMs,
				fc.constantFrom(0, 100, 1000),
				fc.constantFrom(1, 5, 60, 300),
				fc.constantFrom(1, 2, 100, 500),
				fc.constantFrom(5, 50, 500),
				fc.constantFrom(undefined, 20, 100),
				fc.integer(),
				async (outageMs, from, items, maxConcurrency, latencyMs, perSecond, seed) => {
					const until = from + outageMs;
					const { lastAcceptedMs } = await deliver(
						{ items, maxConcurrency, rateLimitRetries: 1000, random: randomFrom(seed) },
						{
							latencyMs,
							outage: { from, until },
							...(perSecond === undefined ? {} : limited(perSecond)),
						},
					);
					const neededMs = Math.max(
						(items / (perSecond ?? Infinity)) * 1000,
						(items / Math.min(maxConcurrency, 100)) * latencyMs,
					);
					expect(lastAcceptedMs - until).toBeLessThan(longestRecoveryMs + neededMs);
				},
			),
		);
	});

	test('with Retry-After is over for all items two minutes after its end, too', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.integer({ min: 1000, max: hoursMs / 4 }),
				fc.constantFrom(1000, 30_000, 60_000),
				fc.constantFrom(0.5, 1),
				fc.constantFrom(1, 5, 60, 300),
				fc.constantFrom(1, 2, 100),
				fc.integer(),
				async (until, retryAfterMs, retryAfter, items, maxConcurrency, seed) => {
					const { lastAcceptedMs } = await deliver(
						{ items, maxConcurrency, rateLimitRetries: 1000, random: randomFrom(seed) },
						{ outage: { from: 0, until }, retryAfter, retryAfterMs },
					);
					const neededMs = (items / maxConcurrency) * 50;
					expect(lastAcceptedMs - until).toBeLessThan(longestRecoveryMs + neededMs);
				},
			),
		);
	});
});

describe('a quota that is used up ends the run of 2000 items', () => {
	const quotas = [
		{ name: 'before the first request', requests: 0, maxConcurrency: 100 },
		{ name: 'after 82 requests', requests: 82, maxConcurrency: 100 },
		{ name: 'after 82 requests, two at a time', requests: 82, maxConcurrency: 2 },
		{ name: 'after 82 requests, one at a time', requests: 82, maxConcurrency: 1 },
	];
	test.each(quotas)('$name: after the pauses of 85 s', async ({ requests, maxConcurrency }) => {
		for (const random of randoms) {
			const service = { quota: { requests, periodMs: Infinity } };
			const delivery = await simulate({ items: 2000, maxConcurrency, random }, service);
			expect(delivery.accepted).toHaveLength(requests);
			expect(delivery.failed).toBe(2000 - requests);
			expect(delivery.starts.length).toBeLessThan(requests + 110);
			expect(delivery.elapsedMs).toBeGreaterThan(60_000);
			expect(delivery.elapsedMs).toBeLessThan(90_500);
		}
	});

	test.each(quotas)(
		'$name: after five pauses, if each refusal says Retry-After: 100',
		async ({ requests, maxConcurrency }) => {
			const service = {
				quota: { requests, periodMs: Infinity },
				...always,
				retryAfterMs: 100_000,
			};
			const delivery = await simulate({ items: 2000, maxConcurrency }, service);
			expect(delivery.accepted).toHaveLength(requests);
			expect(delivery.failed).toBe(2000 - requests);
			expect(delivery.elapsedMs - delivery.lastAcceptedMs).toBeLessThan(510_000);
			expect(delivery.startedTooEarly).toBe(0);
		},
	);
});
