import {
	call,
	credentials,
	failure,
	requiredHeaders,
	send,
	sendNames,
	sends,
	smallest,
	useSimulator,
} from './support';

// Specification, Errors: one block for each row of the table.

const now = Date.UTC(2030, 0, 10, 12, 0);
const simulator = useSimulator({ clock: () => now, lifeSpeed: 0 });

const everyOperation = [
	...sendNames.map((name) => ({
		path: sends[name].path,
		body: { ...smallest, ...sends[name].audience },
	})),
	{ path: '/v1/notification/status/id/1001' },
	{ path: '/v1/site/subscriber_count' },
];

describe.each(everyOperation)('$path', (operation) => {
	test.each(['serviceKey', 'serviceAuthToken', 'Content-Type'])(
		'header_invalid names %s when it is missing or blank',
		async (name) => {
			const missing = Object.fromEntries(
				Object.entries(requiredHeaders).filter(([header]) => header !== name),
			);
			for (const headers of [missing, { ...requiredHeaders, [name]: '' }]) {
				const answer = await call(simulator().url, { ...operation, headers });
				expect(answer.status).toBe(401);
				expect(answer.json).toEqual(failure('header_invalid', `Missing required header ${name}`));
			}
		},
	);

	test.each(['text/plain', 'application/jsonp', 'application/json; charset=latin1'])(
		'header_invalid for the content type %s',
		async (contentType) => {
			const headers = { ...credentials, 'Content-Type': contentType };
			const answer = await call(simulator().url, { ...operation, headers });
			expect(answer.json).toEqual(
				failure('header_invalid', 'Header Content-Type must be application/json'),
			);
		},
	);

	test.each([{ serviceKey: 'other' }, { serviceAuthToken: 'other' }, { serviceKey: 'DEMO-KEY' }])(
		'authentication_failure with %j',
		async (wrong) => {
			const headers = { ...requiredHeaders, ...wrong };
			const answer = await call(simulator().url, { ...operation, headers });
			expect(answer.status).toBe(401);
			expect(answer.json).toEqual(failure('authentication_failure', 'You are not authorized'));
		},
	);

	test('rate_limit', async () => {
		simulator().setRateLimit({ perSecond: 0, burst: 1 });
		simulator().addCampaign({ id: '1001' });
		expect((await call(simulator().url, operation)).status).toBe(200);
		const answer = await call(simulator().url, operation);
		expect(answer.status).toBe(429);
		expect(answer.json).toEqual(failure('rate_limit', 'Too many requests'));
	});

	test('the generic failure has no type', async () => {
		const description = 'Something went wrong. Please try again after some time';
		simulator().addFault({ action: { kind: 'failure', description, status: 500 } });
		const answer = await call(simulator().url, operation);
		expect(answer.status).toBe(500);
		expect(answer.json).toEqual(failure(undefined, description));
	});
});

describe.each(sendNames)('send/%s', (name) => {
	test.each(['', '{', '{"title":', 'null', '[]', '"text"', '{} {}', "{'title':'x'}", '\uFEFF{}'])(
		'bad_request for the body %j',
		async (body) => {
			const answer = await call(simulator().url, { path: sends[name].path, method: 'POST', body });
			expect(answer.status).toBe(400);
			expect(answer.json).toEqual(failure('bad_request', 'Invalid JSON request'));
		},
	);

	test.each(['title', 'message', 'target_url'])('missing_parameter %s', async (field) => {
		for (const absent of [undefined, null, '', ' \t']) {
			const answer = await send(simulator(), name, { [field]: absent });
			expect(answer.status).toBe(400);
			expect(answer.json).toEqual(
				failure('missing_parameter', `Missing required parameter ${field}`),
			);
		}
	});

	test.each([
		'2030-01-10T12:30 +00:00',
		'2030-01-10 12:30',
		'2030-01-10 12:30:00 +00:00',
		'2030-01-10 12:30 UTC',
		'2030-01-10 12:30 00:00',
		'2030-01-10 12:30 +0000',
		'2030-01-10 12:30 +0',
		'2030-01-10 12:30+00:00',
		'2030-1-10 12:30 +00:00',
		'2030-02-30 12:30 +00:00',
		'2030-13-10 12:30 +00:00',
		'2030-01-10 24:00 +00:00',
		'2030-01-10 12:60 +00:00',
		'2030-01-10 12:30 +05:60',
		'2030-01-10 12:30 +14:01',
		'2030-01-10 12:30 -12:01',
		' 2030-01-10 12:30 +00:00',
		'',
		1893500000000,
		null,
		{},
	])('invalid_format for send_at %j', async (sendAt) => {
		const answer = await send(simulator(), name, { send_at: sendAt });
		expect(answer.status).toBe(400);
		expect(answer.json).toEqual(
			failure('invalid_format', 'Schedule date must be in valid format YYYY-MM-DD HH:MM +0'),
		);
	});

	test.each(['4', 'd', '4w', '4 d', '4D', '1.5h', '-1d', '0d', '1d2h', ' 1d', '', 4, null, {}])(
		'invalid_format for expire_push %j',
		async (expirePush) => {
			const answer = await send(simulator(), name, { expire_push: expirePush });
			expect(answer.status).toBe(400);
			expect(answer.json).toEqual(
				failure('invalid_format', 'Please provide the valid format for expire_push parameter'),
			);
		},
	);

	test.each([
		'2030-01-10 12:04 +00:00',
		'2030-01-10 17:34 +5:30',
		'2030-01-10 07:04 -05:00',
		'2030-01-10 12:00 +00:00',
		'2020-01-10 12:30 +00:00',
	])('invalid_value for send_at %s, less than 5 minutes ahead', async (sendAt) => {
		const answer = await send(simulator(), name, { send_at: sendAt });
		expect(answer.status).toBe(400);
		expect(answer.json).toEqual(
			failure('invalid_value', 'Schedule date must be at least 5 minutes in future'),
		);
	});

	const button = { title: 'Open', url: 'https://shop.example/a' };
	test.each([
		[{ title: 'Open' }],
		[{ url: button.url }],
		[{ ...button, title: '' }],
		[{ ...button, title: ' ' }],
		[{ ...button, url: '' }],
		[{ ...button, title: 7 }],
		[{ ...button, url: null }],
		[{ ...button, url: 'shop.example' }],
		[{ ...button, url: 'javascript:alert(1)' }],
		[{ ...button, icon: 'https://shop.example/i.png' }],
		['Open'],
		[null],
		[[]],
		[button, {}],
	])('invalid_value for action_buttons [%j, …]', async (...buttons) => {
		const answer = await send(simulator(), name, { action_buttons: buttons });
		expect(answer.status).toBe(400);
		expect(answer.json).toEqual(
			failure('invalid_value', "Invalid parameter 'action_buttons' values"),
		);
	});

	test.each([{}, button, 'text', 1, null, true])(
		'invalid_type for action_buttons %j',
		async (buttons) => {
			const answer = await send(simulator(), name, { action_buttons: buttons });
			expect(answer.status).toBe(400);
			expect(answer.json).toEqual(
				failure('invalid_type', 'Parameter action_buttons must be an array'),
			);
		},
	);

	test('a refused send leaves no campaign', async () => {
		await send(simulator(), name, { title: '' });
		await send(simulator(), name, { unknown: 1 });
		expect(simulator().campaigns.size).toBe(0);
	});
});

test.each([
	['attribute', 'attribute'],
	['segment', 'segment'],
	['sid', 'sid'],
] as const)('missing_parameter on send/%s without %s', async (name, field) => {
	const nothing: unknown[] = [undefined, null, ''];
	if (name === 'attribute') nothing.push({});
	if (name === 'segment') nothing.push([]);
	for (const value of nothing) {
		const answer = await send(simulator(), name, { [field]: value });
		expect(answer.json).toEqual(
			failure('missing_parameter', `Missing required parameter ${field}`),
		);
	}
});

test.each(['5000', '15001', '05001', '5001 ', '5001.0', '+5001', 'abc', 5000, 5001.5, 2 ** 53])(
	'invalid_sid for %j',
	async (sid) => {
		const answer = await send(simulator(), 'sid', { sid });
		expect(answer.status).toBe(404);
		expect(answer.json).toEqual(failure('invalid_sid', 'Subscriber not found'));
	},
);

test.each(['1001', 'abc', '', '1001x', '%', '%2F', '1001/', '__proto__'])(
	'invalid_value for the status of %j',
	async (id) => {
		const path = `/v1/notification/status/id/${id}`;
		const answer = await call(simulator().url, { path });
		expect(answer.status).toBe(404);
		expect(answer.json).toEqual(failure('invalid_value', 'Invalid notification ID'));
	},
);

test('a send to one subscriber has no campaign ID to ask for', async () => {
	await send(simulator(), 'sid');
	for (const id of simulator().campaigns.keys()) {
		const answer = await call(simulator().url, { path: `/v1/notification/status/id/${id}` });
		expect(answer.json).toEqual(failure('invalid_value', 'Invalid notification ID'));
	}
});
