import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Fault } from '../../simulator';
import { useListening } from './support/listening';
import {
	credentialsFor,
	failureOf,
	outputOf,
	push,
	sendsAt,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

const simulator = useSimulator();
const read = { operation: 'getStatus', campaignId: '1001' };
const noWaiting = { options: { rateLimitRetries: 0 } };

const run = async (parameters: Parameters<typeof push>[0] = {}, baseUrl = simulator().url) =>
	await runWorkflow(chain([push({ ...noWaiting, ...parameters })]), {
		credentials: credentialsFor(simulator(), { baseUrl }),
	});
const continued = async (parameters: Parameters<typeof push>[0] = {}) =>
	outputOf(
		await runWorkflow(
			chain([push({ ...noWaiting, ...parameters }, { onError: 'continueRegularOutput' })]),
			{ credentials: credentialsFor(simulator()) },
		),
	);
const fault = (action: Fault['action'], times = 0) => simulator().addFault({ times, action });

// The HTTP status is not what decides: the client's unit tests pair each kind of answer with all of them.
test.each([
	{ type: 'header_invalid', status: 401, httpCode: '401', cause: 'credential-invalid' },
	{ type: 'rate_limit', status: 404, httpCode: '429', cause: 'rate-limited' },
	{ type: undefined, status: 401, httpCode: '500', cause: 'temporarily-unavailable' },
	{ type: 'invalid_value', status: 500, httpCode: '400', cause: 'configuration-invalid' },
	{ type: 'quota_of_tomorrow', status: 200, httpCode: '400', cause: 'configuration-invalid' },
])(
	'the failure type $type with HTTP $status has its code, cause and the service’s words',
	async ({ type, status, httpCode, cause }) => {
		const said = 'Just as the service worded it';
		fault({ kind: 'failure', description: said, status, ...(type === undefined ? {} : { type }) });

		const failed = failureOf(await run());
		expect(failed).toMatchObject({ name: 'NodeApiError', httpCode, cause, itemIndex: 0 });
		expect(failed.message).toMatch(/^The push service /);
		expect(failed.description).toContain(`The service says: "${said}". It was not sent. `);
		expect(failed.description).not.toContain('Sent: ');
		expect(sendsAt(simulator())).toHaveLength(1);

		const error = { message: expectWords, description: expectWords, type: type ?? 'unspecified' };
		expect(await continued()).toStrictEqual([
			{ error: { ...error, httpCode, outcome: 'notSent' } },
		]);

		// Of a campaign that is not known.
		const expected = type === 'invalid_value' ? '404' : httpCode;
		expect(failureOf(await run(read))).toMatchObject({ httpCode: expected, cause });
	},
);

const expectWords: unknown = expect.stringMatching(/^[A-Z]\S* .+/);

test.each([
	['a wrong key', { apiKey: 'another-key' }, {}, '401', 'You are not authorized'],
	[
		'an unknown subscriber',
		{},
		{ operation: 'sendToSubscriber', subscriberId: '4' },
		'404',
		'Subsc',
	],
	['an unknown campaign', {}, read, '404', 'Invalid notification ID'],
])('what the service itself says of %s', async (_what, changes, parameters, httpCode, said) => {
	const credentials = credentialsFor(simulator(), changes);
	const failed = failureOf(await runWorkflow(chain([push(parameters)]), { credentials }));
	expect(failed).toMatchObject({ httpCode });
	expect(failed.description).toContain(`The service says: "${said}`);
});

const html = '<!doctype html><html><body>502 Bad Gateway</body></html>';
const respond = (status: number, body: string, type = 'text/html'): Fault['action'] => ({
	kind: 'respond',
	status,
	body,
	headers: { 'content-type': type },
});

// What stands in an answer is told in the client's unit tests; here is what n8n's helper makes of it.
test.each<[string, Fault['action'], { type: string; httpCode?: string }]>([
	['a gateway’s page', respond(502, html), { type: 'unexpected_answer', httpCode: '502' }],
	['garbage', respond(200, '\u0000\u0001{]'), { type: 'unexpected_answer', httpCode: '200' }],
	['HTTP 304', respond(304, ''), { type: 'unexpected_answer', httpCode: '304' }],
	['HTTP 204', respond(204, ''), { type: 'unexpected_answer', httpCode: '204' }],
	['a truncated answer', { kind: 'truncate' }, { type: 'network' }],
	['a lost connection', { kind: 'reset-after' }, { type: 'network' }],
	['a connection lost before', { kind: 'reset-before' }, { type: 'network' }],
	['an answer that never comes', { kind: 'hang', process: true }, { type: 'network' }],
])('%s leaves a send unknown, and it is made once', async (_name, action, expected) => {
	// Short only where nothing is answered in time: a busy machine takes its time to answer.
	const timeout = action.kind === 'hang' ? 250 : 10_000;
	const options = { options: { timeout, rateLimitRetries: 0 } };
	fault(action);
	const failed = failureOf(await run(options));
	expect(failed).toMatchObject({
		name: 'NodeApiError',
		cause: 'temporarily-unavailable',
		httpCode: expected.httpCode ?? null,
		itemIndex: 0,
	});
	expect(failed.message).toMatch(/^It is unknown whether this was sent: /);
	expect(failed.description).not.toContain('Sent: ');
	expect(sendsAt(simulator())).toHaveLength(1);

	expect(await continued(options)).toStrictEqual([
		{ error: { message: expectWords, description: expectWords, ...expected, outcome: 'unknown' } },
	]);
	expect(sendsAt(simulator())).toHaveLength(2);
});

test('a page that is not there leaves a send not sent, fails a read, and is asked for once', async () => {
	fault(respond(404, html));
	const failed = failureOf(await run());
	expect(failed).toMatchObject({
		name: 'NodeApiError',
		cause: 'configuration-invalid',
		httpCode: '404',
	});
	expect(failed.message).toMatch(/^The push service was not reached: /);
	expect(failed.description).toContain('It was not sent. Check that Base URL');
	expect(await continued()).toMatchObject([
		{ error: { type: 'unexpected_answer', outcome: 'notSent', httpCode: '404' } },
	]);
	expect(failureOf(await run(read))).toMatchObject({ httpCode: '404' });
	expect(simulator().requests).toHaveLength(3);
});

test('HTTP 429 that is not the service’s own is waited for, and tried again', async () => {
	const retryAfter = { 'retry-after': '0.01' };
	fault({ kind: 'respond', status: 429, body: html, headers: retryAfter }, 2);
	expect((await run({ options: {} })).status).toBe('success');
	expect(sendsAt(simulator())).toHaveLength(3);
});

describe('a service that can’t be reached leaves a send not sent', () => {
	// Without a certificate: every handshake fails.
	const port = useListening(createSecureServer());

	test.each([
		['a refused connection', () => 'http://127.0.0.1:1'],
		['a name that does not exist', () => 'https://push.invalid'],
		['no TLS', () => `https://127.0.0.1:${new URL(simulator().url).port}`],
		['TLS that fails', () => `https://127.0.0.1:${port()}`],
	])('%s', async (_name, baseUrl) => {
		const failed = failureOf(await run({}, baseUrl()));
		expect(failed).toMatchObject({ name: 'NodeApiError', cause: 'temporarily-unavailable' });
		expect(failed.message).toMatch(/^No connection to \S+ could be made: /);
		expect(failed.description).toContain('It was not sent.');
		expect(failed.description).not.toContain('Sent: ');
		expect(simulator().requests).toHaveLength(0);
	});
});

describe('a redirect', () => {
	let seen: Array<{ url: string | undefined; headers: IncomingHttpHeaders }>;
	const otherPort = useListening(
		createServer((request, response) => {
			seen.push({ url: request.url, headers: request.headers });
			response.end('{"status":"success","description":"Stolen","ID":1}');
		}),
	);
	beforeEach(() => {
		seen = [];
	});

	test('HTTP 303 after a send says that something was done: it is unknown, and not followed', async () => {
		const location = `http://127.0.0.1:${otherPort()}/v1/notification/send/all`;
		fault({ kind: 'redirect', location, status: 303 });
		expect(await continued()).toMatchObject([
			{ error: { type: 'unexpected_answer', outcome: 'unknown', httpCode: '303' } },
		]);
		expect(failureOf(await run(read)).message).toContain('redirects to 127.0.0.1:');
		expect(seen).toStrictEqual([]);
		expect(simulator().requests).toHaveLength(2);
	});

	test.each([302, 307])('HTTP %i is never followed', async (status) => {
		for (const origin of [`http://127.0.0.1:${otherPort()}`, simulator().url]) {
			simulator().reset();
			fault({ kind: 'redirect', location: `${origin}/v1/notification/send/all`, status });
			const failed = failureOf(await run());
			expect(failed).toMatchObject({
				name: 'NodeApiError',
				httpCode: String(status),
				cause: 'configuration-invalid',
			});
			expect(failed.message).toBe(
				`The address of the push service redirects to ${new URL(origin).host} (HTTP ${status})`,
			);
			expect(failed.description).not.toContain('Sent: ');
			expect(await continued()).toMatchObject([
				{ error: { type: 'unexpected_answer', outcome: 'notSent' } },
			]);
			expect(failureOf(await run(read))).toMatchObject({ httpCode: String(status) });
			expect(seen).toStrictEqual([]);
			expect(simulator().requests).toHaveLength(3);
		}
	});
});
