import type { z } from 'zod/v3';

import type { failureAnswer } from './answers';
import type { FailureCause, FailureDetails } from './failureWords';
import { wordsOf } from './failureWords';
import type { ChangeKind, Kind } from './kinds';
import { kinds } from './kinds';
import { capitalize, clip, describeWait } from './text';

/** Why a request gave no result, in words for the user. */
export interface Problem {
	/** The service's failure type, `unspecified`, `network` or `unexpected_answer`. */
	readonly type: string;
	/** The request certainly did nothing, or it may have arrived. */
	readonly outcome: 'notDone' | 'unknown';
	readonly message: string;
	readonly description: string;
	readonly httpCode?: string | undefined;
	readonly cause: FailureCause;
	/** How long the service asked to wait, in milliseconds. */
	readonly retryAfterMs?: number | undefined;
}

/** Why a request gave no result, whatever its kind; the words of the kind are added to it. */
export interface Reason extends Omit<Problem, 'description'> {
	/** What is to be told before the outcome, where that is known: a sentence. */
	readonly said?: string;
	/** How to go on, unless it is unknown whether something was changed: sentences. */
	readonly advice: string;
}

/** Tells why a request of this kind gave no result. */
export function explain({ said, advice, ...reason }: Reason, kind: Kind): Problem {
	const { change, advice: ofKind } = kinds[kind];
	if (change !== undefined && reason.outcome === 'unknown') {
		const message = `It is unknown whether this was ${change.done}: ${reason.message}`;
		return { ...reason, message, description: change.afterUnknown };
	}
	const howToGoOn = ofKind?.[reason.type] ?? ofKind?.[reason.cause] ?? advice;
	const sentences = [said, change && `It was ${change.notDone}.`, howToGoOn];
	const description = sentences.filter((sentence) => sentence !== undefined).join(' ');
	return { ...reason, message: capitalize(reason.message), description };
}

const lost = { type: 'network', outcome: 'unknown', cause: 'temporarily-unavailable' } as const;
const notAsked = { ...lost, outcome: 'notDone' } as const;
const elsewhere = {
	type: 'unexpected_answer',
	outcome: 'notDone',
	cause: 'configuration-invalid',
} as const;

/** Why a request gave no result; in all of them `what` came instead of an answer, to follow "the answer is". */
export const reasons = {
	failure(failure: z.infer<typeof failureAnswer>, details: FailureDetails = {}): Reason {
		const { retryAfterMs } = details;
		const type = failure.type?.trim() ?? '';
		const said = clip(failure.description ?? '');
		const { advice, ...words } = wordsOf(type, details);
		const passes = words.cause === 'rate-limited' || words.cause === 'temporarily-unavailable';
		const isTimed = passes && retryAfterMs !== undefined;
		return {
			...words,
			type: clip(type) || 'unspecified',
			outcome: 'notDone',
			said: said === '' ? 'The service gave no reason.' : `The service says: "${said}".`,
			advice: isTimed
				? `It asks to wait for ${describeWait(retryAfterMs)}. Run the workflow again after that.`
				: advice,
			retryAfterMs,
		};
	},
	/** HTTP 429 from something in between, without the service's JSON: a rate limit like the service's own. */
	gatewayRateLimit(what: string, retryAfterMs: number | undefined): Reason {
		const refusal = reasons.failure({ status: 'failure', type: 'rate_limit' }, { retryAfterMs });
		return { ...refusal, said: `The answer (HTTP 429) is ${what}.` };
	},
	/** HTTP 4xx without the service's JSON: by HTTP's own words nothing was done. */
	refusedOnTheWay: (statusCode: number, what: string): Reason => ({
		...elsewhere,
		message: `The push service was not reached: the answer (HTTP ${statusCode}) is ${what}`,
		advice:
			'Check that Base URL in the credential is the address of the push service, without /v1, then run the workflow again.',
		httpCode: String(statusCode),
	}),
	/**
	 * The service's address answered with a redirect, which is never followed: it would carry the key along.
	 * @param target the host that it points to, where it names one
	 */
	redirect: (statusCode: number, target = 'another one'): Reason => ({
		...elsewhere,
		message: `The address of the push service redirects to ${clip(target)} (HTTP ${statusCode})`,
		said: 'A redirect is never followed, so that the key and token stay with the service.',
		advice:
			'Enter the address that it redirects to as Base URL in the credential, if it belongs to your push service.',
		httpCode: String(statusCode),
	}),
	notConnected: (host: string, why: string): Reason => ({
		...notAsked,
		message: `No connection to ${host} could be made: ${why}`,
		advice:
			'Check Base URL in the credential and that this n8n can reach the address, then run the workflow again.',
	}),
	notStarted: {
		...notAsked,
		message: 'The execution was canceled before the push service was asked',
		advice: 'Run the workflow again.',
	},
	/** The user stopped the execution while the request was under way, or it ended otherwise. */
	canceled: {
		...lost,
		// n8n knows a canceled execution by this word.
		message: 'the execution was canceled before the push service answered',
		advice: 'Run the workflow again.',
	},
	timeout: (timeoutMs: number): Reason => ({
		...lost,
		message: `the push service did not answer within ${timeoutMs / 1000} ${timeoutMs === 1000 ? 'second' : 'seconds'}`,
		advice: 'Run the workflow again later, or raise Timeout in the options.',
	}),
	connectionLost: {
		...lost,
		message: 'the connection to the push service was lost before its answer arrived',
		advice: 'Run the workflow again later.',
	},
	/** Something answered, but not in the service's JSON. */
	unexpectedAnswer: (statusCode: number, what: string, retryAfterMs?: number): Reason => ({
		...lost,
		type: 'unexpected_answer',
		message: `the answer (HTTP ${statusCode}) is ${what}`,
		advice:
			'Check that Base URL in the credential is the address of the push service, then run the workflow again later.',
		httpCode: String(statusCode),
		retryAfterMs,
	}),
};

/** The service refused others of the same run so long that this one was not asked for any more. */
export function notRequestedProblem(reason: Problem): Problem {
	return {
		...reason,
		description: `It was not requested any more, because the push service kept refusing others. ${reason.description}`,
	};
}

/** An earlier execution claimed the idempotency key of a change, and nobody knows whether it was made. */
export function claimedEarlierProblem(key: string, kind: ChangeKind): Problem {
	const { doIt, afterClaimed } = kinds[kind].change;
	const message = `an earlier execution began to ${doIt} under the idempotency key "${clip(key)}" and ended before its answer arrived`;
	return { ...explain({ ...lost, message, advice: '' }, kind), description: afterClaimed };
}
