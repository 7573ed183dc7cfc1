import type { Problem } from '../service/failures';

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
	/** Nothing was requested, because of what was entered, or of what n8n did not give. */
	| { readonly kind: 'invalid'; readonly invalid: Error }
	| { readonly kind: 'notStarted' }
);
