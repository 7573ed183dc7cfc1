import { failure, send, sendNames, useSimulator, type SendName } from './support';

// Specification, Limits and the rules of the fields.

const now = Date.UTC(2030, 0, 10, 12, 0);
const simulator = useSimulator({ clock: () => now, lifeSpeed: 0 });

const withName: SendName[] = ['all', 'attribute', 'segment'];
const withImage: SendName[] = ['all', 'segment'];
const urlOf = (length: number): string => 'https://shop.example/'.padEnd(length, 'x');

const texts = [
	{ field: 'title', limit: 100, operations: sendNames },
	{ field: 'message', limit: 255, operations: sendNames },
	{ field: 'name', limit: 100, operations: withName },
];
const textCases = texts.flatMap(({ field, limit, operations }) =>
	operations.map((operation) => ({ field, limit, operation })),
);

test.each(textCases)('$field on send/$operation: $limit characters', async (row) => {
	const { field, limit, operation } = row;
	for (const character of ['x', 'ß', '語', '👍']) {
		const exact = await send(simulator(), operation, { [field]: character.repeat(limit) });
		expect(exact.status).toBe(200);
		const over = await send(simulator(), operation, { [field]: character.repeat(limit + 1) });
		expect(over.json).toEqual(
			failure('invalid_value', `Parameter ${field} must not be longer than ${limit} characters`),
		);
	}
	for (const value of [7, true, ['x'], { x: 1 }]) {
		const answer = await send(simulator(), operation, { [field]: value });
		expect(answer.json).toEqual(failure('invalid_type', `Parameter ${field} must be a string`));
	}
});

describe.each(sendNames)('send/%s', (name) => {
	test('target_url: 255 characters', async () => {
		expect((await send(simulator(), name, { target_url: urlOf(255) })).status).toBe(200);
		const over = await send(simulator(), name, { target_url: urlOf(256) });
		expect(over.json).toEqual(
			failure('invalid_value', 'Parameter target_url must not be longer than 255 characters'),
		);
	});

	test.each([
		'http://shop.example',
		'HTTPS://shop.example/a?b=c#d',
		'https://shop.example:8443/ü',
		'https://例え.example/',
	])('target_url %s is one', async (targetUrl) => {
		expect((await send(simulator(), name, { target_url: targetUrl })).status).toBe(200);
	});

	test.each([
		'shop.example',
		'//shop.example',
		'https:/shop.example',
		'https://',
		'https:///path',
		'javascript:alert(1)',
		'ftp://shop.example',
		' https://shop.example',
		'https://shop.example/a b',
		'https://shop.example/\n',
		'https://[::1',
	])('target_url %j is none', async (targetUrl) => {
		const answer = await send(simulator(), name, { target_url: targetUrl });
		expect(answer.json).toEqual(failure('invalid_value', 'Parameter target_url must be a URL'));
	});

	test.each([0, 1])('auto_hide %j', async (autoHide) => {
		expect((await send(simulator(), name, { auto_hide: autoHide })).status).toBe(200);
	});

	test.each([2, -1])('auto_hide %j is neither 0 nor 1', async (autoHide) => {
		const answer = await send(simulator(), name, { auto_hide: autoHide });
		expect(answer.json).toEqual(failure('invalid_value', 'Parameter auto_hide must be 0 or 1'));
	});

	test.each(['1', '0', true, false, null, 0.5, [], {}])(
		'auto_hide %j is no integer',
		async (autoHide) => {
			const answer = await send(simulator(), name, { auto_hide: autoHide });
			expect(answer.json).toEqual(
				failure('invalid_type', 'Parameter auto_hide must be an integer'),
			);
		},
	);

	test.each([
		'2030-01-10 12:05 +00:00',
		'2030-01-10 12:05 -00:00',
		'2030-01-10 17:35 +5:30',
		'2030-01-10 17:35 +05:30',
		'2030-01-10 02:05 -10:00',
		'2030-01-11 02:05 +14:00',
		'2032-02-29 00:00 +00:00',
	])('send_at %s is at least 5 minutes ahead', async (sendAt) => {
		expect((await send(simulator(), name, { send_at: sendAt })).status).toBe(200);
	});

	test.each(['1m', '90m', '24h', '7d', '365d'])('expire_push %s', async (expirePush) => {
		expect((await send(simulator(), name, { expire_push: expirePush })).status).toBe(200);
	});

	test('action buttons: 100 characters on send/all, no limit stated elsewhere', async () => {
		const exact = { title: '👍'.repeat(100), url: urlOf(100) };
		for (const action_buttons of [[], [exact], [exact, exact, exact]]) {
			expect((await send(simulator(), name, { action_buttons })).status).toBe(200);
		}
		for (const change of [{ title: '👍'.repeat(101) }, { url: urlOf(101) }]) {
			const answer = await send(simulator(), name, { action_buttons: [{ ...exact, ...change }] });
			if (name === 'all') {
				expect(answer.json).toEqual(
					failure('invalid_value', "Invalid parameter 'action_buttons' values"),
				);
			} else {
				expect(answer.status).toBe(200);
			}
		}
	});
});

const imageCases = [
	...sendNames.map((operation) => ({ field: 'icon', operation })),
	...withImage.map((operation) => ({ field: 'image', operation })),
];

test.each(imageCases)('$field on send/$operation is an HTTPS URL', async ({ field, operation }) => {
	const good = await send(simulator(), operation, { [field]: 'https://cdn.example/a.png' });
	expect(good.status).toBe(200);
	for (const url of ['http://cdn.example/a.png', 'cdn.example/a.png', 'data:image/png,x', '']) {
		const answer = await send(simulator(), operation, { [field]: url });
		expect(answer.json).toEqual(
			failure('invalid_value', `Parameter ${field} must be an HTTPS URL`),
		);
	}
	const answer = await send(simulator(), operation, { [field]: null });
	expect(answer.json).toEqual(failure('invalid_type', `Parameter ${field} must be a string`));
});

describe('fields that an operation does not accept', () => {
	const everyField = {
		name: 'Spring',
		image: 'https://cdn.example/a.png',
		attribute: { plan: 'pro' },
		segment: ['31'],
		sid: '5001',
		autoHide: 1,
		Title: 'x',
		extra: null,
	};
	const accepted: Record<SendName, string[]> = {
		all: ['name', 'image'],
		attribute: ['name', 'attribute'],
		segment: ['name', 'image', 'segment'],
		sid: ['sid'],
	};
	const cases = sendNames.flatMap((operation) =>
		Object.entries(everyField).map(([field, value]) => ({
			field,
			value,
			operation,
			allowed: accepted[operation].includes(field),
		})),
	);

	test.each(cases)('$field on send/$operation: $allowed', async (row) => {
		const { field, value, operation, allowed } = row;
		const answer = await send(simulator(), operation, { [field]: value });
		if (allowed) {
			expect(answer.status).toBe(200);
		} else {
			expect(answer.json).toEqual(
				failure('invalid_value', `Parameter ${field} is not accepted by this operation`),
			);
		}
	});
});

describe('audiences', () => {
	test.each([{ plan: 'pro' }, { plan: 'pro', age: 42, trial: false }, { empty: '' }])(
		'attribute %j',
		async (attribute) => {
			expect((await send(simulator(), 'attribute', { attribute })).status).toBe(200);
		},
	);

	test.each([[['plan', 'pro']], [[{ plan: 'pro' }]], ['plan'], [7]])(
		'attribute %j is no object',
		async (attribute) => {
			const answer = await send(simulator(), 'attribute', { attribute });
			expect(answer.json).toEqual(
				failure('invalid_type', 'Parameter attribute must be an object of key to value'),
			);
		},
	);

	test.each([{ plan: { a: 1 } }, { plan: ['pro'] }, { plan: null }, { '': 'x' }])(
		'attribute %j holds more than pairs',
		async (attribute) => {
			const answer = await send(simulator(), 'attribute', { attribute });
			expect(answer.json).toEqual(
				failure(
					'invalid_value',
					'Parameter attribute must hold pairs of key and text, number or boolean',
				),
			);
		},
	);

	test.each([[['31']], [[31]], [['31', 'vip', 7]]])('segment %j', async (segment) => {
		expect((await send(simulator(), 'segment', { segment })).status).toBe(200);
	});

	test.each(['31', 31, { id: 31 }, true])('segment %j is no array', async (segment) => {
		const answer = await send(simulator(), 'segment', { segment });
		expect(answer.json).toEqual(failure('invalid_type', 'Parameter segment must be an array'));
	});

	test.each([[['']], [[' ']], [[null]], [[['31']]], [[1.5]], [['31', {}]]])(
		'segment %j holds more than IDs',
		async (segment) => {
			const answer = await send(simulator(), 'segment', { segment });
			expect(answer.json).toEqual(
				failure('invalid_value', 'Parameter segment must hold segment IDs only'),
			);
		},
	);

	test.each([[['5001']], [{ id: '5001' }], [true]])('sid %j is no number', async (sid) => {
		const answer = await send(simulator(), 'sid', { sid });
		expect(answer.json).toEqual(failure('invalid_type', 'Parameter sid must be a number'));
	});

	test.each(['5001', 5001, '15000'])('sid %j is a subscriber', async (sid) => {
		expect((await send(simulator(), 'sid', { sid })).status).toBe(200);
	});

	test('a sid beyond 2^53 is told from its neighbours', async () => {
		simulator().addSubscribers(['9007199254740993']);
		expect((await send(simulator(), 'sid', { sid: '9007199254740993' })).status).toBe(200);
		expect((await send(simulator(), 'sid', { sid: '9007199254740992' })).status).toBe(404);
		expect(simulator().requests[0]?.body).toContain('"sid":"9007199254740993"');
	});
});
