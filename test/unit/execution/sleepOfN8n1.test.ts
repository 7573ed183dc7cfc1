import { sleep } from '../../../nodes/PushCampaign/execution/sleep';

// n8n 1 knows no signal: its sleep goes on to the end.
jest.mock('n8n-workflow', () => ({
	sleep: async (milliseconds: number) =>
		await new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref()),
}));

const reason = new Error('The user stopped the execution');
const aDay = 86_400_000;

test('in n8n 1, too, a sleep ends with the signal, by its reason', async () => {
	const controller = new AbortController();
	const sleeping = sleep(aDay, controller.signal);
	controller.abort(reason);
	await expect(sleeping).rejects.toBe(reason);
});

test('in n8n 1, too, a sleep does not begin where the signal has ended', async () => {
	await expect(sleep(aDay, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('in n8n 1, too, a sleep ends after its time', async () => {
	await expect(sleep(1, new AbortController().signal)).resolves.toBeUndefined();
});
