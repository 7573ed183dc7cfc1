import { getEventListeners } from 'node:events';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { campaignCreated, notificationSent } from '../../../nodes/PushCampaign/service/answers';
import {
	answering,
	body,
	clientOf,
	failing,
	problemAfter,
	readCount,
	send,
	success,
} from './support';

/** The result of a send after an answer. */
async function sent(answer: unknown, statusCode = 200, headers: object = {}) {
	const client = clientOf(async () => ({ statusCode, headers, body: JSON.stringify(answer) }));
	return await client.request(send, campaignCreated, 30_000);
}

describe('a request', () => {
	const anySignal: unknown = expect.any(AbortSignal);

	// n8n's helper sends the same request again after HTTP 401, and the credential's headers after a redirect.
	test.each([
		{ name: 'that sends', request: send, own: { method: 'POST', body: JSON.stringify(body) } },
		{ name: 'that reads', request: readCount, own: { method: 'GET' } },
	])(
		'$name is made once, without the credential, and follows no redirect',
		async ({ request, own }) => {
			const seen: IHttpRequestOptions[] = [];
			const client = clientOf(async (options) => {
				seen.push(options);
				return await answering(success)();
			});
			await client.request(request, notificationSent, 1234);
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

	test('leaves no listener behind, neither at its own signal nor at that of the execution', async () => {
		const stop = new AbortController();
		const signals = [stop.signal];
		const transport = async ({ abortSignal }: IHttpRequestOptions) => {
			if (abortSignal instanceof AbortSignal) signals.push(abortSignal);
			return await answering(success)();
		};
		await clientOf(transport, stop.signal).request(send, notificationSent, 30_000);
		expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual([0, 0]);
	});

	test('that is answered gives the value and the answer as it came', async () => {
		expect(await sent({ ...success, more: 1 }, 201)).toEqual({
			answered: true,
			value: { campaignId: '1001', description: 'Campaign created' },
			raw: { ...success, more: 1 },
		});
	});

	test('gives nothing that repeats the key', async () => {
		const description = 'Created with the-key-of-the-site';
		const result = JSON.stringify(await sent({ ...success, description }));
		expect(result).toContain('Created with (withheld)');
		expect(result).not.toContain('the-key');
	});
});

describe('a redirect is not followed, and means not sent,', () => {
	test.each([
		{ statusCode: 301, location: 'https://other.example/x', host: 'other.example' },
		{ statusCode: 308, location: '/x', host: 'push.example:8443' },
		{ statusCode: 302, location: 'https://:', host: 'another address' },
		{ statusCode: 307, location: 'https://the-key-of-the-site.a', host: '(withheld).a' },
	])('to $location', async ({ statusCode, location, host }) => {
		expect(await problemAfter(send, answering('', statusCode, { location }))).toMatchObject({
			type: 'unexpected_answer',
			outcome: 'notSent',
			message: `The address of the push service redirects to ${host} (HTTP ${statusCode})`,
		});
	});
});

describe('Retry-After', () => {
	beforeAll(() => jest.useFakeTimers({ now: Date.UTC(2030, 0, 1), doNotFake: ['nextTick'] }));
	afterAll(() => jest.useRealTimers());

	const pauseAfter = async (header: unknown) => {
		const answer = failing('rate_limit', 'No', 200, { 'retry-after': header });
		return (await problemAfter(send, answer)).retryAfterMs;
	};

	test.each([
		{ header: '120', pause: 120_000 },
		{ header: ' 0.5 ', pause: 500 },
		{ header: 'Tue, 01 Jan 2030 01:00:00 GMT', pause: 3_600_000 },
	])('$header is a pause of $pause ms', async ({ header, pause }) => {
		expect(await pauseAfter(header)).toBe(pause);
	});

	test.each(['0', 'Mon, 31 Dec 2029 23:00:00 GMT', '10s', 's10', ['1', '2']])(
		'%s asks for no pause',
		async (header) => {
			expect(await pauseAfter(header)).toBeUndefined();
		},
	);

	test('says nothing in the place of what is to be mended', async () => {
		const answer = failing('authentication_failure', 'No', 401, { 'retry-after': '60' });
		expect((await problemAfter(send, answer)).fix).toMatch(/^Check 'API Key'/);
	});

	test.each([
		['60', '1 minute'],
		['61', '2 minutes'],
	])('of %s seconds is a pause of %s', async (header, pause) => {
		const answer = failing('rate_limit', 'No', 200, { 'retry-after': header });
		expect((await problemAfter(send, answer)).fix).toBe(
			`The service asks for a pause of ${pause}.`,
		);
	});
});

describe('without an answer', () => {
	const hanging = async () => await new Promise<never>(() => undefined);

	test('a send is unknown after its time, whatever hangs', async () => {
		expect(await problemAfter(send, hanging, 20)).toMatchObject({
			type: 'network',
			outcome: 'unknown',
			message:
				'It is unknown whether this was sent (the push service did not answer within 0.02 seconds)',
		});
	});

	test('the request itself is ended', async () => {
		let signal: unknown;
		const transport = async (options: IHttpRequestOptions) => {
			signal = options.abortSignal;
			return await hanging();
		};
		await problemAfter(readCount, transport, 20);
		expect(signal).toMatchObject({ aborted: true });
	});

	test('a send is unknown if the execution is stopped, and its request is ended at once', async () => {
		const stop = new AbortController();
		let signal: unknown;
		const transport = async (options: IHttpRequestOptions) => {
			signal = options.abortSignal;
			return await hanging();
		};
		const problem = problemAfter(send, transport, 30_000, stop.signal);
		stop.abort();
		expect(signal).toMatchObject({ aborted: true });
		expect(await problem).toMatchObject({
			outcome: 'unknown',
			message:
				'It is unknown whether this was sent (the node was stopped before the push service answered)',
		});
	});

	test('nothing is requested if the execution was stopped before', async () => {
		const transport = jest.fn(hanging);
		const problem = await problemAfter(send, transport, 30_000, AbortSignal.abort());
		expect(problem).toMatchObject({ type: 'network', outcome: 'notSent' });
		expect(transport).not.toHaveBeenCalled();
	});

	test('a send is not sent if no connection was made', async () => {
		const refused = Object.assign(new Error('the-key-of-the-site'), { code: 'ECONNREFUSED' });
		const problem = await problemAfter(send, async () => await Promise.reject(refused));
		expect(problem).toMatchObject({
			type: 'network',
			outcome: 'notSent',
			message: 'Could not connect to push.example:8443: connection refused',
			fix: "If it stays so, check 'Base URL' in the Push Campaign API credential.",
			cause: 'temporarily-unavailable',
		});
		expect(JSON.stringify(problem)).not.toContain('the-key');
	});

	test('a send is unknown if the connection was lost', async () => {
		const lost = async () => await Promise.reject(new Error('socket hang up'));
		expect((await problemAfter(send, lost)).message).toBe(
			'It is unknown whether this was sent (the connection was lost before the push service answered)',
		);
		expect((await problemAfter(readCount, lost)).message).toBe(
			'The connection was lost before the push service answered',
		);
	});
});
