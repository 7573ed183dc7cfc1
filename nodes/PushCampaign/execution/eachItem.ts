import type { IExecuteFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import type { QueueOptions } from '../delivery/queue';

// How a run goes through its items: one after another to read them, through the queue to send them.

/** After this many items the rest of n8n gets its turn: reading thousands of parameters takes seconds. */
const itemsAtOnce = 200;

/** Does something with the items, one after another; with fewer if the execution is stopped. */
export async function forEachItem<Item, Result>(
	context: Pick<IExecuteFunctions, 'getExecutionCancelSignal'>,
	items: readonly Item[],
	each: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
	const signal = context.getExecutionCancelSignal();
	const results: Result[] = [];
	for (const [index, item] of items.entries()) {
		if (signal?.aborted) break;
		results.push(await each(item, index));
		if (results.length % itemsAtOnce === 0) await sleep(0);
	}
	return results;
}

/** How the queue of a run works. */
export const queueOptions = (context: IExecuteFunctions): QueueOptions => ({
	stopOnFailure: !context.continueOnFail(),
	signal: context.getExecutionCancelSignal(),
	sleep,
});
