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
const badRequest = failure('bad_request', 'Invalid JSON request');
const statusPath = '/v1/notification/status/id/';
const countPath = '/v1/site/subscriber_count';

const optional = {
	icon: 'https://cdn.example/icon.png',
	expire_push: '7d',
	send_at: '2030-01-10 18:00 +5:30',
	action_buttons: [{ title: 'Open', url: 'https://shop.example/a' }],
};
const [name, image] = ['Spring', 'https://cdn.example/a.png'];
/** The fields of each operation, and the value of `auto_hide` with which it closes by itself. */
const full = {
	all: { ...optional, name, image, auto_hide: 1 },
	attribute: { ...optional, name, auto_hide: 0 },
	segment: { ...optional, name, image, auto_hide: 0 },
	sid: { ...optional, auto_hide: 0 },
};

test.each(sendNames)(
	'send/%s keeps every accepted field, and answers as it is to',
	async (sent) => {
		const status = 'success';
		for (const ID of [1001, 1002]) {
			const answer = await send(simulator(), sent, full[sent]);
			expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
			expect(answer.json).toEqual(
				sent === 'sid'
					? { status, description: 'Notification sent successfully' }
					: { status, description: 'Campaign created successfully', ID },
			);
		}
		expect([...simulator().campaigns.keys()]).toEqual(
			sent === 'sid' ? ['sid-1', 'sid-2'] : ['1001', '1002'],
		);
		expect([...simulator().campaigns.values()][0]).toMatchObject({
			audience: sent,
			body: { ...smallest, ...sends[sent].audience, ...full[sent] },
			createdAt: now,
			dueAt: Date.UTC(2030, 0, 10, 12, 30),
			expiryMs: 7 * 24 * 60 * 60 * 1000,
		});
	},
);

test.each(sendNames)('auto_hide has its own reading on send/%s', async (sent) => {
	const { auto_hide: closes } = full[sent];
	for (const value of [closes, 1 - closes, undefined]) {
		await send(simulator(), sent, { auto_hide: value });
	}
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
	expect([all, subscriber]).toEqual([10_000, 1]);
	expect(0 < one && one < two && two < all).toBe(true);
	expect(0 < tagged && tagged < all).toBe(true);
});

test('status answers with the record, its counters as strings; the campaign ID may be encoded', async () => {
	const id = simulator().addCampaign({ id: 'spring/2030 ü?' });
	simulator().setCounters(id, { total_attempts: 12, successfully_sent: 11, clicked: 3 });
	const answer = await call(simulator().url, { path: statusPath + encodeURIComponent(id) });
	expect(answer.json).toEqual({
		notification_status: 'Sent',
		notification_id: id,
		count: {
			...{ total_attempts: '12', successfully_sent: '11', failed_to_send: '0' },
			...{ delivered: '0', clicked: '3', closed: '0' },
		},
	});
});

test('subscriber_count answers with strings', async () => {
	simulator().configure({ subscribers: { active: 3, lifetime: 9 } });
	expect((await call(simulator().url, { path: countPath })).json).toEqual({
		total_life_time_subscribers: '9',
		active_subscribers: '3',
	});
});

test.each([`${statusPath}1001`, countPath])('GET %s is refused with a body', async (path) => {
	simulator().addCampaign({ id: '1001' });
	const answer = await call(simulator().url, { method: 'GET', path, body: '{}' });
	expect(answer.json).toEqual(badRequest);
});

const [noPath, noMethod] = ['no operation has this path', 'the operation has another method'];

test.each([
	['GET', '/v1/notification/send/all', 405, noMethod],
	['PUT', '/v1/notification/send/sid', 405, noMethod],
	['POST', countPath, 405, noMethod],
	['DELETE', `${statusPath}1001`, 405, noMethod],
	['GET', '/v2/site/subscriber_count', 404, noPath],
	['GET', `/${countPath}`, 404, noPath],
	['GET', `${countPath}/`, 404, noPath],
	['GET', `${countPath}?x=1`, 404, noPath],
	['GET', '/v1/notification/status/id', 404, noPath],
	['GET', `${statusPath}1001?x=1`, 404, noPath],
	['GET', '/v1/notification/send/everyone', 404, noPath],
])('%s %s is no operation', async (method, path, status, reason) => {
	const body = method === 'GET' ? undefined : smallest;
	const answer = await call(simulator().url, { method, path, body });
	expect([answer.status, answer.headers['x-simulator-reason']]).toEqual([status, reason]);
	expect(answer.json).toEqual(generic);
});

test('a body over the limit, or that is no UTF-8, is refused; the next request is served', async () => {
	const large = await send(simulator(), 'all', { title: 'x'.repeat(1_000_001) });
	expect([large.status, large.json]).toEqual([413, badRequest]);
	const latin = await fetch(simulator().url + sends.all.path, {
		method: 'POST',
		headers: requiredHeaders,
		body: Buffer.from(JSON.stringify({ ...smallest, title: 'Fünf' }), 'latin1'),
	});
	expect(await latin.json()).toEqual(badRequest);
	expect((await send(simulator(), 'all')).status).toBe(200);
});

test.each([200, 400, 503])('every failure can come with HTTP %i', async (failureStatus) => {
	simulator().configure({ failureStatus });
	const refused = await send(simulator(), 'all', { title: '' });
	expect(refused.status).toBe(failureStatus);
	expect(refused.json).toMatchObject({ type: 'missing_parameter' });
	expect((await call(simulator().url, { path: countPath, headers: {} })).status).toBe(
		failureStatus,
	);
});

test('path prefix, credentials and header names are options', async () => {
	const other = await startSimulator({
		...{ pathPrefix: '/push/api/', serviceKey: 'key-2', authToken: 'token-2' },
		...{ keyHeader: 'X-Key', tokenHeader: 'X-Token' },
	});
	expect(other.url).toBe(`${other.origin}/push/api`);
	const headers = { 'X-Key': 'key-2', 'X-Token': 'token-2', 'Content-Type': 'application/json' };
	const path = countPath;
	expect((await call(other.url, { path, headers })).status).toBe(200);
	expect((await call(other.origin, { path, headers })).json).toEqual(generic);
	expect((await call(other.url, { path })).json).toEqual(
		failure('header_invalid', 'Missing required header X-Key'),
	);
	await other.close();
});
