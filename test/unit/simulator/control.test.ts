import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { SimulatorControl, startSimulator } from '../../../simulator';
import { call, send, useSimulator } from './support';

const now = Date.UTC(2030, 0, 10, 12, 0);
const simulator = useSimulator({ clock: () => now, lifeSpeed: 0, pathPrefix: '/push' });
const control = () => new SimulatorControl(simulator().origin);

test('shows the requests as they came, and the state without the credentials', async () => {
	await send(simulator(), 'sid', { sid: '9007199254740993' });
	await send(simulator(), 'all', { title: '' });
	const id = await control().addCampaign({ audience: 'segment', body: { segment: ['31'] } });
	const [first, second, ...others] = await control().requests();
	expect(others).toEqual([]);
	expect(first).toMatchObject({
		id: 1,
		method: 'POST',
		path: '/push/v1/notification/send/sid',
		answered: { status: 200, type: null },
		campaignId: 'sid-1',
	});
	expect(first?.body).toContain('"sid":"9007199254740993"');
	expect(first?.headers['servicekey']).toBe('demo-key');
	expect(second).toMatchObject({ answered: { status: 400, type: 'missing_parameter' } });
	const state = await control().state();
	expect(state).toEqual(simulator().state());
	expect(JSON.stringify(state)).not.toContain('demo-');
	expect((await control().state(1)).campaigns.map((campaign) => campaign.id)).toEqual([id]);
	expect((await control().state(0)).campaignCount).toBe(2);
	await control().clearRequests();
	expect(await control().requests()).toEqual([]);
});

test('breaks what a test wants broken, and reset mends it', async () => {
	await control().addFault({ action: { kind: 'failure', description: 'x', status: 500 } });
	expect((await send(simulator(), 'all')).status).toBe(500);
	await control().setRateLimit({ perSecond: 0, burst: 1 });
	expect((await send(simulator(), 'all')).status).toBe(200);
	expect((await send(simulator(), 'all')).status).toBe(429);
	await control().setRateLimit(undefined);
	await control().setLatency(5);
	await control().configure({ serviceKey: 'rotated' });
	expect((await send(simulator(), 'all')).status).toBe(401);
	await control().addFault({ action: { kind: 'truncate' } });
	await control().reset();
	const state = await control().state();
	expect(state).toMatchObject({ requestCount: 0, campaignCount: 0, faults: [], campaigns: [] });
	expect(state.settings).toMatchObject({ latencyMs: 0, failureStatus: 'mapped', rateLimit: null });
	expect((await send(simulator(), 'all')).json).toMatchObject({ ID: 1001 });
});

test.each([
	['GET', 'state', undefined, 404],
	['POST', 'nothing', [], 404],
	['POST', 'state', ['x'], 400],
	['POST', 'addFault', '{', 400],
	['POST', 'addFault', [{ action: { kind: 'unheard-of' } }], 400],
	['POST', 'addFault', [{ action: { kind: 'truncate' }, once: true }], 400],
	['POST', 'setCounters', ['1', { opened: 1 }], 400],
	['POST', 'click', ['none', 1], 400],
	['POST', 'configure', [{ latency: 1 }], 400],
])('refuses %s %s %j', async (method, path, body, status) => {
	const answer = await call(simulator().origin, { method, path: `/_simulator/${path}`, body });
	expect(answer.status).toBe(status);
	expect(answer.json).toHaveProperty('message');
	expect(simulator().requests).toEqual([]);
});

test('keeps a bounded number of requests and campaigns; a taken port is reported', async () => {
	const small = await startSimulator({ maxRequests: 20, maxCampaigns: 5 });
	for (let count = 0; count < 60; count += 1) await send(small, 'all');
	expect(small.requests.length).toBeLessThanOrEqual(25);
	expect(small.requests.at(-1)).toMatchObject({ id: 60, campaignId: '1060' });
	expect(small.requestCount).toBe(60);
	expect([...small.campaigns.keys()]).toEqual(['1056', '1057', '1058', '1059', '1060']);
	const port = Number(new URL(small.origin).port);
	await expect(startSimulator({ port })).rejects.toThrow('EADDRINUSE');
	await small.close();
});

test.each([
	['serves until it is stopped', ['--port', '0', '--path-prefix', '/push'], 0],
	['shows how it is used', ['--help'], 0],
	['refuses what it does not know', ['--unheard-of', '1'], 1],
])('the command line %s', async (_, args, exitCode) => {
	const root = join(__dirname, '../../..');
	const child = spawn(process.execPath, ['--import', 'tsx', 'simulator/cli.ts', ...args], {
		cwd: root,
	});
	let said = '';
	const ended = once(child, 'exit');
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (chunk: Buffer) => {
			said += chunk.toString();
			const url = /http:\S+\/push/.exec(said)?.[0];
			if (url === undefined || !said.includes('see')) return;
			const path = '/v1/site/subscriber_count';
			void call(url, { path }).then(({ status }) => child.kill(status === 200 ? 'SIGTERM' : 9));
		});
	}
	expect(await ended).toEqual([exitCode, null]);
	expect(said).toMatch(args.includes('--port') ? /What subscribers see: +http:/ : /Usage: npx tsx/);
});
