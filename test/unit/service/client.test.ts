import * as fc from 'fast-check';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { campaignCreated } from '../../../nodes/PushCampaign/service/answers';
import type { ClientOptions, ServiceRequest } from '../../../nodes/PushCampaign/service/client';
import { createClient, parseRetryAfter } from '../../../nodes/PushCampaign/service/client';
import {
	cancelledProblem,
	failureProblem,
	gatewayRateLimitProblem,
	notStartedProblem,
	plainAnswerProblem,
	redirectProblem,
	refusedOnTheWayProblem,
	unexpectedAnswerProblem,
} from '../../../nodes/PushCampaign/service/failures';
import { withheld } from '../../../nodes/PushCampaign/service/redact';

const secrets = ['the-key-of-the-site', 'the-token-of-the-site'];
const settings = {
	baseUrl: 'https://push.example:8443/api',
	headers: { serviceKey: 'the-key-of-the-site', serviceAuthToken: 'the-token-of-the-site' },
	secrets,
};
const content = { title: 'Sale', message: 'Today', target_url: 'https://shop.example' };
const send: ServiceRequest = {
	kind: 'send',
	path: '/v1/notification/send/all',
	body: content,
};
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

const unknownBecause = (what: string) => `It is unknown whether this was sent: ${what}`;

const fault = (facts: object) => Object.assign(new Error('a fault'), facts);

const failing = async (error: Error, request = send, more?: Partial<ClientOptions>) =>
	await client(async () => {
		throw error;
	}, more).request(request, z.unknown(), 30_000);

describe('the request', () => {
	const seen: IHttpRequestOptions[] = [];
	const recording = client(async (options) => {
		seen.push(options);
		return { statusCode: 200, headers: {}, body: created };
	});
	const anySignal: unknown = expect.any(AbortSignal);
	const common = {
		headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
		encoding: 'text',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
	};

	beforeEach(() => seen.splice(0));

	test('is made once, without the credential, and follows no redirect', async () => {
		await recording.request(send, campaignCreated, 1234);
		expect(seen).toEqual([
			{
				...common,
				method: 'POST',
				url: 'https://push.example:8443/api/v1/notification/send/all',
				body: JSON.stringify(send.body),
				timeout: 1234,
				abortSignal: anySignal,
			},
		]);
	});

	test('has no body where there is none', async () => {
		await recording.request(status, z.unknown(), 1);
		expect(seen).toStrictEqual([
			{
				...common,
				method: 'GET',
				url: 'https://push.example:8443/api/v1/x',
				timeout: 1,
				abortSignal: anySignal,
			},
		]);
	});
});

describe('an answer', () => {
	test.each([created, JSON.stringify(created), `\uFEFF${JSON.stringify(created)} \n`])(
		'%j is read, and given as it came too',
		async (body) => {
			expect(await ask(body)).toEqual({
				kind: 'done',
				value: { ...created, ID: '1001' },
				raw: created,
			});
		},
	);

	test('keeps every digit of an ID', async () => {
		const body = '{"status":"success","description":"d","ID":12345678901234567890}';
		expect(await ask(body, 201)).toMatchObject({
			kind: 'done',
			value: { ID: '12345678901234567890' },
		});
	});

	// Specification, Errors: HTTP status codes of failures are not shown.
	test.each([200, 302, 400, 401, 404, 429, 500, 503])(
		'that is a failure is one, with HTTP %d too',
		async (statusCode) => {
			const failure = {
				status: 'failure',
				type: 'invalid_value',
				description: 'Too late',
			} as const;
			expect(await ask(failure, statusCode)).toEqual({
				kind: 'failed',
				problem: failureProblem(failure, 'send'),
			});
			expect(await ask(JSON.stringify(failure), statusCode)).toMatchObject({
				problem: { type: 'invalid_value', outcome: 'notSent' },
			});
		},
	);

	test.each([
		['a rate limit', { status: 'failure', type: 'rate_limit' }, 429, 'rate_limit'],
		['an unspecified failure', { status: 'failure' }, 503, 'unspecified'],
		["a gateway's 429", 'Slow down', 429, 'rate_limit'],
		["a gateway's 503", '<html>Busy</html>', 503, 'unexpected_answer'],
	])('that is %s carries how long to wait', async (_name, body, code, type) => {
		expect(await ask(body, code, { 'retry-after': '7' })).toMatchObject({
			problem: { type, retryAfterMs: 7000 },
		});
		expect(await ask(body, code)).toHaveProperty('problem.retryAfterMs', undefined);
	});

	test.each([301, 302, 307, 308])(
		'HTTP %d with a Location is a redirect: not sent',
		async (code) => {
			for (const body of ['', '<html>moved</html>', undefined]) {
				const location = 'https://elsewhere.example:444/path?key=1#x';
				expect(await ask(body, code, { location })).toEqual({
					kind: 'failed',
					problem: redirectProblem(code, 'send', 'elsewhere.example:444'),
				});
			}
		},
	);

	test.each([
		['/v2/x', 'push.example:8443'],
		['//cdn.example/', 'cdn.example'],
		['https://user:pass@cdn.example', 'cdn.example'],
		['http://', undefined],
		['mailto:x@y.example', undefined],
		[`https://${secrets[0]}.example`, withheld],
	])('a redirect to %j names %j', async (location, host) => {
		expect(await ask('', 301, { location })).toMatchObject({
			problem: redirectProblem(301, 'send', host),
		});
	});

	test.each([
		[300, 'https://elsewhere.example'],
		[303, 'https://elsewhere.example'],
		[304, 'https://elsewhere.example'],
		[305, 'https://elsewhere.example'],
		[399, 'https://elsewhere.example'],
		[301, undefined],
		[302, ''],
		[307, ' '],
		[308, ['https://elsewhere.example']],
	])('HTTP %d to %j is no redirect: unknown', async (code, location) => {
		expect(await ask('', code, { location })).toEqual({
			kind: 'failed',
			problem: unexpectedAnswerProblem(code, 'empty', 'send'),
		});
	});

	test('HTTP 303 after a read is a redirect, 305 is not', async () => {
		const headers = { location: 'https://elsewhere.example' };
		expect(await answering('', 303, headers).request(status, z.object({}), 1)).toEqual({
			kind: 'failed',
			problem: redirectProblem(303, 'read', 'elsewhere.example'),
		});
		expect(await answering('', 305, headers).request(status, z.object({}), 1)).toEqual({
			kind: 'failed',
			problem: unexpectedAnswerProblem(305, 'empty', 'read'),
		});
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
				expect(await ask(body, code)).toEqual({
					kind: 'failed',
					problem: refusedOnTheWayProblem(code, what, 'send'),
				});
			}
			expect(await answering('', code).request(status, z.object({}), 1)).toEqual({
				kind: 'failed',
				problem: refusedOnTheWayProblem(code, 'empty', 'read'),
			});
		},
	);

	test("HTTP 429 without the service's JSON is a rate limit", async () => {
		for (const [seconds, retryAfterMs] of [
			['7', 7000],
			[undefined, undefined],
		] as const) {
			expect(await ask('<html>', 429, { 'retry-after': seconds })).toEqual({
				kind: 'failed',
				problem: gatewayRateLimitProblem('a web page', 'send', retryAfterMs),
			});
		}
	});

	test.each([
		[created, 300, 'not what the push service promises'],
		[created, 302, 'not what the push service promises'],
		['Request Timeout', 408, 'not the JSON of the push service'],
		[created, 400, 'not what the push service promises'],
		[created, 429, 'not what the push service promises'],
		[{ status: 'success' }, 404, 'not what the push service promises'],
		[created, 199, 'not what the push service promises'],
		[created, 500, 'not what the push service promises'],
		[{ ...created, ID: {} }, 200, 'not what the push service promises'],
		[[], 200, 'not what the push service promises'],
		[7, 200, 'not what the push service promises'],
		['', 200, 'empty'],
		[' \n', 204, 'empty'],
		[undefined, 200, 'empty'],
		[null, 200, 'empty'],
		['null', 200, 'empty'],
		['<!DOCTYPE html><p>Internal server error', 500, 'a web page'],
		['<!DOCTYPE html><p>Bad gateway', 502, 'a web page'],
		['\n<html lang="en">', 200, 'a web page'],
		['<head>', 200, 'a web page'],
		['<body>', 200, 'a web page'],
		['<?xml version="1.0"?>', 200, 'a web page'],
		['hello <html>', 200, 'not the JSON of the push service'],
		['{"status":"succ', 200, 'not the JSON of the push service'],
		['"success"', 200, 'not the JSON of the push service'],
	])('%j with HTTP %d is %3$s: unknown', async (body, statusCode, what) => {
		expect(await ask(body, statusCode)).toMatchObject({
			kind: 'failed',
			problem: {
				type: 'unexpected_answer',
				outcome: 'unknown',
				httpCode: String(statusCode),
				message: unknownBecause(`the answer (HTTP ${statusCode}) is ${what}`),
			},
		});
	});

	test.each([null, 7, 'text', {}, { statusCode: '200' }, { statusCode: 200.5, body: created }])(
		'a response that is %j is none',
		async (response) => {
			const result = await client(async () => response).request(send, campaignCreated, 1);
			expect(result).toMatchObject({ problem: { type: 'network', outcome: 'unknown' } });
		},
	);

	test('headers that are none do no harm', async () => {
		expect(await ask(created, 200, ['x'])).toMatchObject({ kind: 'done' });
		const odd = client(async () => ({ statusCode: 200, headers: 7, body: created }));
		expect(await odd.request(send, campaignCreated, 1)).toMatchObject({ kind: 'done' });
	});

	test('carries the key and the token nowhere', async () => {
		const [apiKey = '', authToken = ''] = secrets;
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
	const asking = async (campaignId: string, record: object) =>
		await answering({ notification_status: 'Sent', count: {}, ...record }).request(
			{ ...status, campaignId },
			z.object({ notification_id: z.coerce.string() }),
			1,
		);

	test.each([
		['1001', '1001'],
		['1001', 1001],
		['0012', '12'],
		['12', '0012'],
		['0', '000'],
		['a1', 'a1'],
		['90071992547409931', '90071992547409931'],
	])('of %j that says %j is the one that was asked for', async (asked, said) => {
		expect(await asking(asked, { notification_id: said })).toMatchObject({ kind: 'done' });
	});

	test.each([
		['1001', '1002'],
		['1001', 10010],
		['1001', '11'],
		['0', '00a'],
		['0a', 'a'],
		['00a', '0a'],
		['00a1', '0a1'],
		['A1', 'a1'],
		['90071992547409931', '90071992547409930'],
		['1001', ''],
	])('of %j that says %j is no answer', async (asked, said) => {
		expect(await asking(asked, { notification_id: said })).toEqual({
			kind: 'failed',
			problem: unexpectedAnswerProblem(200, 'about another campaign', 'read'),
		});
	});

	test('names the one that was asked for, where messages are to', async () => {
		const result = await answering({ notification_id: '8' }).request(
			{ ...status, campaignId: '7', subject: '7' },
			z.object({ notification_id: z.string() }),
			1,
		);
		expect(result).toMatchObject({
			problem: { message: 'The answer (HTTP 200) is about another campaign than 7' },
		});
	});

	test('of nothing that can be compared is no answer', async () => {
		const result = await answering({}).request({ ...status, campaignId: '1' }, z.object({}), 1);
		expect(result).toMatchObject({ problem: { type: 'unexpected_answer' } });
	});
});

test.each([
	[{ ...send, body: { ...content, sid: '5001' } }, 'invalid_sid', 'subscriber with the ID 5001'],
	[
		{ ...status, campaignId: '1001', subject: '1001' },
		'invalid_value',
		'campaign with the ID 1001',
	],
	[
		{ ...status, campaignId: '1', subject: String(secrets[0]) },
		'invalid_value',
		`campaign with the ID ${withheld}`,
	],
	[{ ...status, campaignId: '1001' }, 'invalid_value', 'campaign with this ID'],
])('%j with %s names the ID', async (request, type, words) => {
	const result = await answering({ status: 'failure', type }).request(request, z.unknown(), 1);
	expect(result).toMatchObject({ problem: { message: `The push service has no ${words}` } });
});

describe('no answer', () => {
	test('no connection: not sent, naming the host', async () => {
		expect(await failing(fault({ code: 'ECONNREFUSED', syscall: 'connect' }))).toMatchObject({
			problem: {
				type: 'network',
				outcome: 'notSent',
				message:
					'No connection to push.example:8443 could be made: the address refuses connections',
			},
		});
	});

	test('the connection was lost: unknown', async () => {
		expect(await failing(new Error('socket hang up'))).toMatchObject({
			problem: {
				type: 'network',
				outcome: 'unknown',
				message: unknownBecause(
					'the connection to the push service was lost before its answer arrived',
				),
			},
		});
	});

	test("the helper's own timeout: unknown", async () => {
		expect(await failing(fault({ code: 'ECONNABORTED' }))).toMatchObject({
			problem: {
				outcome: 'unknown',
				message: unknownBecause('the push service did not answer within 30 seconds'),
			},
		});
	});

	test('no answer within the time: unknown, whatever the clock on the wall does', async () => {
		let looks = 0;
		let signal: IHttpRequestOptions['abortSignal'];
		const transport: Transport = async ({ abortSignal }) => {
			signal = abortSignal;
			return await new Promise(() => undefined);
		};
		const slow = client(transport, {
			now: () => now + 86_400_000 * (looks++ % 3),
			sleep: async () => await Promise.resolve(),
		});
		expect(await slow.request(send, campaignCreated, 50)).toMatchObject({
			problem: {
				type: 'network',
				outcome: 'unknown',
				message: unknownBecause('the push service did not answer within 0.05 seconds'),
			},
		});
		expect(signal?.aborted).toBe(true);
	});

	test('the user stops it: the request is ended, and unknown', async () => {
		const stop = new AbortController();
		let signal: IHttpRequestOptions['abortSignal'];
		const transport: Transport = async ({ abortSignal }) => {
			signal = abortSignal;
			return await new Promise(() => undefined);
		};
		const sleep = async () => await new Promise<void>(setImmediate);
		const asking = client(transport, { signal: stop.signal, sleep }).request(
			send,
			campaignCreated,
			500,
		);
		await new Promise(setImmediate);
		expect(signal?.aborted).toBe(false);
		stop.abort();
		expect(await asking).toEqual({ kind: 'failed', problem: cancelledProblem('send') });
		expect(signal?.aborted).toBe(true);
	});

	test('an answer without TLS, where it was asked for: unknown, and said so', async () => {
		const wrongVersion = Object.assign(new Error('write EPROTO'), {
			code: 'ERR_SSL_WRONG_VERSION_NUMBER',
		});
		const transport = async () => await Promise.reject(wrongVersion);
		expect(await client(transport).request(send, campaignCreated, 500)).toEqual({
			kind: 'failed',
			problem: plainAnswerProblem('send'),
		});
	});

	test('the user had stopped it before: nothing is asked for, and not sent', async () => {
		const transport = jest.fn<Promise<unknown>, []>();
		const stopped = client(transport, { signal: AbortSignal.abort() });
		for (const request of [send, status]) {
			expect(await stopped.request(request, z.unknown(), 500)).toEqual({
				kind: 'failed',
				problem: notStartedProblem(request.kind),
			});
		}
		expect(transport).not.toHaveBeenCalled();
	});

	test('what the helper throws once the user has stopped it: unknown, unless it never left', async () => {
		const failingAfterStop = async (code: string) => {
			const stop = new AbortController();
			const error = {
				get code() {
					stop.abort();
					return code;
				},
			};
			const transport = async () =>
				await Promise.reject(Object.assign(new Error('x'), { cause: error }));
			return await client(transport, { signal: stop.signal }).request(send, campaignCreated, 500);
		};
		const message = unknownBecause('the execution was canceled before the push service answered');
		for (const code of ['ERR_CANCELED', 'ECONNABORTED']) {
			expect(await failingAfterStop(code)).toMatchObject({
				problem: { outcome: 'unknown', message },
			});
		}
		expect(await failingAfterStop('ENOTFOUND')).toMatchObject({
			problem: { outcome: 'notSent' },
		});
		const running = new AbortController().signal;
		expect(await failing(new Error('x'), send, { signal: running })).toMatchObject({
			problem: {
				message: unknownBecause(
					'the connection to the push service was lost before its answer arrived',
				),
			},
		});
	});

	test('nothing of the thrown error goes on', async () => {
		const error = Object.assign(new Error('the-key-of-the-site'), {
			config: { headers: settings.headers },
		});
		expect(JSON.stringify(await failing(error))).not.toContain('of-the-site');
	});
});

describe('Retry-After', () => {
	test.each([
		['0', undefined],
		['0.0', undefined],
		['7', 7000],
		['120', 120_000],
		[' 7 ', 7000],
		['1.5', 1500],
		['0.0001', 1],
		[7, undefined],
		[['7', '9'], undefined],
		['Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
		['Mon, 31 Dec 2029 23:59:00 GMT', undefined],
		['Tue, 01 Jan 2030 00:00:00 GMT', undefined],
		['2030-01-01T00:01:00Z', 60_000],
		['-7', undefined],
		['+7', undefined],
		['7s', undefined],
		['1,5', undefined],
		['1.', undefined],
		['2030-01-01', undefined],
		['soon', undefined],
		['', undefined],
		[null, undefined],
		[undefined, undefined],
		[{}, undefined],
	])('%j is %p', (header, milliseconds) => {
		expect(parseRetryAfter(header, now)).toBe(milliseconds);
	});

	test('is never negative and never NaN', () => {
		fc.assert(
			fc.property(fc.oneof(fc.string(), fc.date().map(String), fc.anything()), (header) => {
				expect(parseRetryAfter(header, now) ?? 0).toBeGreaterThanOrEqual(0);
			}),
		);
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
