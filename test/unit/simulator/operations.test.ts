import { startSimulator } from '../../../simulator';
import {
	call,
	failure,
	requiredHeaders,
	send,
	sendNames,
	sends,
	smallest,
	useSimulator,
} from './support';

// Specification, Endpoints.

const now = Date.UTC(2030, 0, 10, 12, 0);
const simulator = useSimulator({ clock: () => now, lifeSpeed: 0 });
const generic = failure(undefined, 'Something went wrong. Please try again after some time');

const optional = {
	icon: 'https://cdn.example/icon.png',
	expire_push: '7d',
	send_at: '2030-01-10 18:00 +5:30',
	action_buttons: [{ title: 'Open', url: 'https://shop.example/a' }],
};
const full = {
	all: { ...optional, name: 'Spring', image: 'https://cdn.example/a.png', auto_hide: 1 },
	attribute: { ...optional, name: 'Spring', auto_hide: 0 },
	segment: { ...optional, name: 'Spring', image: 'https://cdn.example/a.png', auto_hide: 0 },
	sid: { ...optional, auto_hide: 0 },
};

test.each(['all', 'attribute', 'segment'] as const)(
	'send/%s answers with campaign IDs that count up',
	async (name) => {
		for (const ID of [1001, 1002, 1003]) {
			const answer = await send(simulator(), name);
			expect(answer.status).toBe(200);
			expect(answer.headers['content-type']).toBe('application/json');
			const description = 'Campaign created successfully';
			expect(answer.json).toEqual({ status: 'success', description, ID });
		}
		expect([...simulator().campaigns.keys()]).toEqual(['1001', '1002', '1003']);
	},
);

test('send/sid answers without a campaign ID and takes none', async () => {
	const answer = await send(simulator(), 'sid');
	const description = 'Notification sent successfully';
	expect(answer.json).toEqual({ status: 'success', description });
	expect((await send(simulator(), 'all')).json).toMatchObject({ ID: 1001 });
	expect([...simulator().campaigns.keys()]).toEqual(['sid-1', '1001']);
});

test.each(sendNames)('send/%s keeps every accepted field', async (name) => {
	const answer = await send(simulator(), name, full[name]);
	expect(answer.status).toBe(200);
	const [campaign] = simulator().campaigns.values();
	expect(campaign).toMatchObject({
		audience: name,
		body: { ...smallest, ...sends[name].audience, ...full[name] },
		createdAt: now,
		dueAt: Date.UTC(2030, 0, 10, 12, 30),
		expiryMs: 7 * 24 * 60 * 60 * 1000,
		closesByItself: true,
	});
});

test.each([
	{ name: 'all', closes: 1 },
	{ name: 'attribute', closes: 0 },
	{ name: 'segment', closes: 0 },
	{ name: 'sid', closes: 0 },
] as const)('auto_hide $closes closes by itself on send/$name', async ({ name, closes }) => {
	await send(simulator(), name, { auto_hide: closes });
	await send(simulator(), name, { auto_hide: 1 - closes });
	await send(simulator(), name);
	const readings = [...simulator().campaigns.values()].map(({ closesByItself }) => closesByItself);
	expect(readings).toEqual([true, false, null]);
});

test('the audience: everyone, a part of them, or one', async () => {
	await send(simulator(), 'all');
	await send(simulator(), 'segment', { segment: ['31'] });
	await send(simulator(), 'segment', { segment: ['31', '32'] });
	await send(simulator(), 'attribute', { attribute: { plan: 'pro' } });
	await send(simulator(), 'sid');
	const sizes = [...simulator().campaigns.values()].map(({ audienceSize }) => audienceSize);
	const [all = 0, one = 0, two = 0, tagged = 0, subscriber] = sizes;
	expect(all).toBe(10_000);
	expect(one).toBeGreaterThan(0);
	expect(two).toBeGreaterThan(one);
	expect(two).toBeLessThan(all);
	expect(tagged).toBeGreaterThan(0);
	expect(tagged).toBeLessThan(all);
	expect(subscriber).toBe(1);
});

test('status answers with the record, its counters as strings', async () => {
	await send(simulator(), 'all');
	simulator().setCounters('1001', { total_attempts: 12, successfully_sent: 11, clicked: 3 });
	const answer = await call(simulator().url, { path: '/v1/notification/status/id/1001' });
	expect(answer.status).toBe(200);
	expect(answer.json).toEqual({
		notification_status: 'Sent',
		notification_id: '1001',
		count: {
			total_attempts: '12',
			successfully_sent: '11',
			failed_to_send: '0',
			delivered: '0',
			clicked: '3',
			closed: '0',
		},
	});
});

test('status reads an encoded campaign ID', async () => {
	simulator().addCampaign({ id: 'spring/2030 ü?' });
	const id = encodeURIComponent('spring/2030 ü?');
	const answer = await call(simulator().url, { path: `/v1/notification/status/id/${id}` });
	expect(answer.json).toMatchObject({ notification_id: 'spring/2030 ü?' });
});

test('subscriber_count answers with strings', async () => {
	const read = () => call(simulator().url, { path: '/v1/site/subscriber_count' });
	expect((await read()).json).toEqual({
		total_life_time_subscribers: '12500',
		active_subscribers: '10000',
	});
	simulator().configure({ subscribers: { active: 3, lifetime: 9 } });
	expect((await read()).json).toEqual({
		total_life_time_subscribers: '9',
		active_subscribers: '3',
	});
});

test.each(['/v1/notification/status/id/1001', '/v1/site/subscriber_count'])(
	'GET %s is refused with a body',
	async (path) => {
		simulator().addCampaign({ id: '1001' });
		const answer = await call(simulator().url, { method: 'GET', path, body: '{}' });
		expect(answer.json).toEqual(failure('bad_request', 'Invalid JSON request'));
	},
);

test.each([
	{ method: 'GET', path: '/v1/notification/send/all' },
	{ method: 'PUT', path: '/v1/notification/send/sid' },
	{ method: 'POST', path: '/v1/site/subscriber_count' },
	{ method: 'DELETE', path: '/v1/notification/status/id/1001' },
])('$method $path is not the operation', async ({ method, path }) => {
	const body = method === 'GET' ? undefined : smallest;
	const answer = await call(simulator().url, { method, path, body });
	expect(answer.status).toBe(405);
	expect(answer.json).toEqual(generic);
	expect(answer.headers['x-simulator-reason']).toBe('the operation has another method');
});

test.each([
	'/v2/site/subscriber_count',
	'//v1/site/subscriber_count',
	'/v1/site/subscriber_count/',
	'/v1/site/subscriber_count?x=1',
	'/v1/notification/status/id',
	'/v1/notification/status/id/1001?x=1',
	'/v1/notification/send/everyone',
	'/index.html',
])('%s is no operation', async (path) => {
	const answer = await call(simulator().url, { path });
	expect(answer.status).toBe(404);
	expect(answer.json).toEqual(generic);
	expect(answer.headers['x-simulator-reason']).toBe('no operation has this path');
});

test('a body over the limit is refused, and the next request is served', async () => {
	const answer = await send(simulator(), 'all', { title: 'x'.repeat(1_000_001) });
	expect(answer.status).toBe(413);
	expect(answer.json).toEqual(failure('bad_request', 'Invalid JSON request'));
	expect((await send(simulator(), 'all')).status).toBe(200);
});

test('a body that is no UTF-8 is no JSON', async () => {
	const response = await fetch(simulator().url + sends.all.path, {
		method: 'POST',
		headers: requiredHeaders,
		body: Buffer.from(JSON.stringify({ ...smallest, title: 'Fünf' }), 'latin1'),
	});
	expect(await response.json()).toEqual(failure('bad_request', 'Invalid JSON request'));
});

test.each([200, 400, 503])('every failure can come with HTTP %i', async (failureStatus) => {
	simulator().configure({ failureStatus });
	const refused = await send(simulator(), 'all', { title: '' });
	expect(refused.status).toBe(failureStatus);
	expect(refused.json).toMatchObject({ type: 'missing_parameter' });
	const unauthorized = await call(simulator().url, {
		path: '/v1/site/subscriber_count',
		headers: { ...requiredHeaders, serviceKey: 'other' },
	});
	expect(unauthorized.status).toBe(failureStatus);
	expect((await send(simulator(), 'all')).status).toBe(200);
});

test('path prefix, credentials and header names are options', async () => {
	const other = await startSimulator({
		pathPrefix: '/push/api/',
		serviceKey: 'key-2',
		authToken: 'token-2',
		keyHeader: 'X-Key',
		tokenHeader: 'X-Token',
	});
	try {
		expect(other.url).toBe(`${other.origin}/push/api`);
		const headers = { 'X-Key': 'key-2', 'X-Token': 'token-2', 'Content-Type': 'application/json' };
		const path = '/v1/site/subscriber_count';
		expect((await call(other.url, { path, headers })).status).toBe(200);
		expect((await call(other.origin, { path, headers })).json).toEqual(generic);
		expect((await call(other.url, { path })).json).toEqual(
			failure('header_invalid', 'Missing required header X-Key'),
		);
	} finally {
		await other.close();
	}
});
