import type { z } from 'zod/v3';

import type { failureAnswer, FailureType } from './answers';
import { failureTypes } from './answers';

/** What was asked for; the same failure type can mean different things. */
export type Endpoint = 'send' | 'status' | 'count';

/** n8n's names for why something did not work; its scheduler backs off by them. */
export type FailureCause =
	'rate-limited' | 'temporarily-unavailable' | 'credential-invalid' | 'configuration-invalid';

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
	readonly retryAfterMs?: number;
}

interface Words {
	readonly message: string;
	readonly advice: string;
	readonly httpCode: string;
	readonly cause: FailureCause;
}

const checkFields = 'Change the value that the service names and run the workflow again.';

/** Specification, Errors. The status codes are this package's: the service's own are not shown. */
const wordsByType: Record<FailureType, Words> = {
	header_invalid: {
		message: 'The push service did not get one of the two headers of the credential',
		advice:
			'Open the Push Campaign API credential and check API Key Header and Auth Token Header against what your provider uses.',
		httpCode: '401',
		cause: 'credential-invalid',
	},
	authentication_failure: {
		message: 'The push service does not accept the credential',
		advice:
			'Open the Push Campaign API credential, enter the current API Key and Auth Token, and test it there.',
		httpCode: '401',
		cause: 'credential-invalid',
	},
	rate_limit: {
		message: 'The push service is receiving too many requests',
		advice:
			'Run the workflow again later, or raise Rate Limit Retries in the options so that the node waits longer by itself.',
		httpCode: '429',
		cause: 'rate-limited',
	},
	bad_request: {
		message: 'The push service could not read the request',
		advice:
			'Check that Base URL in the credential is the address of the push service and that nothing in between changes requests.',
		httpCode: '400',
		cause: 'configuration-invalid',
	},
	missing_parameter: {
		message: 'The push service did not get a required value',
		advice: 'Fill in the value that the service names and run the workflow again.',
		httpCode: '400',
		cause: 'configuration-invalid',
	},
	invalid_format: {
		message: 'The push service does not accept the format of a value',
		advice: checkFields,
		httpCode: '400',
		cause: 'configuration-invalid',
	},
	invalid_value: {
		message: 'The push service does not accept one of the values',
		advice: checkFields,
		httpCode: '400',
		cause: 'configuration-invalid',
	},
	invalid_type: {
		message: 'The push service does not accept the kind of a value',
		advice: checkFields,
		httpCode: '400',
		cause: 'configuration-invalid',
	},
	invalid_sid: {
		message: 'The push service has no subscriber with this ID',
		advice: 'Check Subscriber ID. The subscriber may have unsubscribed.',
		httpCode: '404',
		cause: 'configuration-invalid',
	},
};

const unknownCampaign: Words = {
	message: 'The push service has no campaign with this ID',
	advice: 'Check Campaign ID: use the one that the node put out when the campaign was sent.',
	httpCode: '404',
	cause: 'configuration-invalid',
};

const unspecified: Words = {
	message: 'The push service could not carry out the request',
	advice:
		'Run the workflow again later. If it stays like this, ask the support of your push service.',
	httpCode: '500',
	cause: 'temporarily-unavailable',
};

const isFailureType = (type: string): type is FailureType =>
	failureTypes.some((known) => known === type);

function wordsOf(type: string | undefined, endpoint: Endpoint): Words {
	if (type === undefined) return unspecified;
	if (type === 'invalid_value' && endpoint === 'status') return unknownCampaign;
	if (isFailureType(type)) return wordsByType[type];
	return {
		message: `The push service refused the request (${clip(type)})`,
		advice: checkFields,
		httpCode: '400',
		cause: 'configuration-invalid',
	};
}

const longestQuote = 300;

/** Shortens text from outside so that it fits into a message. */
function clip(text: string): string {
	const oneLine = text.replace(/\s+/g, ' ').trim();
	return oneLine.length > longestQuote ? `${oneLine.slice(0, longestQuote)}…` : oneLine;
}

/** A failure answer of the service. Specification, Errors. */
export function failureProblem(
	failure: z.infer<typeof failureAnswer>,
	endpoint: Endpoint,
	retryAfterMs?: number,
): Problem {
	const type = failure.type?.trim() || undefined;
	const { message, advice, httpCode, cause } = wordsOf(type, endpoint);
	const said = clip(failure.description ?? '');
	const quote = said === '' ? 'The service gave no reason.' : `The service says: "${said}".`;
	return {
		type: type === undefined ? 'unspecified' : clip(type),
		outcome: 'notSent',
		message,
		description: [quote, ...(endpoint === 'send' ? ['It was not sent.'] : []), advice].join(' '),
		httpCode,
		cause,
		...(retryAfterMs === undefined ? {} : { retryAfterMs }),
	};
}

/** No connection was made, so nothing was asked of the service. */
export function notConnectedProblem(host: string, reason: string, endpoint: Endpoint): Problem {
	return {
		type: 'network',
		outcome: 'notSent',
		message: `No connection to ${host} could be made: ${reason}`,
		description: [
			...(endpoint === 'send' ? ['It was not sent.'] : []),
			'Check Base URL in the credential and that this n8n can reach the address, then run the workflow again.',
		].join(' '),
		cause: 'temporarily-unavailable',
	};
}

/** The service's address answered with a redirect, which is never followed: it would carry the key along. */
export function redirectProblem(statusCode: number, endpoint: Endpoint): Problem {
	return {
		type: 'unexpected_answer',
		outcome: 'notSent',
		message: `The address of the push service redirects elsewhere (HTTP ${statusCode})`,
		description: [
			'A redirect is never followed, so that the key and token stay with the service.',
			...(endpoint === 'send' ? ['It was not sent.'] : []),
			'Enter the address that it redirects to as Base URL in the credential, if it belongs to your push service.',
		].join(' '),
		httpCode: String(statusCode),
		cause: 'configuration-invalid',
	};
}

const unknownAdvice =
	'Look for the campaign in the dashboard of your push service. Only if it is not there, turn on Resend Unknown in the options and run the workflow again: a campaign that did arrive would reach its subscribers twice.';

function unanswered(type: string, what: string, endpoint: Endpoint, readAdvice: string): Problem {
	const isSend = endpoint === 'send';
	return {
		type,
		outcome: 'unknown',
		message: isSend ? `It is unknown whether this was sent: ${what}` : capitalize(what),
		description: isSend ? unknownAdvice : readAdvice,
		cause: 'temporarily-unavailable',
	};
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The request left, and no answer came within the time that was allowed (milliseconds). */
export function timeoutProblem(timeoutMs: number, endpoint: Endpoint): Problem {
	return unanswered(
		'network',
		`the push service did not answer within ${timeoutMs / 1000} seconds`,
		endpoint,
		'Run the workflow again later, or raise Timeout in the options.',
	);
}

/** The request left, and the connection ended before the answer was there. */
export function connectionLostProblem(endpoint: Endpoint): Problem {
	return unanswered(
		'network',
		'the connection to the push service was lost before its answer arrived',
		endpoint,
		'Run the workflow again later.',
	);
}

/** The user stopped the execution while the request was under way. */
export function cancelledProblem(endpoint: Endpoint): Problem {
	return unanswered(
		'network',
		// n8n knows a canceled execution by this word.
		'the execution was canceled before the push service answered',
		endpoint,
		'Run the workflow again.',
	);
}

/** The user had stopped the execution before the request would have left. */
export function notStartedProblem(endpoint: Endpoint): Problem {
	return {
		...cancelledProblem(endpoint),
		outcome: 'notSent',
		message: 'The execution was canceled before the push service was asked',
		description: [
			...(endpoint === 'send' ? ['It was not sent.'] : []),
			'Run the workflow again.',
		].join(' '),
	};
}

/** The execution ended while the send was under way: what a later try of it finds. */
export const interruptedProblem: Problem = cancelledProblem('send');

/**
 * Something answered, but not in the service's JSON.
 * @param what what came instead, to follow "the answer is …"
 */
export function unexpectedAnswerProblem(
	statusCode: number,
	what: string,
	endpoint: Endpoint,
): Problem {
	return {
		...unanswered(
			'unexpected_answer',
			`the answer (HTTP ${statusCode}) is ${what}`,
			endpoint,
			'Check that Base URL in the credential is the address of the push service, then run the workflow again later.',
		),
		httpCode: String(statusCode),
	};
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
	return {
		...unanswered(
			'network',
			`an earlier execution began to send it under the idempotency key "${clip(key)}" and ended before its answer arrived`,
			'send',
			'',
		),
		description:
			'Look for the campaign in the dashboard of your push service. Only if it is not there, turn on Resend Unknown in the options and run the workflow again: a campaign that did arrive would reach its subscribers twice.',
	};
}
