import { setImmediate as nextTurn } from 'node:timers/promises';
import type { INodeExecutionData } from 'n8n-workflow';
import { planEach } from '../../../nodes/PushCampaign/execution/results';

const contextOf = (items: number, signal?: AbortSignal) => ({
	getInputData: () => Array.from({ length: items }, (): INodeExecutionData => ({ json: {} })),
	getExecutionCancelSignal: () => signal,
});

test('thousands of items are planned in their order, and the rest of n8n gets its turn meanwhile', async () => {
	let isPlanning = true;
	const others = (async () => {
		let turns = 0;
		while (isPlanning) {
			await nextTurn();
			turns += 1;
		}
		return turns;
	})();
	const plans = await planEach(contextOf(1_000), async (index) => index);
	isPlanning = false;
	expect(plans).toEqual(Array.from({ length: 1_000 }, (_, index) => index));
	expect(await others).toBeGreaterThan(4);
});

test('an execution that is stopped plans no further item', async () => {
	const stop = new AbortController();
	const plan = async (index: number) => {
		if (index === 2) stop.abort();
		return index;
	};
	expect(await planEach(contextOf(5, stop.signal), plan)).toEqual([0, 1, 2]);
});
