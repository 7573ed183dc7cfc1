import { getEventListeners } from 'node:events';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { createClient } from '../../../nodes/PushCampaign/service/client';
import { readCampaigns } from '../../../nodes/PushCampaign/watch/readCampaigns';
import { withoutWaiting } from '../delivery/support';
import { failure, statusAnswer } from '../execution/support';

const answer = (record: { body: unknown }) => ({ statusCode: 200, headers: {}, ...record });
const read = (id: string, clicked: number) =>
	answer(
		statusAnswer(id, {
			total_attempts: 6,
			successfully_sent: 5,
			failed_to_send: 4,
			delivered: 3,
			clicked,
			closed: 1,
		}),
	);
const failed = (type: string) => answer(failure(type));

/** Reads campaigns one after another; an answer that is missing ends the time for it. */
async function readAll(answers: Readonly<Record<string, object[]>>, budgetMs = 60_000) {
	const asked: IHttpRequestOptions[] = [];
	const sleep = async () => await Promise.resolve();
	const timeOver = new AbortController();
	const client = createClient({
		settings: { baseUrl: 'https://push.example', headers: {}, secrets: [] },
		transport: async (options) => {
			asked.push(options);
			const left = answers[options.url.split('/').at(-1) ?? ''] ?? [];
			if (left.length > 1) return await Promise.resolve(left.shift());
			if (left[0] === undefined) timeOver.abort();
			return await Promise.resolve(left[0] ?? failed('rate_limit'));
		},
		sleep: async () => await new Promise(() => undefined),
		now: Date.now,
	});
	const { signal } = timeOver;
	const options = { ...withoutWaiting(sleep), signal };
	const time = { budgetMs, signal };
	const readings = await readCampaigns(Object.keys(answers), client, time, options);
	return { ...readings, asked, listeners: getEventListeners(signal, 'abort') };
}

test('each campaign is asked for once, in order, and its counters are numbers', async () => {
	const before = Date.now();
	const { observations, failures, unread, asked, listeners } = await readAll({
		b: [read('b', 2)],
		a: [read('a', 0)],
	});
	expect(listeners).toEqual([]);
	expect(asked.map(({ method, url, body }) => [method, url, body])).toEqual([
		['GET', 'https://push.example/v1/notification/status/id/b', undefined],
		['GET', 'https://push.example/v1/notification/status/id/a', undefined],
	]);
	const counters = {
		totalAttempts: 6,
		successfullySent: 5,
		failedToSend: 4,
		delivered: 3,
		clicked: 2,
		closed: 1,
	};
	expect(observations).toEqual([
		expect.objectContaining({ campaignId: 'b', status: 'Sent', counters }),
		expect.objectContaining({ campaignId: 'a', counters: { ...counters, clicked: 0 } }),
	]);
	for (const { readAt, observedAt } of observations) {
		expect(readAt).toBeGreaterThanOrEqual(before);
		expect(observedAt).toBeGreaterThanOrEqual(readAt);
		expect(observedAt).toBeLessThanOrEqual(Date.now());
	}
	expect(failures.size).toBe(0);
	expect(unread).toEqual([]);
});

test('a campaign that fails is told by its reason, one that was not reached by its ID', async () => {
	const { observations, failures, unread } = await readAll({
		good: [read('good', 2)],
		bad: [failed('invalid_value')],
		closing: [],
		after: [read('after', 2)],
	});
	expect(observations.map(({ campaignId }) => campaignId)).toEqual(['good']);
	expect([...failures].map(([id, { type }]) => [id, type])).toEqual([['bad', 'invalid_value']]);
	expect(unread).toEqual(['closing', 'after']);
});

test('the record of another campaign is no answer', async () => {
	const { observations, failures } = await readAll({ asked: [read('another', 2)] });
	expect(observations).toEqual([]);
	expect([...failures].map(([id, { type }]) => [id, type])).toEqual([
		['asked', 'unexpected_answer'],
	]);
});

test.each([
	['rate_limit', 5],
	['unspecified', 2],
])('%s is retried %d times', async (type, retries) => {
	const recovers = await readAll({
		a: [...Array.from({ length: retries }, () => failed(type)), read('a', 2)],
	});
	expect(recovers.observations).toHaveLength(1);
	const fails = await readAll({ a: Array.from({ length: 9 }, () => failed(type)) });
	expect(fails.asked).toHaveLength(retries + 1);
	expect([...fails.failures.keys()]).toEqual(['a']);
});

test.each([
	[240_000, 30_000],
	[60_000, 30_000],
	[10_001, 5000],
	[1, 1],
])('within a budget of %d ms a request takes at most %d ms', async (budgetMs, timeout) => {
	const { asked } = await readAll({ a: [read('a', 2)] }, budgetMs);
	expect(asked[0]?.timeout).toBe(timeout);
});

describe('when the time is over', () => {
	/** Reads with a service that a test answers by hand; its sleeps end with the time. */
	function reading(
		ids: readonly string[],
		service: (id: string) => Promise<object>,
		budgetMs: number,
	) {
		const timeOver = new AbortController();
		const asked: string[] = [];
		const sleep = async () => {
			timeOver.signal.throwIfAborted();
			return await Promise.resolve();
		};
		const { signal } = timeOver;
		const client = createClient({
			settings: { baseUrl: 'https://push.example', headers: {}, secrets: [] },
			transport: async ({ url }) => {
				const id = url.split('/').at(-1) ?? '';
				asked.push(id);
				return await service(id);
			},
			sleep: async () => await new Promise(() => undefined),
			now: Date.now,
		});
		const readings = readCampaigns(
			ids,
			client,
			{ budgetMs, signal },
			{ ...withoutWaiting(sleep), signal },
		);
		return { readings, asked, end: () => timeOver.abort() };
	}
	const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));
	const never = async () => await new Promise<object>(() => undefined);

	test('what was read is there, what hangs for the first time was not reached', async () => {
		const { readings, end } = reading(
			['good', 'hangs'],
			async (id) => (id === 'good' ? await Promise.resolve(read('good', 2)) : await never()),
			60_000,
		);
		await pause(10);
		end();
		const { observations, failures, unread } = await readings;
		expect(observations.map(({ campaignId }) => campaignId)).toEqual(['good']);
		expect([...failures.keys()]).toEqual([]);
		expect(unread).toEqual(['hangs']);
	});

	test('what failed before it hung is told with its reason', async () => {
		let requests = 0;
		const { readings, asked, end } = reading(
			['bad'],
			async () => {
				requests += 1;
				return requests === 1 ? await Promise.resolve(failed('unspecified')) : await never();
			},
			60_000,
		);
		await pause(10);
		expect(asked).toEqual(['bad', 'bad']);
		end();
		const { failures, unread } = await readings;
		expect([...failures].map(([id, { type }]) => [id, type])).toEqual([['bad', 'unspecified']]);
		expect(unread).toEqual([]);
	});

	test.each([
		[20, 3],
		[700, 1],
	])('what fails after %d of 1250 ms is asked for %d times', async (ms, times) => {
		const { readings, asked } = reading(
			['bad'],
			async () => {
				await pause(ms);
				return failed('unspecified');
			},
			2500,
		);
		expect([...(await readings).failures.keys()]).toEqual(['bad']);
		expect(asked).toHaveLength(times);
	});

	test('a refusal may take its time: the campaign is asked for again', async () => {
		const { readings, asked } = reading(
			['busy'],
			async () => {
				await pause(60);
				return failed('rate_limit');
			},
			200,
		);
		expect([...(await readings).failures.keys()]).toEqual(['busy']);
		expect(asked).toHaveLength(6);
	});

	test('what fails because the time is over was not reached', async () => {
		let fail = (_reason: Error) => {};
		const { readings, end } = reading(
			['cut'],
			async () => await new Promise<object>((_resolve, reject) => (fail = reject)),
			60_000,
		);
		await pause(10);
		end();
		fail(new Error('This operation was aborted'));
		const { failures, unread } = await readings;
		expect([...failures.keys()]).toEqual([]);
		expect(unread).toEqual(['cut']);
	});
});
