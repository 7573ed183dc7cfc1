import { getEventListeners } from 'node:events';
import { createSleep, sleep } from '../../../nodes/PushCampaign/sleep';

const reason = new Error('The user stopped the execution');
const aDay = 86_400_000;

const countListeners = (signal: AbortSignal) => () => getEventListeners(signal, 'abort').length;

describe('a sleep', () => {
	test('ends after its time, not before, and leaves no listener', async () => {
		const { signal } = new AbortController();
		const listeners = countListeners(signal);
		const start = performance.now();
		const sleeping = sleep(30, signal);
		expect(listeners()).toBeGreaterThan(0);
		await sleeping;
		expect(performance.now() - start).toBeGreaterThanOrEqual(29);
		expect(listeners()).toBe(0);
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

describe('sleeps of one signal', () => {
	test('end after their own time each, and share a listener', async () => {
		const { signal } = new AbortController();
		const listeners = countListeners(signal);
		const sleepOf = createSleep(signal);
		const ended: number[] = [];
		const sleeping = [40, 1, 20].map(async (milliseconds) => {
			await sleepOf(milliseconds);
			ended.push(milliseconds);
		});
		expect(listeners()).toBe(1);
		await Promise.all(sleeping);
		expect(ended).toEqual([1, 20, 40]);
		expect(listeners()).toBe(1);
	});

	test('end all with the signal, by its reason', async () => {
		const controller = new AbortController();
		const sleepOf = createSleep(controller.signal);
		await sleepOf(1);
		const sleeping = [sleepOf(aDay), sleepOf(aDay)];
		controller.abort(reason);
		for (const one of sleeping) await expect(one).rejects.toBe(reason);
	});

	test('do not begin where the signal has ended', async () => {
		const controller = new AbortController();
		const sleepOf = createSleep(controller.signal);
		controller.abort(reason);
		await expect(sleepOf(aDay)).rejects.toBe(reason);
		await expect(createSleep(AbortSignal.abort(reason))(aDay)).rejects.toBe(reason);
	});
});
