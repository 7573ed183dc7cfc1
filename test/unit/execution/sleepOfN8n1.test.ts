import { sleep } from '../../../nodes/PushCampaign/execution/sleep';

// n8n 1 knows no signal: its sleep goes on to the end.
jest.mock('n8n-workflow', () => ({
	sleep: async (milliseconds: number) =>
		await new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref()),
}));

test('in n8n 1, too, a sleep ends with the signal, by its reason', async () => {
	const reason = new Error('The user stopped the execution');
	const controller = new AbortController();
	const sleeping = sleep(86_400_000, controller.signal);
	controller.abort(reason);
	await expect(sleeping).rejects.toBe(reason);
});
