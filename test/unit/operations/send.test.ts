import * as fc from 'fast-check';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { sendReader } from '../../../nodes/PushCampaign/operations/sendFields';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import { refusal } from '../service/support';
import { content, contentBody, itemOf, recordingClient } from './support';

const prepare = (
	operation: SendOperation,
	parameters: Record<string, unknown>,
	timezone?: string,
) => operation.prepare(itemOf({ ...content, ...parameters }, timezone));
const all = (parameters: Record<string, unknown>, timezone?: string) =>
	sendReader(sendToAll)(itemOf({ ...content, ...parameters }, timezone));
const refusedBy = (parameters: Record<string, unknown>) => refusal(() => all(parameters));

const everyField = {
	name: 'Autumn',
	iconUrl: ' https://shop.example/icon.png ',
	imageUrl: ' https://shop.example/banner.jpg ',
	expireAfter: { duration: { amount: 7, unit: 'd' } },
	autoHide: true,
	sendAt: '2030-05-17T09:30:30',
};
const shop = { title: 'Shop', url: 'https://shop.example' };
const emptyButton = { title: '', url: ' ' };
const everywhere = {
	icon: 'https://shop.example/icon.png',
	expire_push: '7d',
	send_at: '2030-05-17 09:31 +02:00',
	action_buttons: [shop],
};
const name = 'Autumn';
const image = 'https://shop.example/banner.jpg';

// Specification, Endpoints and auto_hide rules.
describe.each([
	{
		operation: sendToAll,
		path: 'all',
		parameters: {},
		body: {},
		more: { name, image },
		closes: 1,
		row: { audience: 'all', name },
	},
	{
		operation: sendToAttributes,
		path: 'attribute',
		parameters: { attributes: { pairs: [{ name: 'plan', value: 'pro' }] } },
		body: { attribute: { plan: 'pro' } },
		more: { name },
		closes: 0,
		row: { audience: 'attributes', name, attributes: { plan: 'pro' } },
	},
	{
		operation: sendToSegments,
		path: 'segment',
		parameters: { segmentIds: ['12', 34] },
		body: { segment: ['12', 34] },
		more: { name, image },
		closes: 0,
		row: { audience: 'segments', name, segmentIds: ['12', '34'] },
	},
	{
		operation: sendToSubscriber,
		path: 'sid',
		parameters: { subscriberId: 5001 },
		body: { sid: '5001' },
		more: {},
		closes: 0,
		row: { audience: 'subscriber' },
	},
])('$operation.option.name', ({ operation, path, parameters, body, more, closes, row }) => {
	const bodyOf = (given: object) =>
		prepare(operation, { ...parameters, ...given }, 'Europe/Berlin').send?.body;
	const required = { ...contentBody, ...body };

	test('sends what is required, and nothing that was left out or is blank', () => {
		expect(bodyOf({})).toStrictEqual(required);
		for (const blank of [null, undefined, '', {}]) {
			expect(bodyOf({ additionalFields: blank })).toEqual(required);
		}
		for (const blank of ['', ' ', null, undefined]) {
			const fields = { name: blank, iconUrl: blank, imageUrl: blank };
			const additionalFields = { ...fields, expireAfter: blank, utmParameters: blank };
			expect(bodyOf({ additionalFields })).toStrictEqual(required);
		}
		expect(bodyOf({ additionalFields: { expireAfter: {}, utmParameters: {} } })).toEqual(required);
	});

	test('sends every field that the service accepts here, and no other', () => {
		const actionButtons = { button: [{}, shop] };
		expect(bodyOf({ actionButtons, additionalFields: everyField })).toEqual({
			...required,
			...everywhere,
			...more,
			auto_hide: closes,
		});
		const staying = { ...required, auto_hide: 1 - closes };
		expect(bodyOf({ additionalFields: { autoHide: false } })).toEqual(staying);
	});

	test('a value of any type in any parameter is sent as it should be or refused', () => {
		const names = Object.keys({ ...content, ...parameters });
		fc.assert(
			fc.property(
				fc.constantFrom('actionButtons', 'additionalFields', 'options', ...names),
				fc.anything({ withDate: true }),
				(parameter, value) => {
					try {
						expect(bodyOf({ [parameter]: value })?.title).toMatch(/\S/);
					} catch (error) {
						expect(error).toHaveProperty('advice');
					}
				},
			),
		);
	});

	const isSubscriber = path === 'sid';
	const target = isSubscriber ? { subscriberId: '5001' } : {};
	const { audience, ...others } = row;

	test('makes one request, and puts out a row that can be logged as it is', async () => {
		const sendAt = '2030-05-17 09:31 +00:00';
		const change = prepare(operation, {
			...parameters,
			title: 'x '.repeat(60),
			additionalFields: everyField,
			options: { idempotencyKey: 7, shortenTexts: true, timeout: 1234 },
		});
		const answer = { status: 'success', description: 'Done' };
		const { client, asked } = recordingClient(isSubscriber ? answer : { ...answer, ID: 1001 });
		const result = await change.perform(client);
		const url = `/v1/notification/send/${path}`;
		const sent = change.send?.body;
		expect(asked).toEqual([{ request: { kind: 'send', path: url, body: sent }, timeoutMs: 1234 }]);
		expect(change.content).toEqual([audience, sent]);
		if (result.kind === 'failed') throw new TypeError('It was not sent');

		const title = `${'x '.repeat(49)}x…`;
		const rest = { title, ...others, sendAt, idempotencyKey: '7' };
		const ids = isSubscriber ? target : { campaignId: '1001' };
		// As text, because people read it in this order.
		expect(JSON.stringify(change.toItem(result.value))).toBe(
			JSON.stringify({ ...ids, audience, status: 'success', description: 'Done', ...rest }),
		);
		const description = 'Sent earlier under this idempotency key; nothing was sent now';
		expect(JSON.stringify(change.toItem())).toBe(
			JSON.stringify({ ...target, audience, status: 'alreadySent', description, ...rest }),
		);
		expect(change.toDryRunItem('https://push.example/api')).toEqual({
			...{ ...target, audience, ...rest, dryRun: true },
			request: { method: 'POST', url: `https://push.example/api${url}`, body: sent },
		});
	});

	test('puts out no field that was left out', async () => {
		const change = prepare(operation, parameters);
		const { client } = recordingClient({ status: 'success', description: 'Done', ID: 1 });
		const result = await change.perform(client);
		if (result.kind === 'failed') throw new TypeError('It was not sent');
		const absent = [
			'name',
			'sendAt',
			'idempotencyKey',
			isSubscriber ? 'campaignId' : 'subscriberId',
		];
		for (const item of [change.toItem(result.value), change.toItem(), change.toDryRunItem('')]) {
			for (const field of absent) expect(item).not.toHaveProperty(field);
		}
	});

	test('hands on why there is no answer', async () => {
		const problem = explain(reasons.connectionLost, 'send');
		const result = await prepare(operation, parameters).perform(recordingClient({}).client);
		expect(result).toEqual({ kind: 'failed', problem });
	});

	const long = 'word '.repeat(60);
	const options = { shortenTexts: true };
	const cut = (words: number) => `${'word '.repeat(words).trim()}…`;

	test('Shorten Long Texts cuts what is limited, and nothing else', () => {
		const actionButtons = { button: [{ ...shop, title: long }] };
		const texts = { title: long, message: long, additionalFields: { name: long }, actionButtons };
		expect(bodyOf({ ...texts, options })).toEqual({
			...required,
			...{ title: cut(20), message: cut(51) },
			...('name' in more ? { name: cut(20) } : {}),
			action_buttons: [{ ...shop, title: path === 'all' ? cut(20) : long }],
		});
	});

	test('what can’t be shortened is refused', () => {
		const refused = (given: object) => refusal(() => bodyOf(given)).message;
		const targetUrl = `https://a.example/${'x'.repeat(300)}`;
		expect(refused({ targetUrl, options })).toMatch(/^Target URL is 318 characters long/);
		expect(refused({ title: long })).toMatch(/^Title is 300 characters long/);
		expect(refused({ title: 7, options })).toBe('Title is not text');
		const title = `a${'\u0301'.repeat(120)}`;
		expect(refused({ title, options })).toMatch(/^Title is 121 characters long/);
	});
});

test('addresses are trimmed, texts are not', () => {
	const { body } = all({ title: ' a ', targetUrl: ' https://shop.example\n' });
	expect(body).toEqual({ ...contentBody, title: ' a ', target_url: 'https://shop.example' });
});

test.each([null, undefined, '', {}, { button: [] }, { button: [emptyButton, {}] }])(
	'the Action Buttons %j are none',
	(actionButtons) => {
		expect(all({ actionButtons }).body).toEqual(contentBody);
	},
);

test('Action Buttons are a parameter of their own, without what was never filled in', () => {
	const button = [emptyButton, { ...shop, url: ` ${shop.url} `, id: 'not sent' }, emptyButton];
	expect(all({ actionButtons: { button } }).body.action_buttons).toEqual([shop]);
	expect(all({ additionalFields: { actionButtons: { button } } }).body).toEqual(contentBody);
});

test('UTM Parameters go into the URLs that are clicked, and into nothing else', () => {
	const utm = 'utm_source=news&utm_campaign=Summer%20sale';
	const iconUrl = 'https://shop.example/icon.png';
	const button = { title: 'Shop', url: ' https://shop.example/#top ' };
	const utmParameters = { parameters: { source: 'news', campaign: 'Summer sale' } };
	const actionButtons = { button: [button] };
	expect(all({ actionButtons, additionalFields: { iconUrl, utmParameters } }).body).toEqual({
		...contentBody,
		target_url: `https://shop.example/sale?${utm}`,
		icon: iconUrl,
		action_buttons: [{ title: 'Shop', url: `https://shop.example/?${utm}#top` }],
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
});

test('what is sent at once has no schedule, and the timezone of the workflow', () => {
	expect(all({}, 'Asia/Tokyo')).toMatchObject({ timezone: 'Asia/Tokyo' });
	expect(all({}).schedule).toBeUndefined();
	// Judged only where a user gave it.
	expect(all({}, '+02:00')).toMatchObject({ timezone: '+02:00' });
});

const set = 'is not a set of fields';
const nothing = 'is empty for this item: its expression gave nothing';
const utm = (length: number) => ({ utmParameters: { parameters: { source: 'x'.repeat(length) } } });
const sendAt = '2030-01-01T09:00:00Z';

type Parameters = Record<string, unknown>;
const own = (name: string) => (value: unknown) => ({ [name]: value, additionalFields: utm(9) });
const added =
	(name: string, others = {}) =>
	(value: unknown) => ({ additionalFields: { ...others, [name]: value } });
const expiry = (part: string) => (value: unknown) =>
	added('expireAfter')({ duration: { amount: 1, unit: 'd', [part]: value } });
const button = (part: string) => (value: unknown) =>
	own('actionButtons')({ button: [emptyButton, shop, { ...shop, [part]: value }] });

const blank = ['', ' \n'];
const notZone = [...blank, null, 'Berlin', 'local', '+02:00', 'UTC+2', 2, {}];

// The rules of the body itself are told with its schemas.
test.each<[name: string, rule: string, of: (value: unknown) => Parameters, refused: unknown[]]>([
	...[
		['Title', own('title')] as const,
		['Message', own('message')] as const,
		['Target URL', own('targetUrl')] as const,
		['Title of button 2 in Action Buttons', button('title')] as const,
		['URL of button 2 in Action Buttons', button('url')] as const,
	].flatMap(([name, of]): Array<[string, string, typeof of, unknown[]]> => [
		[name, 'is missing', of, blank],
		[name, nothing, of, [null]],
		[name, 'is not text', of, [7, true, {}]],
	]),
	['Action Buttons', set, own('actionButtons'), ['Shop', []]],
	['Action Buttons', 'is not a list of fields', own('actionButtons'), [{ button: ['Shop'] }]],
	['Additional Fields', set, (additionalFields) => ({ additionalFields }), ['text', 7, [], [{}]]],
	['Campaign Name', 'is not text', added('name'), [7]],
	['Icon URL', 'is not text', added('iconUrl'), [7]],
	['Image URL', 'is not text', added('imageUrl'), [7]],
	['Send At', "can't be read as a date", added('sendAt'), ['soon', ...blank, null]],
	['Send At Timezone', 'is there without Send At', added('sendAtTimezone'), ['UTC', null]],
	[
		'Send At Timezone',
		'is not the name of a time zone',
		added('sendAtTimezone', { sendAt }),
		notZone,
	],
	['Auto Hide', 'is not true or false', added('autoHide'), ['true']],
	['Auto Hide', nothing, added('autoHide'), [null]],
	['Expire After', set, added('expireAfter'), ['7d', []]],
	['Expire After', 'is not an amount and a unit', added('expireAfter'), [{ duration: '3d' }]],
	['Expire After', 'is not minutes, hours or days', expiry('unit'), ['w']],
	[
		'Expire After',
		'is not a whole number from 1',
		expiry('amount'),
		[undefined, null, '1', 0, 1.5],
	],
])('%s %s (%#)', (name, rule, of, refused) => {
	for (const value of refused) expect(refusedBy(of(value)).message).toBe(`${name} ${rule}`);
});

const shorterAddress =
	'Give a shorter address. UTM Parameters count towards its length, where there are any.';
const ianaName =
	'Choose one from the list, give an IANA name such as Europe/Berlin or UTC, or remove Send At Timezone to use the time zone of the workflow.';
const withoutSendAt =
	'Add Send At, or remove Send At Timezone from the additional fields to send at once.';
const longUrl = { targetUrl: 'https://a.example', additionalFields: utm(300) };
const longButton = { actionButtons: { button: [shop] }, additionalFields: utm(90) };

test.each<[parameters: Parameters, field: string, advice: string]>([
	[{ additionalFields: { sendAtTimezone: 'Europe/Berlin' } }, 'Send At Timezone', withoutSendAt],
	[{ additionalFields: { sendAt, sendAtTimezone: 'Berlin' } }, 'Send At Timezone', ianaName],
	[longUrl, 'Target URL', shorterAddress],
	[longButton, 'URL of button 1 in Action Buttons', shorterAddress],
	[{ title: '' }, 'Title', 'Fill in Title.'],
	[{ title: 7 }, 'Title', 'Change Title and run the workflow again.'],
])('%j is refused with what to do: %s', (parameters, field, advice) => {
	const refused = refusedBy(parameters);
	expect(refused.message.startsWith(`${field} is `)).toBe(true);
	expect(refused.advice).toBe(advice);
});
