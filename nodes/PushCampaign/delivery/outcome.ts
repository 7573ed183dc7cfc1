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

/** Somebody else may be making this very request. The job is tried again after a pause. */
export interface Held<Value> {
	readonly kind: 'held';
	/** How the job ends if the run ends before it is tried again. */
	readonly otherwise: Outcome<Value>;
}

/** What one try of a job gave. */
export type Attempt<Value> = Outcome<Value> | Held<Value>;
