import type { z } from 'zod/v3';

import type { failureAnswer } from './answers';
import type { FailureCause, FailureDetails, FailureWords } from './failureWords';
import { wordsOf } from './failureWords';
import type { Kind } from './kinds';
import { kinds } from './kinds';
import { capitalize, clip, describeWait } from './text';

/** What is known of a send that has no success answer. */
export type FailedOutcome = 'notSent' | 'unknown';

/** Why a request gave no result, in words for the user. */
export interface Problem {
	/** The service's failure type, `unspecified`, `network` or `unexpected_answer`. */
	readonly type: string;
	readonly outcome: FailedOutcome;
	readonly message: string;
	readonly description: string;
	readonly httpCode?: string | undefined;
	readonly cause: FailureCause;
	/** How long the service asked to wait, in milliseconds. */
	readonly retryAfterMs?: number | undefined;
}

/** Why nothing was done, or nobody knows; the words of the operation's kind are added to it. */
interface Reason extends Omit<Problem, 'description' | 'outcome'> {
	/** What is to be told before the outcome: a sentence. */
	readonly said?: string;
	/** How to go on: sentences. */
	readonly advice: string;
}

/** A request that certainly did nothing. */
function notDone(kind: Kind, { said, advice, ...reason }: Reason): Problem {
	const told = [said, kinds[kind].change?.wasNotDone, advice];
	return {
		...reason,
		outcome: 'notSent',
		description: told.filter((sentence) => sentence !== undefined).join(' '),
	};
}

/** A request that may have arrived, `message` being what happened, to follow a colon. */
function unknown(kind: Kind, { said, advice, message, ...reason }: Reason): Problem {
	const { change } = kinds[kind];
	const told = [said, change?.afterUnknown ?? advice];
	return {
		...reason,
		outcome: 'unknown',
		message: change === undefined ? capitalize(message) : `${change.isUnknown}: ${message}`,
		description: told.filter((sentence) => sentence !== undefined).join(' '),
	};
}

/** How to go on with a failure that passes: after the wait that the service asks for, if it does. */
function adviceOf({ cause, advice }: FailureWords, retryAfterMs: number | undefined): string {
	const passes = cause === 'rate-limited' || cause === 'temporarily-unavailable';
	if (!passes || retryAfterMs === undefined) return advice;
	return `It asks to wait for ${describeWait(retryAfterMs)}. Run the workflow again after that.`;
}

/**
 * A failure answer of the service.
 * @param said a sentence to tell instead of the description that came with it
 */
export function failureProblem(
	failure: z.infer<typeof failureAnswer>,
	kind: Kind,
	details: FailureDetails = {},
	said = saidBy(failure.description),
): Problem {
	const { retryAfterMs } = details;
	const type = failure.type?.trim() || undefined;
	const words = wordsOf(type, details);
	return notDone(kind, {
		...words,
		type: clip(type ?? 'unspecified'),
		said,
		advice: adviceOf(words, retryAfterMs),
		retryAfterMs,
	});
}

function saidBy(description: string | null | undefined): string {
	const text = clip(description ?? '');
	return text === '' ? 'The service gave no reason.' : `The service says: "${text}".`;
}

/**
 * HTTP 429 from something in between, without the service's JSON: a rate limit like the service's own.
 * @param what what came instead, to follow "the answer is …"; here and below
 */
export function gatewayRateLimitProblem(
	what: string,
	kind: Kind,
	retryAfterMs: number | undefined,
): Problem {
	const failure = { status: 'failure', type: 'rate_limit' } as const;
	return failureProblem(failure, kind, { retryAfterMs }, `The answer (HTTP 429) is ${what}.`);
}

/** HTTP 4xx without the service's JSON: by HTTP's own words nothing was done. */
export function refusedOnTheWayProblem(statusCode: number, what: string, kind: Kind): Problem {
	return notDone(kind, {
		type: 'unexpected_answer',
		message: `The push service was not reached: the answer (HTTP ${statusCode}) is ${what}`,
		advice:
			'Check that Base URL in the credential is the address of the push service, without /v1, then run the workflow again.',
		httpCode: String(statusCode),
		cause: 'configuration-invalid',
	});
}

/** No connection was made, so nothing was asked of the service. */
export function notConnectedProblem(host: string, reason: string, kind: Kind): Problem {
	return notDone(kind, {
		type: 'network',
		message: `No connection to ${host} could be made: ${reason}`,
		advice:
			'Check Base URL in the credential and that this n8n can reach the address, then run the workflow again.',
		cause: 'temporarily-unavailable',
	});
}

/**
 * The service's address answered with a redirect, which is never followed: it would carry the key along.
 * @param target the host that it points to, where it names one
 */
export function redirectProblem(statusCode: number, kind: Kind, target = 'another one'): Problem {
	return notDone(kind, {
		type: 'unexpected_answer',
		message: `The address of the push service redirects to ${clip(target)} (HTTP ${statusCode})`,
		said: 'A redirect is never followed, so that the key and token stay with the service.',
		advice:
			'Enter the address that it redirects to as Base URL in the credential, if it belongs to your push service.',
		httpCode: String(statusCode),
		cause: 'configuration-invalid',
	});
}

/** The user had stopped the execution before the request would have left. */
export function notStartedProblem(kind: Kind): Problem {
	return notDone(kind, {
		type: 'network',
		message: 'The execution was canceled before the push service was asked',
		advice: 'Run the workflow again.',
		cause: 'temporarily-unavailable',
	});
}

const lost = { type: 'network', cause: 'temporarily-unavailable' } as const;

/** The request left, and no answer came within the time that was allowed (milliseconds). */
export function timeoutProblem(timeoutMs: number, kind: Kind): Problem {
	const seconds = `${timeoutMs / 1000} ${timeoutMs === 1000 ? 'second' : 'seconds'}`;
	return unknown(kind, {
		...lost,
		message: `the push service did not answer within ${seconds}`,
		advice: 'Run the workflow again later, or raise Timeout in the options.',
	});
}

/** The request left, and the connection ended before the answer was there. */
export function connectionLostProblem(kind: Kind): Problem {
	return unknown(kind, {
		...lost,
		message: 'the connection to the push service was lost before its answer arrived',
		advice: 'Run the workflow again later.',
	});
}

/** What answered does not speak TLS, and it is not known when it began to. */
export function plainAnswerProblem(kind: Kind): Problem {
	return unknown(kind, {
		...lost,
		message: 'the address answered without the encryption that https:// stands for',
		said: 'Check Base URL in the credential: its port may be one for http://.',
		advice: 'Run the workflow again later.',
	});
}

/** The user stopped the execution while the request was under way. */
export function cancelledProblem(kind: Kind): Problem {
	return unknown(kind, {
		...lost,
		// n8n knows a canceled execution by this word.
		message: 'the execution was canceled before the push service answered',
		advice: 'Run the workflow again.',
	});
}

/** The execution ended while the send was under way: what a later try of it finds. */
export const interruptedProblem: Problem = cancelledProblem('send');

/** Something answered, but not in the service's JSON. */
export function unexpectedAnswerProblem(
	statusCode: number,
	what: string,
	kind: Kind,
	retryAfterMs?: number,
): Problem {
	return unknown(kind, {
		type: 'unexpected_answer',
		message: `the answer (HTTP ${statusCode}) is ${what}`,
		advice:
			'Check that Base URL in the credential is the address of the push service, then run the workflow again later.',
		httpCode: String(statusCode),
		cause: 'temporarily-unavailable',
		retryAfterMs,
	});
}

/** The service refused others of the same run so long that this one was not asked for any more. */
export function notRequestedProblem(reason: Problem): Problem {
	return {
		...reason,
		description: `It was not requested any more, because the push service kept refusing others. ${reason.description}`,
	};
}

/** An earlier execution claimed the idempotency key of a send, and nobody knows whether it was sent. */
export function claimedEarlierProblem(key: string): Problem {
	const message = `an earlier execution began to send it under the idempotency key "${clip(key)}" and ended before its answer arrived`;
	return {
		...unknown('send', { ...lost, message, advice: '' }),
		description:
			'Look for the campaign in the dashboard of your push service. Only if it is not there, turn on Resend Unknown in the options and run the workflow again: a campaign that did arrive would reach its subscribers twice.',
	};
}
