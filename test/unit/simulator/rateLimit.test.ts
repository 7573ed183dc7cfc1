import * as fc from 'fast-check';
import { RateLimiter, retryAfterHeader } from '../../../simulator/rateLimiter';
import { call, send, useSimulator } from './support';

let time = Date.UTC(2030, 0, 10, 12, 0, 0, 250);
const simulator = useSimulator({ clock: () => time, lifeSpeed: 0 });

async function statuses(count: number): Promise<number[]> {
	const answers: number[] = [];
	for (let index = 0; index < count; index += 1) {
		answers.push((await send(simulator(), 'all')).status);
	}
	return answers;
}

describe('the bucket', () => {
	test('never lets more through than burst and refill allow', () => {
		const limits = fc.record({
			perSecond: fc.double({ min: 0.1, max: 500, noNaN: true }),
			burst: fc.integer({ min: 1, max: 200 }),
		});
		const pauses = fc.array(fc.nat({ max: 400 }), { maxLength: 300 });
		fc.assert(
			fc.property(limits, pauses, (limit, gaps) => {
				const limiter = new RateLimiter();
				limiter.setLimit(limit, 0);
				let now = 0;
				let passed = 0;
				for (const gap of gaps) {
					now += gap;
					if (limiter.take(now) === null) passed += 1;
				}
				expect(passed).toBeLessThanOrEqual(limit.burst + (now / 1000) * limit.perSecond + 1e-6);
			}),
		);
	});

	test('tells a wait after which a request passes', () => {
		fc.assert(
			fc.property(fc.double({ min: 0.1, max: 500, noNaN: true }), (perSecond) => {
				const limiter = new RateLimiter();
				limiter.setLimit({ perSecond, burst: 1 }, 0);
				expect(limiter.take(0)).toBeNull();
				const waitMs = limiter.take(0) ?? 0;
				expect(limiter.take(waitMs / 2)).not.toBeNull();
				expect(limiter.take(waitMs + 0.001)).toBeNull();
			}),
		);
	});
});

test('refuses what is over the burst, and refills with time', async () => {
	simulator().setRateLimit({ perSecond: 10, burst: 3 });
	expect(await statuses(5)).toEqual([200, 200, 200, 429, 429]);
	time += 200;
	expect(await statuses(3)).toEqual([200, 200, 429]);
	time += 60_000;
	expect(await statuses(4)).toEqual([200, 200, 200, 429]);
	expect(simulator().campaigns.size).toBe(8);
	expect(
		simulator().requests.filter(({ answered }) => answered?.type === 'rate_limit'),
	).toHaveLength(4);
});

test('can be changed and taken away while it runs', async () => {
	simulator().setRateLimit({ perSecond: 200, burst: 200 });
	expect(await statuses(3)).toEqual([200, 200, 200]);
	simulator().setRateLimit({ perSecond: 1, burst: 2 });
	expect(await statuses(3)).toEqual([200, 200, 429]);
	simulator().setRateLimit(undefined);
	expect(await statuses(5)).toEqual([200, 200, 200, 200, 200]);
});

test('counts reads too, and nothing that was refused for its headers', async () => {
	simulator().setRateLimit({ perSecond: 0, burst: 1 });
	const read = (headers?: Record<string, string>) =>
		call(simulator().url, { path: '/v1/site/subscriber_count', ...(headers && { headers }) });
	expect((await read({})).status).toBe(401);
	expect((await read()).status).toBe(200);
	expect((await read()).status).toBe(429);
});

test('Retry-After in seconds, as a date, or not at all', async () => {
	const refusal = async (retryAfter?: 'seconds' | 'date') => {
		simulator().setRateLimit(undefined);
		simulator().setRateLimit({ perSecond: 0.4, burst: 1, ...(retryAfter && { retryAfter }) });
		await send(simulator(), 'all');
		return (await send(simulator(), 'all')).headers['retry-after'];
	};
	expect(await refusal('seconds')).toBe('3');
	const date = await refusal('date');
	expect(Date.parse(String(date))).toBe(Math.ceil((time + 2500) / 1000) * 1000);
	expect(await refusal()).toBeUndefined();
});

test('Retry-After is never shorter than the wait', () => {
	fc.assert(
		fc.property(fc.nat({ max: 1e6 }), fc.nat({ max: 4e12 }), (waitMs, now) => {
			expect(Number(retryAfterHeader('seconds', waitMs, now)) * 1000).toBeGreaterThanOrEqual(
				waitMs,
			);
			const date = Date.parse(retryAfterHeader('date', waitMs, now));
			expect(date).toBeGreaterThanOrEqual(now + waitMs);
			expect(date).toBeLessThan(now + waitMs + 1000);
		}),
	);
});

test.each([
	{ failureStatus: 'mapped', status: undefined, expected: 429 },
	{ failureStatus: 200, status: undefined, expected: 200 },
	{ failureStatus: 200, status: 503, expected: 503 },
	{ failureStatus: 'mapped', status: 200, expected: 200 },
] as const)('refusals come with HTTP $expected', async ({ failureStatus, status, expected }) => {
	simulator().configure({ failureStatus });
	simulator().setRateLimit({ perSecond: 0, burst: 1, ...(status && { status }) });
	await send(simulator(), 'all');
	const refused = await send(simulator(), 'all');
	expect(refused.status).toBe(expected);
	expect(refused.json).toMatchObject({ type: 'rate_limit' });
});
