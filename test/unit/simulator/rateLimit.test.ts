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

test('never lets more through than burst and refill allow, and tells a wait that is long enough', () => {
	const limits = fc.record({
		perSecond: fc.double({ min: 0.1, max: 500, noNaN: true }),
		burst: fc.integer({ min: 1, max: 200 }),
	});
	fc.assert(
		fc.property(limits, fc.array(fc.nat({ max: 400 }), { maxLength: 300 }), (limit, gaps) => {
			const limiter = new RateLimiter();
			limiter.setLimit(limit, 0);
			let [now, passed] = [0, 0];
			for (const gap of gaps) {
				now += gap;
				if (limiter.take(now) === null) passed += 1;
			}
			expect(passed).toBeLessThanOrEqual(limit.burst + (now / 1000) * limit.perSecond + 1e-6);
			const waitMs = limiter.take(now);
			if (waitMs !== null) expect(limiter.take(now + waitMs + 0.001)).toBeNull();
		}),
	);
});

test('refuses what is over the burst, refills with time, and can be changed while it runs', async () => {
	simulator().setRateLimit({ perSecond: 10, burst: 3 });
	expect(await statuses(5)).toEqual([200, 200, 200, 429, 429]);
	time += 200;
	expect(await statuses(3)).toEqual([200, 200, 429]);
	expect(simulator().campaigns.size).toBe(5);
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

test.each([
	['seconds', '3'],
	['date', new Date(Math.ceil((time + 2500) / 1000) * 1000).toUTCString()],
	[undefined, undefined],
] as const)('Retry-After as %s', async (retryAfter, expected) => {
	time = Date.UTC(2030, 0, 10, 12, 0, 0, 250);
	simulator().setRateLimit({ perSecond: 0.4, burst: 1, ...(retryAfter && { retryAfter }) });
	await send(simulator(), 'all');
	expect((await send(simulator(), 'all')).headers['retry-after']).toBe(expected);
	const waitMs = 1_234_567;
	expect(Number(retryAfterHeader('seconds', waitMs, time)) * 1000).toBeGreaterThanOrEqual(waitMs);
});

test.each([
	{ failureStatus: 200, status: undefined, expected: 200 },
	{ failureStatus: 200, status: 503, expected: 503 },
	{ failureStatus: 'mapped', status: 200, expected: 200 },
] as const)('refusals come with HTTP $expected', async ({ failureStatus, status, expected }) => {
	simulator().configure({ failureStatus });
	simulator().setRateLimit({ perSecond: 0, burst: 1, ...(status && { status }) });
	await send(simulator(), 'all');
	expect((await send(simulator(), 'all')).status).toBe(expected);
});
