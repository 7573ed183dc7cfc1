import type { INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import {
	credentialsFor,
	failureOf,
	inputOf,
	outputOf,
	push,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// What n8n's HTTP helper makes of answers and of lost connections, and n8n's own errors of the node's failures.

const simulator = useSimulator();
const elsewhere = useSimulator();

const run = async (parameters: INodeParameters, baseUrl = simulator().url, more = {}) =>
	await runWorkflow(chain([push(parameters, more)]), {
		credentials: credentialsFor(simulator(), { baseUrl }),
		input: inputOf({ campaignId: '1001' }),
	});
const fault = (action: Fault['action'], times = 0) => simulator().addFault({ times, action });

interface Failure {
	readonly message: RegExp;
	readonly type: string;
	readonly outcome: 'notSent' | 'unknown';
	readonly httpCode?: string;
	readonly cause: string;
}

/** Sends once where a failure stops the run, and once with Continue: both have to tell the same. */
async function descriptionOf(
	{ message, cause, ...told }: Failure,
	baseUrl?: string,
): Promise<string> {
	const parameters = { options: { rateLimitRetries: 0 } };
	const stopped = failureOf(await run(parameters, baseUrl));
	expect(stopped).toMatchObject({
		name: 'NodeApiError',
		cause,
		httpCode: told.httpCode ?? null,
		itemIndex: 0,
	});
	expect(stopped.message).toMatch(message);
	const continued = await run(parameters, baseUrl, { onError: 'continueRegularOutput' });
	const { description } = stopped;
	expect(outputOf(continued)).toStrictEqual([
		{
			audience: 'all',
			status: told.outcome,
			description: stopped.message,
			error: { message: stopped.message, description, ...told },
			title: 'Summer sale',
		},
	]);
	return description;
}

test.each([
	{ type: 'rate_limit', status: 404, httpCode: '429', cause: 'rate-limited' },
	{ type: undefined, status: 401, httpCode: '500', cause: 'temporarily-unavailable' },
	{ type: 'invalid_value', status: 500, httpCode: '400', cause: 'configuration-invalid' },
])(
	'the failure type $type with HTTP $status has its own code and cause, and the service’s words',
	async ({ type, status, httpCode, cause }) => {
		const description = 'Just as the service worded it';
		fault({ kind: 'failure', description, status, ...(type === undefined ? {} : { type }) });
		const told = { type: type ?? 'unspecified', outcome: 'notSent', httpCode, cause } as const;
		expect(await descriptionOf({ ...told, message: /^The push service / })).toContain(
			`The service says: "${description}". It was not sent. `,
		);
		expect(simulator().requests).toHaveLength(2);
	},
);

const respond = (status: number, body: string, headers = {}): Fault['action'] => ({
	kind: 'respond',
	status,
	body,
	headers: { 'content-type': 'text/html', ...headers },
});
const html = '<!doctype html><html><body>Bad Gateway</body></html>';

// A gateway's page, and connections that end at other moments, are in host/reliabilitySends.
const unclear: Array<{ name: string; action: Fault['action']; httpCode?: string }> = [
	{ name: 'an answer that is no JSON', action: respond(200, '\u0000\u0001{]'), httpCode: '200' },
	{ name: '10 MB of text', action: { kind: 'big', megabytes: 10 }, httpCode: '200' },
	{ name: 'HTTP 304', action: respond(304, ''), httpCode: '304' },
	{ name: 'HTTP 204', action: respond(204, ''), httpCode: '204' },
	{ name: 'a connection that was lost after the request', action: { kind: 'reset-after' } },
];

test.each(unclear)(
	'a send is made once and is unknown after $name',
	async ({ action, httpCode }) => {
		fault(action);
		const description = await descriptionOf({
			message: /^It is unknown whether this was sent: .{1,200}$/,
			cause: 'temporarily-unavailable',
			outcome: 'unknown',
			...(httpCode === undefined ? { type: 'network' } : { type: 'unexpected_answer', httpCode }),
		});
		expect(description.length).toBeLessThan(1000);
		expect(simulator().requests).toHaveLength(2);
	},
);

test('a redirect that keeps the method is not sent and never followed', async () => {
	const status = 307;
	const location = `${elsewhere().url}/v1/notification/send/all`;
	fault({ kind: 'redirect', location, status });
	await descriptionOf({
		message: new RegExp(`redirects to ${new URL(location).host} \\(HTTP ${status}\\)$`),
		cause: 'configuration-invalid',
		type: 'unexpected_answer',
		outcome: 'notSent',
		httpCode: String(status),
	});
	expect(simulator().requests).toHaveLength(2);
	expect(elsewhere().requests).toEqual([]);
});

test.each([
	{ name: 'a host that does not exist', baseUrl: () => 'https://push.invalid' },
	{
		name: 'HTTPS where the service speaks HTTP',
		baseUrl: () => simulator().url.replace('http:', 'https:'),
	},
])(
	'a send is not sent after $name',
	async ({ baseUrl }) => {
		const failure: Failure = {
			message: /^Could not connect to \S+: /,
			cause: 'temporarily-unavailable',
			type: 'network',
			outcome: 'notSent',
		};
		expect(await descriptionOf(failure, baseUrl())).toContain('It was not sent.');
		expect(simulator().requests).toEqual([]);
		// A resolver that stays silent takes each of two sends to the end of its time.
	},
	120_000,
);

test('HTTP 407 is the answer of a proxy that asks for a password: not sent', async () => {
	fault(respond(407, html));
	const description = await descriptionOf({
		message: /^The proxy that n8n uses asks for a user name and password \(HTTP 407\)$/,
		cause: 'configuration-invalid',
		type: 'unexpected_answer',
		outcome: 'notSent',
		httpCode: '407',
	});
	expect(description).toMatch(/^It was not sent\. Enter them in the address of the proxy, /);
});

test('HTTP 429 that is not the service’s own is waited for, and tried again', async () => {
	fault(respond(429, html, { 'retry-after': '0.01' }), 2);
	expect((await run({})).status).toBe('success');
	expect(simulator().requests).toHaveLength(3);
});

test('a read waits as long as a failure asks that may pass', async () => {
	simulator().addCampaign({ id: '1001' });
	const headers = { 'retry-after': '2' };
	fault({ kind: 'failure', description: 'Under maintenance', status: 503, headers }, 2);
	expect((await run({ operation: 'getStatus' })).status).toBe('success');
	const [first = 0, second = 0, third = 0] = simulator().requests.map(({ at }) => at);
	// The service counts from its answer, n8n from when it has it.
	expect(second - first).toBeGreaterThanOrEqual(1900);
	expect(third - second).toBeGreaterThanOrEqual(1900);
});
