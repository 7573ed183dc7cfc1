import execa from 'execa';
import { SimulatorControl, startSimulator, type Fault } from '../../../simulator';
import { call, countPath, send, useSimulator } from './support';

const now = Date.UTC(2030, 0, 10, 12, 0);
const simulator = useSimulator({ clock: () => now, lifeSpeed: 0, pathPrefix: '/push' });
const control = () => new SimulatorControl(simulator().origin);
const callMethod = async (method: string, ...body: unknown[]) =>
	(await call(simulator().origin, { path: `/_simulator/${method}`, headers: {}, body })).json;

test('shows the requests as they came, and the state without the credentials', async () => {
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

test('breaks what a test wants broken, and reset mends it', async () => {
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

/** Every fault's action, whether the request is carried out, and what the client sees of it. */
test.each<[Fault['action'], 'processed' | 'ignored', sees: unknown]>([
	[{ kind: 'reset-before' }, 'ignored', 'ECONNRESET'],
	[{ kind: 'reset-after' }, 'processed', 'ECONNRESET'],
	[{ kind: 'truncate' }, 'processed', 'ECONNRESET'],
	[{ kind: 'delay', ms: 40 }, 'processed', 200],
	[{ kind: 'respond', body: '<html>', status: 502 }, 'ignored', 502],
	[{ kind: 'respond', body: '', process: true }, 'processed', 200],
	[{ kind: 'failure', description: 'Closed' }, 'ignored', 200],
	[{ kind: 'redirect', location: 'http://x.example/' }, 'ignored', 302],
	[{ kind: 'big', megabytes: 0.5, process: true }, 'processed', 200],
])('%j is %s, once', async (action, processed, sees) => {
	const fault = simulator().addFault({ action });
	const before = performance.now();
	const seen = await send(simulator(), 'all').then(
		({ status }) => status,
		(error: NodeJS.ErrnoException) => error.code,
	);
	expect(seen).toBe(sees);
	if (action.kind === 'delay') expect(performance.now() - before).toBeGreaterThanOrEqual(38);
	const accepted = processed === 'processed' ? ['1001'] : [];
	expect([...simulator().campaigns.keys()]).toEqual(accepted);
	const [recorded] = simulator().requests;
	expect(recorded).toMatchObject({ fault, campaignId: accepted[0] ?? null });
	expect(recorded?.answered?.status).toBe(typeof sees === 'number' ? sees : undefined);
	expect((await send(simulator(), 'all')).status).toBe(200);
});

test.each([
	['GET', 'state', undefined, 404],
	['POST', 'nothing', [], 404],
	['POST', 'state', ['x'], 400],
	['POST', 'addFault', '{', 400],
	['POST', 'addFault', [{ action: { kind: 'unheard-of' } }], 400],
	['POST', 'addFault', [{ action: { kind: 'truncate' }, once: true }], 400],
	['POST', 'addFault', [{ action: { kind: 'truncate' }, times: -1 }], 400],
	['POST', 'setCounters', ['1', { opened: 1 }], 400],
	['POST', 'click', ['none', 1], 400],
	['POST', 'configure', [{ latency: 1 }], 400],
])('refuses %s %s %j', async (method, path, body, status) => {
	const answer = await call(simulator().origin, { method, path: `/_simulator/${path}`, body });
	expect(answer.status).toBe(status);
	expect(answer.json).toHaveProperty('message');
	expect(simulator().requests).toEqual([]);
});

test('a taken port is reported', async () => {
	const port = Number(new URL(simulator().origin).port);
	await expect(startSimulator({ port })).rejects.toThrow('EADDRINUSE');
});

test.each([
	[{ text: 'New' }, 200],
	[{ text: 7 }, 400],
	['no JSON', 400],
])('the chat answers to %j with %d, and keeps the latest messages', async (body, status) => {
	const post = () => call(simulator().origin, { path: '/chat', headers: {}, body });
	for (let posted = 0; posted < 60; posted += 1) expect((await post()).status).toBe(status);
	expect(simulator().state().messages).toHaveLength(status === 200 ? 50 : 0);
	expect(simulator().requests).toEqual([]);
});

test('the page is served without credentials, runs its own script alone, and is no request', async () => {
	const page = await call(simulator().origin, { path: '/', headers: {} });
	expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
	expect(page.text).toContain('What your subscribers see');
	// What was sent is shown as text only.
	expect(page.text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
	expect(page.headers['content-security-policy']).toMatch(
		/^default-src 'none'; .*script-src 'sha256-[\w+/]{43}='; style-src 'sha256-/,
	);
	expect(simulator().requests).toEqual([]);
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
	['--help', 0],
	['--unheard-of', 1],
])('the command line says how it is used after %s', async (option, exitCode) => {
	const ended = await commandLine(option);
	expect(ended.exitCode).toBe(exitCode);
	expect(ended.stdout + ended.stderr).toContain('Usage: npx tsx');
});
