import type { Problem } from '../service/failures';

/** How often what is tried again. */
export interface RetryPolicy {
	/** After a refusal for too many requests. */
	readonly rateLimitRetries: number;
	/** After an answer that may come later; 0 for all that must not happen twice. */
	readonly transientRetries: number;
}

/** How often a job has failed so far, by kind. */
export interface Failures {
	rateLimit: number;
	transient: number;
}

export const isRateLimit = ({ type }: Problem) => type === 'rate_limit';
export const isTransient = ({ type, outcome }: Problem) =>
	outcome === 'unknown' || type === 'unspecified';

/** A service that asks for more patience than this, in milliseconds, is not waited for. */
const longestRetryAfterMs = 10 * 60_000;

/** Whether a service asks for a longer pause than anyone waits. */
const isTooLong = ({ retryAfterMs = 0 }: Problem) => retryAfterMs > longestRetryAfterMs;

/**
 * Whether a job that failed is tried again.
 * @param failures with this one
 */
export function shouldRetry(
	problem: Problem,
	{ rateLimitRetries, transientRetries }: RetryPolicy,
	{ rateLimit, transient }: Failures,
): boolean {
	if (isRateLimit(problem)) return rateLimit <= rateLimitRetries;
	return isTransient(problem) && transient <= transientRetries;
}

/**
 * Whether nothing further is to be requested of a service that refuses everything.
 * @param refusalsInARow with this one; what was under way together counts once
 */
export function shouldGiveUp(
	problem: Problem,
	{ rateLimitRetries }: RetryPolicy,
	refusalsInARow: number,
): boolean {
	// Without retries a first refusal is that item's alone: the service may take the next one.
	return isTooLong(problem) || refusalsInARow > Math.max(1, rateLimitRetries);
}

const firstBackoffMs = 500;

/**
 * How long to wait for an answer that may come later, in milliseconds.
 * @param failures how many there were, from 1
 * @param random a number from 0 up to, but not including, 1
 */
export function backoffMs(failures: number, random: number): number {
	return firstBackoffMs * 2 ** (failures - 1) * (0.5 + random / 2);
}

/** Five of them, each four times the last, outlast a limit per minute. */
const firstPauseMs = 250;
const pauseGrowth = 4;
const longestPauseMs = 64_000;

/**
 * How long to wait after a refusal for too many requests that does not say it, in milliseconds.
 * @param refusals how many there were in a row, from 1
 * @param random a number from 0 up to, but not including, 1: executions that were refused together do not
 * come back together
 */
export function refusalBackoffMs(refusals: number, random: number): number {
	const pauseMs = Math.min(longestPauseMs, firstPauseMs * pauseGrowth ** (refusals - 1));
	return pauseMs * (0.9 + random / 10);
}
