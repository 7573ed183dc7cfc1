import { deliver } from '../../../nodes/PushCampaign/delivery/deliver';
import { Window } from '../../../nodes/PushCampaign/delivery/window';

/** Delivers items that are answered at once, and tells how many had started at each pause. */
async function pausesOf(items: number, sleep: () => Promise<void>) {
	const never = async () => await new Promise<void>(() => undefined);
	const window = new Window({ ceiling: 100, now: () => 0, sleep: never, random: () => 0.5 });
	const startedBefore: Array<[started: number, milliseconds: number]> = [];
	let started = 0;
	const shipments = Array.from({ length: items }, (_, item) => ({
		rateLimitRetries: 0,
		transientRetries: 0,
		attempt: async () => {
			started += 1;
			return await Promise.resolve({ kind: 'done', value: item } as const);
		},
	}));
	const outcomes = await deliver(shipments, {
		window,
		stopOnFailure: true,
		random: () => 0.5,
		sleep: async (milliseconds) => {
			startedBefore.push([started, milliseconds]);
			await sleep();
		},
	});
	expect(outcomes).toEqual(shipments.map((_, value) => ({ kind: 'done', value })));
	return startedBefore;
}

test('what was started leaves before more is started: after each ten', async () => {
	expect(await pausesOf(25, async () => await Promise.resolve())).toEqual([
		[10, 0],
		[20, 0],
	]);
});

test('a pause that is cut short ends nothing by itself', async () => {
	const stopped = async () => await Promise.reject(new Error('stopped'));
	expect(await pausesOf(12, stopped)).toEqual([[10, 0]]);
});
