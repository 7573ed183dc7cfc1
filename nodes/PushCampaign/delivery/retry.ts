import type { Problem } from '../service/failures';

/** How often what is tried again. */
export interface RetryPolicy {
	/** After a refusal for too many requests. */
	readonly rateLimitRetries: number;
	/** After an answer that may come later; 0 for all that must not happen twice. */
	readonly transientRetries: number;
}

export const isRateLimit = ({ type }: Problem) => type === 'rate_limit';
export const isTransient = ({ type, outcome }: Problem) =>
	outcome === 'unknown' || type === 'unspecified';

/** A service that asks for more patience than this, in milliseconds, is not waited for. */
const longestRetryAfterMs = 10 * 60_000;

/** Whether a service asks for a longer pause than anyone waits. */
export const isTooLong = ({ retryAfterMs = 0 }: Problem) => retryAfterMs > longestRetryAfterMs;

/**
 * Whether a job that failed is tried again.
 * @param failures how often it failed in this way, from 1
 */
export function isTriedAgain(problem: Problem, policy: RetryPolicy, failures: number): boolean {
	if (isTooLong(problem)) return false;
	if (isRateLimit(problem)) return failures <= policy.rateLimitRetries;
	return isTransient(problem) && failures <= policy.transientRetries;
}

/** Five refusals, each waiting four times as long as the last, outlast a limit per minute. */
const refusalPause = { firstMs: 250, growth: 4, longestMs: 64_000, least: 0.9 };
const transientPause = { firstMs: 500, growth: 2, longestMs: 64_000, least: 0.5 };

/**
 * How long until the next try, in milliseconds: what the service asked for, or else longer each time.
 * @param failures how many there were in a row, from 1
 * @param random a number from 0 up to, but not including, 1: executions that failed together do not come
 * back together
 */
export function retryPauseMs(problem: Problem, failures: number, random: number): number {
	if (problem.retryAfterMs !== undefined) return problem.retryAfterMs;
	const pause = isRateLimit(problem) ? refusalPause : transientPause;
	const longestMs = Math.min(pause.longestMs, pause.firstMs * pause.growth ** (failures - 1));
	return longestMs * (pause.least + (1 - pause.least) * random);
}
