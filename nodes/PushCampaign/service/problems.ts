import type { FailureAnswer, FailureCause, Requested } from './failureWords';
import { checkBaseUrl, wordsOf } from './failureWords';
import type { NoConnection } from './noConnection';
import { capitalize, clip } from './text';
import type { Unavailable } from './thrown';
import { InvalidInput } from './thrown';

/** Why a request gave no result, in words for the user. */
export interface Problem {
	/** The service's failure type, `unspecified`, `network`, `unexpected_answer` or `validation`. */
	readonly type: string;
	/** Certainly nothing was done, or it may have been. */
	readonly outcome: 'notSent' | 'unknown';
	/** What happened: a sentence without its full stop. */
	readonly message: string;
	/** Why it is unknown, as a clause. */
	readonly reason?: string | undefined;
	/** What else is not valid about the same item. */
	readonly others?: readonly Problem[] | undefined;
	/** What the service itself says: a sentence. */
	readonly said?: string | undefined;
	/** What to mend: sentences. What passes by itself has none. */
	readonly fix?: string | undefined;
	readonly httpCode?: string | undefined;
	readonly cause: FailureCause;
	/** Whether all items have it, such as a credential that can't be opened. */
	readonly isForAll?: boolean | undefined;
	/** How long the service asks to wait. */
	readonly retryAfterMs?: number | undefined;
}

/** What was entered is not valid, or n8n does not give what the node needs. */
export function validationProblem(error: InvalidInput | Unavailable): Problem {
	const told = { outcome: 'notSent', message: error.message, fix: error.fix } as const;
	if (!(error instanceof InvalidInput)) {
		return { ...told, type: 'network', cause: 'temporarily-unavailable', isForAll: true };
	}
	const problem = { ...told, type: 'validation', cause: 'configuration-invalid' } as const;
	return error.others.length === 0
		? problem
		: { ...problem, others: error.others.map(validationProblem) };
}

function describePause(milliseconds: number): string {
	const minutes = Math.ceil(milliseconds / 60_000);
	return `The service asks for a pause of ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
}

/** What came with every answer. */
interface Answer {
	readonly statusCode: number;
	readonly retryAfterMs?: number | undefined;
}

/** The service answered with a failure: nothing was done. */
export function failureProblem(
	failure: FailureAnswer,
	{ statusCode, retryAfterMs }: Answer,
	requested: Requested,
): Problem {
	const type = failure.type.trim();
	const description = clip(failure.description);
	const words = wordsOf({ type, description }, requested);
	const asksToWait = retryAfterMs !== undefined && words.fix === undefined;
	const problem = {
		...words,
		type: clip(type) || 'unspecified',
		outcome: 'notSent',
		said: description === '' ? undefined : `The service says: "${description}".`,
		fix: asksToWait ? describePause(retryAfterMs) : words.fix,
		retryAfterMs,
	} as const;
	// These are a gateway's codes, and the service names no type: nobody knows how far the request came.
	if (type === '' && (statusCode === 502 || statusCode === 504)) {
		const reason = `a gateway answered in place of the push service (HTTP ${statusCode})`;
		return { ...problem, outcome: 'unknown', ...unknownWords(reason, requested) };
	}
	return problem;
}

const elsewhere = (statusCode: number, message: string, fix: string): Problem => ({
	type: 'unexpected_answer',
	outcome: 'notSent',
	message,
	fix,
	httpCode: String(statusCode),
	cause: 'configuration-invalid',
});

const notTheService = (statusCode: number) =>
	`the answer (HTTP ${statusCode}) is not the push service's`;

/** HTTP 4xx without the service's JSON: by HTTP's own words nothing was done. */
export const refusedProblem = (statusCode: number): Problem =>
	elsewhere(statusCode, capitalize(notTheService(statusCode)), checkBaseUrl);

/**
 * A redirect, which is never followed: it would carry the key along.
 * @param host that it leads to, if it names one
 */
export const redirectProblem = (statusCode: number, host = 'another address'): Problem =>
	elsewhere(
		statusCode,
		`The address of the push service redirects to ${clip(host)} (HTTP ${statusCode})`,
		"If that is your push service, enter its address as 'Base URL' in the Push Campaign API credential.",
	);

const ifItStays = "If it stays so, check 'Base URL' in the Push Campaign API credential.";
const askAboutAnswer =
	"If 'Base URL' in the Push Campaign API credential is right, ask the support of your push service.";

/**
 * The answer can't be used.
 * @param isService whether it may be the service's: JSON that is no refusal
 */
export function unusableProblem(
	{ statusCode, retryAfterMs }: Answer,
	isService: boolean,
	requested: Requested,
): Problem {
	const reason = isService
		? `the answer (HTTP ${statusCode}) does not hold what the push service promises`
		: notTheService(statusCode);
	const problem: Problem = {
		...unknownProblem(reason, requested),
		type: 'unexpected_answer',
		httpCode: String(statusCode),
		retryAfterMs,
	};
	if (statusCode >= 500) return problem;
	// A web page is at another address. With HTTP 408, the address may be right.
	let fix = statusCode === 408 ? ifItStays : checkBaseUrl;
	if (isService) fix = askAboutAnswer;
	return { ...problem, fix, cause: 'configuration-invalid' };
}

const unknownWords = (reason: string, { isSend }: Requested) => ({
	message: isSend ? `It is unknown whether this was sent (${reason})` : capitalize(reason),
	reason,
});

/**
 * The request may have arrived, and no usable answer came.
 * @param reason a clause, without its full stop
 */
export const unknownProblem = (reason: string, requested: Requested): Problem => ({
	type: 'network',
	outcome: 'unknown',
	...unknownWords(reason, requested),
	cause: 'temporarily-unavailable',
});

export function timeoutProblem(timeoutMs: number, requested: Requested): Problem {
	const seconds = timeoutMs === 1000 ? '1 second' : `${timeoutMs / 1000} seconds`;
	return unknownProblem(`the push service did not answer within ${seconds}`, requested);
}

export const connectionLostProblem = (requested: Requested): Problem =>
	unknownProblem('the connection was lost before the push service answered', requested);

/** The execution was stopped, or a poll has no more time. */
export const stoppedProblem = (requested: Requested): Problem =>
	unknownProblem('the node was stopped before the push service answered', requested);

const notConnected = {
	type: 'network',
	outcome: 'notSent',
	cause: 'temporarily-unavailable',
} as const;

export const notStartedProblem: Problem = {
	...notConnected,
	message: 'The node was stopped before it asked the push service',
};

/** No connection was made, so certainly nothing was sent. */
export const noConnectionProblem = (
	host: string,
	{ reason, fix = ifItStays, cause = notConnected.cause }: NoConnection,
): Problem => ({
	...notConnected,
	message: `Could not connect to ${host}: ${reason}`,
	fix,
	cause,
});
