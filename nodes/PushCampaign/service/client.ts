import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';

import { parseUrl } from './address';
import { failureAnswer, isOfAnotherCampaign } from './answers';
import type { Ending } from './deadline';
import { withDeadline } from './deadline';
import type { Problem } from './failures';
import {
	cancelledProblem,
	connectionLostProblem,
	failureProblem,
	gatewayRateLimitProblem,
	notConnectedProblem,
	notStartedProblem,
	plainAnswerProblem,
	redirectProblem,
	refusedOnTheWayProblem,
	timeoutProblem,
	unexpectedAnswerProblem,
} from './failures';
import { parseJson } from './json';
import type { Kind } from './kinds';
import { kinds } from './kinds';
import { createRedactor } from './redact';
import type { CampaignBody } from './schemas';
import type { ServiceSettings } from './settings';
import { classifyTransportError } from './transportErrors';

/** One request to the service, without address and credential. */
export interface ServiceRequest {
	readonly kind: Kind;
	readonly path: string;
	readonly body?: CampaignBody;
	/** The campaign whose record is asked for: another one's is no answer. */
	readonly campaignId?: string;
	/** The ID that messages about a campaign name. */
	readonly subject?: string;
}

/** What a request came to: the parsed answer and the answer as it came, or why there is none. */
export type Result<Value> =
	| { readonly kind: 'done'; readonly value: Value; readonly raw?: unknown }
	| { readonly kind: 'failed'; readonly problem: Problem };

export interface ClientOptions {
	readonly settings: ServiceSettings;
	/**
	 * Makes the request with the credential's headers on it, and gives the full response. Ends the
	 * request with its `abortSignal`.
	 */
	readonly transport: (options: IHttpRequestOptions) => Promise<unknown>;
	/** Waits the given milliseconds. */
	readonly sleep: (milliseconds: number) => Promise<void>;
	/** Milliseconds since 1970. */
	readonly now: () => number;
	/** Ends when the user stops the execution, or when a poll has no more time. */
	readonly signal?: AbortSignal | undefined;
}

export interface Client {
	/**
	 * Makes one request and says what its answer means. Never throws, never follows a redirect, never
	 * repeats a request.
	 * @param timeoutMs how long the answer may take, in milliseconds
	 */
	request<Value>(
		request: ServiceRequest,
		schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
		timeoutMs: number,
	): Promise<Result<Value>>;
}

const fullResponse = z.object({
	statusCode: z.number().int(),
	headers: z.object({ 'retry-after': z.unknown(), location: z.unknown() }).catch({}),
	body: z.unknown(),
});

/**
 * Reads a `Retry-After` header, seconds or a date, as milliseconds from `now`. One that asks for no pause
 * (0, or a date that is over, as where two clocks differ) says nothing: a refusal needs some pause.
 */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
	if (typeof header !== 'string') return undefined;
	const text = header.trim();
	if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000) || undefined;
	if (!/[a-z]/i.test(text)) return undefined;
	const ahead = Date.parse(text) - now;
	return ahead > 0 ? ahead : undefined;
}

/** Looked at before a schema is: that all answers but a few are no failure must cost nothing. */
function says(body: unknown, status: 'failure' | 'success'): boolean {
	return typeof body === 'object' && body !== null && 'status' in body && body.status === status;
}

/** A redirect that nothing was done for; HTTP 303 says that a POST was dealt with. */
function isRedirect(
	statusCode: number,
	location: unknown,
	method: 'GET' | 'POST',
): location is string {
	if (typeof location !== 'string' || location.trim() === '') return false;
	return [301, 302, 307, 308].includes(statusCode) || (statusCode === 303 && method === 'GET');
}

/** The host that a Location header points to. */
function hostOf(location: string, url: string): string | undefined {
	return parseUrl(location, url)?.host || undefined;
}

function describeBody(body: unknown): string {
	if (body === undefined || body === null) return 'empty';
	if (typeof body !== 'string') return 'not what the push service promises';
	const text = body.trim();
	if (text === '') return 'empty';
	return /^<(!doctype|html|head|body|\?xml)/i.test(text)
		? 'a web page'
		: 'not the JSON of the push service';
}

/** Makes a client for one execution; what is the same for all its requests is worked out here. */
export function createClient(options: ClientOptions): Client {
	const { settings, transport, sleep, now, signal } = options;
	const { host } = new URL(settings.baseUrl);
	const redact = createRedactor(settings.secrets);
	const redactText = (text: string | undefined) => {
		const redacted = redact(text);
		return typeof redacted === 'string' ? redacted : undefined;
	};

	const fail = (problem: Problem) => ({ kind: 'failed', problem }) as const;

	async function exchange(request: ServiceRequest, timeoutMs: number): Promise<Ending<unknown>> {
		// The helper's own timeout starts anew with every byte that arrives, this one does not.
		return await withDeadline(
			async (abortSignal) =>
				await transport({
					method: kinds[request.kind].method,
					url: `${settings.baseUrl}${request.path}`,
					headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
					// As text: the HTTP library drops fields with names such as `constructor` from an object.
					...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
					// As text: a JSON parser would round IDs that are longer than a number can hold.
					encoding: 'text',
					returnFullResponse: true,
					ignoreHttpStatusErrors: true,
					disableFollowRedirect: true,
					timeout: timeoutMs,
					abortSignal,
				}),
			{ timeoutMs, signal, sleep },
		);
	}

	function interpret<Value>(
		response: unknown,
		request: ServiceRequest,
		schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
	): Result<Value> {
		const { kind, campaignId, subject } = request;
		const { method } = kinds[kind];
		const full = fullResponse.safeParse(response);
		if (!full.success) return fail(connectionLostProblem(kind));
		const { statusCode, headers } = full.data;
		const parsed = parseJson(full.data.body);
		// Text that is no JSON is told by its kind alone, so a web page is not looked through.
		const body = typeof parsed === 'string' ? parsed : redact(parsed);
		const retryAfterMs = parseRetryAfter(headers['retry-after'], now());

		const failure = says(body, 'failure') ? failureAnswer.safeParse(body) : undefined;
		if (failure?.success) {
			const details = {
				retryAfterMs,
				isOfCampaign: campaignId !== undefined,
				subject: redactText(subject ?? request.body?.sid),
			};
			return fail(failureProblem(failure.data, kind, details));
		}
		const answer = schema.safeParse(body);
		if (statusCode >= 200 && statusCode < 300 && answer.success) {
			if (campaignId !== undefined && isOfAnotherCampaign(answer.data, campaignId)) {
				const other = `about another campaign${subject === undefined ? '' : ` than ${subject}`}`;
				return fail(unexpectedAnswerProblem(statusCode, other, kind));
			}
			return { kind: 'done', value: answer.data, raw: body };
		}
		const what = describeBody(body);
		// A success that came with the wrong status: two statements that contradict each other.
		if (answer.success || says(body, 'success')) {
			return fail(unexpectedAnswerProblem(statusCode, what, kind, retryAfterMs));
		}
		if (isRedirect(statusCode, headers.location, method)) {
			const target = redactText(hostOf(headers.location, settings.baseUrl));
			return fail(redirectProblem(statusCode, kind, target));
		}
		if (statusCode === 429) return fail(gatewayRateLimitProblem(what, kind, retryAfterMs));
		// HTTP 408 is the one of its kind that does not say that nothing was done.
		if (statusCode >= 400 && statusCode < 500 && statusCode !== 408) {
			return fail(refusedOnTheWayProblem(statusCode, what, kind));
		}
		return fail(unexpectedAnswerProblem(statusCode, what, kind, retryAfterMs));
	}

	return {
		async request(request, schema, timeoutMs) {
			const { kind } = request;
			if (signal?.aborted) return fail(notStartedProblem(kind));
			const answer = await exchange(request, timeoutMs);
			if (answer.kind === 'settled') return interpret(answer.value, request, schema);
			const fault = classifyTransportError(answer.error);
			if (fault.kind === 'notConnected') {
				return fail(
					signal?.aborted ? notStartedProblem(kind) : notConnectedProblem(host, fault.reason, kind),
				);
			}
			if (signal?.aborted) return fail(cancelledProblem(kind));
			if (answer.isLate || fault.kind === 'timeout') {
				return fail(timeoutProblem(timeoutMs, kind));
			}
			if (fault.kind === 'plainAnswer') return fail(plainAnswerProblem(kind));
			return fail(connectionLostProblem(kind));
		},
	};
}
