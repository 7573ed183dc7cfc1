import { DateTime } from 'luxon';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';

import { parseUrl } from './address';
import { failureAnswer, rejectionText } from './answers';
import type { DeadlineOptions } from './deadline';
import { withDeadline } from './deadline';
import type { Problem, Reason } from './failures';
import { explain, reasons } from './failures';
import type { RequestedId } from './failureWords';
import { parseJson } from './json';
import type { Kind } from './kinds';
import { kinds } from './kinds';
import { createRedactor } from './redact';
import type { ServiceSettings } from './settings';
import { classifyTransportError } from './transportErrors';

/** One request to the service, without address and credential. */
export interface ServiceRequest {
	readonly kind: Kind;
	readonly path: string;
	/** Sent as JSON. */
	readonly body?: object;
	/** What the request is about, if the service may not know it: messages name it then. */
	readonly requestedId?: RequestedId | undefined;
	/** Whether it is a send under an idempotency key: then running the workflow again does not repeat it. */
	readonly hasKey?: boolean;
}

/** The result of a request: the parsed answer and the answer as it came, or why there is none. */
export type Result<Value> =
	| { readonly kind: 'done'; readonly value: Value; readonly raw?: unknown }
	| { readonly kind: 'failed'; readonly problem: Problem };

export interface ClientOptions extends Omit<DeadlineOptions, 'timeoutMs'> {
	readonly settings: ServiceSettings;
	/**
	 * Makes the request with the credential's headers on it, and gives the full response. Ends the
	 * request with its `abortSignal`.
	 */
	readonly transport: (options: IHttpRequestOptions) => Promise<unknown>;
	/** Milliseconds since 1970. */
	readonly now: () => number;
}

export interface Client {
	/**
	 * Makes one request and says what its answer means. Never throws, never follows a redirect, never
	 * repeats a request.
	 * @param schema of the answer
	 * @param timeoutMs how long the answer may take, in milliseconds
	 */
	request<Value>(
		request: ServiceRequest,
		schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
		timeoutMs: number,
	): Promise<Result<Value>>;
}

const header = z.string().trim().optional().catch(undefined);
const fullResponse = z.object({
	statusCode: z.number().int(),
	headers: z.object({ 'retry-after': header, location: header }).catch({}),
	body: z.unknown(),
});

/**
 * Reads a `Retry-After` header, seconds or a date, as milliseconds from `now`. One that asks for no pause
 * (0, or a date that is over, because two clocks differ) counts as none: a refusal needs some pause.
 */
export function parseRetryAfter(text: string, now: number): number | undefined {
	if (/^\d{1,12}(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000) || undefined;
	const ahead = DateTime.fromHTTP(text).toMillis() - now;
	return ahead > 0 ? ahead : undefined;
}

/** A failed zod parse is slow, so the whole schema is tried only if the status fits. */
const envelope = z.object({ status: z.unknown() }).catch({});

/** Redirects after which nothing was done; HTTP 303 says that a POST was processed. */
const redirects = { GET: [301, 302, 303, 307, 308], POST: [301, 302, 307, 308] };

/** 408 is the only 4xx after which the request may have been processed. */
const saysNothingWasDone = (statusCode: number) =>
	statusCode >= 400 && statusCode < 500 && statusCode !== 408;

/** Describes what came instead of an answer of the service: it completes 'the answer is …'. */
function describeBody(body: unknown): string {
	const text = typeof body === 'string' ? body.trim() : body;
	if (text === undefined || text === null || text === '') return 'empty';
	const isPage = typeof text === 'string' && /^<(!doctype|html|head|body|\?xml)/i.test(text);
	return isPage ? 'a web page' : 'not what the push service promises';
}

/** Makes a client for one execution; what all its requests have in common is computed here. */
export function createClient(options: ClientOptions): Client {
	const { settings, transport, sleep, now, signal } = options;
	const service = new URL(settings.baseUrl);
	const redactor = createRedactor(Object.values(settings.headers));

	const failAs =
		({ kind, hasKey }: ServiceRequest) =>
		(reason: Reason) =>
			({ kind: 'failed', problem: explain(reason, kind, hasKey) }) as const;

	/** The ID that messages name, without the key or the token if someone entered one of them as an ID. */
	function redactRequestedId(requestedId: RequestedId | undefined): RequestedId | undefined {
		if (requestedId?.id === undefined) return requestedId;
		return { ...requestedId, id: redactor.text(requestedId.id) };
	}

	/** The host that a redirect leads to, if its Location has one. */
	function redirectTarget(location: string): string | undefined {
		const target = parseUrl(location, settings.baseUrl)?.host;
		return target ? redactor.text(target) : undefined;
	}

	function interpret<Value>(
		response: unknown,
		request: ServiceRequest,
		schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
	): Result<Value> {
		const { kind, requestedId } = request;
		const fail = failAs(request);
		const { data } = fullResponse.safeParse(response);
		if (data === undefined) return fail(reasons.connectionLost);
		const { statusCode, headers } = data;
		const retryAfterMs = parseRetryAfter(headers['retry-after'] ?? '', now());
		const parsed = parseJson(data.body);
		// Text that is not JSON goes into no message, so it needs no redaction.
		const body = typeof parsed === 'string' ? parsed : redactor.json(parsed);
		const { status } = envelope.parse(body);

		// A failure body means that nothing was done, whatever the HTTP status.
		if (status === 'failure') {
			const failure = failureAnswer.safeParse(body);
			const details = { retryAfterMs, requestedId: redactRequestedId(requestedId) };
			if (failure.success) return fail(reasons.failure(failure.data, details));
		}

		const answer = schema.safeParse(body);
		const isSuccessStatus = statusCode >= 200 && statusCode < 300;
		if (answer.success && isSuccessStatus) return { kind: 'done', value: answer.data, raw: body };

		const what = (answer.error && rejectionText(answer.error)) ?? describeBody(body);
		const unexpected = reasons.unexpectedAnswer(statusCode, what, retryAfterMs);
		// Success in the body and another HTTP status contradict each other: nobody knows.
		if (answer.success || status === 'success') return fail(unexpected);
		if (headers.location && redirects[kinds[kind].method].includes(statusCode)) {
			return fail(reasons.redirect(statusCode, redirectTarget(headers.location)));
		}
		if (statusCode === 407) return fail(reasons.proxyAsksForPassword);
		if (statusCode === 429) return fail(reasons.gatewayRateLimit(what, retryAfterMs));
		if (saysNothingWasDone(statusCode)) return fail(reasons.refusedOnTheWay(statusCode, what));
		return fail(unexpected);
	}

	return {
		async request(request, schema, timeoutMs) {
			const { kind, path, body } = request;
			const fail = failAs(request);
			if (signal?.aborted) return fail(reasons.notStarted);
			// The helper's own timeout starts again with every byte that arrives, this one does not.
			const ending = await withDeadline(
				async (abortSignal) =>
					await transport({
						method: kinds[kind].method,
						url: `${settings.baseUrl}${path}`,
						headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
						// As text: the HTTP library drops fields with names such as `constructor` from an object.
						...(body === undefined ? {} : { body: JSON.stringify(body) }),
						// As text: a JSON parser would round IDs that are longer than a number can hold.
						encoding: 'text',
						returnFullResponse: true,
						ignoreHttpStatusErrors: true,
						// The helper would send the key and the token along, to any host.
						disableFollowRedirect: true,
						timeout: timeoutMs,
						abortSignal,
					}),
				{ timeoutMs, signal, sleep },
			);
			if (ending.kind === 'settled') return interpret(ending.value, request, schema);

			const fault = classifyTransportError(ending.error, service);
			const wasConnected = fault.kind !== 'notConnected';
			// Whoever stopped the execution knows why there is no answer.
			if (signal?.aborted) return fail(wasConnected ? reasons.canceled : reasons.notStarted);
			if (!wasConnected) return fail(reasons.notConnected(service.host, fault));
			const isTimeout = ending.isLate || fault.kind === 'timeout';
			return fail(isTimeout ? reasons.timeout(timeoutMs) : reasons.connectionLost);
		},
	};
}
