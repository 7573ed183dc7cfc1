import type { Result } from '../service/client';
import type { Problem } from '../service/problems';
import type { Attempt } from './queue';

// What the answer to a request means for the queue.

/** Types of failures after which nobody knows whether the service dealt with the request; after any other one it did. */
const notOfService = ['network', 'unexpected_answer', 'unspecified', 'validation'];

/**
 * What follows when a request has ended.
 * @param problem why it failed, if it did
 */
export function toAttempt<Outcome>(
	outcome: Outcome,
	problem: Problem | undefined,
): Attempt<Outcome> {
	// No such subscriber is about one alone: people unsubscribe every week.
	if (problem === undefined || problem.type === 'invalid_sid') {
		return { then: 'end', outcome, isAccepted: true };
	}
	if (problem.type === 'rate_limit') {
		return { then: 'refused', outcome, retryAfterMs: problem.retryAfterMs ?? 0 };
	}
	return { then: 'stop', outcome, isAccepted: !notOfService.includes(problem.type) };
}

/** What the answer to a read means: what is unknown, or has no reason, may succeed now. */
export function readAttempt<Value>(result: Result<Value>): Attempt<Result<Value>> {
	const problem = result.answered ? undefined : result.problem;
	const mayPass = problem?.outcome === 'unknown' || problem?.type === 'unspecified';
	return mayPass ? { then: 'again', outcome: result } : toAttempt(result, problem);
}
