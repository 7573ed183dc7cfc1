import type { z } from 'zod/v3';

import type { failureAnswer, FailureType } from './answers';
import { failureTypes } from './answers';

/** What was asked for; the same failure type can mean different things. */
export type Endpoint = 'send' | 'status' | 'count';

/** n8n's names for why something did not work; its scheduler backs off by them. */
export type FailureCause =
	| 'rate-limited'
	| 'temporarily-unavailable'
	| 'credential-invalid'
	| 'configuration-invalid';

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

const rateLimitAdvice =
	'Run the workflow again later, or raise Rate Limit Retries in the options so that the node waits longer by itself.';

const checkFields = 'Change the value that the service names and run the workflow again.';

const credentialWords = (message: string, advice: string): Words => ({
	message,
	advice,
	httpCode: '401',
	cause: 'credential-invalid',
});

const requestWords = (message: string, advice = checkFields, httpCode = '400'): Words => ({
	message,
	advice,
	httpCode,
	cause: 'configuration-invalid',
});

/** Specification, Errors. The status codes are this package's: the service's own are not shown. */
const wordsByType: Record<FailureType, Words> = {
	header_invalid: credentialWords(
		'The push service did not get one of the two headers of the credential',
		'Open the Push Campaign API credential and check API Key Header and Auth Token Header against what your provider uses.',
	),
	authentication_failure: credentialWords(
		'The push service does not accept the credential',
		'Open the Push Campaign API credential, enter the current API Key and Auth Token, and test it there.',
	),
	rate_limit: {
		message: 'The push service is receiving too many requests',
		advice: rateLimitAdvice,
		httpCode: '429',
		cause: 'rate-limited',
	},
	bad_request: requestWords(
		'The push service could not read the request',
		'Check that Base URL in the credential is the address of the push service and that nothing in between changes requests.',
	),
	missing_parameter: requestWords(
		'The push service did not get a required value',
		'Fill in the value that the service names and run the workflow again.',
	),
	invalid_format: requestWords('The push service does not accept the format of a value'),
	invalid_value: requestWords('The push service does not accept one of the values'),
	invalid_type: requestWords('The push service does not accept the kind of a value'),
	invalid_sid: requestWords(
		'The push service has no subscriber with this ID',
		'Check Subscriber ID. The subscriber may have unsubscribed.',
		'404',
	),
};

const unknownCampaign = requestWords(
	'The push service has no campaign with this ID',
	'Check Campaign ID: use the one that the node put out when the campaign was sent.',
	'404',
);

/** What a failure says about one subscriber or campaign names it. */
function nameSubject(words: Words, subject: string | undefined): Words {
	if (subject === undefined) return words;
	return {
		...words,
		message: words.message.replace('with this ID', `with the ID ${clip(subject)}`),
	};
}

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
	return requestWords(`The push service refused the request (${clip(type)})`);
}

const longestQuote = 300;

/** Shortens text from outside so that it fits into a message, on one line. */
export function clip(text: string): string {
	const oneLine = text.replace(/\s+/g, ' ').trim();
	return oneLine.length > longestQuote ? `${oneLine.slice(0, longestQuote)}…` : oneLine;
}

const notSent = (endpoint: Endpoint) => (endpoint === 'send' ? ['It was not sent.'] : []);

/** A service that asks for more patience than this, in milliseconds, is not waited for. */
export const longestRetryAfterMs = 10 * 60_000;

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** A time that someone is to wait, never shorter than it is. */
function describeWait(milliseconds: number): string {
	const [unitMs, unit] =
		milliseconds >= hourMs && milliseconds % hourMs === 0
			? [hourMs, 'hour']
			: milliseconds > 2 * minuteMs
				? [minuteMs, 'minute']
				: [secondMs, 'second'];
	const count = Math.ceil(milliseconds / unitMs);
	return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function waitAdvice(retryAfterMs: number): string {
	const wait = `It asks to wait for ${describeWait(retryAfterMs)}.`;
	// Longer than the node waits by itself: more retries would not help.
	if (retryAfterMs > longestRetryAfterMs) return `${wait} Run the workflow again after that.`;
	return `${wait} ${rateLimitAdvice}`;
}

/** What came with a failure answer, or was known before. */
export interface FailureDetails {
	/** How long the service asks to wait, in milliseconds. */
	readonly retryAfterMs?: number | undefined;
	/** The ID of the subscriber or campaign that was asked about. */
	readonly subject?: string | undefined;
}

/** A failure answer of the service. Specification, Errors. */
export function failureProblem(
	failure: z.infer<typeof failureAnswer>,
	endpoint: Endpoint,
	{ retryAfterMs, subject }: FailureDetails = {},
): Problem {
	const type = failure.type?.trim() || undefined;
	const { message, advice, httpCode, cause } = nameSubject(wordsOf(type, endpoint), subject);
	const said = clip(failure.description ?? '');
	const quote = said === '' ? 'The service gave no reason.' : `The service says: "${said}".`;
	const isTimed = cause === 'rate-limited' && retryAfterMs !== undefined && retryAfterMs > 0;
	return {
		type: type === undefined ? 'unspecified' : clip(type),
		outcome: 'notSent',
		message,
		description: [quote, ...notSent(endpoint), isTimed ? waitAdvice(retryAfterMs) : advice].join(
			' ',
		),
		httpCode,
		cause,
		...(retryAfterMs === undefined ? {} : { retryAfterMs }),
	};
}

/**
 * HTTP 429 from something in between, without the service's JSON: a rate limit like the service's own.
 * @param what what came instead, to follow "the answer is …"
 */
export function gatewayRateLimitProblem(
	what: string,
	endpoint: Endpoint,
	retryAfterMs: number | undefined,
): Problem {
	const { description, ...problem } = failureProblem(
		{ status: 'failure', type: 'rate_limit' },
		endpoint,
		{ retryAfterMs },
	);
	return {
		...problem,
		description: description.replace(
			'The service gave no reason.',
			`The answer (HTTP 429) is ${what}.`,
		),
	};
}

/**
 * HTTP 4xx without the service's JSON: by HTTP's own words nothing was done.
 * @param what what came instead, to follow "the answer is …"
 */
export function refusedOnTheWayProblem(
	statusCode: number,
	what: string,
	endpoint: Endpoint,
): Problem {
	return {
		type: 'unexpected_answer',
		outcome: 'notSent',
		message: `The push service was not reached: the answer (HTTP ${statusCode}) is ${what}`,
		description: [
			...notSent(endpoint),
			'Check that Base URL in the credential is the address of the push service, without /v1, then run the workflow again.',
		].join(' '),
		httpCode: String(statusCode),
		cause: 'configuration-invalid',
	};
}

/** No connection was made, so nothing was asked of the service. */
export function notConnectedProblem(host: string, reason: string, endpoint: Endpoint): Problem {
	return {
		type: 'network',
		outcome: 'notSent',
		message: `No connection to ${host} could be made: ${reason}`,
		description: [
			...notSent(endpoint),
			'Check Base URL in the credential and that this n8n can reach the address, then run the workflow again.',
		].join(' '),
		cause: 'temporarily-unavailable',
	};
}

/**
 * The service's address answered with a redirect, which is never followed: it would carry the key along.
 * @param target the host that it points to, where it names one
 */
export function redirectProblem(
	statusCode: number,
	endpoint: Endpoint,
	target = 'another one',
): Problem {
	return {
		type: 'unexpected_answer',
		outcome: 'notSent',
		message: `The address of the push service redirects to ${clip(target)} (HTTP ${statusCode})`,
		description: [
			'A redirect is never followed, so that the key and token stay with the service.',
			...notSent(endpoint),
			'Enter the address that it redirects to as Base URL in the credential, if it belongs to your push service.',
		].join(' '),
		httpCode: String(statusCode),
		cause: 'configuration-invalid',
	};
}

const unknownAdvice =
	'Running the workflow again sends it in any case, unless it has an Idempotency Key. Look for the campaign in the dashboard of your push service first. Only if it is not there, turn on Resend Unknown in the options, save the workflow, and use "Retry with currently saved workflow" in the list of executions.';

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
		`the push service did not answer within ${timeoutMs / 1000} ${timeoutMs === 1000 ? 'second' : 'seconds'}`,
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

/** What answered does not speak TLS, and it is not known when it began to. */
export function plainAnswerProblem(endpoint: Endpoint): Problem {
	const problem = unanswered(
		'network',
		'the address answered without the encryption that https:// stands for',
		endpoint,
		'Run the workflow again later.',
	);
	return {
		...problem,
		description: `Check Base URL in the credential: its port may be one for http://. ${problem.description}`,
	};
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
		description: [...notSent(endpoint), 'Run the workflow again.'].join(' '),
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
