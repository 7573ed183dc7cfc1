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

const failed = (isLate: boolean, error?: unknown) => ({ kind: 'failed', error, isLate });
const settled = { kind: 'settled', value: 'answer' };

test('gives what the action gives, and leaves its signal alone', async () => {
	let seen: AbortSignal | undefined;
	const action = async (signal: AbortSignal) => {
		seen = signal;
		return await Promise.resolve('answer');
	};
	const ending = await withDeadline(action, options(20));
	await sleep(60);
	expect(ending).toEqual(settled);
	expect(getEventListeners(seen ?? new EventTarget(), 'abort')).toEqual([]);
});

const error = new TypeError('no request');

test.each([
	[
		'at once',
		() => {
			throw error;
		},
	],
	['later', async () => await Promise.reject(error)],
])('what the action throws %s is what it throws', async (_when, action) => {
	expect(await withDeadline(action, options(aDay))).toEqual(failed(false, error));
});

test('ends the signal at the deadline, not before', async () => {
	const { seen, action } = hanging();
	const from = performance.now();
	const ending = withDeadline(action, options(150));
	await sleep(50);
	expect(seen.signal?.aborted).toBe(false);
	expect(await ending).toEqual(failed(true));
	expect(performance.now() - from).toBeGreaterThanOrEqual(149);
	expect(seen.signal?.aborted).toBe(true);
});

test.each<
	[string, (resolve: (value: string) => void, reject: (error: Error) => void) => void, object]
>([
	['an answer that comes with the deadline counts', (resolve) => resolve('answer'), settled],
	[
		'what an action says when its signal ends it is heard',
		(_resolve, reject) => reject(error),
		failed(true, error),
	],
	[
		'an answer after the deadline changes nothing',
		(resolve) => void sleep(30).then(() => resolve('late')),
		failed(true),
	],
])('%s', async (_what, atDeadline, ending) => {
	const action = async (signal: AbortSignal) =>
		await new Promise<string>((resolve, reject) => {
			signal.addEventListener('abort', () => atDeadline(resolve, reject));
		});
	expect(await withDeadline(action, options(10))).toEqual(ending);
});

describe('a signal for all', () => {
	test('ends every request at once, each with its own signal, and none is late', async () => {
		const stop = new AbortController();
		const requests = [hanging(), hanging()];
		const endings = requests.map(async ({ action }) => {
			return await withDeadline(action, options(aDay, stop.signal));
		});
		expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
		stop.abort();
		expect(await Promise.all(endings)).toEqual([failed(false), failed(false)]);
		expect(requests.map(({ seen }) => seen.signal?.aborted)).toEqual([true, true]);
	});

	test('that has ended before ends the action', async () => {
		const ended = options(aDay, AbortSignal.abort());
		expect(await withDeadline(hanging().action, ended)).toEqual(failed(false));
	});
});
