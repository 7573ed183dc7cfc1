import type { IExecuteFunctions } from 'n8n-workflow';

import type { DeliverOptions } from './delivery/deliver';
import { Window } from './delivery/window';
import { createSleep, sleep } from './sleep';

/** What delivering needs of the world, for one execution of the node. */
export function deliverOptions(context: IExecuteFunctions, maxParallel: number): DeliverOptions {
	const signal = context.getExecutionCancelSignal();
	const never = new AbortController().signal;
	return {
		window: new Window({
			ceiling: maxParallel,
			now: () => performance.now(),
			sleep,
			random: Math.random,
			signal,
		}),
		stopOnFailure: !context.continueOnFail(),
		sleep: createSleep(signal ?? never),
		random: Math.random,
	};
}
