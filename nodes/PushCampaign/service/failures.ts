import type { z } from 'zod/v3';

import type { failureAnswer } from './answers';
import type { FailureCause, RequestedId } from './failureWords';
import { isTemporary, wordsOf } from './failureWords';
import type { SendKind, Kind } from './kinds';
import { isSend, kinds } from './kinds';
import type { FailedProxy } from './proxy';
import { capitalize, clip, describeWait } from './text';
import type { NotConnected } from './transportErrors';

// A request that gives no result becomes words in two steps. A reason says what happened, the same for every
// operation. `explain` makes a problem of it: what that means for an operation of this kind, and how to go on.

/** What the reason and the problem of a failed request have in common. */
interface Failed {
	/** The service's failure type, `unspecified`, `network` or `unexpected_answer`. */
	readonly type: string;
	/** The service certainly did nothing, or it may have. */
	readonly outcome: 'notSent' | 'unknown';
	readonly message: string;
	readonly httpCode?: string | undefined;
	readonly cause: FailureCause;
	/** How long the service asked to wait, in milliseconds. */
	readonly retryAfterMs?: number | undefined;
	/** What has to be mended, if that is known: sentences. Replaces every other advice. */
	readonly remedy?: string | undefined;
}

/** Why a request gave no result, whatever its kind. */
export interface Reason extends Failed {
	/** A sentence that the description begins with, if there is more to say than the message. */
	readonly detail?: string;
	/** How to go on, if it is known whether something was sent and there is no remedy: sentences. */
	readonly advice?: string;
}

/** Why a request gave no result, in words for the user. */
export interface Problem extends Failed {
	readonly description: string;
}

/** How to go on after a request of this kind: the type of a failure says more than its cause. */
function adviceFor({ type, cause }: Failed, kind: Kind): string | undefined {
	const { advice } = kinds[kind];
	return advice?.get(type) ?? advice?.get(cause);
}

/**
 * Says what a reason means for a request of this kind.
 * @param hasKey whether it is a send under an idempotency key
 */
export function explain(
	{ detail, advice, ...failed }: Reason,
	kind: Kind,
	hasKey = false,
): Problem {
	if (isSend(kind) && failed.outcome === 'unknown') {
		const message = `It is unknown whether this was sent: ${failed.message}`;
		return { ...failed, message, description: kinds[kind].afterUnknown(hasKey) };
	}
	const notSent = isSend(kind) ? 'It was not sent.' : undefined;
	const sentences = [detail, notSent, failed.remedy ?? adviceFor(failed, kind) ?? advice];
	const description = sentences.filter((sentence) => sentence !== undefined).join(' ');
	return { ...failed, message: capitalize(failed.message), description };
}

/** What comes with a failure answer, or was known before. */
interface FailureDetails {
	/** How long the service asks to wait, in milliseconds. */
	readonly retryAfterMs?: number | undefined;
	readonly requestedId?: RequestedId | undefined;
}

const lost = { type: 'network', outcome: 'unknown', cause: 'temporarily-unavailable' } as const;
const notAsked = { ...lost, outcome: 'notSent' } as const;
const elsewhere = {
	type: 'unexpected_answer',
	outcome: 'notSent',
	cause: 'configuration-invalid',
} as const;

const proxySettings =
	"n8n takes the proxy's address from HTTPS_PROXY, HTTP_PROXY or ALL_PROXY in its environment, and uses none for the hosts in NO_PROXY.";

/** Says what was not reached, or who made no connection. */
function describeFailed(host: string, proxy: FailedProxy | undefined): string {
	if (proxy === undefined) return `Could not connect to ${host}`;
	const name = proxy.address === undefined ? 'that n8n uses' : clip(proxy.address);
	return proxy.isUnreached
		? `Could not connect to the proxy ${name}`
		: `The proxy ${name} made no connection to ${host}`;
}

/** Every reason. A `what` says what came instead of an answer, and follows "the answer is". */
export const reasons = {
	/** The service answered with a failure: nothing was done. */
	failure(
		failure: z.infer<typeof failureAnswer>,
		{ retryAfterMs, requestedId }: FailureDetails = {},
	): Reason {
		const type = failure.type?.trim() ?? '';
		const given = clip(failure.description ?? '');
		const words = wordsOf(type, requestedId);
		const reason = {
			...words,
			type: clip(type) || 'unspecified',
			outcome: 'notSent',
			detail: given === '' ? 'The service gave no reason.' : `The service says: "${given}".`,
			retryAfterMs,
		} as const;
		if (retryAfterMs === undefined || !isTemporary(words.cause)) return reason;
		const advice = `It asks to wait for ${describeWait(retryAfterMs)}. Run the workflow again after that.`;
		return { ...reason, advice };
	},
	/** HTTP 429 from something in between, without the service's JSON: a rate limit like the service's own. */
	gatewayRateLimit(what: string, retryAfterMs: number | undefined): Reason {
		const refusal = reasons.failure({ status: 'failure', type: 'rate_limit' }, { retryAfterMs });
		return { ...refusal, detail: `The answer (HTTP 429) is ${what}.` };
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
	 * @param target the host that it leads to, if it names one
	 */
	redirect: (statusCode: number, target = 'another one'): Reason => ({
		...elsewhere,
		message: `The address of the push service redirects to ${clip(target)} (HTTP ${statusCode})`,
		detail: 'A redirect is never followed, so that the key and token stay with the service.',
		advice:
			'Enter the address that it redirects to as Base URL in the credential, if it belongs to your push service.',
		httpCode: String(statusCode),
	}),
	/** HTTP 407 is the answer of a proxy (RFC 9110, 15.5.8): the service was not asked. */
	proxyAsksForPassword: {
		...elsewhere,
		message: 'The proxy that n8n uses asks for a user name and password (HTTP 407)',
		remedy: `Enter them in the address of the proxy, such as http://user:password@proxy.example:3128. ${proxySettings}`,
		httpCode: '407',
	},
	notConnected: (host: string, { reason, remedy, proxy }: Omit<NotConnected, 'kind'>): Reason => ({
		...notAsked,
		message: `${describeFailed(host, proxy)}: ${reason}`,
		remedy: remedy ?? (proxy && `Check that the proxy runs and lets n8n through. ${proxySettings}`),
		advice:
			'Check Base URL in the credential and that this n8n can reach the address, then run the workflow again.',
	}),
	notStarted: {
		...notAsked,
		message: 'The execution was stopped before the push service was asked',
		advice: 'Run the workflow again.',
	},
	/** The user stopped the execution while the request was in flight, or it ended otherwise. */
	canceled: {
		...lost,
		message: 'the execution was stopped before the push service answered',
		advice: 'Run the workflow again.',
	},
	/** An execution ended while its request was in flight, and n8n kept nothing of it. */
	cutOff: {
		...lost,
		message: 'the execution was cut off before the answer of the push service was saved',
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

/** The service refused other items of the same run so long that this one was not requested. */
export function notRequestedProblem(reason: Problem): Problem {
	return {
		...reason,
		description: `It was skipped, because the push service kept refusing other requests. ${reason.description}`,
	};
}

/**
 * Another execution claimed the key of a send, and nobody knows whether it was sent.
 * @param key as a user entered it; `undefined` if no user did
 */
export function claimedEarlierProblem(key: string | undefined, kind: SendKind): Problem {
	const under = key === undefined ? '' : ` under the idempotency key "${clip(key)}"`;
	const message = `another execution began to send it${under}, and its outcome is not known`;
	return explain({ ...lost, message }, kind, true);
}
