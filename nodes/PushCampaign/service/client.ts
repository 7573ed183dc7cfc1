import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';

import { failureAnswer } from './answers';
import { Deadlines } from './deadlines';
import type { Endpoint, Problem } from './failures';
import {
	cancelledProblem,
	connectionLostProblem,
	failureProblem,
	notConnectedProblem,
	notStartedProblem,
	redirectProblem,
	timeoutProblem,
	unexpectedAnswerProblem,
} from './failures';
import { parseJson } from './json';
import { createRedactor } from './redact';
import type { CampaignBody } from './schemas';
import type { ServiceSettings } from './settings';
import { classifyTransportError } from './transportErrors';

/** One request to the service, without address and credential. */
export interface ServiceRequest {
	readonly endpoint: Endpoint;
	readonly method: 'GET' | 'POST';
	readonly path: string;
	readonly body?: CampaignBody;
}

/** What a request came to: the parsed answer and the answer as it came, or why there is none. */
export type Result<Value> =
	| { readonly ok: true; readonly value: Value; readonly raw: unknown }
	| { readonly ok: false; readonly problem: Problem };

export interface ClientOptions {
	readonly settings: ServiceSettings;
	/**
	 * Makes the request with the credential's headers on it, and gives the full response. Ends the
	 * request with its `abortSignal`.
	 */
	readonly transport: (options: IHttpRequestOptions) => Promise<unknown>;
	/** Waits the given milliseconds; rejects when the signal ends. */
	readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
	/** Milliseconds since 1970. */
	readonly now: () => number;
	/** Milliseconds from any fixed moment, by a clock that nobody sets. */
	readonly clock: () => number;
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
	headers: z.object({ 'retry-after': z.unknown() }).catch({}),
	body: z.unknown(),
});

/** Reads a `Retry-After` header, seconds or a date, as milliseconds from `now`. */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
	if (typeof header !== 'string') return undefined;
	const text = header.trim();
	if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
	if (!/[a-z]/i.test(text)) return undefined;
	const date = Date.parse(text);
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Looked at before the schema is: that all answers but a few are no failure must cost nothing. */
function saysFailure(body: unknown): boolean {
	return typeof body === 'object' && body !== null && 'status' in body && body.status === 'failure';
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
	const { settings, transport, sleep, now, clock, signal } = options;
	const { host } = new URL(settings.baseUrl);
	const redact = createRedactor(settings.secrets);
	const deadlines = new Deadlines({ sleep, clock, signal });

	const fail = (problem: Problem) => ({ ok: false, problem }) as const;

	async function exchange(request: ServiceRequest, timeoutMs: number): Promise<unknown> {
		// The helper's own timeout starts anew with every byte that arrives, this one does not.
		return await deadlines.race(
			async (abortSignal) =>
				await transport({
					method: request.method,
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
			timeoutMs,
		);
	}

	function interpret<Value>(
		response: unknown,
		request: ServiceRequest,
		schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
	): Result<Value> {
		const { endpoint } = request;
		const full = fullResponse.safeParse(response);
		if (!full.success) return fail(connectionLostProblem(endpoint));
		const { statusCode, headers } = full.data;
		const body = redact(parseJson(full.data.body));

		const failure = saysFailure(body) ? failureAnswer.safeParse(body) : undefined;
		if (failure?.success) {
			const retryAfterMs = parseRetryAfter(headers['retry-after'], now());
			return fail(failureProblem(failure.data, endpoint, retryAfterMs));
		}
		const answer = schema.safeParse(body);
		if (statusCode >= 200 && statusCode < 300 && answer.success) {
			return { ok: true, value: answer.data, raw: body };
		}
		if (statusCode >= 300 && statusCode < 400 && !answer.success) {
			return fail(redirectProblem(statusCode, endpoint));
		}
		return fail(unexpectedAnswerProblem(statusCode, describeBody(body), endpoint));
	}

	return {
		async request(request, schema, timeoutMs) {
			const { endpoint } = request;
			if (signal?.aborted) return fail(notStartedProblem(endpoint));
			let response: unknown;
			try {
				response = await exchange(request, timeoutMs);
			} catch (error) {
				const fault = classifyTransportError(error);
				if (fault.kind === 'notConnected') {
					return fail(notConnectedProblem(host, fault.reason, endpoint));
				}
				if (signal?.aborted) return fail(cancelledProblem(endpoint));
				if (fault.kind === 'timeout') return fail(timeoutProblem(timeoutMs, endpoint));
				return fail(connectionLostProblem(endpoint));
			}
			if (response === undefined) {
				return fail(
					signal?.aborted ? cancelledProblem(endpoint) : timeoutProblem(timeoutMs, endpoint),
				);
			}
			return interpret(response, request, schema);
		},
	};
}
