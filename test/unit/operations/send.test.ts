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
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
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
const everyBodyOf = {
	icon: 'https://shop.example/icon.png',
	expire_push: '7d',
	send_at: '2030-05-17 09:31 +02:00',
};
const name = 'Autumn';
const image = 'https://shop.example/banner.jpg';
/** Specification, Endpoints and auto_hide rules. */
const everyBodyField = {
	sendToAll: { ...everyBodyOf, name, image, auto_hide: 1 },
	sendToAttributes: { ...everyBodyOf, name, auto_hide: 0 },
	sendToSegments: { ...everyBodyOf, name, image, auto_hide: 0 },
	sendToSubscriber: { ...everyBodyOf, auto_hide: 0 },
};

const oneButton = { button: [{}, shop] };

describe.each(cases)('$name', ({ name: operationName, operation, parameters, body }) => {
	const bodyOf = (additionalFields: unknown) =>
		prepareSend(operation, itemOf({ ...parameters, additionalFields }, 'Europe/Berlin')).body;

	test('sends what is required, and nothing that was left out or is blank', () => {
		expect(prepareSend(operation, itemOf(parameters)).body).toEqual(body);
		for (const blank of [null, undefined, '', {}]) expect(bodyOf(blank)).toEqual(body);
		for (const blank of ['', ' ', null, undefined]) {
			expect(bodyOf({ name: blank, iconUrl: blank, imageUrl: blank })).toEqual(body);
			expect(bodyOf({ expireAfter: blank, utmParameters: blank })).toEqual(body);
		}
		const utmParameters = { parameters: { source: '', medium: ' ', campaign: null } };
		expect(bodyOf({ expireAfter: {}, utmParameters })).toEqual(body);
	});

	test('sends every field that the service accepts here, and no other', () => {
		const given = { ...parameters, actionButtons: oneButton };
		const item = itemOf({ ...given, additionalFields: everyField }, 'Europe/Berlin');
		expect(prepareSend(operation, item).body).toEqual({
			...body,
			...everyBodyField[operationName],
			action_buttons: [shop],
		});
		const { auto_hide: closes } = everyBodyField[operationName];
		expect(bodyOf({ autoHide: false })).toEqual({ ...body, auto_hide: 1 - closes });
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

	test('a value of any type in any parameter is sent as it should be or refused', () => {
		const names = [...['actionButtons', 'additionalFields', 'options'], ...Object.keys(parameters)];
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
					: { kind: 'failed', problem: explain(reasons.connectionLost, 'send') };
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
				problem: explain(reasons.connectionLost, 'send'),
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

const all = (parameters: Record<string, unknown>, timezone?: string) =>
	prepareSend(sendToAll, itemOf({ ...content, ...parameters }, timezone));
const refusedBy = (parameters: Record<string, unknown>) => refusal(() => all(parameters));

test.each([
	['title', 'Title'],
	['message', 'Message'],
	['targetUrl', 'Target URL'],
])('%s is required', (parameter, displayName) => {
	for (const blank of ['', ' \n', undefined]) {
		expect(refusedBy({ [parameter]: blank }).message).toBe(`${displayName} is missing`);
	}
	const nothing = `${displayName} is empty for this item: its expression gave nothing`;
	expect(refusedBy({ [parameter]: null }).message).toBe(nothing);
});

test('addresses are trimmed, texts are not', () => {
	const { body } = all({ title: ' a ', targetUrl: ' https://shop.example\n' });
	expect(body).toEqual({ ...contentBody, title: ' a ', target_url: 'https://shop.example' });
});

describe('Action Buttons', () => {
	const empty = { title: '', url: ' ' };

	test.each([null, undefined, '', {}, { button: [] }, { button: [empty, {}] }])(
		'%j are none',
		(actionButtons) => {
			expect(all({ actionButtons }).body).toEqual(contentBody);
		},
	);

	test('leave out a button that was never filled in, and what it has beside', () => {
		const more = { title: 'Shop', url: ' https://shop.example ', id: 'not sent' };
		const { body } = all({ actionButtons: { button: [empty, more, empty] } });
		expect(body.action_buttons).toEqual([shop]);
	});

	test('are a parameter of their own', () => {
		expect(all({ additionalFields: { actionButtons: oneButton } }).body).toEqual(contentBody);
	});

	const third = (button: object) => ({ button: [empty, shop, button] });
	test.each<[actionButtons: unknown, message: string]>([
		['Shop', 'Action Buttons is not a set of fields'],
		[[], 'Action Buttons is not a set of fields'],
		[{ button: 'Shop' }, 'Action Buttons is not a list of buttons'],
		[{ button: ['Shop'] }, 'Action Buttons is not a list of buttons'],
		[third({ ...shop, title: ' ' }), 'Title of button 3 in Action Buttons is missing'],
		[third({ ...shop, url: '' }), 'URL of button 3 in Action Buttons is missing'],
		[third({ ...shop, title: 7 }), 'Title of button 3 in Action Buttons is not text'],
		[third({ ...shop, url: 7 }), 'URL of button 3 in Action Buttons is not text'],
	])('%j are refused: %s', (actionButtons, message) => {
		expect(refusedBy({ actionButtons }).message).toBe(message);
	});
});

describe('UTM parameters', () => {
	test('go into the URLs that are clicked, and into nothing else', () => {
		const utm = 'utm_source=news&utm_campaign=Summer%20sale';
		const iconUrl = 'https://shop.example/icon.png';
		const button = { title: 'Shop', url: ' https://shop.example/#top ' };
		const utmParameters = { parameters: { source: 'news', campaign: 'Summer sale' } };
		const { body } = all({
			actionButtons: { button: [button] },
			additionalFields: { iconUrl, utmParameters },
		});
		expect(body).toEqual({
			...contentBody,
			target_url: `https://shop.example/sale?${utm}`,
			icon: iconUrl,
			action_buttons: [{ title: 'Shop', url: `https://shop.example/?${utm}#top` }],
		});
	});

	const withUtm = (parameters: Record<string, unknown>, length: number) => ({
		...parameters,
		additionalFields: { utmParameters: { parameters: { source: 'x'.repeat(length) } } },
	});
	const button = (url: string) => ({ actionButtons: { button: [{ title: 'Shop', url }] } });
	test('count towards the length of a URL', () => {
		const room = 255 - 'https://a.example?utm_source='.length;
		const { body } = all(withUtm({ targetUrl: 'https://a.example' }, room));
		expect(body.target_url).toHaveLength(255);
	});

	test.each([
		[withUtm({ targetUrl: 'https://a.example' }, 300), 'Target URL'],
		[withUtm(button('https://a.example'), 90), 'URL of button 1 in Action Buttons'],
	])('are pointed out where an address is too long: %#', (parameters, field) => {
		const { message, advice } = refusedBy(parameters);
		expect(message).toMatch(new RegExp(`^${field} is \\d+ characters long`));
		expect(advice).toBe(
			'Give a shorter address. UTM Parameters count towards its length, where there are any.',
		);
	});

	test.each([7, true, ['https://a.example'], {}])('are not added to %j', (targetUrl) => {
		expect(refusedBy(withUtm({ targetUrl }, 9)).message).toBe('Target URL is not text');
	});
});

test.each<[sendAt: unknown, timezone: string | undefined, text: string]>([
	['2030-05-17T09:30:00', ' Europe/Berlin ', '2030-05-17 09:30 +02:00'],
	['2030-05-17T09:30:00+05:30', 'Europe/Berlin', '2030-05-17 09:30 +05:30'],
	[Date.UTC(2030, 4, 17, 7, 30, 1), 'Asia/Tokyo', '2030-05-17 16:31 +09:00'],
	['2030-05-17T09:30:00', undefined, '2030-05-17 09:30 -04:00'],
	// A timezone may have a sign within its name.
	['2030-05-17T09:30:00', 'Etc/GMT+5', '2030-05-17 09:30 -05:00'],
])('Send At %s in the timezone %s is sent as %s', (sendAt, sendAtTimezone, text) => {
	const additionalFields = { sendAt, ...(sendAtTimezone === undefined ? {} : { sendAtTimezone }) };
	const { body, schedule, timezone } = all({ additionalFields }, 'America/New_York');
	expect(body).toEqual({ ...contentBody, send_at: text });
	expect(schedule).toEqual({ text, at: Date.parse(text) });
	expect(timezone).toBe(sendAtTimezone?.trim() ?? 'America/New_York');
	expect(all({}).schedule).toBeUndefined();
});

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
const timezone = 'is not the name of a time zone';

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
		expect(refusedBy({ additionalFields }).message).toBe(`${displayName} ${rule}`);
	}
});

const sendAt = '2030-01-01T09:00:00';
const ianaName =
	'Choose one from the list, or give an IANA name such as Europe/Berlin, America/New_York or UTC.';

test.each([
	[{ sendAt: '' }, 'Choose a date, or remove Send At from the additional fields to send at once.'],
	[
		{ sendAtTimezone: 'Europe/Berlin' },
		'Add Send At, or remove Send At Timezone from the additional fields to send at once.',
	],
	[
		{ sendAt, sendAtTimezone: ' ' },
		'Choose one from the list, or remove Send At Timezone from the additional fields to use the time zone of the workflow.',
	],
	[{ sendAt, sendAtTimezone: 'Berlin' }, ianaName],
	[{ sendAt, sendAtTimezone: 7 }, ianaName],
])('what a schedule that is not valid asks for: %j', (additionalFields, advice) => {
	expect(refusedBy({ additionalFields }).advice).toBe(advice);
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
