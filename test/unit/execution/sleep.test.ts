import { getEventListeners } from 'node:events';
import { sleep } from '../../../nodes/PushCampaign/execution/sleep';

const reason = new Error('The user stopped the execution');
const aDay = 86_400_000;

const countListeners = (signal: AbortSignal) => () => getEventListeners(signal, 'abort').length;

describe('a sleep', () => {
	test('ends after its time, not before, and leaves no listener; it needs no signal', async () => {
		const { signal } = new AbortController();
		const listeners = countListeners(signal);
		const start = performance.now();
		const sleeping = sleep(30, signal);
		expect(listeners()).toBeGreaterThan(0);
		await sleeping;
		expect(performance.now() - start).toBeGreaterThanOrEqual(29);
		expect(listeners()).toBe(0);
		const again = performance.now();
		await sleep(20);
		expect(performance.now() - again).toBeGreaterThanOrEqual(19);
	});

	test('ends with the signal, by the reason of the signal', async () => {
		const controller = new AbortController();
		const sleeping = sleep(aDay, controller.signal);
		controller.abort(reason);
		await expect(sleeping).rejects.toBe(reason);
	});

	test('does not begin where the signal has ended', async () => {
		await expect(sleep(aDay, AbortSignal.abort(reason))).rejects.toBe(reason);
	});
});
