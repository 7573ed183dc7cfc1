import { DateTime } from 'luxon';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod';

import { failureAnswer } from './answers';
import type { Requested } from './failureWords';
import { parseBody } from './json';
import { readNoConnection } from './noConnection';
import type { Problem } from './problems';
import {
	connectionLostProblem,
	failureProblem,
	noConnectionProblem,
	notStartedProblem,
	redirectProblem,
	refusedProblem,
	stoppedProblem,
	timeoutProblem,
	unusableProblem,
} from './problems';
import { createRedactor } from './redact';
import type { CampaignBody } from './rules';
import type { ServiceSettings } from './settings';
import { parseUrl } from './text';

/** One request to the service, without address and credential. */
export interface ServiceRequest extends Requested {
	readonly path: string;
	readonly body?: CampaignBody | undefined;
}

/** What an answer has to be, and what becomes of it. */
export type Schema<Value> = z.ZodType<Value, z.ZodTypeDef, unknown>;

export type Result<Value> =
	| { readonly answered: true; readonly value: Value; readonly raw: unknown }
	| { readonly answered: false; readonly problem: Problem };

export interface Client {
	/** Makes one request and says what its answer means. Never throws, never repeats a request. */
	request<Value>(
		request: ServiceRequest,
		schema: Schema<Value>,
		timeoutMs: number,
	): Promise<Result<Value>>;
}

export interface ClientOptions {
	readonly settings: Pick<ServiceSettings, 'baseUrl' | 'headers'>;
	/** Makes the request with the credential's headers on it, and gives the full response. */
	readonly transport: (options: IHttpRequestOptions) => Promise<unknown>;
	/** Ends when the execution is stopped, or when a poll has no more time. */
	readonly signal?: AbortSignal | undefined;
}

const header = z.string().trim().optional().catch(undefined);
const fullResponse = z.object({
	statusCode: z.number().int(),
	headers: z.object({ 'retry-after': header, location: header }).catch({}),
	body: z.unknown().optional(),
});

const successBody = z.object({ status: z.literal('success') });

/** Redirects after which nothing was done. HTTP 303 is none of them: it says that a POST was processed. */
const redirectCodes: readonly number[] = [301, 302, 307, 308];

/** HTTP 429 without the service's JSON: the same, in HTTP's own words. */
const tooManyRequests = { type: 'rate_limit', description: '' };

/** Milliseconds from now; undefined if the header asks for no pause. */
function parseRetryAfter(text: string | undefined): number | undefined {
	if (text === undefined) return undefined;
	const isSeconds = /^\d{1,12}(\.\d+)?$/.test(text);
	const pause = isSeconds
		? Math.ceil(Number(text) * 1000)
		: DateTime.fromHTTP(text).toMillis() - Date.now();
	return pause > 0 ? pause : undefined;
}

/**
 * Waits for an action until the signal ends, also if the action does not heed the signal.
 * @throws the signal's reason
 */
export async function untilAborted<Value>(
	action: Promise<Value>,
	signal: AbortSignal,
): Promise<Value> {
	let giveUp = () => {};
	const aborted = new Promise<never>((_resolve, reject) => {
		giveUp = () => reject(signal.reason);
	});
	signal.addEventListener('abort', giveUp);
	if (signal.aborted) giveUp();
	try {
		return await Promise.race([action, aborted]);
	} finally {
		signal.removeEventListener('abort', giveUp);
	}
}

const fail = (problem: Problem) => ({ answered: false, problem }) as const;

/** Makes a client for one execution; what all its requests have in common is computed here. */
export function createClient({ settings, transport, signal }: ClientOptions): Client {
	const { baseUrl } = settings;
	const { host } = new URL(baseUrl);
	const redact = createRedactor(Object.values(settings.headers));

	/** Says what a response means: the first case that fits. */
	function interpret<Value>(
		response: unknown,
		request: ServiceRequest,
		schema: Schema<Value>,
	): Result<Value> {
		const { data } = fullResponse.safeParse(response);
		if (data === undefined) return fail(connectionLostProblem(request));
		const { statusCode, headers } = data;
		const given = { statusCode, retryAfterMs: parseRetryAfter(headers['retry-after']) };
		const body = parseBody(data.body, redact.field);

		const failure = failureAnswer.safeParse(body).data;
		if (failure !== undefined) return fail(failureProblem(failure, given, request));
		const answer = schema.safeParse(body);
		const isOk = statusCode >= 200 && statusCode < 300;
		if (answer.success && isOk) return { answered: true, value: answer.data, raw: body };

		// A body of success contradicts any other HTTP status: nobody knows.
		const saysSuccess = successBody.safeParse(body).success;
		if (saysSuccess || (isOk && body !== undefined)) {
			return fail(unusableProblem(given, true, request));
		}
		if (headers.location && redirectCodes.includes(statusCode)) {
			const target = parseUrl(redact.text(headers.location), baseUrl)?.host;
			return fail(redirectProblem(statusCode, target));
		}
		if (statusCode === 429) return fail(failureProblem(tooManyRequests, given, request));
		// HTTP 408 does not say how far the request came.
		const isRefused = statusCode >= 400 && statusCode < 500 && statusCode !== 408;
		if (isRefused) return fail(refusedProblem(statusCode));
		return fail(unusableProblem(given, false, request));
	}

	const toOptions = (
		{ isSend, path, body }: ServiceRequest,
		timeoutMs: number,
		abortSignal: AbortSignal,
	): IHttpRequestOptions => ({
		method: isSend ? 'POST' : 'GET',
		url: `${baseUrl}${path}`,
		headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
		// As text: axios drops fields with names such as `constructor` from an object.
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
		// As text: a JSON parser would round IDs that are longer than a number can hold.
		encoding: 'text',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		// n8n would send the key and the token along, to any host.
		disableFollowRedirect: true,
		timeout: timeoutMs,
		abortSignal,
	});

	return {
		async request(request, schema, timeoutMs) {
			if (signal?.aborted) return fail(notStartedProblem);
			// axios starts its own timeout again with each byte that arrives.
			const timeout = AbortSignal.timeout(timeoutMs);
			const ending = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
			let response: unknown;
			try {
				response = await untilAborted(transport(toOptions(request, timeoutMs, ending)), ending);
			} catch (error) {
				const noConnection = readNoConnection(error);
				if (noConnection !== undefined) return fail(noConnectionProblem(host, noConnection));
				if (signal?.aborted) return fail(stoppedProblem(request));
				if (timeout.aborted) return fail(timeoutProblem(timeoutMs, request));
				return fail(connectionLostProblem(request));
			}
			return interpret(response, request, schema);
		},
	};
}
