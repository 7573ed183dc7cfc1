import {
	audiences,
	call,
	countPath,
	credentials,
	failure,
	requiredHeaders,
	send,
	sendNames,
	sendPath,
	smallest,
	statusPath,
	useSimulator,
	type PlainAnswer,
	type SendName,
} from './support';

// Specification, Errors, Limits and the rules of the fields: a table for each operation.

const now = Date.UTC(2030, 0, 10, 12, 0);
const simulator = useSimulator({ clock: () => now, lifeSpeed: 0 });

type Expected = 'accepted' | Record<string, string>;
/** What is answered, and the values that are answered so. */
type Row<Value = unknown> = [expected: Expected, ...values: Value[]];

const statusOf = (type = '') =>
	({ header_invalid: 401, authentication_failure: 401, invalid_sid: 404 })[type] ?? 400;
const expectedOf = (expected: Expected) =>
	expected === 'accepted' ? expected : { httpStatus: statusOf(expected['type']), ...expected };
const seen = ({ status, json }: PlainAnswer) =>
	status === 200 ? 'accepted' : { httpStatus: status, ...(typeof json === 'object' ? json : {}) };

/** Gives each value of the rows, and compares all answers at once: each is shown beside its value. */
async function expectAnswers<Value>(
	rows: Array<Row<Value>>,
	answerTo: (value: Value) => Promise<PlainAnswer>,
) {
	const expected = rows.flatMap(([answer, ...values]) =>
		values.map((value) => ({ value, answer: expectedOf(answer) })),
	);
	const answers = await Promise.all(
		expected.map(async ({ value }) => ({ value, answer: seen(await answerTo(value)) })),
	);
	expect(answers).toEqual(expected);
}

const missing = (name: string) =>
	failure('missing_parameter', `Missing required parameter ${name}`);
const wrongType = (name: string, wanted: string) =>
	failure('invalid_type', `Parameter ${name} must be ${wanted}`);
const wrongValue = (name: string, rule: string) =>
	failure('invalid_value', `Parameter ${name} ${rule}`);
const urlOf = (length: number) => 'https://shop.example/'.padEnd(length, 'x');
const nothing = [undefined, null, '', ' \t'];

/** A text of so many characters, however many bytes or UTF-16 units they take. */
const text = (name: string, limit: number): Row[] => [
	['accepted', ...['x', 'ß', '👍'].map((character) => character.repeat(limit))],
	[
		wrongValue(name, `must not be longer than ${limit} characters`),
		...['x', 'ß', '👍'].map((character) => character.repeat(limit + 1)),
	],
	[wrongType(name, 'a string'), 7, true, ['x'], { x: 1 }],
];

const picture = (name: string): Row[] => [
	['accepted', 'https://cdn.example/a.png'],
	[wrongValue(name, 'must be an HTTPS URL'), 'http://cdn.example/a.png', 'data:image/png,x', ''],
	[wrongType(name, 'a string'), null],
];

const button = { title: 'Open', url: 'https://shop.example/a' };
const longest = { title: '👍'.repeat(100), url: urlOf(100) };
const tooLong = [[{ ...longest, title: '👍'.repeat(101) }], [{ ...longest, url: urlOf(101) }]];
const buttonValues = failure('invalid_value', "Invalid parameter 'action_buttons' values");

const everywhere: Record<string, Row[]> = {
	title: [[missing('title'), ...nothing], ...text('title', 100)],
	message: [[missing('message'), ...nothing], ...text('message', 255)],
	target_url: [
		[missing('target_url'), ...nothing],
		['accepted', 'HTTPS://shop.example:8443/a?b=c#ü', 'http://例え.example/', urlOf(255)],
		[wrongValue('target_url', 'must not be longer than 255 characters'), urlOf(256)],
		[
			wrongValue('target_url', 'must be a URL'),
			...['shop.example', '//shop.example', 'https:/shop.example', 'https://', 'https:///path'],
			...['javascript:alert(1)', ' https://shop.example', 'https://shop.example/a b'],
			...['https://shop.example/\n', 'https://[::1', 'ftp://shop.example'],
		],
		[wrongType('target_url', 'a string'), 7],
	],
	icon: picture('icon'),
	expire_push: [
		['accepted', '1m', '24h', '365d'],
		[
			failure('invalid_format', 'Please provide the valid format for expire_push parameter'),
			...['4', 'd', '4w', '4 d', '4D', '1.5h', '-1d', '0d', '1d2h', ' 1d', '', 4, null, {}],
		],
	],
	auto_hide: [
		['accepted', 0, 1],
		[wrongValue('auto_hide', 'must be 0 or 1'), 2, -1],
		[wrongType('auto_hide', 'an integer'), '1', true, null, 0.5, []],
	],
	send_at: [
		[
			'accepted',
			...['2030-01-10 12:05 +00:00', '2030-01-10 17:35 +5:30', '2030-01-10 02:05 -10:00'],
			...['2030-01-11 02:05 +14:00', '2032-02-29 00:00 +00:00'],
		],
		[
			failure('invalid_value', 'Schedule date must be at least 5 minutes in future'),
			...['2030-01-10 12:04 +00:00', '2030-01-10 17:34 +5:30', '2020-01-10 12:30 +00:00'],
		],
		[
			failure('invalid_format', 'Schedule date must be in valid format YYYY-MM-DD HH:MM +0'),
			...['2030-01-10T12:30 +00:00', '2030-01-10 12:30', '2030-01-10 12:30:00 +00:00'],
			...['2030-01-10 12:30 UTC', '2030-01-10 12:30 +0000', '2030-01-10 12:30+00:00'],
			...['2030-1-10 12:30 +00:00', '2030-02-30 12:30 +00:00', '2030-13-10 12:30 +00:00'],
			...['2030-01-10 24:00 +00:00', '2030-01-10 12:30 +05:60', '2030-01-10 12:30 +14:01'],
			...['2030-01-10 12:30 -12:01', ' 2030-01-10 12:30 +00:00', '', 1893500000000, null, {}],
		],
	],
};
const name = text('name', 100);
const image = picture('image');
const buttons: Row[] = [
	['accepted', [], [longest], [longest, longest, longest]],
	[
		buttonValues,
		...[[{ title: 'Open' }], [{ url: button.url }], [{ ...button, title: ' ' }]],
		...[[{ ...button, url: '' }], [{ ...button, title: 7 }], [{ ...button, url: 'shop.example' }]],
		...[[{ ...button, icon: 'https://shop.example/i.png' }], ['Open'], [null], [button, {}]],
	],
	[
		failure('invalid_type', 'Parameter action_buttons must be an array'),
		...[{}, button, 'text', 1, null, true],
	],
];
const limited = { action_buttons: [...buttons, [buttonValues, ...tooLong] satisfies Row] };
const notLimited = { action_buttons: [...buttons, ['accepted', ...tooLong] satisfies Row] };

const attribute: Row[] = [
	[missing('attribute'), undefined, null, '', {}],
	['accepted', { plan: 'pro' }, { plan: 'pro', age: 42, trial: false }, { empty: '' }],
	[wrongType('attribute', 'an object of key to value'), ['plan'], 'plan', 7],
	[
		wrongValue('attribute', 'must hold pairs of key and text, number or boolean'),
		...[{ plan: { a: 1 } }, { plan: ['pro'] }, { plan: null }, { '': 'x' }],
	],
];
const segment: Row[] = [
	[missing('segment'), undefined, null, '', []],
	['accepted', ['31'], [31], ['31', 'vip', 7]],
	[wrongType('segment', 'an array'), '31', 31, { id: 31 }, true],
	[wrongValue('segment', 'must hold segment IDs only'), [' '], [null], [['31']], [1.5]],
];
const sid: Row[] = [
	[missing('sid'), undefined, null, ''],
	// A number beyond 2^53 has lost digits, so it identifies nobody.
	['accepted', '5001', 5001, '05001', '15000', '9007199254740993'],
	[wrongType('sid', 'a number'), ['5001'], { id: '5001' }, true],
	[
		failure('invalid_sid', 'Subscriber not found'),
		...['5000', '15001', '5001 ', '5001.0', 'abc', 5001.5, '9007199254740992', 2 ** 53],
	],
];

/** The fields that each operation accepts. */
const fields: Record<SendName, Record<string, Row[]>> = {
	all: { ...everywhere, ...limited, name, image },
	attribute: { ...everywhere, ...notLimited, name, attribute },
	segment: { ...everywhere, ...notLimited, name, image, segment },
	sid: { ...everywhere, ...notLimited, sid },
};
/** What is refused where it is not one of them. */
const others = new Map<string, unknown>([
	...[...Object.entries({ ...audiences.attribute, ...audiences.segment, ...audiences.sid })],
	...[...Object.entries({ name: 'Spring', image: 'https://cdn.example/a.png' })],
	...[...Object.entries({ autoHide: 1, Title: 'x', extra: null })],
]);

describe.each(sendNames)('send/%s', (operation) => {
	const judged = Object.entries(fields[operation]).map(([field, rows]) => ({ field, rows }));
	test.each(judged)('accepts and refuses $field as specified', async ({ field, rows }) => {
		await expectAnswers(
			rows,
			async (value) => await send(simulator(), operation, { [field]: value }),
		);
		const accepted = rows.flatMap(([answer, ...values]) => (answer === 'accepted' ? values : []));
		expect(simulator().campaigns.size).toBe(accepted.length);
	});

	test('refuses each field that it does not accept', async () => {
		const refused = [...others.keys()].filter((field) => !(field in fields[operation]));
		expect(refused).toHaveLength({ all: 6, attribute: 6, segment: 5, sid: 7 }[operation]);
		const refusal = 'is not accepted by this operation';
		await expectAnswers(
			refused.map((field): Row<string> => [wrongValue(field, refusal), field]),
			async (field) => await send(simulator(), operation, { [field]: others.get(field) }),
		);
	});

	test('gives the specified answer, and reads auto_hide in its own way', async () => {
		const status = 'success';
		const created = { status, description: 'Campaign created successfully', ID: 1001 };
		const notified = { status, description: 'Notification sent successfully' };
		const { headers, json } = await send(simulator(), operation, { auto_hide: 1 });
		expect(headers['content-type']).toBe('application/json');
		expect(json).toEqual(operation === 'sid' ? notified : created);
		await send(simulator(), operation, { auto_hide: 0 });
		await send(simulator(), operation);
		const kept = [...simulator().campaigns.values()];
		const closes = operation === 'all';
		expect(kept.map(({ closesByItself }) => closesByItself)).toEqual([closes, !closes, null]);
	});

	test('refuses a body that is not a JSON object', async () => {
		const latin = Buffer.from(JSON.stringify({ ...smallest, title: 'Fünf' }), 'latin1');
		const bodies = ['', '{', 'null', '[]', '"text"', '{} {}', "{'title':'x'}", '\uFEFF{}', latin];
		await expectAnswers<string | Buffer>(
			[[failure('bad_request', 'Invalid JSON request'), ...bodies]],
			async (body) => await call(simulator().url, { path: sendPath(operation), body }),
		);
	});
});

test.each([
	...sendNames.map((operation) => ({
		path: sendPath(operation),
		body: { ...smallest, ...audiences[operation] },
	})),
	{ path: `${statusPath}1001` },
	{ path: countPath },
])('$path refuses missing and wrong headers', async (operation) => {
	const { serviceKey, serviceAuthToken } = requiredHeaders;
	const json = { 'Content-Type': 'application/json' };
	const typed = (type: string) => ({ ...credentials, 'Content-Type': type });
	const noHeader = (header: string) =>
		failure('header_invalid', `Missing required header ${header}`);
	const wrongHeader = failure('header_invalid', 'Header Content-Type must be application/json');
	const refused = failure('authentication_failure', 'You are not authorized');
	simulator().addCampaign({ id: '1001' });
	await expectAnswers<Record<string, string>>(
		[
			['accepted', requiredHeaders, typed('application/json; charset=utf-8')],
			[
				noHeader('serviceKey'),
				{ serviceAuthToken, ...json },
				{ ...requiredHeaders, serviceKey: '' },
			],
			[noHeader('serviceAuthToken'), { serviceKey, ...json }],
			[noHeader('Content-Type'), credentials, typed('')],
			[wrongHeader, typed('text/plain'), typed('application/jsonp')],
			[wrongHeader, typed('application/json; charset=latin1')],
			[refused, { ...requiredHeaders, serviceKey: 'DEMO-KEY' }],
			[refused, { ...requiredHeaders, serviceAuthToken: 'other' }],
		],
		async (headers) => await call(simulator().url, { ...operation, headers }),
	);
});

test('an unknown campaign has no status, nor has a send to one subscriber', async () => {
	await send(simulator(), 'sid');
	const ids = ['1001', 'abc', '', '1001x', '%', '%2F', '1001/', '__proto__', 'sid-1'];
	for (const id of ids) {
		const answer = await call(simulator().url, { path: statusPath + id });
		expect(answer.status).toBe(404);
		expect(answer.json).toEqual(failure('invalid_value', 'Invalid notification ID'));
	}
});

test('subscriber_count gives its numbers as strings', async () => {
	simulator().configure({ subscribers: { active: 3, lifetime: 9 } });
	expect((await call(simulator().url, { path: countPath })).json).toEqual({
		total_life_time_subscribers: '9',
		active_subscribers: '3',
	});
});

test('a campaign ID with leading zeros is the ID without them', async () => {
	await send(simulator(), 'all');
	const answer = await call(simulator().url, { path: `${statusPath}001001` });
	expect(answer.json).toMatchObject({ notification_id: '1001' });
});

test('a body over 1 MB is refused before the path is judged', async () => {
	const body = ' '.repeat(1_000_001);
	const answer = await call(simulator().url, { path: '/v2/unknown', body });
	expect([answer.status, answer.json]).toEqual([
		413,
		failure('bad_request', 'Invalid JSON request'),
	]);
});

test.each([
	{ method: 'GET', path: sendPath('all'), status: 405 },
	{ method: 'POST', path: countPath, status: 405 },
	{ method: 'GET', path: '/v2/site/subscriber_count', status: 404 },
	{ method: 'GET', path: `${countPath}/`, status: 404 },
	{ method: 'GET', path: `${statusPath}1001?x=1`, status: 404 },
	{ method: 'POST', path: '/v1/notification/send/everyone', status: 404 },
])('$method $path gets the generic failure', async ({ method, path, status }) => {
	const body = method === 'GET' ? undefined : smallest;
	const answer = await call(simulator().url, { method, path, body });
	const generic = 'Something went wrong. Please try again after some time';
	expect([answer.status, answer.json]).toEqual([status, failure(undefined, generic)]);
});
