import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { startSimulator, type Simulator } from '../../../simulator';

// The tables of docs/service-interface.md, over HTTP.

const start = Date.UTC(2030, 0, 10, 12, 0);
let now = start;
const headers = {
	serviceKey: 'demo-key',
	serviceAuthToken: 'demo-token',
	'Content-Type': 'application/json',
};

let simulator: Simulator;
beforeAll(async () => {
	simulator = await startSimulator({ clock: () => now, lifeSpeed: 0 });
});
beforeEach(() => {
	now = start;
	simulator.reset();
});
afterAll(async () => await simulator.close());

/** The JSON of an answer. */
async function call(path: string, init: RequestInit): Promise<unknown> {
	const response = await fetch(`${simulator.url}/v1/${path}`, init);
	expect(response.headers.get('content-type')).toBe('application/json');
	return await response.json();
}

const read = async (path: string) => await call(path, { headers });
const post = async (operation: string, body: string) =>
	await call(`notification/send/${operation}`, { method: 'POST', headers, body });

const content = {
	title: 'Spring sale',
	message: 'Everything at half price',
	target_url: 'https://shop.example/sale',
};
const audiences = {
	all: {},
	attribute: { attribute: { plan: 'pro', age: 42 } },
	segment: { segment: ['31', 32] },
	sid: { sid: '5001' },
};
type Operation = keyof typeof audiences;

/** The answer to the smallest send with these changes. */
const send = async (operation: Operation, changes: Record<string, unknown> = {}) =>
	await post(operation, JSON.stringify({ ...content, ...audiences[operation], ...changes }));

const failure = (type: string, description: string) => ({ status: 'failure', type, description });
const success: unknown = expect.objectContaining({ status: 'success' });
const refused: unknown = expect.objectContaining({ status: 'failure' });

const button = { title: 'Open', url: 'https://shop.example/a' };
const common = {
	icon: 'https://cdn.example/i.png',
	expire_push: '4d',
	auto_hide: 1,
	send_at: '2030-01-10 17:35 +5:30',
	action_buttons: [button],
};
const name = { name: 'Spring' };
const image = { image: 'https://cdn.example/a.png' };

describe.each([
	{ operation: 'all', optional: { ...common, ...name, ...image } },
	{ operation: 'attribute', optional: { ...common, ...name } },
	{ operation: 'segment', optional: { ...common, ...name, ...image } },
	{ operation: 'sid', optional: common },
] as const)('send/$operation', ({ operation, optional }) => {
	test('gives the specified answer, with a campaign ID if it is for more than one', async () => {
		expect(await send(operation)).toEqual(
			operation === 'sid'
				? { status: 'success', description: 'Notification sent successfully' }
				: { status: 'success', description: 'Campaign created successfully', ID: 1001 },
		);
	});

	test('accepts its optional fields, and no other', async () => {
		expect(await send(operation, optional)).toEqual(success);
		const all = { ...name, ...image, ...audiences.attribute, ...audiences.segment };
		for (const [field, value] of Object.entries({ ...all, ...audiences.sid, extra: 1 })) {
			const isIts = field in optional || field in audiences[operation];
			expect(await send(operation, { [field]: value })).toEqual(isIts ? success : refused);
		}
	});

	test('names a required field that is missing or empty', async () => {
		for (const field of Object.keys({ ...content, ...audiences[operation] })) {
			const missing = failure('missing_parameter', `Missing required parameter ${field}`);
			for (const value of [undefined, null, '', ' ']) {
				expect(await send(operation, { [field]: value })).toEqual(missing);
			}
		}
	});

	test('refuses a body that is no JSON object', async () => {
		const invalid = failure('bad_request', 'Invalid JSON request');
		for (const body of ['', '{', '[]']) expect(await post(operation, body)).toEqual(invalid);
	});
});

const textOf = (length: number) => '👍'.repeat(length);
const urlOf = (length: number) => 'https://shop.example/'.padEnd(length, 'x');
const https = 'https://cdn.example/i.png';
const http = 'http://cdn.example/i.png';
const title = (length: number) => ({ ...button, title: textOf(length) });
const url = (length: number) => ({ ...button, url: urlOf(length) });
const at = (time: string) => `2030-01-10 ${time}`;
const noDate = failure(
	'invalid_format',
	'Schedule date must be in valid format YYYY-MM-DD HH:MM +0',
);
const noExpiry = failure(
	'invalid_format',
	'Please provide the valid format for expire_push parameter',
);
const tooSoon = failure('invalid_value', 'Schedule date must be at least 5 minutes in future');
const noButtons = failure('invalid_value', "Invalid parameter 'action_buttons' values");
const noButtonList = failure('invalid_type', 'Parameter action_buttons must be an array');

type Row = [field: string, rule: string, accepted: unknown[], refused: unknown[], answer: unknown];

test.each<Row>([
	['title', 'is a text', ['x'], [7, true, ['x']], refused],
	['title', 'has a limit', [textOf(100)], [textOf(101)], refused],
	['message', 'has a limit', [textOf(255)], [textOf(256)], refused],
	['target_url', 'has a limit', [urlOf(255)], [urlOf(256)], refused],
	['target_url', 'is a URL', [http], ['shop.example', 'https://shop.example/a b'], refused],
	['name', 'has a limit', [textOf(100)], [textOf(101)], refused],
	['icon', 'is a secure URL', [https], [http], refused],
	['image', 'is a secure URL', [https], [http], refused],
	['auto_hide', 'is 0 or 1', [0, 1], [2, '1', true], refused],
	['expire_push', 'has a format', ['1m', '24h', '4d'], ['4', 'd', '4w', '4 d', '0d', 4], noExpiry],
	['send_at', 'has a format', [at('12:30 +00:00'), at('18:00 +5:30')], ['12:30', 7], noDate],
	['send_at', 'has an offset', [at('12:30 -00:30')], [at('12:30'), at('12:30 +0000')], noDate],
	['send_at', 'is a real date', ['2032-02-29 12:30 +00:00'], ['2030-02-30 12:30 +00:00'], noDate],
	['send_at', 'is 5 minutes ahead', [at('12:05 +00:00')], [at('12:04 +00:00')], tooSoon],
	['action_buttons', 'is a list', [[], [button, button]], [{}, 'text', null], noButtonList],
	['action_buttons', 'has titles', [[title(100)]], [[title(101)], [{ url: http }]], noButtons],
	['action_buttons', 'has URLs', [[url(100)]], [[url(101)], [{ title: 'Open' }]], noButtons],
])('the field %s %s', async (field, _rule, accepted, refusedOnes, answer) => {
	for (const value of accepted) expect(await send('all', { [field]: value })).toEqual(success);
	for (const value of refusedOnes) expect(await send('all', { [field]: value })).toEqual(answer);
});

test('a subscriber is known by a text or a number, and an unknown one is refused', async () => {
	for (const sid of ['5001', 5001, '15000']) expect(await send('sid', { sid })).toEqual(success);
	const unknown = failure('invalid_sid', 'Subscriber not found');
	for (const sid of ['5000', '15001', 'x']) expect(await send('sid', { sid })).toEqual(unknown);
});

test('the status of a campaign has its counters as texts, and an unknown one is refused', async () => {
	await send('all');
	simulator.setCounters('1001', { total_attempts: 10, clicked: 3 });
	expect(await read('notification/status/id/1001')).toEqual({
		notification_status: 'Sent',
		notification_id: '1001',
		count: {
			total_attempts: '10',
			successfully_sent: '0',
			failed_to_send: '0',
			delivered: '0',
			clicked: '3',
			closed: '0',
		},
	});
	const unknown = failure('invalid_value', 'Invalid notification ID');
	expect(await read('notification/status/id/1002')).toEqual(unknown);
});

describe.each(['site/subscriber_count', 'notification/send/all'])('the path %s', (path) => {
	const answerTo = async (changed: Record<string, string>) =>
		await call(path, { method: path.startsWith('site') ? 'GET' : 'POST', headers: changed });

	test.each(['serviceKey', 'serviceAuthToken', 'Content-Type'])('asks for %s', async (header) => {
		const others = Object.entries(headers).filter(([one]) => one !== header);
		const missing = failure('header_invalid', `Missing required header ${header}`);
		expect(await answerTo(Object.fromEntries(others))).toEqual(missing);
	});

	test('refuses other credentials, and too many requests', async () => {
		const wrong = failure('authentication_failure', 'You are not authorized');
		expect(await answerTo({ ...headers, serviceKey: 'DEMO-KEY' })).toEqual(wrong);
		expect(await answerTo({ ...headers, serviceAuthToken: 'other' })).toEqual(wrong);
		simulator.configure({ rateLimit: { perSecond: 0, burst: 1 } });
		await answerTo(headers);
		expect(await answerTo(headers)).toEqual(failure('rate_limit', 'Too many requests'));
	});
});

test('too many requests have HTTP 429, and the limit lets more through as time passes', async () => {
	simulator.configure({ rateLimit: { perSecond: 1, burst: 2 } });
	const statuses: number[] = [];
	for (const waitMs of [0, 0, 0, 500, 500, 5_000, 0, 0]) {
		now += waitMs;
		statuses.push((await fetch(`${simulator.url}/v1/site/subscriber_count`, { headers })).status);
	}
	expect(statuses).toEqual([200, 200, 429, 429, 200, 200, 200, 429]);
});

test('a send to one subscriber has no status', async () => {
	await send('sid');
	expect([...simulator.campaigns.keys()]).toEqual(['sid-1']);
	const unknown = failure('invalid_value', 'Invalid notification ID');
	expect(await read('notification/status/id/sid-1')).toEqual(unknown);
});

test('a read with a body is refused', async () => {
	const withLength = { headers: { ...headers, 'Content-Length': 2 } };
	const answer = await new Promise<IncomingMessage>((resolve) => {
		request(`${simulator.url}/v1/site/subscriber_count`, withLength, resolve).end('{}');
	});
	expect(await json(answer)).toEqual(failure('bad_request', 'Invalid JSON request'));
});

test('the page reads auto_hide as each operation does', async () => {
	for (const operation of ['all', 'attribute', 'segment', 'sid'] as const) {
		simulator.reset();
		await send(operation, { auto_hide: 1 });
		const closes = operation === 'all' ? 'Closes after a few seconds' : 'Stays until clicked';
		expect(await (await fetch(simulator.origin)).text()).toContain(closes);
	}
});

test('a button of the page lets the next subscriber be one who has unsubscribed', async () => {
	await fetch(`${simulator.origin}/_simulator/trouble/unsubscribed`, { method: 'POST' });
	expect(await send('all')).toEqual(success);
	expect(await send('sid')).toEqual(failure('invalid_sid', 'Subscriber not found'));
	expect(await send('sid')).toEqual(success);
});

test('it listens to this machine alone', async () => {
	// Linux has all of 127.0.0.0/8, so what listens to the network answers there.
	const elsewhere = simulator.origin.replace('127.0.0.1', '127.0.0.2');
	await expect(fetch(elsewhere)).rejects.toThrow('fetch failed');
});

test('the subscriber count has its numbers as texts; another path is the failure without a type', async () => {
	expect(await read('site/subscriber_count')).toEqual({
		total_life_time_subscribers: '12500',
		active_subscribers: '10000',
	});
	expect(await read('site/other')).toEqual({
		status: 'failure',
		description: 'Something went wrong. Please try again after some time',
	});
});
