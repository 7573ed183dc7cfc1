import type { Result } from '../service/client';
import type { Problem } from '../service/problems';
import type { Attempt } from './queue';

// What the answer to a request means for the queue.

/** Types of failures after which nobody knows whether the service dealt with the request; after any other one it did. */
const notOfService = ['network', 'unexpected_answer', 'unspecified', 'validation'];

/** An attempt that failed, and is not made again unless it was refused for too many requests. */
export function failedAttempt<Outcome>(outcome: Outcome, problem: Problem): Attempt<Outcome> {
	if (problem.type === 'rate_limit') {
		return { then: 'refused', outcome, retryAfterMs: problem.retryAfterMs ?? 0 };
	}
	return { then: 'stop', outcome, isAccepted: !notOfService.includes(problem.type) };
}

/** What the answer to a read means: what is unknown, or has no reason, may succeed now. */
export function readAttempt<Value>(result: Result<Value>): Attempt<Result<Value>> {
	if (result.answered) return { then: 'end', outcome: result, isAccepted: true };
	const { type, outcome } = result.problem;
	if (outcome === 'unknown' || type === 'unspecified') return { then: 'again', outcome: result };
	return failedAttempt(result, result.problem);
}
