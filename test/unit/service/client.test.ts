import * as fc from 'fast-check';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { campaignCreated } from '../../../nodes/PushCampaign/service/answers';
import type { ClientOptions, ServiceRequest } from '../../../nodes/PushCampaign/service/client';
import { createClient, parseRetryAfter } from '../../../nodes/PushCampaign/service/client';
import { explain, reasons, type Reason } from '../../../nodes/PushCampaign/service/failures';
import { withheld } from '../../../nodes/PushCampaign/service/redact';

const [apiKey, authToken] = ['the-key-of-the-site', 'the-token-of-the-site'];
const settings = {
	baseUrl: 'https://push.example:8443/api',
	headers: { serviceKey: apiKey, serviceAuthToken: authToken },
};
const content = { title: 'Sale', message: 'Today', target_url: 'https://shop.example' };
const send: ServiceRequest = { kind: 'send', path: '/v1/notification/send/all', body: content };
const status: ServiceRequest = { kind: 'read', path: '/v1/x' };
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
	await answering(body, statusCode, headers).request(status, z.object({ a: z.string() }), 1);

const failed = (reason: Reason, { kind } = send) => ({
	kind: 'failed',
	problem: explain(reason, kind),
});

describe('the request', () => {
	const seen: IHttpRequestOptions[] = [];
	const recording = client(async (options) => {
		seen.push(options);
		return { statusCode: 200, headers: {}, body: created };
	});
	const anySignal: unknown = expect.any(AbortSignal);

	test.each([
		[send, { method: 'POST', body: JSON.stringify(content) }],
		[status, { method: 'GET' }],
	])('is made once, without the credential, and follows no redirect: %j', async (request, own) => {
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
	});
});

describe('an answer', () => {
	test.each([
		created,
		`\uFEFF${JSON.stringify(created)} \n`,
		'{"status":"success","description":"Campaign created","ID":12345678901234567890}',
	])('%j is read, and given as it came too', async (body) => {
		const ID = typeof body === 'string' && body.includes('890') ? '12345678901234567890' : 1001;
		expect(await ask(body, 201)).toEqual({
			kind: 'done',
			value: { ...created, ID: String(ID) },
			raw: { ...created, ID },
		});
	});

	// Specification, Errors: HTTP status codes of failures are not shown.
	test.each([200, 302, 400, 401, 404, 429, 500, 503])(
		'that is a failure is one, with HTTP %d too',
		async (statusCode) => {
			const failure = { status: 'failure', type: 'invalid_value', description: 'Late' } as const;
			for (const body of [failure, JSON.stringify(failure)]) {
				expect(await ask(body, statusCode)).toEqual(failed(reasons.failure(failure)));
			}
			// What is read too does not make it a success.
			const told = await read({ ...failure, a: '1' }, statusCode);
			expect(told).toEqual(failed(reasons.failure(failure), status));
		},
	);

	test.each([
		['a rate limit', { status: 'failure', type: 'rate_limit' }, 429, 'rate_limit'],
		['an unspecified failure', { status: 'failure' }, 503, 'unspecified'],
		["a gateway's 429", 'Slow down', 429, 'rate_limit'],
		["a gateway's 503", '<html>Busy</html>', 503, 'unexpected_answer'],
	])('that is %s carries how long to wait', async (_name, body, code, type) => {
		expect(await ask(body, code, { 'retry-after': ' 7 ' })).toMatchObject({
			problem: { type, retryAfterMs: 7000 },
		});
		for (const odd of [undefined, '', 7, ['7', '9']]) {
			const result = await ask(body, code, { 'retry-after': odd });
			expect(result).toHaveProperty('problem.retryAfterMs', undefined);
		}
	});

	const location = 'https://elsewhere.example:444/path?key=1#x';

	test.each([
		[301, location, 'elsewhere.example:444'],
		[302, location, 'elsewhere.example:444'],
		[307, location, 'elsewhere.example:444'],
		[308, '/v2/x', 'push.example:8443'],
		[301, '//cdn.example/', 'cdn.example'],
		[301, 'https://user:pass@cdn.example', 'cdn.example'],
		[301, 'http://', undefined],
		[301, 'mailto:x@y.example', undefined],
		[301, `https://${apiKey}.example`, withheld],
	])('HTTP %d with the Location %j redirects to %j: not sent', async (code, to, host) => {
		for (const body of ['', '<html>moved</html>', undefined]) {
			expect(await ask(body, code, { location: to })).toEqual(failed(reasons.redirect(code, host)));
		}
	});

	test('HTTP 303 after a read is a redirect', async () => {
		const moved = reasons.redirect(303, 'elsewhere.example:444');
		expect(await read('', 303, { location })).toEqual(failed(moved, status));
	});

	test.each([400, 401, 403, 404, 405, 407, 410, 418, 451, 499])(
		"HTTP %d without the service's JSON: not sent",
		async (code) => {
			for (const [body, what] of [
				['<html>no</html>', 'a web page'],
				['', 'empty'],
				['{"error":{"message":"Forbidden"}}', 'not what the push service promises'],
				['{"status":"failure","type":7}', 'not what the push service promises'],
			] as const) {
				const reason = reasons.refusedOnTheWay(code, what);
				expect(await ask(body, code)).toEqual(failed(reason));
				expect(await read(body, code)).toEqual(failed(reason, status));
			}
		},
	);

	const odd = 'not what the push service promises';

	test.each<[body: unknown, statusCode: number, what: string, location?: string]>([
		[created, 199, odd],
		[created, 300, odd],
		[created, 302, odd],
		[created, 400, odd],
		[created, 429, odd],
		[created, 500, odd],
		[{ status: 'success' }, 404, odd],
		['Request Timeout', 408, odd],
		['Server Error', 500, odd],
		[{ ...created, ID: {} }, 200, odd],
		[[], 200, odd],
		[7, 200, odd],
		['hello <html>', 200, odd],
		['{"status":"succ', 200, odd],
		['"success"', 200, odd],
		// No redirects: the first four by their codes, the fifth has nowhere to go.
		['', 300, 'empty'],
		['', 303, 'empty'],
		['', 305, 'empty'],
		['', 399, 'empty'],
		['', 301, 'empty', ''],
		['', 200, 'empty'],
		[' \n', 204, 'empty'],
		[undefined, 200, 'empty'],
		['null', 200, 'empty'],
		['<!DOCTYPE html><p>Bad gateway', 502, 'a web page'],
		['\n<html lang="en">', 200, 'a web page'],
		['<head>', 200, 'a web page'],
		['<body>', 200, 'a web page'],
		['<?xml version="1.0"?>', 200, 'a web page'],
	])('%j with HTTP %d is unknown', async (body, statusCode, what, to = location) => {
		expect(await ask(body, statusCode, { location: to })).toEqual(
			failed(reasons.unexpectedAnswer(statusCode, what)),
		);
	});

	test.each([null, 7, 'text', {}, { statusCode: '200' }, { statusCode: 200.5, body: created }])(
		'a response that is %j is none',
		async (response) => {
			const result = await client(async () => response).request(send, campaignCreated, 1);
			expect(result).toEqual(failed(reasons.connectionLost));
		},
	);

	test.each([[['x']], [7]])('headers that are %j do no harm', async (headers) => {
		const odd = client(async () => ({ statusCode: 200, headers, body: created }));
		expect(await odd.request(send, campaignCreated, 1)).toMatchObject({ kind: 'done' });
	});

	test('carries the key and the token nowhere', async () => {
		const echo = `${apiKey} ${Buffer.from(authToken).toString('base64')}`;
		const results = [
			await ask({ ...created, description: echo, [echo]: echo }),
			await ask({ status: 'failure', type: apiKey, description: echo }),
			await ask(`<html>${echo}`),
		];
		expect(results[0]).toMatchObject({ kind: 'done', value: { description: withheld } });
		expect(JSON.stringify(results)).not.toMatch(/of-the-site|dGhlLXRva2Vu/);
	});
});

describe('a status record', () => {
	const asking = async (campaignId: string, record: object, subject?: string) =>
		await answering(record).request(
			{ ...status, campaignId, ...(subject === undefined ? {} : { subject }) },
			z.object({ notification_id: z.coerce.string() }),
			1,
		);

	test.each([
		['1001', '1001', true],
		['1001', 1001, true],
		['0012', '12', true],
		['12', '0012', true],
		['0', '000', true],
		['a1', 'a1', true],
		['90071992547409931', '90071992547409931', true],
		['1001', '1002', false],
		['1001', 10010, false],
		['1001', '11', false],
		['0', '00a', false],
		['0a', 'a', false],
		['00a1', '0a1', false],
		['A1', 'a1', false],
		['90071992547409931', '90071992547409930', false],
		['1001', '', false],
	])('of %j that says %j is the one that was asked for: %j', async (asked, said, isSame) => {
		const other = reasons.unexpectedAnswer(200, 'about another campaign');
		const result = await asking(asked, { notification_id: said });
		if (isSame) expect(result).toMatchObject({ kind: 'done' });
		else expect(result).toEqual(failed(other, status));
	});

	test('names the one that was asked for, where messages are to', async () => {
		const other = reasons.unexpectedAnswer(200, 'about another campaign than 7');
		expect(await asking('7', { notification_id: '8' }, '7')).toEqual(failed(other, status));
	});
});

test.each([
	[{ ...send, body: { ...content, sid: '5001' } }, 'invalid_sid', 'subscriber with the ID 5001'],
	[{ ...status, campaignId: '1', subject: '1' }, 'invalid_value', 'campaign with the ID 1'],
	[
		{ ...status, campaignId: '1', subject: apiKey },
		'invalid_value',
		`campaign with the ID ${withheld}`,
	],
	[{ ...status, campaignId: '1001' }, 'invalid_value', 'campaign with this ID'],
])('%j with %s names the ID', async (request, type, words) => {
	const schema = z.object({ notification_id: z.string() });
	const result = await answering({ status: 'failure', type }).request(request, schema, 1);
	expect(result).toMatchObject({ problem: { message: `The push service has no ${words}` } });
});

describe('no answer', () => {
	const failing = async (error: object, more?: Partial<ClientOptions>) => {
		const transport = async () => await Promise.reject(Object.assign(new Error(apiKey), error));
		return await client(transport, more).request(send, z.unknown(), 30_000);
	};

	test.each([
		[
			{ code: 'ECONNREFUSED' },
			reasons.notConnected('push.example:8443', 'the address refuses connections'),
		],
		[{}, reasons.connectionLost],
		[{ config: { headers: settings.headers } }, reasons.connectionLost],
		[{ code: 'ECONNABORTED' }, reasons.timeout(30_000)],
	])('that the helper throws %j is told, and nothing of what was thrown', async (error, reason) => {
		expect(await failing(error)).toEqual(failed(reason));
		const signal = new AbortController().signal;
		expect(await failing(error, { signal })).toEqual(failed(reason));
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

	test('no answer within the time: unknown, whatever the clock on the wall does', async () => {
		let looks = 0;
		const { seen, transport } = hanging();
		const slow = client(transport, {
			now: () => now + 86_400_000 * (looks++ % 3),
			sleep: async () => await Promise.resolve(),
		});
		expect(await slow.request(send, campaignCreated, 50)).toEqual(failed(reasons.timeout(50)));
		expect(seen.signal?.aborted).toBe(true);
	});

	test('the user stops it: the request is ended, and unknown', async () => {
		const stop = new AbortController();
		const { seen, transport } = hanging();
		const sleep = async () => await new Promise<void>(setImmediate);
		const asking = client(transport, { signal: stop.signal, sleep }).request(
			send,
			campaignCreated,
			500,
		);
		await new Promise(setImmediate);
		expect(seen.signal?.aborted).toBe(false);
		stop.abort();
		expect(await asking).toEqual(failed(reasons.canceled));
		expect(seen.signal?.aborted).toBe(true);
	});

	test('the user had stopped it before: nothing is asked for, and not sent', async () => {
		const transport = jest.fn<Promise<unknown>, []>();
		const stopped = client(transport, { signal: AbortSignal.abort() });
		for (const request of [send, status]) {
			const result = await stopped.request(request, z.unknown(), 500);
			expect(result).toEqual(failed(reasons.notStarted, request));
		}
		expect(transport).not.toHaveBeenCalled();
	});

	test.each([
		['ERR_CANCELED', reasons.canceled],
		['ECONNABORTED', reasons.canceled],
		['ENOTFOUND', reasons.notStarted],
	])('what the helper throws once the user has stopped it: %s', async (code, reason) => {
		const stop = new AbortController();
		const cause = {
			get code() {
				stop.abort();
				return code;
			},
		};
		expect(await failing({ cause }, { signal: stop.signal })).toEqual(failed(reason));
	});
});

describe('Retry-After', () => {
	test.each([
		['0', undefined],
		['0.0', undefined],
		['120', 120_000],
		['1.5', 1500],
		['0.0001', 1],
		['9'.repeat(13), undefined],
		['Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
		['Mon, 31 Dec 2029 23:59:00 GMT', undefined],
		['Tue, 01 Jan 2030 00:00:00 GMT', undefined],
		['-7', undefined],
		['7s', undefined],
		['1,5', undefined],
		['1.', undefined],
		['soon', undefined],
		['', undefined],
	])('%j is %p', (header, milliseconds) => {
		expect(parseRetryAfter(header, now)).toBe(milliseconds);
	});
});

test('whatever comes, a request gives a result, and no ID that was not there', async () => {
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
