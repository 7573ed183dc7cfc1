import * as fc from 'fast-check';
import { RateLimiter } from '../../../simulator/rateLimiter';
import { call, countPath, failure, requiredHeaders, send, useSimulator } from './support';

const start = Date.UTC(2030, 0, 10, 12, 0, 0, 250);
let time = start;
const simulator = useSimulator({ clock: () => time, lifeSpeed: 0 });
beforeEach(() => {
	time = start;
});

const statuses = async (count: number) => {
	const answers: number[] = [];
	while (answers.length < count) answers.push((await send(simulator(), 'all')).status);
	return answers;
};

test('the rate limit lets no more through than burst and refill allow, and names a sufficient wait', () => {
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

test('the rate limit counts sends and reads, refills with time, and can be changed', async () => {
	simulator().setRateLimit({ perSecond: 10, burst: 3 });
	const read = (headers = requiredHeaders) => call(simulator().url, { path: countPath, headers });
	// What is refused for its headers does not count.
	expect((await read({ ...requiredHeaders, serviceKey: '' })).status).toBe(401);
	expect((await read()).status).toBe(200);
	expect(await statuses(3)).toEqual([200, 200, 429]);
	expect((await read()).json).toEqual(failure('rate_limit', 'Too many requests'));
	time += 200;
	expect(await statuses(3)).toEqual([200, 200, 429]);
	simulator().setRateLimit(undefined);
	expect(await statuses(5)).toEqual([200, 200, 200, 200, 200]);
	expect(simulator().campaigns.size).toBe(9);
});

test('a refusal for too many requests names a wait that is enough', async () => {
	simulator().setRateLimit({ perSecond: 0.4, burst: 1, retryAfter: 'seconds' });
	await send(simulator(), 'all');
	expect((await send(simulator(), 'all')).headers['retry-after']).toBe('3');
	time += 3000;
	expect((await send(simulator(), 'all')).status).toBe(200);
});
