import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '../../../nodes/PushCampaign/service/deadline';

const aDay = 86_400_000;
const options = (timeoutMs: number, signal?: AbortSignal) => ({
	timeoutMs,
	signal,
	sleep: async (milliseconds: number) => await sleep(milliseconds),
});

/** Hangs, and tells its signal. */
function hanging() {
	const seen: { signal?: AbortSignal } = {};
	const action = async (signal: AbortSignal) => {
		seen.signal = signal;
		return await new Promise<string>(() => undefined);
	};
	return { seen, action };
}

test('gives what the action gives, and leaves its signal alone', async () => {
	let seen: AbortSignal | undefined;
	const action = async (signal: AbortSignal) => {
		seen = signal;
		return await Promise.resolve('answer');
	};
	const ending = await withDeadline(action, options(20));
	await sleep(60);
	expect(ending).toEqual({ kind: 'settled', value: 'answer' });
	expect(getEventListeners(seen ?? new EventTarget(), 'abort')).toEqual([]);
});

test.each([
	['at once', () => ({ throws: true })],
	['later', () => ({ throws: false })],
])('what the action throws %s is what it throws', async (_when, how) => {
	const error = new TypeError('no request');
	const action = how().throws
		? () => {
				throw error;
			}
		: async () => await Promise.reject(error);
	expect(await withDeadline(action, options(aDay))).toEqual({
		kind: 'failed',
		error,
		isLate: false,
	});
});

test('ends the signal at the deadline, not before', async () => {
	const { seen, action } = hanging();
	const from = performance.now();
	const ending = withDeadline(action, options(150));
	await sleep(50);
	expect(seen.signal?.aborted).toBe(false);
	expect(await ending).toEqual({ kind: 'failed', error: undefined, isLate: true });
	expect(performance.now() - from).toBeGreaterThanOrEqual(149);
	expect(seen.signal?.aborted).toBe(true);
});

test('what an action says when its signal ends it is heard', async () => {
	const lastWords = new Error('canceled before it was connected');
	const action = async (signal: AbortSignal) =>
		await new Promise<string>((_resolve, reject) => {
			signal.addEventListener('abort', () => reject(lastWords));
		});
	expect(await withDeadline(action, options(10))).toEqual({
		kind: 'failed',
		error: lastWords,
		isLate: true,
	});
});

test('an answer that comes with the deadline counts', async () => {
	const action = async (signal: AbortSignal) =>
		await new Promise<string>((resolve) => {
			signal.addEventListener('abort', () => resolve('answer'));
		});
	expect(await withDeadline(action, options(10))).toEqual({ kind: 'settled', value: 'answer' });
});

test('an answer after the deadline changes nothing', async () => {
	const action = async () => await sleep(60, 'late');
	const ending = await withDeadline(action, options(10));
	await sleep(80);
	expect(ending).toEqual({ kind: 'failed', error: undefined, isLate: true });
});

describe('a signal for all', () => {
	test('ends every request at once, each with its own signal, and none is late', async () => {
		const stop = new AbortController();
		const requests = [hanging(), hanging()];
		const endings = requests.map(async ({ action }) => {
			return await withDeadline(action, options(aDay, stop.signal));
		});
		stop.abort();
		const cut = { kind: 'failed', error: undefined, isLate: false };
		expect(await Promise.all(endings)).toEqual([cut, cut]);
		expect(requests.map(({ seen }) => seen.signal?.aborted)).toEqual([true, true]);
	});

	test('that has ended before ends the action', async () => {
		const { action } = hanging();
		const ending = await withDeadline(action, options(aDay, AbortSignal.abort()));
		expect(ending).toEqual({ kind: 'failed', error: undefined, isLate: false });
	});

	test('has no listener, however many requests are under way', async () => {
		const stop = new AbortController();
		const endings = Array.from({ length: 50 }, async () => {
			await withDeadline(hanging().action, options(30, stop.signal));
		});
		expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
		await Promise.all(endings);
		expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
	});
});
