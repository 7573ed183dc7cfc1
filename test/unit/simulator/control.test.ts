import execa from 'execa';
import { SimulatorControl, startSimulator, type Fault } from '../../../simulator';
import { call, countPath, send, useSimulator } from './support';

const now = Date.UTC(2030, 0, 10, 12, 0);
const simulator = useSimulator({ clock: () => now, lifeSpeed: 0, pathPrefix: '/push' });
const control = () => new SimulatorControl(simulator().origin);
const callMethod = async (method: string, ...body: unknown[]) =>
	(await call(simulator().origin, { path: `/_simulator/${method}`, headers: {}, body })).json;

test('the control interface returns requests unchanged, and the state without credentials', async () => {
	await send(simulator(), 'sid', { sid: '9007199254740993' });
	await send(simulator(), 'all', { title: '' });
	const id = await control().addCampaign({ audience: 'segment', body: { segment: ['31'] } });
	expect(await callMethod('requests')).toMatchObject({
		result: [
			{
				...{ id: 1, method: 'POST', path: '/push/v1/notification/send/sid' },
				headers: { servicekey: 'demo-key' },
				body: simulator().requests[0]?.body,
				answered: { status: 200, type: null, at: now },
				campaignId: 'sid-1',
			},
			{ id: 2, answered: { status: 400, type: 'missing_parameter' }, campaignId: null },
		],
	});
	expect(simulator().requests[0]?.body).toContain('"sid":"9007199254740993"');
	expect(await control().requests()).toEqual([
		{ at: now, answered: { at: now } },
		{ at: now, answered: { at: now } },
	]);
	const state = await callMethod('state');
	expect(state).toEqual({ result: simulator().state() });
	expect(JSON.stringify(state)).not.toContain('demo-');
	expect((await control().state(1)).campaigns.map((campaign) => campaign.id)).toEqual([id]);
	expect((await control().state(0)).campaignCount).toBe(2);
	await control().clearRequests();
	expect(await control().requests()).toEqual([]);
});

test('faults, rate limit and key apply until reset restores the first settings', async () => {
	await control().addFault({ action: { kind: 'failure', description: 'x', status: 500 } });
	expect((await send(simulator(), 'all')).status).toBe(500);
	await control().configure({ rateLimit: { perSecond: 0, burst: 1 }, latencyMs: 5 });
	expect((await send(simulator(), 'all')).status).toBe(200);
	expect((await send(simulator(), 'all')).status).toBe(429);
	await control().configure({ rateLimit: null, serviceKey: 'rotated' });
	expect((await send(simulator(), 'all')).status).toBe(401);
	await control().addFault({ action: { kind: 'truncate' } });
	await control().reset();
	expect(simulator().state()).toMatchObject({
		...{ requestCount: 0, campaignCount: 0, faults: [], campaigns: [] },
		settings: { latencyMs: 0, failureStatus: 'mapped', rateLimit: null },
	});
	expect((await send(simulator(), 'all')).json).toMatchObject({ ID: 1001 });
});

/** The HTTP status, or the error code where there is no answer. */
const seenBy = async (answer: Promise<{ status: number }>) =>
	await answer.then(
		({ status }) => status,
		(error: NodeJS.ErrnoException) => error.code,
	);

interface FaultCase {
	name: string;
	action: Fault['action'];
	/** Whether the request is carried out. */
	isProcessed: boolean;
	/** The HTTP status that the client reads, or its error. */
	clientSees: number | string;
}

test.each<FaultCase>([
	{
		name: 'a reset before the request is processed creates no campaign',
		...{ action: { kind: 'reset-before' }, isProcessed: false, clientSees: 'ECONNRESET' },
	},
	{
		name: 'a reset after the request was processed creates the campaign',
		...{ action: { kind: 'reset-after' }, isProcessed: true, clientSees: 'ECONNRESET' },
	},
	{
		name: 'a truncated answer comes after the campaign was created',
		...{ action: { kind: 'truncate' }, isProcessed: true, clientSees: 'ECONNRESET' },
	},
	{
		name: 'a delayed answer is a success',
		...{ action: { kind: 'delay', ms: 40 }, isProcessed: true, clientSees: 200 },
	},
	{
		name: "a gateway's page creates no campaign",
		action: { kind: 'respond', body: '<html>', status: 502 },
		...{ isProcessed: false, clientSees: 502 },
	},
	{
		name: 'an empty answer can come after the campaign was created',
		action: { kind: 'respond', body: '', process: true },
		...{ isProcessed: true, clientSees: 200 },
	},
	{
		name: 'a failure body can come with HTTP 200',
		action: { kind: 'failure', description: 'Closed' },
		...{ isProcessed: false, clientSees: 200 },
	},
	{
		name: 'a redirect creates no campaign',
		action: { kind: 'redirect', location: 'http://x.example/' },
		...{ isProcessed: false, clientSees: 302 },
	},
	{
		name: 'a huge answer can come after the campaign was created',
		action: { kind: 'big', megabytes: 0.5, process: true },
		...{ isProcessed: true, clientSees: 200 },
	},
])('a fault applies to one request: $name', async ({ action, isProcessed, clientSees }) => {
	const fault = simulator().addFault({ action });
	expect(await seenBy(send(simulator(), 'all'))).toBe(clientSees);
	const accepted = isProcessed ? ['1001'] : [];
	expect([...simulator().campaigns.keys()]).toEqual(accepted);
	const [recorded] = simulator().requests;
	expect(recorded).toMatchObject({ fault, campaignId: accepted[0] ?? null });
	expect(recorded?.answered?.status).toBe(typeof clientSees === 'number' ? clientSees : undefined);
	expect((await send(simulator(), 'all')).status).toBe(200);
});

interface ButtonCase {
	button: 'serviceDown' | 'tooManyRequests' | 'lostAnswer';
	/** What the client reads of four sends, one after another. */
	clientSees: Array<number | string>;
	campaigns: number;
	failedSend: object;
}

describe("the page's buttons make the next sends fail", () => {
	const answered = (status: number, type: string | null) => ({ status, type });

	test.each<ButtonCase>([
		{
			button: 'serviceDown',
			clientSees: [503, 200, 200, 200],
			campaigns: 3,
			failedSend: { audience: 'all', answered: answered(503, null), campaignId: null },
		},
		{
			button: 'tooManyRequests',
			clientSees: [429, 429, 429, 200],
			campaigns: 1,
			failedSend: { audience: 'all', answered: answered(429, 'rate_limit'), campaignId: null },
		},
		{
			button: 'lostAnswer',
			clientSees: ['ECONNRESET', 200, 200, 200],
			campaigns: 4,
			failedSend: { audience: 'all', answered: null, campaignId: '1001' },
		},
	])('$button changes sends, not reads, and ends by itself', async (row) => {
		expect(await callMethod('toggleFault', row.button)).toEqual({});
		expect(simulator().state().faults).toMatchObject([{ name: row.button }]);
		expect((await call(simulator().url, { path: countPath })).status).toBe(200);
		const seen: unknown[] = [];
		while (seen.length < 4) seen.push(await seenBy(send(simulator(), 'all')));
		expect(seen).toEqual(row.clientSees);
		expect(simulator().campaigns.size).toBe(row.campaigns);
		expect(simulator().state().faults).toEqual([]);
		expect(simulator().state().failedSends.at(0)).toEqual({ at: now, ...row.failedSend });
	});

	test('a second click switches a fault off', async () => {
		simulator().toggleFault('lostAnswer');
		simulator().toggleFault('serviceDown');
		simulator().toggleFault('lostAnswer');
		expect((await send(simulator(), 'all')).status).toBe(503);
		expect((await send(simulator(), 'all')).status).toBe(200);
	});

	test('the page shows the five latest sends that were refused', async () => {
		for (let sends = 0; sends < 6; sends += 1) await send(simulator(), 'all', { title: '' });
		await send(simulator(), 'sid', { sid: 'x' });
		await send(simulator(), 'all');
		const { failedSends } = simulator().state();
		expect(failedSends).toHaveLength(5);
		expect(failedSends.at(-1)).toMatchObject({
			audience: 'sid',
			answered: { type: 'invalid_sid' },
		});
	});
});

test.each([
	{ name: 'a GET', method: 'GET', path: 'state', body: undefined, status: 404 },
	{ name: 'an unknown method', path: 'nothing', body: [], status: 404 },
	{ name: 'a count that is no number', path: 'state', body: ['x'], status: 400 },
	{ name: 'a body that is not JSON', path: 'addFault', body: '{', status: 400 },
	{
		name: 'an unknown fault',
		path: 'addFault',
		body: [{ action: { kind: 'unheard-of' } }],
		status: 400,
	},
	{
		name: 'an unknown field of a fault',
		path: 'addFault',
		body: [{ action: { kind: 'truncate' }, once: true }],
		status: 400,
	},
	{
		name: 'a negative number of requests',
		path: 'addFault',
		body: [{ action: { kind: 'truncate' }, times: -1 }],
		status: 400,
	},
	{ name: 'an unknown button', path: 'toggleFault', body: ['unheard-of'], status: 400 },
	{ name: 'an unknown counter', path: 'setCounters', body: ['1', { opened: 1 }], status: 400 },
	{ name: 'an unknown campaign', path: 'click', body: ['none', 1], status: 400 },
	{ name: 'an unknown setting', path: 'configure', body: [{ latency: 1 }], status: 400 },
])('the control interface refuses $name', async ({ method = 'POST', path, body, status }) => {
	const answer = await call(simulator().origin, { method, path: `/_simulator/${path}`, body });
	expect(answer.status).toBe(status);
	expect(answer.json).toHaveProperty('message');
	expect(simulator().requests).toEqual([]);
});

test('the start fails if the port is taken', async () => {
	const port = Number(new URL(simulator().origin).port);
	await expect(startSimulator({ port })).rejects.toThrow('EADDRINUSE');
});

test.each([
	{ name: 'keeps the 50 latest messages', body: { text: 'New' }, status: 200 },
	{ name: 'refuses a text that is a number', body: { text: 7 }, status: 400 },
	{ name: 'refuses a body that is not JSON', body: 'no JSON', status: 400 },
])('the chat $name', async ({ body, status }) => {
	const post = () => call(simulator().origin, { path: '/chat', headers: {}, body });
	for (let posted = 0; posted < 60; posted += 1) expect((await post()).status).toBe(status);
	expect(simulator().state().messages).toHaveLength(status === 200 ? 50 : 0);
	expect(simulator().requests).toEqual([]);
});

test.each([{ path: '/' }, { path: '/chat' }])(
	'$path serves the page without credentials, and allows only its own script',
	async ({ path }) => {
		const page = await call(simulator().origin, { path, headers: {} });
		expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
		expect(page.text).toContain('What your subscribers see');
		expect(page.text).not.toMatch(/<script>|<style>| on\w+=/);
		expect(page.headers['content-security-policy']).toMatch(
			/^default-src 'none'; .*script-src 'self'; style-src 'self';/,
		);
		expect(simulator().requests).toEqual([]);
	},
);

test('a module of the page is served as JavaScript', async () => {
	const script = await call(simulator().origin, { path: '/page/elements', headers: {} });
	expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
	expect(script.text).toContain('export function find(parent, selector, type) {');
});

test.each([
	{ search: 'SPRING ada', found: ['1001'] },
	{ search: 'subscriber 5001', found: ['sid-1'] },
	{ search: 'scheduled', found: ['1002'] },
	{ search: '1002', found: ['1002'] },
	{ search: 'title', found: [] },
	{ search: ' ', found: ['1001', '1002', 'sid-1'] },
])('a search for "$search" finds sends that hold all of its words', ({ search, found }) => {
	const content = { message: 'Half price', target_url: 'https://a.example' };
	simulator().addCampaign({ body: { ...content, title: 'Spring sale, Ada' } });
	simulator().addCampaign({ body: { ...content, title: 'Spring sale' }, dueAt: now + 60_000 });
	simulator().addCampaign({ audience: 'sid', body: { ...content, title: 'Hello', sid: '5001' } });
	const state = simulator().state(50, search);
	expect(state.campaigns.map(({ id }) => id)).toEqual(found);
	expect(state).toMatchObject({ campaignCount: 3, foundCount: found.length });
});

const commandLine = (...args: string[]) =>
	execa(process.execPath, ['--import', 'tsx', 'simulator/cli.ts', ...args], { reject: false });

test('the command line serves until it is stopped', async () => {
	const running = commandLine('--port', '0', '--path-prefix', '/push');
	let said = '';
	running.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
	while (!said.includes('What subscribers see')) await new Promise((next) => setTimeout(next, 50));
	const url = /http:\S+\/push/.exec(said)?.[0] ?? '';
	expect((await call(url, { path: countPath })).status).toBe(200);
	running.kill('SIGTERM');
	expect((await running).exitCode).toBe(0);
});

test.each([
	{ option: '--help', exitCode: 0 },
	{ option: '--unheard-of', exitCode: 1 },
])('the command line prints its usage after $option', async ({ option, exitCode }) => {
	const ended = await commandLine(option);
	expect(ended.exitCode).toBe(exitCode);
	expect(ended.stdout + ended.stderr).toContain('Usage: npx tsx');
});
