import * as fc from 'fast-check';
import { operations } from '../../../nodes/PushCampaign/operations';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import {
	alreadySentItem,
	dryRunItem,
	performSend,
	prepareSend,
	sentItem,
} from '../../../nodes/PushCampaign/operations/send';
import { readCampaignFields } from '../../../nodes/PushCampaign/operations/sendFields';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import type { Client, ServiceRequest } from '../../../nodes/PushCampaign/service/client';
import { connectionLostProblem } from '../../../nodes/PushCampaign/service/failures';
import { refusal } from '../service/support';
import { content, contentBody, itemOf } from './support';

const sends = operations.filter(
	(operation): operation is SendOperation => operation.kind === 'send',
);

const selected = [
	['sendToAll', {}, {}],
	[
		'sendToAttributes',
		{ attributes: { pairs: [{ name: 'plan', value: 'pro' }] } },
		{ attribute: { plan: 'pro' } },
	],
	['sendToSegments', { segmentIds: ['12', 34] }, { segment: ['12', 34] }],
	['sendToSubscriber', { subscriberId: 5001 }, { sid: '5001' }],
] as const;

const cases = selected.map(([name, parameters, body]) => {
	const operation = sends.find(({ option }) => option.value === name);
	if (operation === undefined) throw new TypeError(`No operation ${name}`);
	return {
		name,
		operation,
		parameters: { ...content, ...parameters },
		body: { ...contentBody, ...body },
	};
});

const paths = { all: 'all', attributes: 'attribute', segments: 'segment', subscriber: 'sid' };

const everyField = {
	name: 'Autumn',
	iconUrl: ' https://shop.example/icon.png ',
	imageUrl: ' https://shop.example/banner.jpg ',
	expireAfter: { duration: { amount: 7, unit: 'd' } },
	autoHide: true,
	sendAt: '2030-05-17T09:30:30',
};
const shop = { title: 'Shop', url: 'https://shop.example' };
const common = {
	icon: 'https://shop.example/icon.png',
	expire_push: '7d',
	send_at: '2030-05-17 09:31 +02:00',
};
const name = 'Autumn';
const image = 'https://shop.example/banner.jpg';
/** Specification, Endpoints and auto_hide rules. */
const everyBodyField = {
	sendToAll: { ...common, name, image, auto_hide: 1 },
	sendToAttributes: { ...common, name, auto_hide: 0 },
	sendToSegments: { ...common, name, image, auto_hide: 0 },
	sendToSubscriber: { ...common, auto_hide: 0 },
};

describe.each(cases)('$name', ({ name: operationName, operation, parameters, body }) => {
	const bodyOf = (additionalFields: unknown, timezone?: string) =>
		prepareSend(operation, itemOf({ ...parameters, additionalFields }, timezone)).body;
	const bodyWith = (actionButtons: unknown, additionalFields?: unknown) =>
		prepareSend(operation, itemOf({ ...parameters, actionButtons, additionalFields })).body;

	test('sends what is required, and nothing that was left out', () => {
		expect(prepareSend(operation, itemOf(parameters)).body).toEqual(body);
		for (const blank of [null, undefined, '', {}]) expect(bodyOf(blank)).toEqual(body);
	});

	test('sends every field that the service accepts here, and no other', () => {
		expect(bodyOf(everyField, 'Europe/Berlin')).toEqual({
			...body,
			...everyBodyField[operationName],
		});
	});

	test('sends no field of another operation', () => {
		const leftOver = {
			attributes: { pairs: [{ name: 'left', value: 'over' }] },
			attributesJson: '{"left": "over"}',
			segmentIds: '99',
			subscriberId: '99',
			campaignId: '99',
			...parameters,
		};
		expect(prepareSend(operation, itemOf(leftOver)).body).toEqual(body);
	});

	test('leaves blank optional fields out', () => {
		for (const blank of ['', ' ', null, undefined]) {
			expect(bodyOf({ name: blank, iconUrl: blank, imageUrl: blank })).toEqual(body);
			expect(bodyWith(blank, { expireAfter: blank })).toEqual(body);
		}
		expect(bodyWith({}, { expireAfter: {} })).toEqual(body);
		expect(bodyWith({ button: [] })).toEqual(body);
		expect(bodyOf({ utmParameters: {} })).toEqual(body);
		const blanks = { source: '', medium: ' ', campaign: null };
		expect(bodyOf({ utmParameters: { parameters: blanks } })).toEqual(body);
	});

	test('leaves out a button that was never filled in, and counts it where one is not valid', () => {
		const empty = { title: '', url: ' ' };
		const more = { title: 'Shop', url: ' https://shop.example ', id: 'not sent' };
		expect(bodyWith({ button: [empty, {}] })).toEqual(body);
		expect(bodyWith({ button: [empty, more, empty] })).toEqual({ ...body, action_buttons: [shop] });
		for (const [button, message] of [
			[{ ...shop, title: ' ' }, 'Title of button 3 in Action Buttons is missing'],
			[{ ...shop, url: '' }, 'URL of button 3 in Action Buttons is missing'],
			[{ ...shop, title: 7 }, 'Title of button 3 in Action Buttons is not text'],
			[{ ...shop, url: 7 }, 'URL of button 3 in Action Buttons is not text'],
		] as const) {
			const given = { button: [empty, shop, button] };
			expect(refusal(() => bodyWith(given)).message).toBe(message);
		}
	});

	test('does not look for buttons among the additional fields', () => {
		expect(bodyOf({ actionButtons: { button: [shop] } })).toEqual(body);
	});

	test('UTM parameters go into the URLs that are clicked, and into nothing else', () => {
		const additional = {
			iconUrl: 'https://shop.example/icon.png',
			utmParameters: { parameters: { source: 'news', campaign: 'Summer sale' } },
		};
		const utm = 'utm_source=news&utm_campaign=Summer%20sale';
		const button = { title: 'Shop', url: ' https://shop.example/#top ' };
		expect(bodyWith({ button: [button] }, additional)).toEqual({
			...body,
			target_url: `https://shop.example/sale?${utm}`,
			icon: 'https://shop.example/icon.png',
			action_buttons: [{ title: 'Shop', url: `https://shop.example/?${utm}#top` }],
		});
	});

	test('UTM parameters count towards the length of a URL', () => {
		const utmParameters = { parameters: { source: 'x'.repeat(243 - 'https://a.example'.length) } };
		const prepare = (targetUrl: string) =>
			prepareSend(
				operation,
				itemOf({ ...parameters, targetUrl, additionalFields: { utmParameters } }),
			);
		expect(prepare('https://a.example').body.target_url).toHaveLength(255);
		expect(refusal(() => prepare('https://a.example/')).advice).toBe(
			'Change Target URL and run the workflow again. The UTM parameters count towards its length.',
		);
		const longUrl = itemOf({ ...parameters, targetUrl: `https://a.example/${'x'.repeat(238)}` });
		expect(refusal(() => prepareSend(operation, longUrl)).advice).toBe(
			'Change Target URL and run the workflow again.',
		);
		for (const noText of [7, true, ['https://a.example'], {}]) {
			const item = itemOf({
				...parameters,
				targetUrl: noText,
				additionalFields: { utmParameters },
			});
			expect(refusal(() => prepareSend(operation, item)).message).toBe('Target URL is not text');
		}
		const long = itemOf({
			...parameters,
			title: 'x'.repeat(101),
			additionalFields: { utmParameters },
		});
		expect(refusal(() => prepareSend(operation, long)).advice).toBe(
			'Shorten it, or turn on Shorten Long Texts in the options.',
		);
	});

	test('Send At is read in its own timezone, or else in that of the workflow', () => {
		const at = (sendAt: unknown, sendAtTimezone: unknown) =>
			prepareSend(
				operation,
				itemOf({ ...parameters, additionalFields: { sendAt, sendAtTimezone } }, 'America/New_York'),
			);
		const local = at('2030-05-17T09:30:00', ' Europe/Berlin ');
		expect(local.body.send_at).toBe('2030-05-17 09:30 +02:00');
		expect(local.timezone).toBe('Europe/Berlin');
		expect(at('2030-05-17T09:30:00+05:30', 'Europe/Berlin').body.send_at).toBe(
			'2030-05-17 09:30 +05:30',
		);
		expect(at(Date.UTC(2030, 4, 17, 7, 30), 'Asia/Tokyo').body.send_at).toBe(
			'2030-05-17 16:30 +09:00',
		);
		const without = prepareSend(
			operation,
			itemOf(
				{ ...parameters, additionalFields: { sendAt: '2030-05-17T09:30:00' } },
				'America/New_York',
			),
		);
		expect(without.body.send_at).toBe('2030-05-17 09:30 -04:00');
		expect(without.timezone).toBe('America/New_York');
	});

	test('autoHide has one meaning, sent in the reading of this operation', () => {
		const closes = operationName === 'sendToAll' ? 1 : 0;
		expect(bodyOf({ autoHide: true })).toEqual({ ...body, auto_hide: closes });
		expect(bodyOf({ autoHide: false })).toEqual({ ...body, auto_hide: 1 - closes });
	});

	test.each([
		['title', 'Title'],
		['message', 'Message'],
		['targetUrl', 'Target URL'],
	])('%s is required', (parameter, displayName) => {
		for (const blank of ['', ' \n', undefined]) {
			const item = itemOf({ ...parameters, [parameter]: blank });
			const { message, advice } = refusal(() => prepareSend(operation, item));
			expect([message, advice]).toEqual([`${displayName} is missing`, `Fill in ${displayName}.`]);
		}
	});

	test('trims addresses, not texts', () => {
		const item = itemOf({ ...parameters, title: ' a ', targetUrl: ' https://shop.example\n' });
		expect(prepareSend(operation, item).body).toMatchObject({
			title: ' a ',
			target_url: 'https://shop.example',
		});
	});

	test('gives the schedule as a moment too', () => {
		const additionalFields = { sendAt: Date.UTC(2030, 0, 1, 12, 0, 1) };
		const prepared = prepareSend(operation, itemOf({ ...parameters, additionalFields }));
		expect(prepared.schedule).toEqual({
			text: '2030-01-01 12:01 +00:00',
			at: Date.UTC(2030, 0, 1, 12, 1),
		});
		expect(prepareSend(operation, itemOf(parameters)).schedule).toBeUndefined();
	});

	test('a value of any type in any parameter is sent as it should be or refused', () => {
		const names = [
			'title',
			'message',
			'targetUrl',
			'additionalFields',
			'options',
			...Object.keys(parameters),
		];
		fc.assert(
			fc.property(
				fc.constantFrom(...names),
				fc.anything({ withDate: true }),
				(parameter, value) => {
					const item = itemOf({ ...parameters, [parameter]: value });
					try {
						const prepared = prepareSend(operation, item);
						expect(prepared.body.title).toMatch(/\S/);
					} catch (error) {
						expect(error).toHaveProperty('advice');
					}
				},
			),
		);
	});

	describe('once prepared', () => {
		const prepare = () =>
			prepareSend(operation, itemOf({ ...parameters, additionalFields: { sendAt: '2030-01-01' } }));

		/** A client that keeps what it was asked, and answers with the given body. */
		const clientOf = (
			answer: object,
			asked: Array<{ request: ServiceRequest; timeoutMs: number }>,
		): Client => ({
			async request(request, schema, timeoutMs) {
				asked.push({ request, timeoutMs });
				const parsed = schema.safeParse(answer);
				return parsed.success
					? { kind: 'done', value: parsed.data, raw: answer }
					: { kind: 'failed', problem: connectionLostProblem('send') };
			},
		});

		test('makes one request', async () => {
			const asked: Array<{ request: ServiceRequest; timeoutMs: number }> = [];
			const item = itemOf({ ...parameters, options: { timeout: 1234 } });
			await performSend(prepareSend(operation, item), clientOf({}, asked));
			expect(asked).toEqual([
				{
					request: {
						kind: 'send',
						path: `/v1/notification/send/${paths[operation.audience]}`,
						body,
					},
					timeoutMs: 1234,
				},
			]);
		});

		test('puts out what the service answered', async () => {
			const prepared = prepare();
			const noId = { status: 'success', description: 'Done' };
			const answer = operation.audience === 'subscriber' ? noId : { ...noId, ID: 1001 };
			const result = await performSend(prepared, clientOf(answer, []));
			if (result.kind === 'failed') throw new TypeError('It was not sent');
			const id =
				operation.audience === 'subscriber' ? { subscriberId: '5001' } : { campaignId: '1001' };
			const audience = {
				sendToAll: {},
				sendToAttributes: { attributes: { plan: 'pro' } },
				sendToSegments: { segmentIds: ['12', '34'] },
				sendToSubscriber: {},
			};
			const item = {
				...id,
				audience: operation.audience,
				status: 'success',
				description: 'Done',
				title: content.title,
				...audience[operationName],
			};
			expect(sentItem(prepared, result.value)).toEqual({
				...item,
				sendAt: '2030-01-01 00:00 +00:00',
			});
			const unscheduled = await performSend(
				prepareSend(operation, itemOf(parameters)),
				clientOf(answer, []),
			);
			if (unscheduled.kind === 'failed') throw new TypeError('It was not sent');
			expect(sentItem(prepared, unscheduled.value)).toEqual(item);
			expect(Object.keys(sentItem(prepared, unscheduled.value))).not.toContain('sendAt');
		});

		test('puts out a row that can be logged as it is, in the order in which it is read', () => {
			const everything = prepareSend(
				operation,
				itemOf({
					...parameters,
					title: 'x '.repeat(60),
					additionalFields: everyField,
					options: { idempotencyKey: 7, shortenTexts: true },
				}),
			);
			const title = `${'x '.repeat(49)}x…`;
			const sendAt = '2030-05-17 09:31 +00:00';
			const fields = {
				sendToAll: { title, name },
				sendToAttributes: { title, name, attributes: { plan: 'pro' } },
				sendToSegments: { title, name, segmentIds: ['12', '34'] },
				sendToSubscriber: { title },
			};
			const rest = { ...fields[operationName], sendAt, idempotencyKey: '7' };
			const isSubscriber = operation.audience === 'subscriber';
			const ids = isSubscriber ? { subscriberId: '5001' } : {};
			const receipt = { description: 'Done', sendAt, ...(isSubscriber ? {} : { campaignId: '1' }) };
			expect(JSON.stringify(sentItem(everything, receipt))).toBe(
				JSON.stringify({
					...(isSubscriber ? ids : { campaignId: '1' }),
					audience: operation.audience,
					status: 'success',
					description: 'Done',
					...rest,
				}),
			);
			expect(JSON.stringify(alreadySentItem(everything))).toBe(
				JSON.stringify({
					...ids,
					audience: operation.audience,
					status: 'alreadySent',
					description: 'Sent earlier under this idempotency key; nothing was sent now',
					...rest,
				}),
			);
		});

		test('hands on why there is no answer', async () => {
			expect(await performSend(prepare(), clientOf({}, []))).toEqual({
				kind: 'failed',
				problem: connectionLostProblem('send'),
			});
		});

		test('a dry run shows the row of a real send, and the very request', () => {
			const prepared = prepare();
			const receipt = { description: 'Done', sendAt: '2030-01-01 00:00 +00:00' };
			const { status: _status, description: _description, ...row } = sentItem(prepared, receipt);
			expect(dryRunItem(prepared, 'https://push.example/api')).toEqual({
				...row,
				dryRun: true,
				request: {
					method: 'POST',
					url: `https://push.example/api/v1/notification/send/${paths[operation.audience]}`,
					body: prepared.body,
				},
			});
		});
	});
});

const oneButton = { button: [{}, shop] };

test.each([
	[[], 'Additional Fields'],
	[['color'], 'Additional Fields'],
	[['title'], 'Title'],
	[['message'], 'Message'],
	[['target_url'], 'Target URL'],
	[['name'], 'Campaign Name'],
	[['icon'], 'Icon URL'],
	[['image'], 'Image URL'],
	[['expire_push'], 'Expire After'],
	[['auto_hide'], 'Auto Hide'],
	[['send_at'], 'Send At'],
	[['action_buttons'], 'Action Buttons'],
	[['action_buttons', 1], 'Action Buttons'],
	[['action_buttons', 0, 'title'], 'Title of button 2 in Action Buttons'],
	[['action_buttons', 0, 'url'], 'URL of button 2 in Action Buttons'],
])('an issue at %j is one of the field that users know as %s', (path, displayName) => {
	const fields = readCampaignFields(itemOf({ ...content, actionButtons: oneButton }), 'all', false);
	const { message, advice } = fields.refuse({ path, message: 'is odd' });
	expect([message, advice]).toEqual([
		`${displayName} is odd`,
		`Change ${displayName} and run the workflow again.`,
	]);
});

const set = 'is not a set of fields';
const timezone = 'is not the name of a timezone';

// What is refused before the body's schema sees it; the rules of the body itself are told with the schemas.
test.each<[displayName: string, rule: string, additionalFields: unknown[]]>([
	['Additional Fields', set, ['text', 7, true, [], [{}]]],
	['Send At', 'is empty', ['', null, undefined].map((sendAt) => ({ sendAt }))],
	['Send At', "can't be read as a date", [{ sendAt: 'soon' }]],
	['Send At Timezone', 'is there without Send At', [{ sendAtTimezone: 'Europe/Berlin' }]],
	...(
		[
			['is empty', ['', ' ', null, undefined]],
			[timezone, ['Berlin', 'local', '+02:00', 'UTC+2', 2, {}]],
		] as const
	).map(([rule, values]): [string, string, unknown[]] => [
		'Send At Timezone',
		rule,
		values.map((sendAtTimezone) => ({ sendAt: '2030-01-01T09:00:00Z', sendAtTimezone })),
	]),
	['Auto Hide', 'is not true or false', [{ autoHide: 'true' }, { autoHide: null }]],
	['Expire After', set, [{ expireAfter: '7d' }, { expireAfter: [] }]],
	[
		'Expire After',
		'is not minutes, hours or days',
		[{ expireAfter: { duration: { amount: 1, unit: 'w' } } }],
	],
	[
		'Expire After',
		'is not a whole number from 1',
		[undefined, null, '1', 0, -1, 1.5, NaN, 2 ** 53].map((amount) => ({
			expireAfter: { duration: { amount, unit: 'd' } },
		})),
	],
	['Expire After', 'is not an amount and a unit', [{ expireAfter: { duration: '3d' } }]],
	[
		'Icon URL',
		'is not a valid https:// address: "http://a.example/i.png"',
		[{ iconUrl: 'http://a.example/i.png' }],
	],
])('%s %s: %j', (displayName, rule, values) => {
	for (const additionalFields of values) {
		const item = itemOf({ ...content, additionalFields });
		expect(refusal(() => prepareSend(sendToAll, item)).message).toBe(`${displayName} ${rule}`);
	}
});

test.each([
	['is not a set of fields', ['Shop', 7, []]],
	['is not a list of buttons', [{ button: 'Shop' }, { button: ['Shop'] }]],
])('Action Buttons %s: %j', (rule, values) => {
	for (const actionButtons of values) {
		const item = itemOf({ ...content, actionButtons });
		expect(refusal(() => prepareSend(sendToAll, item)).message).toBe(`Action Buttons ${rule}`);
	}
});

test('UTM parameters count towards the length of a button’s URL', () => {
	const button = [{ title: 'Shop', url: `https://a.example/${'x'.repeat(230)}` }];
	const utmParameters = { parameters: { source: 'newsletter' } };
	const additionalFields = { utmParameters };
	const item = itemOf({ ...content, actionButtons: { button }, additionalFields });
	expect(refusal(() => prepareSend(sendToAll, item)).advice).toBe(
		'Change URL of button 1 in Action Buttons and run the workflow again. The UTM parameters count towards its length.',
	);
});

const sendAt = '2030-01-01T09:00:00';
const ianaName = 'Enter an IANA name such as Europe/Berlin, America/New_York or UTC.';

test.each([
	[{ sendAt: '' }, 'Choose a date, or remove Send At from the additional fields to send at once.'],
	[
		{ sendAtTimezone: 'Europe/Berlin' },
		'Add Send At, or remove Send At Timezone from the additional fields to send at once.',
	],
	[
		{ sendAt, sendAtTimezone: ' ' },
		'Enter a name such as Europe/Berlin, or remove Send At Timezone from the additional fields to use the timezone of the workflow.',
	],
	[{ sendAt, sendAtTimezone: 'Berlin' }, ianaName],
	[{ sendAt, sendAtTimezone: 7 }, ianaName],
])('what a schedule that is not valid asks for: %j', (additionalFields, advice) => {
	const item = itemOf({ ...content, additionalFields });
	expect(refusal(() => prepareSend(sendToAll, item)).advice).toBe(advice);
});

test('a timezone may have a sign within its name', () => {
	const additionalFields = { sendAt, sendAtTimezone: 'Etc/GMT+5' };
	expect(prepareSend(sendToAll, itemOf({ ...content, additionalFields })).body.send_at).toBe(
		'2030-01-01 09:00 -05:00',
	);
});

describe('Shorten Long Texts', () => {
	const long = 'word '.repeat(60);
	const longUrl = `https://a.example/${'x'.repeat(300)}`;
	const prepare = (
		{ operation, parameters }: (typeof cases)[number],
		fields: Record<string, unknown> = {},
		shortenTexts = true,
	) => prepareSend(operation, itemOf({ ...parameters, ...fields, options: { shortenTexts } }));
	const cut = (words: number) => `${'word '.repeat(words).trim()}…`;

	test.each(cases)('$name cuts what is limited, and nothing else', (each) => {
		const button = { title: long, url: 'https://a.example' };
		const texts = { title: long, message: long, additionalFields: { name: long } };
		const { body } = prepare(each, { ...texts, actionButtons: { button: [button] } });
		expect(body.title).toBe(cut(20));
		expect(body.message).toBe(cut(51));
		expect(body.name).toBe(each.name === 'sendToSubscriber' ? undefined : cut(20));
		expect(body.action_buttons?.[0]?.title).toBe(each.name === 'sendToAll' ? cut(20) : long);
	});

	test.each(cases)('$name still refuses a URL that is too long, and what is no text', (each) => {
		expect(refusal(() => prepare(each, { targetUrl: longUrl })).message).toMatch(/^Target URL /);
		expect(refusal(() => prepare(each, { title: long }, false)).message).toMatch(/^Title /);
		expect(refusal(() => prepare(each, { title: 7 })).message).toBe('Title is not text');
	});

	test.each(cases)('$name sends no title of which nothing would be left', (each) => {
		const zalgo = `a${'\u0301'.repeat(120)}`;
		expect(refusal(() => prepare(each, { title: zalgo })).message).toBe(
			"Title can't be shortened to 100 characters: nothing of it would be left",
		);
		expect(prepare(each, { title: '…' }).body.title).toBe('…');
	});
});
