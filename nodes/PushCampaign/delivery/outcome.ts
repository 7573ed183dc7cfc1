import type { Problem } from '../service/failures';
import type { InvalidInput } from '../service/invalidInput';

/** How an item ended. Only `notStarted` has no reason of its own. */
export type Outcome<Value> = {
	/**
	 * False if this run did not ask the service, because the outcome is an earlier one. Such an outcome says
	 * nothing about the service's pace, and stops nothing else.
	 */
	readonly wasRequested?: boolean;
} & (
	| { readonly kind: 'done'; readonly value: Value }
	| { readonly kind: 'failed'; readonly problem: Problem }
	| { readonly kind: 'invalid'; readonly invalid: InvalidInput }
	| { readonly kind: 'notStarted' }
);
