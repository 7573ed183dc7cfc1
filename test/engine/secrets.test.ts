import { inspect } from 'node:util';
import type { INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import { runPoll } from './support/poll';
import { credentialsFor, push, useSimulator } from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// n8n saves whole executions: nothing in one may hold the key or the token, wherever it stands. What of an
// answer is withheld is told in the unit tests of `redact`.

/** Any part of the mark is a leak. */
const mark = 'MARKED';
const secrets = { apiKey: `${mark} key/>+1?`, authToken: `${mark}=token&/2>?` };
const base64 = Buffer.from(secrets.authToken).toString('base64');
const quoted = `${secrets.apiKey}, ${encodeURIComponent(secrets.authToken)} and ${base64}`;

const simulator = useSimulator({ serviceKey: secrets.apiKey, authToken: secrets.authToken });

// The shortest pauses before a read is asked again.
beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => jest.restoreAllMocks());

/** What stands around each mark that can be reached from a value, also where JSON does not look. */
function marksIn(...found: unknown[]): string[] {
	const text = inspect(found, {
		depth: 30,
		showHidden: true,
		getters: true,
		customInspect: false,
		maxArrayLength: null,
		maxStringLength: null,
	});
	return text.match(new RegExp(`.{0,200}(?:${mark}|${base64})`, 'g')) ?? [];
}

/** Sends, reads and polls, in every way that tells of a failure. */
async function everything(baseUrl: string, timeout = 10_000) {
	const surroundings = { credentials: credentialsFor(simulator(), { ...secrets, baseUrl }) };
	const options = { timeout, rateLimitRetries: 0 };
	const read = { operation: 'getStatus', campaignId: '5', simplify: false };
	const run = async (
		parameters: INodeParameters,
		onError: 'stopWorkflow' | 'continueErrorOutput',
	) => await runWorkflow(chain([push({ ...parameters, options }, { onError })]), surroundings);
	const poll = async (campaignIds: string, mode: 'trigger' | 'manual') =>
		await runPoll({ campaignIds }, { ...surroundings, mode, activation: 'init', budgetMs: 2000 });
	return await Promise.allSettled([
		run({}, 'stopWorkflow'),
		run({}, 'continueErrorOutput'),
		run(read, 'stopWorkflow'),
		run(read, 'continueErrorOutput'),
		poll('5, 6', 'trigger'),
		poll('5', 'manual'),
	]);
}

const failure: Fault['action'] = { kind: 'failure', description: quoted, status: 400 };
const record = {
	status: 'success',
	description: quoted,
	ID: 5,
	notification_status: secrets.apiKey,
	notification_id: 5,
	count: { clicked: '1' },
	[secrets.authToken]: { deep: [secrets.apiKey] },
};

const marked: Array<{ name: string; action: Fault['action'] }> = [
	{ name: 'a failure that quotes them', action: { ...failure, type: 'authentication_failure' } },
	{ name: 'a failure without a type', action: failure },
	{
		name: 'a success that quotes them',
		action: { kind: 'respond', body: JSON.stringify(record) },
	},
	{
		name: 'a page that quotes them',
		action: { kind: 'respond', status: 502, body: `<html>${quoted}` },
	},
	{
		name: 'a header that quotes them',
		action: { kind: 'respond', body: '', headers: { 'x-echo': mark } },
	},
	{
		name: 'a redirect',
		action: { kind: 'redirect', location: 'http://127.0.0.1:1/', status: 307 },
	},
	{ name: 'a lost connection', action: { kind: 'reset-after' } },
	{ name: 'a truncated answer', action: { kind: 'truncate' } },
	{ name: 'no answer', action: { kind: 'hang', process: true } },
];

test.each(marked)('no part of the key and the token is left after $name', async ({ action }) => {
	simulator().addCampaign({ id: '6', counters: { clicked: 1 } });
	simulator().addFault({ match: { path: '/id/5' }, times: 0, action });
	simulator().addFault({ match: { method: 'POST' }, times: 0, action });
	// Short only where nothing is answered in time: a busy machine takes its time to answer.
	const timeout = action.kind === 'hang' ? 100 : 10_000;
	expect(marksIn(await everything(simulator().url, timeout))).toEqual([]);
});

test.each([
	{ name: 'a refused connection', baseUrl: () => 'http://127.0.0.1:1' },
	{ name: 'a host that does not exist', baseUrl: () => 'https://push.invalid' },
	{
		name: 'HTTPS where the service speaks HTTP',
		baseUrl: () => simulator().url.replace('http:', 'https:'),
	},
	{
		name: 'a Base URL that the node refuses',
		baseUrl: () => `http://127.0.0.1:1/?key=${secrets.apiKey}`,
	},
])('no part of the key and the token is left after $name', async ({ baseUrl }) => {
	expect(marksIn(await everything(baseUrl()))).toEqual([]);
});

test('the search finds a mark where there is one', () => {
	const value = { headers: [secrets.apiKey] };
	const hidden = Object.defineProperty(new Error('No'), 'config', { value, enumerable: false });
	expect(marksIn([hidden, base64])).toHaveLength(2);
});
