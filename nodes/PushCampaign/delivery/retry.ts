import type { Problem } from '../service/failures';

/** How long to wait before a request is tried again. */
interface RetryPolicy {
	/** The pause after the first failure, in milliseconds. */
	readonly firstPauseMs: number;
	/** Each further pause is this many times as long as the last one. */
	readonly backoffCoefficient: number;
	/** No pause is longer, in milliseconds, unless the service asks for it. */
	readonly longestPauseMs: number;
	/**
	 * A pause is shortened by up to this share, at random: executions that failed together must not come back
	 * together.
	 */
	readonly jitter: number;
	/** This many pauses, 85 s in total, outlast a limit per minute. */
	readonly pausesPerLimit: number;
	/** The longest `Retry-After` that is waited for, in milliseconds. */
	readonly longestRetryAfterMs: number;
}

export const retryPolicy: RetryPolicy = {
	firstPauseMs: 250,
	backoffCoefficient: 4,
	longestPauseMs: 64_000,
	jitter: 0.1,
	pausesPerLimit: 5,
	longestRetryAfterMs: 10 * 60_000,
};

/** How often one job is tried again. */
export interface RetryLimits {
	/**
	 * After a refusal for too many requests: 0 to 1000. The run gives up after more refusals in a row than this.
	 */
	readonly rateLimitRetries: number;
	/** After a transient failure: 0 for every request that must not happen twice. */
	readonly transientRetries: number;
}

/** How often a read is tried again after a transient failure. A send never is. */
export const readRetries = 2;

export const isRateLimit = ({ type }: Problem) => type === 'rate_limit';

/** Whether the same request may succeed later. */
export const isTransient = ({ type, outcome }: Problem) =>
	outcome === 'unknown' || type === 'unspecified';

const asksForTooLong = ({ retryAfterMs = 0 }: Problem) =>
	retryAfterMs > retryPolicy.longestRetryAfterMs;

/**
 * How long to wait before the next try, in milliseconds: as long as the service asks, or else longer each time.
 * @param failures how many there were in a row; without one there is no pause
 * @param random a number from 0 up to, but not including, 1
 */
export function retryPauseMs(problem: Problem, failures: number, random: number): number {
	if (problem.retryAfterMs !== undefined) return problem.retryAfterMs;
	if (failures < 1) return 0;
	const { firstPauseMs, backoffCoefficient, longestPauseMs, jitter } = retryPolicy;
	const pauseMs = Math.min(longestPauseMs, firstPauseMs * backoffCoefficient ** (failures - 1));
	return pauseMs * (1 - jitter * (1 - random));
}

/** A refusal for too many requests, and how many there were. */
export interface Refusal {
	readonly problem: Problem;
	/** How often the service refused this job. */
	readonly ofJob: number;
	/** How often it refused any job with nothing accepted in between; 0 if that says nothing yet. */
	readonly inARow: number;
	/** Whether this job is retried before any other: then its own refusals are in a row, too. */
	readonly isAlone: boolean;
}

/** How long the whole run waits after a refusal, in milliseconds. */
export function refusalPauseMs(
	{ problem, ofJob, inARow, isAlone }: Refusal,
	{ rateLimitRetries }: RetryLimits,
	random: number,
): number {
	if (!isAlone || inARow === 0) return retryPauseMs(problem, inARow, random);
	// Its last retries have to outlast a limit per minute, even if others were accepted after its first ones.
	const spareRetries = Math.max(0, rateLimitRetries - retryPolicy.pausesPerLimit);
	return retryPauseMs(problem, Math.max(inARow, ofJob - spareRetries), random);
}

/**
 * What happens after a refusal: the whole run gives up, this job fails, or it goes back into the queue. The
 * first reason that applies decides. `Retry-After` changes none of the counts: a run waits no more often for
 * it than without it.
 */
export function afterRefusal(
	{ problem, ofJob, inARow, isAlone }: Refusal,
	{ rateLimitRetries }: RetryLimits,
): 'giveUp' | 'fail' | 'requeue' {
	// Without retries, a first refusal in a row may concern this one item.
	const mostInARow = Math.max(1, rateLimitRetries);
	// Nobody expects a workflow to wait that long.
	if (asksForTooLong(problem)) return 'giveUp';
	// The service accepts nothing any more.
	if (inARow > mostInARow) return 'giveUp';
	// Nor does it if all of its last answers refused this job.
	if (isAlone && inARow > 0 && ofJob > mostInARow) return 'giveUp';
	// The service may still accept others.
	if (ofJob > rateLimitRetries) return 'fail';
	return 'requeue';
}

/**
 * Whether to try again after any other failure. The first reason that applies decides.
 * @param failures how often this job failed, without its refusals
 */
export function shouldRetry(
	problem: Problem,
	failures: number,
	{ transientRetries }: RetryLimits,
): boolean {
	// The same request would fail again.
	if (!isTransient(problem)) return false;
	// The item is late enough.
	if (failures > transientRetries) return false;
	// Nobody expects a workflow to wait that long.
	if (asksForTooLong(problem)) return false;
	return true;
}

/**
 * How long to wait until a job is tried again that somebody else holds, in milliseconds: longer each time, up to 2 s.
 * @param holds how often it was held
 */
export const heldPauseMs = (holds: number) => Math.min(2_000, 100 * 1.5 ** (holds - 1));
