import * as fc from 'fast-check';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { campaignCreated, campaignStatusOf } from '../../../nodes/PushCampaign/service/answers';
import type { ClientOptions, ServiceRequest } from '../../../nodes/PushCampaign/service/client';
import { createClient, parseRetryAfter } from '../../../nodes/PushCampaign/service/client';
import { explain, reasons, type Reason } from '../../../nodes/PushCampaign/service/failures';
import type { RequestedId } from '../../../nodes/PushCampaign/service/failureWords';
import { withheld } from '../../../nodes/PushCampaign/service/redact';

const [apiKey, authToken] = ['the-key-of-the-site', 'the-token-of-the-site'];
const settings = {
	baseUrl: 'https://push.example:8443/api',
	headers: { serviceKey: apiKey, serviceAuthToken: authToken },
};
const content = { title: 'Sale', message: 'Today', target_url: 'https://shop.example' };
const send: ServiceRequest = { kind: 'send', path: '/v1/notification/send/all', body: content };
const readStatus: ServiceRequest = { kind: 'read', path: '/v1/x' };
const created = { status: 'success', description: 'Campaign created', ID: 1001 };
const now = Date.UTC(2030, 0, 1);

type Transport = ClientOptions['transport'];

const client = (transport: Transport, more: Partial<ClientOptions> = {}) =>
	createClient({
		settings,
		transport,
		sleep: async () => await new Promise(() => undefined),
		now: () => now,
		...more,
	});

const answering = (body: unknown, statusCode = 200, headers: object = {}) =>
	client(async () => ({ statusCode, headers, body }));

const ask = async (body: unknown, statusCode?: number, headers?: object) =>
	await answering(body, statusCode, headers).request(send, campaignCreated, 30_000);
const read = async (body: unknown, statusCode?: number, headers?: object) =>
	await answering(body, statusCode, headers).request(readStatus, z.object({ a: z.string() }), 1);

const failed = (reason: Reason, { kind } = send) => ({
	kind: 'failed',
	problem: explain(reason, kind),
});

describe('a request', () => {
	const seen: IHttpRequestOptions[] = [];
	const recording = client(async (options) => {
		seen.push(options);
		return { statusCode: 200, headers: {}, body: created };
	});
	const anySignal: unknown = expect.any(AbortSignal);

	test.each([
		{ name: 'send', request: send, own: { method: 'POST', body: JSON.stringify(content) } },
		{ name: 'read', request: readStatus, own: { method: 'GET' } },
	])(
		'of a $name is made once, without the credential, and follows no redirect',
		async ({ request, own }) => {
			seen.splice(0);
			await recording.request(request, z.unknown(), 1234);
			expect(seen).toStrictEqual([
				{
					...own,
					url: `https://push.example:8443/api${request.path}`,
					headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
					encoding: 'text',
					returnFullResponse: true,
					ignoreHttpStatusErrors: true,
					disableFollowRedirect: true,
					timeout: 1234,
					abortSignal: anySignal,
				},
			]);
		},
	);
});

describe('a success answer', () => {
	const longId = '12345678901234567890';

	test.each([
		{ name: 'that is parsed already', body: created, ID: 1001 },
		{
			name: 'that is JSON text with a byte order mark and blanks',
			body: `\uFEFF${JSON.stringify(created)} \n`,
			ID: 1001,
		},
		{
			name: 'with an ID that is longer than a number can hold',
			body: `{"status":"success","description":"Campaign created","ID":${longId}}`,
			ID: longId,
		},
	])('$name is parsed, and returned as it came too', async ({ body, ID }) => {
		expect(await ask(body, 201)).toEqual({
			kind: 'done',
			value: { ...created, ID: String(ID) },
			raw: { ...created, ID },
		});
	});

	test('counts also if the headers are not an object', async () => {
		for (const headers of [['x'], 7]) {
			const odd = client(async () => ({ statusCode: 200, headers, body: created }));
			expect(await odd.request(send, campaignCreated, 1)).toMatchObject({ kind: 'done' });
		}
	});
});

describe('a failure answer', () => {
	const failure = { status: 'failure', type: 'invalid_value', description: 'Late' } as const;

	// Specification, Errors: HTTP status codes of failures are not shown.
	test.each([200, 302, 400, 401, 404, 429, 500, 503])(
		'with HTTP %d means that nothing was done',
		async (statusCode) => {
			for (const body of [failure, JSON.stringify(failure)]) {
				expect(await ask(body, statusCode)).toEqual(failed(reasons.failure(failure)));
			}
		},
	);

	test('is a failure also if it fits the schema of a success', async () => {
		const both = { ...failure, a: '1' };
		expect(await read(both, 200)).toEqual(failed(reasons.failure(failure), readStatus));
	});

	const schema = z.object({ notification_id: z.string() });

	test.each<{ name: string; type: string; about: RequestedId; then: string }>([
		{
			name: 'withholds an ID that is the key',
			type: 'invalid_value',
			about: { of: 'campaign', id: apiKey },
			then: `campaign with the ID ${withheld}`,
		},
		{
			name: 'names no ID if messages must not',
			type: 'invalid_value',
			about: { of: 'campaign' },
			then: 'campaign with this ID',
		},
	])('$name', async ({ type, about, then }) => {
		const request = { ...readStatus, requestedId: about };
		const result = await answering({ status: 'failure', type }).request(request, schema, 1);
		expect(result).toMatchObject({ problem: { message: `The push service has no ${then}` } });
	});
});

describe('Retry-After in milliseconds', () => {
	test.each([
		{ name: 'of a rate limit', body: { status: 'failure', type: 'rate_limit' }, code: 429 },
		{ name: 'of a failure without a type', body: { status: 'failure' }, code: 503 },
		{ name: 'of HTTP 429 from a gateway', body: 'Slow down', code: 429 },
		{ name: 'of HTTP 503 from a gateway', body: '<html>Busy</html>', code: 503 },
	])('$name comes with the problem', async ({ body, code }) => {
		const timed = await ask(body, code, { 'retry-after': ' 7 ' });
		expect(timed).toMatchObject({ problem: { retryAfterMs: 7000 } });
		for (const odd of [undefined, '', 7, ['7', '9']]) {
			const result = await ask(body, code, { 'retry-after': odd });
			expect(result).toHaveProperty('problem.retryAfterMs', undefined);
		}
	});

	test.each([
		{ name: 'of 0 seconds', header: '0', then: undefined },
		{ name: 'of whole seconds', header: '120', then: 120_000 },
		{ name: 'of parts of a second', header: '1.5', then: 1500 },
		{ name: 'of less than a millisecond, rounded up,', header: '0.0001', then: 1 },
		{ name: 'of 13 digits', header: '9'.repeat(13), then: undefined },
		{ name: 'of a date to come', header: 'Tue, 01 Jan 2030 00:00:30 GMT', then: 30_000 },
		{ name: 'of a date in the past', header: 'Mon, 31 Dec 2029 23:59:00 GMT', then: undefined },
		{ name: 'of this very moment', header: 'Tue, 01 Jan 2030 00:00:00 GMT', then: undefined },
	])('$name is $then', ({ header, then }) => {
		expect(parseRetryAfter(header, now)).toBe(then);
	});

	test.each(['-7', '7s', '1,5', '1.', 'soon', ''].map((header) => ({ header })))(
		'of "$header", which is neither seconds nor a date, is undefined',
		({ header }) => {
			expect(parseRetryAfter(header, 0)).toBeUndefined();
		},
	);
});

describe('a redirect', () => {
	const location = 'https://elsewhere.example:444/path?key=1#x';

	test.each([
		{ name: 'HTTP 301', code: 301, to: location, host: 'elsewhere.example:444' },
		{ name: 'HTTP 302', code: 302, to: location, host: 'elsewhere.example:444' },
		{ name: 'HTTP 307', code: 307, to: location, host: 'elsewhere.example:444' },
		{ name: 'HTTP 308 to a path', code: 308, to: '/v2/x', host: 'push.example:8443' },
		{ name: 'one without a scheme', code: 301, to: '//cdn.example/', host: 'cdn.example' },
		{
			name: 'one with a user name',
			code: 301,
			to: 'https://user:pass@cdn.example',
			host: 'cdn.example',
		},
		{ name: 'one without a host', code: 301, to: 'http://', host: undefined },
		{ name: 'one with the key in it', code: 301, to: `https://${apiKey}.example`, host: withheld },
	])('means that nothing was sent, and names the host: $name', async ({ code, to, host }) => {
		for (const body of ['', '<html>moved</html>', undefined]) {
			expect(await ask(body, code, { location: to })).toEqual(failed(reasons.redirect(code, host)));
		}
	});

	test('with HTTP 303 is one after a read', async () => {
		const moved = reasons.redirect(303, 'elsewhere.example:444');
		expect(await read('', 303, { location })).toEqual(failed(moved, readStatus));
	});

	test.each([300, 303, 305, 399])(
		'with HTTP %d is none after a send: the outcome is unknown',
		async (code) => {
			const reason = reasons.unexpectedAnswer(code, 'empty');
			expect(await ask('', code, { location })).toEqual(failed(reason));
		},
	);

	test('without a Location is none: the outcome is unknown', async () => {
		const reason = reasons.unexpectedAnswer(301, 'empty');
		expect(await ask('', 301, { location: '' })).toEqual(failed(reason));
	});
});

const notPromised = 'not what the push service promises';

describe("an answer without the service's JSON", () => {
	test.each([400, 401, 403, 404, 405, 410, 418, 451, 499])(
		'and with HTTP %d means that nothing was done',
		async (code) => {
			for (const [body, what] of [
				['<html>no</html>', 'a web page'],
				['', 'empty'],
				['{"error":{"message":"Forbidden"}}', notPromised],
				['{"status":"failure","type":7}', notPromised],
			] as const) {
				const reason = reasons.refusedOnTheWay(code, what);
				expect(await ask(body, code)).toEqual(failed(reason));
				expect(await read(body, code)).toEqual(failed(reason, readStatus));
			}
		},
	);

	test('and with HTTP 407 is a proxy’s, and not sent', async () => {
		expect(await ask('<html></html>', 407)).toEqual(failed(reasons.proxyAsksForPassword));
	});

	test.each([408, 500])('and with HTTP %d leaves the outcome unknown', async (code) => {
		const reason = reasons.unexpectedAnswer(code, notPromised);
		expect(await ask('Sorry', code)).toEqual(failed(reason));
	});

	test.each([
		{ name: 'an empty text', body: '', then: 'empty' },
		{ name: 'no body', body: undefined, then: 'empty' },
		{ name: 'null', body: 'null', then: 'empty' },
		{ name: 'a DOCTYPE', body: '<!DOCTYPE html><p>Bad gateway', then: 'a web page' },
		{ name: 'an html element', body: '\n<html lang="en">', then: 'a web page' },
		{ name: 'an XML declaration', body: '<?xml version="1.0"?>', then: 'a web page' },
		{ name: 'text with HTML later', body: 'hello <html>', then: notPromised },
		{ name: 'JSON that is cut off', body: '{"status":"succ', then: notPromised },
		{ name: 'a list', body: [], then: notPromised },
		{ name: 'an ID that is an object', body: { ...created, ID: {} }, then: notPromised },
	])('is described as $then: $name', async ({ body, then }) => {
		expect(await ask(body, 200)).toEqual(failed(reasons.unexpectedAnswer(200, then)));
	});
});

describe('a success in the body that another HTTP status contradicts', () => {
	test.each([199, 300, 302, 400, 404, 429, 500])(
		'leaves the outcome unknown: HTTP %d',
		async (statusCode) => {
			const reason = reasons.unexpectedAnswer(statusCode, notPromised);
			const location = 'https://elsewhere.example';
			for (const body of [created, { status: 'success' }]) {
				expect(await ask(body, statusCode, { location })).toEqual(failed(reason));
			}
		},
	);
});

test.each([
	{ name: 'null', response: null },
	{ name: 'a text', response: 'text' },
	{ name: 'a status that is a text', response: { statusCode: '200' } },
	{ name: 'a status that is a fraction', response: { statusCode: 200.5, body: created } },
])('what n8n returns in place of a response counts as a lost connection: $name', async (row) => {
	const result = await client(async () => row.response).request(send, campaignCreated, 1);
	expect(result).toEqual(failed(reasons.connectionLost));
});

test('no answer carries the key or the token into a result', async () => {
	const echo = `${apiKey} ${encodeURIComponent(authToken)}`;
	const results = [
		await ask({ ...created, description: echo, [echo]: echo }),
		await ask({ status: 'failure', type: apiKey, description: echo }),
		await ask(`<html>${echo}`),
	];
	expect(results[0]).toMatchObject({ kind: 'done', value: { description: withheld } });
	expect(JSON.stringify(results)).not.toContain('of-the-site');
});

test('a status record of another campaign is no answer, and the message says so', async () => {
	const record = { notification_id: '8', notification_status: 'Sent', count: {} };
	const other = 'about another campaign than 7';
	const result = await answering(record).request(readStatus, campaignStatusOf('7', other), 1);
	expect(result).toEqual(failed(reasons.unexpectedAnswer(200, other), readStatus));
});

describe('without an answer', () => {
	const failing = async (error: object, more?: Partial<ClientOptions>) => {
		const transport = async () => await Promise.reject(Object.assign(new Error(apiKey), error));
		return await client(transport, more).request(send, z.unknown(), 30_000);
	};

	test.each([
		{
			name: 'a refused connection is not sent',
			error: { code: 'ECONNREFUSED' },
			then: reasons.notConnected('push.example:8443', { reason: 'connection refused' }),
		},
		{ name: 'any other error leaves the outcome unknown', error: {}, then: reasons.connectionLost },
		{
			name: 'nothing of the error is passed on',
			error: { config: { headers: settings.headers } },
			then: reasons.connectionLost,
		},
		{
			name: "the HTTP helper's own timeout is one",
			error: { code: 'ECONNABORTED' },
			then: reasons.timeout(30_000),
		},
	])('$name', async ({ error, then }) => {
		expect(await failing(error)).toEqual(failed(then));
		const signal = new AbortController().signal;
		expect(await failing(error, { signal })).toEqual(failed(then));
	});

	/** A request that hangs, whatever its signal says. */
	function hanging() {
		const seen: { signal?: IHttpRequestOptions['abortSignal'] } = {};
		const transport: Transport = async ({ abortSignal }) => {
			seen.signal = abortSignal;
			return await new Promise(() => undefined);
		};
		return { seen, transport };
	}

	test('the request ends at its timeout, whatever the clock on the wall does', async () => {
		let reads = 0;
		const { seen, transport } = hanging();
		const slow = client(transport, {
			now: () => now + 86_400_000 * (reads++ % 3),
			sleep: async () => await Promise.resolve(),
		});
		expect(await slow.request(send, campaignCreated, 50)).toEqual(failed(reasons.timeout(50)));
		expect(seen.signal?.aborted).toBe(true);
	});

	test('the request ends when the user stops the execution, and its outcome is unknown', async () => {
		const stop = new AbortController();
		const { seen, transport } = hanging();
		const sleep = async () => await new Promise<void>(setImmediate);
		const options = { signal: stop.signal, sleep };
		const asking = client(transport, options).request(send, campaignCreated, 2 ** 31 - 1);
		await new Promise(setImmediate);
		expect(seen.signal?.aborted).toBe(false);
		stop.abort();
		expect(await asking).toEqual(failed(reasons.canceled));
		expect(seen.signal?.aborted).toBe(true);
	});

	test('nothing is requested if the user had stopped the execution before', async () => {
		const transport = jest.fn<Promise<unknown>, []>();
		const stopped = client(transport, { signal: AbortSignal.abort() });
		for (const request of [send, readStatus]) {
			const result = await stopped.request(request, z.unknown(), 500);
			expect(result).toEqual(failed(reasons.notStarted, request));
		}
		expect(transport).not.toHaveBeenCalled();
	});

	test.each([
		{ name: 'a canceled request may have been sent', code: 'ERR_CANCELED', then: reasons.canceled },
		{ name: 'a timeout may have been sent', code: 'ECONNABORTED', then: reasons.canceled },
		{ name: 'an unknown host was not sent', code: 'ENOTFOUND', then: reasons.notStarted },
	])('what fails once the user has stopped the execution: $name', async ({ code, then }) => {
		const stop = new AbortController();
		const cause = {
			get code() {
				stop.abort();
				return code;
			},
		};
		expect(await failing({ cause }, { signal: stop.signal })).toEqual(failed(then));
	});
});

test('any answer gives a result, and no ID that is not in it', async () => {
	const someAnswer = fc.oneof(
		fc.json(),
		fc.string(),
		fc.anything(),
		fc.record({ status: fc.constantFrom('success', 'failure'), ID: fc.anything() }),
		fc.record({ status: fc.constant('failure'), type: fc.anything(), description: fc.string() }),
	);
	await fc.assert(
		fc.asyncProperty(someAnswer, fc.integer({ min: 100, max: 599 }), async (body, statusCode) => {
			const result = await ask(body, statusCode);
			if (result.kind === 'done') expect(result.value.ID).toMatch(/\S/);
			else expect(result.problem.message).toMatch(/\S/);
		}),
	);
});
