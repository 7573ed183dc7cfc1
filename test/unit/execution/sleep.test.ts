import { getEventListeners } from 'node:events';
import { sleep } from '../../../nodes/PushCampaign/execution/sleep';

const reason = new Error('The user stopped the execution');
const aDay = 86_400_000;

const countListeners = (signal: AbortSignal) => () => getEventListeners(signal, 'abort').length;

describe('a sleep', () => {
	test('ends when its time is over, with a signal and without one', async () => {
		const { signal } = new AbortController();
		const startedAt = performance.now();
		await Promise.all([sleep(30), sleep(30, signal)]);
		// A timer may ring a fraction of a millisecond early.
		expect(performance.now() - startedAt).toBeGreaterThan(28);
	});

	test('leaves no listener on its signal', async () => {
		const { signal } = new AbortController();
		const listeners = countListeners(signal);
		const sleeping = sleep(1, signal);
		expect(listeners()).toBeGreaterThan(0);
		await sleeping;
		expect(listeners()).toBe(0);
	});

	test('ends when its signal does, with the reason of the signal', async () => {
		const controller = new AbortController();
		const sleeping = sleep(aDay, controller.signal);
		controller.abort(reason);
		await expect(sleeping).rejects.toBe(reason);
	});

	test('does not begin if its signal has ended', async () => {
		await expect(sleep(aDay, AbortSignal.abort(reason))).rejects.toBe(reason);
	});
});
