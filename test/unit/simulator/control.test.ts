import { SimulatorControl, startSimulator } from '../../../simulator';
import { call, send, useSimulator } from './support';

const now = Date.UTC(2030, 0, 10, 12, 0);
const simulator = useSimulator({ clock: () => now, lifeSpeed: 0, pathPrefix: '/push' });
const control = () => new SimulatorControl(simulator().origin);

test('shows the requests as they came, raw', async () => {
	simulator().addSubscribers(['9007199254740993']);
	await send(simulator(), 'sid', { sid: '9007199254740993' });
	await send(simulator(), 'all', { title: '' });
	const [first, second, ...others] = await control().requests();
	expect(others).toEqual([]);
	expect(first).toMatchObject({
		id: 1,
		method: 'POST',
		path: '/push/v1/notification/send/sid',
		json: { sid: '9007199254740993' },
		answered: { status: 200, type: null },
		campaignId: 'sid-1',
	});
	expect(first?.body).toContain('"sid":"9007199254740993"');
	expect(first?.headers['servicekey']).toBe('demo-key');
	expect(second).toMatchObject({ answered: { status: 400, type: 'missing_parameter' } });
	expect(await control().requests(1)).toEqual([second]);
	await control().clearRequests();
	expect(await control().requests()).toEqual([]);
});

test('shows the state without the credentials', async () => {
	await send(simulator(), 'all');
	await send(simulator(), 'segment');
	await control().addFault({ times: 3, action: { kind: 'truncate' } });
	const state = await control().state();
	expect(state).toEqual(simulator().state());
	expect(state).toMatchObject({
		url: `${simulator().origin}/push`,
		requestCount: 2,
		campaignCount: 2,
		settings: { latencyMs: 0, failureStatus: 'mapped', rateLimit: null },
		faults: [{ times: 3 }],
	});
	expect(JSON.stringify(state)).not.toContain('demo-');
	const { campaigns, campaignCount } = await control().state(1);
	expect(campaigns.map(({ id }) => id)).toEqual(['1002']);
	expect(campaignCount).toBe(2);
});

test('adds, counts and removes campaigns', async () => {
	const id = await control().addCampaign({ audience: 'segment', body: { segment: ['31'] } });
	await control().setCounters(id, { delivered: 12 });
	const campaign = (await control().campaigns()).get(id);
	expect(campaign).toEqual(simulator().campaign(id));
	expect(campaign).toMatchObject({ status: 'Sent', counters: { delivered: 12, clicked: 0 } });
	expect(await control().removeCampaign(id)).toBe(true);
	expect(await control().removeCampaign(id)).toBe(false);
	await expect(control().setCounters(id, {})).rejects.toThrow('No campaign');
});

test('switches faults, limits, latency and subscribers', async () => {
	await control().addFault({
		times: 0,
		action: { kind: 'failure', description: 'x', status: 500 },
	});
	expect((await send(simulator(), 'all')).status).toBe(500);
	await control().clearFaults();
	await control().setRateLimit({ perSecond: 0, burst: 1 });
	expect((await send(simulator(), 'all')).status).toBe(200);
	expect((await send(simulator(), 'all')).status).toBe(429);
	await control().setRateLimit(undefined);
	await control().addSubscribers(['77']);
	expect((await send(simulator(), 'sid', { sid: '77' })).status).toBe(200);
	await control().setLatency(5);
	await control().configure({ serviceKey: 'rotated' });
	expect((await control().state()).settings.latencyMs).toBe(5);
	expect((await send(simulator(), 'all')).status).toBe(401);
	await control().advance(3_600_000);
	expect((await control().state()).now).toBe(now + 3_600_000);
});

test('reset brings back how it was started', async () => {
	await send(simulator(), 'all');
	await control().addFault({ action: { kind: 'truncate' } });
	await control().configure({ serviceKey: 'x', latencyMs: 9, failureStatus: 200 });
	await control().setRateLimit({ perSecond: 0, burst: 1 });
	await control().addSubscribers(['77']);
	await control().advance(1e9);
	await control().reset();
	const state = await control().state();
	expect(state).toMatchObject({ requestCount: 0, campaignCount: 0, faults: [], campaigns: [] });
	expect(state.settings).toMatchObject({ latencyMs: 0, failureStatus: 'mapped', rateLimit: null });
	expect(state.now).toBe(now);
	expect((await send(simulator(), 'all')).json).toMatchObject({ ID: 1001 });
	expect((await send(simulator(), 'sid', { sid: '77' })).status).toBe(404);
});

test.each([
	['GET', 'nothing', undefined, 404],
	['GET', 'faults', undefined, 404],
	['GET', 'state?last=x', undefined, 400],
	['POST', 'faults', '{', 400],
	['POST', 'faults', { action: { kind: 'unheard-of' } }, 400],
	['POST', 'faults', { action: { kind: 'truncate' }, once: true }, 400],
	['POST', 'counters', { id: '1', counters: { opened: 1 } }, 400],
	['POST', 'settings', { latency: 1 }, 400],
	['POST', 'campaigns', { audience: 'everyone' }, 400],
])('refuses %s %s %j', async (method, path, body, status) => {
	const answer = await call(simulator().origin, { method, path: `/_simulator/${path}`, body });
	expect(answer.status).toBe(status);
	expect(answer.json).toHaveProperty('message');
	expect(simulator().requests).toEqual([]);
});

test('keeps a bounded number of requests and campaigns', async () => {
	const small = await startSimulator({ maxRequests: 20, maxCampaigns: 5 });
	try {
		for (let count = 0; count < 60; count += 1) {
			await send(small, 'all');
			expect(small.requests.length).toBeLessThanOrEqual(25);
		}
		expect(small.requests.length).toBeGreaterThanOrEqual(20);
		expect(small.requests.at(-1)).toMatchObject({ id: 60, campaignId: '1060' });
		expect(small.requestCount).toBe(60);
		expect([...small.campaigns.keys()]).toEqual(['1056', '1057', '1058', '1059', '1060']);
	} finally {
		await small.close();
	}
});

test('serves hundreds of requests at once', async () => {
	simulator().setLatency(20);
	const answers = await Promise.all(Array.from({ length: 400 }, () => send(simulator(), 'all')));
	expect(answers.every(({ status }) => status === 200)).toBe(true);
	expect(new Set(answers.map(({ text }) => text)).size).toBe(400);
});

test('a taken port is reported', async () => {
	const port = Number(new URL(simulator().origin).port);
	await expect(startSimulator({ port })).rejects.toThrow('EADDRINUSE');
});
