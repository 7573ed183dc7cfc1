import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';

import { parseUrl } from './address';
import { failureAnswer, isOfCampaign } from './answers';
import type { DeadlineOptions } from './deadline';
import { withDeadline } from './deadline';
import type { Problem, Reason } from './failures';
import { explain, reasons } from './failures';
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
 * (0, or a date that is over, as where two clocks differ) says nothing: a refusal needs some pause.
 */
export function parseRetryAfter(text: string, now: number): number | undefined {
	if (/^\d{1,12}(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000) || undefined;
	const ahead = Date.parse(text) - now;
	return ahead > 0 ? ahead : undefined;
}

/** Looked at before a schema is: to find out what a schema has against a body takes long. */
const envelope = z.object({ status: z.unknown() }).catch({});

/** Redirects that nothing was done for; HTTP 303 says that a POST was dealt with. */
const redirects = { GET: [301, 302, 303, 307, 308], POST: [301, 302, 307, 308] };

function describeBody(body: unknown): string {
	const text = typeof body === 'string' ? body.trim() : body;
	if (text === undefined || text === null || text === '') return 'empty';
	const isPage = typeof text === 'string' && /^<(!doctype|html|head|body|\?xml)/i.test(text);
	return isPage ? 'a web page' : 'not what the push service promises';
}

/** Makes a client for one execution; what is the same for all its requests is worked out here. */
export function createClient(options: ClientOptions): Client {
	const { settings, transport, sleep, now, signal } = options;
	const { host } = new URL(settings.baseUrl);
	const redactor = createRedactor(Object.values(settings.headers));

	const failAs = (kind: Kind) => (reason: Reason) =>
		({ kind: 'failed', problem: explain(reason, kind) }) as const;

	function interpret<Value>(
		response: unknown,
		{ kind, campaignId, subject, body: sent }: ServiceRequest,
		schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
	): Result<Value> {
		const fail = failAs(kind);
		const { data } = fullResponse.safeParse(response);
		if (data === undefined) return fail(reasons.connectionLost);
		const { statusCode, headers } = data;
		const parsed = parseJson(data.body);
		// Text that is no JSON is told by its kind alone, so a web page is not looked through.
		const body = typeof parsed === 'string' ? parsed : redactor.json(parsed);
		const retryAfterMs = parseRetryAfter(headers['retry-after'] ?? '', now());

		const { status } = envelope.parse(body);
		const failure = status === 'failure' ? failureAnswer.safeParse(body) : undefined;
		if (failure?.success) {
			const about = subject ?? sent?.sid;
			const details = {
				retryAfterMs,
				isOfCampaign: campaignId !== undefined,
				subject: about === undefined ? undefined : redactor.text(about),
			};
			return fail(reasons.failure(failure.data, details));
		}
		const answer = schema.safeParse(body);
		if (statusCode >= 200 && statusCode < 300 && answer.success) {
			if (campaignId === undefined || isOfCampaign(answer.data, campaignId)) {
				return { kind: 'done', value: answer.data, raw: body };
			}
			const other = `about another campaign${subject === undefined ? '' : ` than ${subject}`}`;
			return fail(reasons.unexpectedAnswer(statusCode, other));
		}
		const what = describeBody(body);
		// A success that came with the wrong status: two statements that contradict each other.
		if (!answer.success && status !== 'success') {
			if (headers.location && redirects[kinds[kind].method].includes(statusCode)) {
				const target = parseUrl(headers.location, settings.baseUrl)?.host || undefined;
				const shown = target === undefined ? undefined : redactor.text(target);
				return fail(reasons.redirect(statusCode, shown));
			}
			if (statusCode === 429) return fail(reasons.gatewayRateLimit(what, retryAfterMs));
			// HTTP 408 is the one of its kind that does not say that nothing was done.
			if (statusCode >= 400 && statusCode < 500 && statusCode !== 408) {
				return fail(reasons.refusedOnTheWay(statusCode, what));
			}
		}
		return fail(reasons.unexpectedAnswer(statusCode, what, retryAfterMs));
	}

	return {
		async request(request, schema, timeoutMs) {
			const { kind, path, body } = request;
			const fail = failAs(kind);
			if (signal?.aborted) return fail(reasons.notStarted);
			// The helper's own timeout starts anew with every byte that arrives, this one does not.
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
						disableFollowRedirect: true,
						timeout: timeoutMs,
						abortSignal,
					}),
				{ timeoutMs, signal, sleep },
			);
			if (ending.kind === 'settled') return interpret(ending.value, request, schema);
			const fault = classifyTransportError(ending.error);
			const isUnsent = fault.kind === 'notConnected';
			if (signal?.aborted) return fail(isUnsent ? reasons.notStarted : reasons.canceled);
			if (isUnsent) return fail(reasons.notConnected(host, fault.reason));
			const isTimeout = ending.isLate || fault.kind === 'timeout';
			return fail(isTimeout ? reasons.timeout(timeoutMs) : reasons.connectionLost);
		},
	};
}
