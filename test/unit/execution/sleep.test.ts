import { getEventListeners } from 'node:events';
import { sleep } from '../../../nodes/PushCampaign/execution/sleep';

const reason = new Error('The user stopped the execution');
const aDay = 86_400_000;

const countListeners = (signal: AbortSignal) => () => getEventListeners(signal, 'abort').length;

describe('a sleep', () => {
	test('ends before a longer one that began earlier, with a signal and without one', async () => {
		const { signal } = new AbortController();
		const ended: string[] = [];
		const note = async (name: string, sleeping: Promise<void>) => {
			await sleeping;
			ended.push(name);
		};
		await Promise.all([
			note('60 ms', sleep(60)),
			note('45 ms with a signal', sleep(45, signal)),
			note('30 ms', sleep(30)),
			note('15 ms with a signal', sleep(15, signal)),
		]);
		expect(ended).toEqual(['15 ms with a signal', '30 ms', '45 ms with a signal', '60 ms']);
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
