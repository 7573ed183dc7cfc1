import type { Problem } from '../service/failures';

export const isRateLimit = ({ type }: Problem) => type === 'rate_limit';

/** Whether the answer may come later. */
export const isTransient = ({ type, outcome }: Problem) =>
	outcome === 'unknown' || type === 'unspecified';

/** A service that asks for more patience than this, in milliseconds, is not waited for. */
const longestRetryAfterMs = 10 * 60_000;

/** Whether a service asks for a longer pause than anyone waits. */
export const isTooLong = ({ retryAfterMs = 0 }: Problem) => retryAfterMs > longestRetryAfterMs;

/** Five failures, each waiting four times as long as the last, outlast a limit per minute. */
const firstPauseMs = 250;
const pauseGrowth = 4;
const longestPauseMs = 64_000;
const leastShare = 0.9;

/**
 * How long until the next try, in milliseconds: what the service asked for, or else longer each time.
 * @param failures how many there were in a row, from 1
 * @param random a number from 0 up to, but not including, 1: executions that failed together do not come
 * back together
 */
export function retryPauseMs(problem: Problem, failures: number, random: number): number {
	if (problem.retryAfterMs !== undefined) return problem.retryAfterMs;
	const pauseMs = Math.min(longestPauseMs, firstPauseMs * pauseGrowth ** (failures - 1));
	return pauseMs * (leastShare + (1 - leastShare) * random);
}
