import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachItem } from '../../../nodes/PushCampaign/execution/eachItem';

const contextOf = (signal?: AbortSignal) => ({ getExecutionCancelSignal: () => signal });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

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
	const plans = await forEachItem(contextOf(), numbers(1_000), async (index) => index);
	isPlanning = false;
	expect(plans).toEqual(numbers(1_000));
	expect(await others).toBeGreaterThan(4);
});

test('an execution that is stopped plans no further item', async () => {
	const stop = new AbortController();
	const plan = async (index: number) => {
		if (index === 2) stop.abort();
		return index;
	};
	expect(await forEachItem(contextOf(stop.signal), numbers(5), plan)).toEqual([0, 1, 2]);
});
