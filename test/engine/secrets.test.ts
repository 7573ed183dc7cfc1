import { createServer } from 'node:http';
import { inspect } from 'node:util';
import type { INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import { useListening } from './support/listening';
import { Poller } from './support/poll';
import { content, credentialsFor, push, useSimulator } from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

const secrets = { apiKey: 'MARKED key/>+1?', authToken: 'MARKED=token&/2>?' };
const spellings = Object.values(secrets).flatMap((secret) => [
	secret,
	encodeURIComponent(secret),
	Buffer.from(secret).toString('base64'),
	Buffer.from(secret).toString('base64').replace(/=+$/, ''),
	Buffer.from(secret).toString('base64url'),
]);

/** Both as they stand and with what surrounds them: any part of the mark is a leak. */
const marks = [...new Set([...spellings, 'MARKED'])];

const simulator = useSimulator({ serviceKey: secrets.apiKey, authToken: secrets.authToken });
const credentials = (baseUrl = simulator().url) =>
	credentialsFor(simulator(), { ...secrets, baseUrl });

let written: string[];
let stolen: string[];

const otherPort = useListening(
	createServer((request, response) => {
		stolen.push(JSON.stringify(request.headers));
		response.end('{}');
	}),
);

beforeEach(() => {
	written = [];
	stolen = [];
	// The shortest pauses before a read is asked again.
	jest.spyOn(Math, 'random').mockReturnValue(0);
	for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) {
		jest.spyOn(console, name).mockImplementation((...values) => {
			written.push(values.map((value) => inspect(value, { depth: 10 })).join(' '));
		});
	}
	for (const stream of [process.stdout, process.stderr]) {
		jest.spyOn(stream, 'write').mockImplementation((chunk) => {
			written.push(String(chunk));
			return true;
		});
	}
});
afterEach(() => jest.restoreAllMocks());

function expectNoMark(...found: unknown[]): void {
	const texts = [
		...written,
		...found.map((value) => inspect(value, { depth: 30, showHidden: true, getters: true })),
		...found.flatMap(deepTexts),
	];
	for (const mark of marks) {
		expect(texts.filter((text) => text.includes(mark)).map((text) => around(text, mark))).toEqual(
			[],
		);
	}
}

const around = (text: string, mark: string) => {
	const at = text.indexOf(mark);
	return text.slice(Math.max(0, at - 200), at + 40);
};

/** Every text that can be reached from a value, also where JSON does not look. */
function deepTexts(root: unknown): string[] {
	const seen = new Set<object>();
	const texts: string[] = [];
	const queue: unknown[] = [root];
	for (let value = queue.pop(); queue.length > 0 || value !== undefined; value = queue.pop()) {
		if (typeof value === 'string') texts.push(value);
		if (typeof value !== 'object' || value === null || seen.has(value)) continue;
		seen.add(value);
		for (const key of Reflect.ownKeys(value)) {
			texts.push(String(key));
			queue.push(Reflect.getOwnPropertyDescriptor(value, key)?.value);
		}
	}
	return texts;
}

const echo = (texts: string[]) =>
	JSON.stringify({ status: 'failure', type: texts.join('x'), description: texts.join(' ') });
const faults: Array<[string, Fault['action'] | undefined]> = [
	['success', undefined],
	[
		'a failure that quotes them',
		{
			kind: 'failure',
			type: 'authentication_failure',
			description: `${secrets.apiKey} and ${secrets.authToken} are not welcome`,
			status: 400,
		},
	],
	['an unspecified failure', { kind: 'failure', description: spellings.join(' '), status: 500 }],
	['an answer that echoes them in its type', { kind: 'respond', body: echo(spellings) }],
	[
		'an answer that echoes them in reverse',
		{ kind: 'respond', body: echo([...spellings].reverse()) },
	],
	[
		'a success that echoes them',
		{
			kind: 'respond',
			body: JSON.stringify({
				status: 'success',
				description: spellings.join(' '),
				ID: 5,
				notification_status: secrets.apiKey,
				notification_id: 5,
				count: {
					total_attempts: '1',
					successfully_sent: '1',
					failed_to_send: '0',
					delivered: '0',
					clicked: '0',
					closed: '0',
				},
				[secrets.authToken]: { deep: [secrets.apiKey] },
			}),
		},
	],
	['a page that echoes them', { kind: 'respond', status: 502, body: `<html>${spellings.join()}` }],
	['JSON of another shape', { kind: 'respond', body: JSON.stringify({ headers: secrets }) }],
	['a header that echoes them', { kind: 'respond', body: '', headers: { 'x-echo': 'MARKED' } }],
	['a lost connection', { kind: 'reset-after' }],
	['a connection lost before', { kind: 'reset-before' }],
	['a truncated answer', { kind: 'truncate' }],
	['no answer', { kind: 'hang', process: true }],
];

const operations: Array<[string, INodeParameters]> = [
	['sendToAll', content],
	['getStatus', { operation: 'getStatus', campaignId: '5', simplify: false }],
];

test.each(faults)(
	'%s leaves no mark',
	async (_name, action) => {
		const id = simulator().addCampaign({ id: '5', counters: { clicked: 1 } });
		const healthy = simulator().addCampaign({ id: '6', counters: { clicked: 1 } });
		if (action !== undefined) {
			simulator().addFault({ match: { path: `/id/${id}` }, times: 0, action });
			simulator().addFault({ match: { method: 'POST' }, times: 0, action });
		}
		const options = { timeout: 100, rateLimitRetries: 0 };
		const runs = operations.flatMap(([, parameters]) =>
			(['stopWorkflow', 'continueRegularOutput'] as const).map(
				async (onError) =>
					await runWorkflow(chain([push({ ...parameters, options }, { onError })]), {
						credentials: credentials(),
					}),
			),
		);
		const poller = (campaignIds: string, mode: 'trigger' | 'manual') =>
			new Poller(
				{ campaignIds },
				{
					credentials: credentials(),
					mode,
					budgetMs: 2000,
					...(mode === 'trigger' ? { activation: 'init' } : {}),
				},
			);
		const polls = [poller(`${id},${healthy}`, 'trigger'), poller(id, 'manual')].map(
			async (one) => await one.poll().catch((error: unknown) => error),
		);
		expectNoMark(...(await Promise.all([...runs, ...polls])));
	},
	30_000,
);

test.each([
	['a refused connection', () => 'http://127.0.0.1:1'],
	['a name that does not exist', () => 'https://push.invalid'],
	['no TLS', () => `https://127.0.0.1:${new URL(simulator().url).port}`],
	['an address that is refused', () => `http://127.0.0.1:1/?key=${secrets.apiKey}`],
])('%s leaves no mark', async (_name, baseUrl) => {
	for (const onError of ['stopWorkflow', 'continueRegularOutput'] as const) {
		const run = await runWorkflow(chain([push({}, { onError })]), {
			credentials: credentials(baseUrl()),
		});
		expectNoMark(run);
	}
});

test('a redirect carries neither to another host', async () => {
	simulator().addFault({
		times: 0,
		action: { kind: 'redirect', location: `http://127.0.0.1:${otherPort()}/`, status: 307 },
	});
	for (const [, parameters] of operations) {
		const run = await runWorkflow(chain([push(parameters)]), { credentials: credentials() });
		expectNoMark(run);
	}
	expect(stolen).toEqual([]);
});

test('a dry run shows neither', async () => {
	const run = await runWorkflow(chain([push({ options: { dryRun: true } })]), {
		credentials: credentials(),
	});
	expectNoMark(run);
});

test('the search finds a mark where there is one', () => {
	const hidden = Object.defineProperty(new Error('No'), 'config', {
		value: { headers: [secrets.apiKey] },
		enumerable: false,
	});
	expect(() => expectNoMark(hidden)).toThrow();
	expect(() => expectNoMark({ a: Buffer.from(secrets.authToken).toString('base64') })).toThrow();
	written.push(`Request failed with ${encodeURIComponent(secrets.apiKey)}`);
	expect(() => expectNoMark()).toThrow();
});
