import {
	audiences,
	call,
	countPath,
	failure,
	send,
	sendNames,
	smallest,
	statusPath,
	useSimulator,
} from './support';

// Specification, Endpoints.

const now = Date.UTC(2030, 0, 10, 12, 0);
const simulator = useSimulator({ clock: () => now, lifeSpeed: 0 });
const generic = failure(undefined, 'Something went wrong. Please try again after some time');
const badRequest = failure('bad_request', 'Invalid JSON request');

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
		const { auto_hide: closes } = full[sent];
		const hiding = [closes, 1 - closes, undefined];
		const answers = [];
		for (const auto_hide of hiding) {
			answers.push(await send(simulator(), sent, { ...full[sent], auto_hide }));
		}
		const status = 'success';
		expect(answers[1]?.headers['content-type']).toBe('application/json');
		expect(answers[1]?.json).toEqual(
			sent === 'sid'
				? { status, description: 'Notification sent successfully' }
				: { status, description: 'Campaign created successfully', ID: 1002 },
		);
		const kept = [...simulator().campaigns.values()];
		expect(kept.map(({ closesByItself }) => closesByItself)).toEqual([true, false, null]);
		expect(kept[0]).toMatchObject({
			id: sent === 'sid' ? 'sid-1' : '1001',
			audience: sent,
			body: { ...smallest, ...audiences[sent], ...full[sent] },
			createdAt: now,
			dueAt: Date.UTC(2030, 0, 10, 12, 30),
			expiryMs: 7 * 24 * 60 * 60 * 1000,
		});
	},
);

test('the audience: everyone, a part of them, or one', async () => {
	await send(simulator(), 'all');
	await send(simulator(), 'segment', { segment: ['31', '32'] });
	await send(simulator(), 'segment', { segment: ['31'] });
	await send(simulator(), 'sid');
	const sizes = [...simulator().campaigns.values()].map(({ audienceSize }) => audienceSize);
	expect(sizes).toEqual([10_000, ...sizes.slice(1, 3), 1]);
	expect(sizes).toEqual([...new Set(sizes)].sort((one, other) => other - one));
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

const [noPath, noMethod] = ['no operation has this path', 'the operation has another method'];

test.each([
	['GET', '/v1/notification/send/all', 405, noMethod],
	['POST', countPath, 405, noMethod],
	['DELETE', `${statusPath}1001`, 405, noMethod],
	['GET', '/v2/site/subscriber_count', 404, noPath],
	['GET', `${countPath}/`, 404, noPath],
	['GET', `${countPath}?x=1`, 404, noPath],
	['GET', '/v1/notification/status/id', 404, noPath],
	['GET', `${statusPath}1001?x=1`, 404, noPath],
	['POST', '/v1/notification/send/everyone', 404, noPath],
	['GET', '/other', 404, noPath],
])('%s %s is no operation', async (method, path, status, reason) => {
	const body = method === 'GET' ? undefined : smallest;
	const answer = await call(simulator().url, { method, path, body });
	expect([answer.status, answer.headers['x-simulator-reason']]).toEqual([status, reason]);
	expect(answer.json).toEqual(generic);
});

test('a body over the limit, and one of a read, is refused', async () => {
	const large = await send(simulator(), 'all', { title: 'x'.repeat(1_000_001) });
	expect([large.status, large.json]).toEqual([413, badRequest]);
	const read = await call(simulator().url, { method: 'GET', path: countPath, body: '{}' });
	expect([read.status, read.json]).toEqual([400, badRequest]);
});
