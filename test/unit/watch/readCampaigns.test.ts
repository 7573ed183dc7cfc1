import { createClient } from '../../../nodes/PushCampaign/service/client';
import { readCampaigns } from '../../../nodes/PushCampaign/watch/readCampaigns';
import { withoutWaiting } from '../delivery/support';
import { failure, statusAnswer, type Answer } from '../execution/support';

const answer = (record: Answer) => ({ statusCode: 200, headers: {}, ...record });
const read = (id: string, clicked: number) =>
	answer(statusAnswer(id, { total_attempts: 6, delivered: 3, clicked, closed: 1 }));
const failed = (type: string) => answer(failure(type));
const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

afterEach(() => void jest.restoreAllMocks());

interface Reading {
	readonly first?: readonly string[];
	readonly timeoutMs?: number;
}

/** Reads campaigns one after another from a service that knows how often it was asked before. */
function reading(
	campaignIds: readonly string[],
	service: (id: string, before: number) => object | Promise<object>,
	{ first = [], timeoutMs = 30_000 }: Reading = {},
) {
	const timeOver = new AbortController();
	const { signal } = timeOver;
	const asked: string[] = [];
	const sleep = async () => {
		signal.throwIfAborted();
		return await Promise.resolve();
	};
	const client = createClient({
		settings: { baseUrl: 'https://push.example', headers: {} },
		transport: async ({ url, method, body, timeout }) => {
			const id = url.split('/').at(-1) ?? '';
			expect([method, body]).toEqual(['GET', undefined]);
			const before = asked.filter((each) => each === id).length;
			asked.push(id);
			expect(timeout).toBe(timeoutMs);
			return await service(id, before);
		},
		signal,
		sleep: async () => await Promise.resolve(),
		now: Date.now,
	});
	const readings = readCampaigns({ campaignIds, first, timeoutMs }, client, {
		...withoutWaiting(sleep),
		signal,
	});
	return { readings, asked, end: () => timeOver.abort() };
}

test('each campaign is asked for once, some before others, and told in order', async () => {
	const before = Date.now();
	const ids = ['c', 'b', 'a'];
	const { readings, asked } = reading(ids, (id) => read(id, 2), { first: ['a', 'b', 'x'] });
	const { observations, failures, unread } = await readings;
	expect(asked).toEqual(['b', 'a', 'c']);
	expect(observations.map(({ campaignId }) => campaignId)).toEqual(ids);
	expect(observations[0]).toMatchObject({
		status: 'Sent',
		counters: { totalAttempts: 6, delivered: 3, clicked: 2, closed: 1 },
	});
	for (const { observedAt } of observations) {
		expect([observedAt >= before, observedAt <= Date.now()]).toEqual([true, true]);
	}
	expect([failures.size, unread]).toEqual([0, []]);
});

test.each([
	['invalid_value', 0, []],
	['rate_limit', 5, ['a']],
	['unspecified', 2, []],
])('%s is tried again %d times, then told', async (type, retries, first) => {
	const heals = reading(['a'], (id, before) => (before < retries ? failed(type) : read(id, 2)));
	expect((await heals.readings).observations).toHaveLength(1);
	const fails = reading(['a'], () => failed(type));
	const { observations, failures, unread } = await fails.readings;
	expect(fails.asked).toHaveLength(retries + 1);
	expect([...failures].map(([id, problem]) => [id, problem.type])).toEqual([['a', type]]);
	// What is refused for too many requests is read first the next time.
	expect([observations, unread]).toEqual([[], first]);
});

test('the record of another campaign is no answer', async () => {
	const { failures } = await reading(['asked'], () => read('another', 2)).readings;
	expect([...failures].map(([id, { type }]) => [id, type])).toEqual([
		['asked', 'unexpected_answer'],
	]);
});

test('when the time is over, what was read is there, and what hangs or is cut was not reached', async () => {
	let cut = (_reason: Error) => {};
	const { readings, end } = reading(['good', 'hangs'], async (id) =>
		id === 'good' ? read(id, 2) : await new Promise<object>((_resolve, reject) => (cut = reject)),
	);
	await pause(10);
	end();
	cut(new Error('This operation was aborted'));
	const { observations, failures, unread } = await readings;
	expect(observations.map(({ campaignId }) => campaignId)).toEqual(['good']);
	expect([failures.size, unread]).toEqual([0, ['hangs']]);
});

test.each([
	['unspecified', 20, 3],
	['unspecified', 625, 3],
	['unspecified', 626, 1],
	// A refusal may take its time.
	['rate_limit', 626, 6],
])('what fails by %s after %d of 1250 ms is asked for %d times', async (type, ms, times) => {
	let now = 0;
	jest.spyOn(performance, 'now').mockImplementation(() => now);
	const service = () => {
		now += ms;
		return failed(type);
	};
	const { readings, asked } = reading(['bad'], service, { timeoutMs: 1250 });
	expect([...(await readings).failures.keys()]).toEqual(['bad']);
	expect(asked).toHaveLength(times);
});
