import type { Attempt, Outcome } from './outcome';
import type { RetryLimits } from './retry';

/** A request to make. */
export interface RequestJob<Value> extends RetryLimits {
	readonly known?: undefined;
	/** Makes the request once. Never throws, unless nobody can say what became of it. */
	readonly attempt: () => Promise<Attempt<Value>>;
	/** Jobs with the same key run once and share the outcome. */
	readonly dedupeKey?: string | undefined;
}

/** What an item needs: a request, or nothing if its outcome is known already. */
export type Job<Value> = RequestJob<Value> | { readonly known: Outcome<Value> };

export interface RunOptions {
	/** The most requests that are ever in flight; with 1 they go strictly in order. */
	readonly maxConcurrency: number;
	/** Whether nothing starts any more after the first failure. */
	readonly stopOnFailure: boolean;
	/** Milliseconds from any fixed moment. */
	readonly now: () => number;
	/** Waits the given milliseconds; rejects when the signal ends. */
	readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
	/** A number from 0 up to, but not including, 1. */
	readonly random: () => number;
	/** Ends when the user stops the execution, or when the time for it is over. */
	readonly signal?: AbortSignal | undefined;
	/** Filled in while the run lasts. */
	readonly limitTrace?: LimitTrace;
}

/** What refusals for too many requests did to a run. */
export interface LimitTrace {
	/** How many there were. */
	refusals: number;
	/** How long nothing could start because of them, in milliseconds. */
	waitedMs: number;
}
