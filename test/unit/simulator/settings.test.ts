import * as fc from 'fast-check';
import { RateLimiter, retryAfterHeader } from '../../../simulator/rateLimiter';
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

describe('the rate limit', () => {
	test('lets no more through than burst and refill allow, and names a sufficient wait', () => {
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

	test('counts sends and reads, refills with time, and can be changed', async () => {
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

	test.each([
		{ name: 'gives Retry-After in seconds', retryAfter: 'seconds', expected: '3' },
		{
			name: 'gives Retry-After as a date',
			retryAfter: 'date',
			expected: new Date(Math.ceil((start + 2500) / 1000) * 1000).toUTCString(),
		},
		{ name: 'gives no Retry-After by default', retryAfter: undefined, expected: undefined },
	] as const)('$name', async ({ retryAfter, expected }) => {
		simulator().setRateLimit({ perSecond: 0.4, burst: 1, ...(retryAfter && { retryAfter }) });
		await send(simulator(), 'all');
		expect((await send(simulator(), 'all')).headers['retry-after']).toBe(expected);
		expect(Number(retryAfterHeader('seconds', 1_234_567, time))).toBe(1235);
	});
});

test.each([{ failureStatus: 200 }, { failureStatus: 400 }, { failureStatus: 503 }])(
	'every failure comes with HTTP $failureStatus if so configured',
	async ({ failureStatus }) => {
		simulator().configure({ failureStatus, rateLimit: { perSecond: 0, burst: 1 } });
		const refused = await send(simulator(), 'all', { title: '' });
		expect(refused.json).toMatchObject({ type: 'missing_parameter' });
		const others = await Promise.all([
			send(simulator(), 'all'),
			call(simulator().url, { path: countPath, headers: {} }),
		]);
		expect([refused, ...others].map(({ status }) => status)).toEqual(Array(3).fill(failureStatus));
	},
);
