import * as fc from 'fast-check';
import { z } from 'zod';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { readSend } from '../../../nodes/PushCampaign/operations/sendFields';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import { refusal, withAnyValue } from '../service/support';
import { content, contentBody, itemOf, recordingClient } from './support';

type Parameters = Record<string, unknown>;

/** Stands for an expression that can't be evaluated. */
function requireNothing(): never {
	throw new TypeError('Nothing can be read');
}

const prepare = (operation: SendOperation, parameters: Parameters, timezone?: string) =>
	operation.prepare(itemOf({ ...content, ...parameters }, timezone));
const all = (parameters: Parameters, timezone?: string) =>
	readSend(itemOf({ ...content, ...parameters }, timezone), sendToAll);
const refusedBy = (parameters: Parameters) => refusal(() => all(parameters));

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
		prepare(operation, { ...parameters, ...given }, 'Europe/Berlin').preview().body;
	const required = { ...contentBody, ...body };

	test('sends what is required, and nothing that was left out or is blank', () => {
		expect(bodyOf({})).toStrictEqual(required);
		for (const blank of [null, undefined, '', {}]) {
			expect(bodyOf({ additionalFields: blank })).toEqual(required);
		}
		for (const blank of ['', ' ', null, undefined]) {
			const fields = { name: blank, iconUrl: blank, imageUrl: blank };
			expect(bodyOf({ additionalFields: fields })).toStrictEqual(required);
		}
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

	test('sends or refuses a value of any type in any parameter', () => {
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

	test('makes one request, and returns a row that can be logged as it is', async () => {
		const sendAt = '2030-05-17 09:31 +00:00';
		const send = prepare(operation, {
			...parameters,
			title: 'x '.repeat(60),
			additionalFields: everyField,
			options: { idempotencyKey: 7, shortenTexts: true, timeout: 1234 },
		});
		const answer = { status: 'success', description: 'Done' };
		const { client, asked } = recordingClient(isSubscriber ? answer : { ...answer, ID: 1001 });
		const result = await send.perform(client);
		const url = `/v1/notification/send/${path}`;
		const sent = send.preview().body;
		const requestedId = isSubscriber ? { of: 'subscriber', id: '5001' } : undefined;
		const kind = isSubscriber ? 'sendToOne' : 'send';
		const request = { kind, path: url, body: sent, requestedId, hasKey: true };
		expect(asked).toEqual([{ request, timeoutMs: 1234 }]);
		if (result.kind === 'failed') throw new TypeError('It was not sent');

		const title = `${'x '.repeat(49)}x…`;
		const rest = { title, ...others, sendAt, idempotencyKey: '7' };
		const ids = isSubscriber ? target : { campaignId: '1001' };
		// As text, because people read it in this order.
		expect(JSON.stringify(send.toItem(result.value))).toBe(
			JSON.stringify({ ...ids, audience, status: 'success', description: 'Done', ...rest }),
		);
		const description = 'Sent earlier under this idempotency key; nothing was sent now';
		expect(JSON.stringify(send.toSentEarlierItem())).toBe(
			JSON.stringify({ ...target, audience, status: 'alreadySent', description, ...rest }),
		);
		const failure = { status: 'notSent', description: 'No', error: { message: 'No' } };
		const { error, ...ended } = failure;
		expect(JSON.stringify(send.toFailedItem(failure))).toBe(
			JSON.stringify({ ...target, audience, ...ended, ...rest, error }),
		);
		expect(send.toDryRunItem('https://push.example/api')).toEqual({
			...{ ...target, audience, ...rest, dryRun: true },
			request: { method: 'POST', url: `https://push.example/api${url}`, body: sent },
		});
	});

	test('returns no field that was left out', async () => {
		const send = prepare(operation, parameters);
		const { client } = recordingClient({ status: 'success', description: 'Done', ID: 1 });
		const result = await send.perform(client);
		if (result.kind === 'failed') throw new TypeError('It was not sent');
		const absent = [
			'name',
			'sendAt',
			'idempotencyKey',
			isSubscriber ? 'campaignId' : 'subscriberId',
		];
		for (const item of [
			send.toItem(result.value),
			send.toSentEarlierItem(),
			send.toDryRunItem(''),
		]) {
			for (const field of absent) expect(item).not.toHaveProperty(field);
		}
	});

	test('returns why there is no answer', async () => {
		const problem = explain(reasons.connectionLost, isSubscriber ? 'sendToOne' : 'send');
		const result = await prepare(operation, parameters).perform(recordingClient({}).client);
		expect(result).toEqual({ kind: 'failed', problem });
	});

	test('names an item that is not valid by its title, and by the ID of a subscriber', () => {
		const failure = { status: 'notSent', error: { message: 'No' } };
		const entered = { ...parameters, title: 'x'.repeat(101), message: '' };
		expect(operation.toInvalidItem(itemOf(entered), failure)).toEqual({
			...{ ...target, audience, ...failure, title: entered.title },
		});
	});

	test('names an item of which nothing can be read by whom it was for', () => {
		const failure = { status: 'notSent', error: { message: 'No' } };
		const unreadable = { ...itemOf({}), get: () => requireNothing() };
		expect(operation.toInvalidItem(unreadable, failure)).toEqual({ audience, ...failure });
	});

	test('is another send if the audience, the body or the quiet hours are others', () => {
		const contentOf = (given: object) =>
			JSON.stringify(prepare(operation, { ...parameters, ...given }).content);
		const additional = (fields: object) => contentOf({ additionalFields: fields });
		const hours = { from: '21:00', to: '08:00' };
		const others = [
			contentOf({}),
			contentOf({ title: 'Winter sale' }),
			additional({ sendAt: '2030-05-17T09:30:00Z' }),
			additional({ sendAt: '2030-05-17T09:31:00Z' }),
			additional({ quietHours: { hours } }),
			additional({ quietHours: { hours: { ...hours, to: '07:00' } } }),
			additional({ quietHours: { hours }, sendAtTimezone: 'Asia/Tokyo' }),
		];
		expect(new Set(others).size).toBe(others.length);
		expect(contentOf({})).toContain(`"${audience}"`);
		expect(additional({ sendAt: ' Now ' })).toBe(contentOf({}));
	});

	const long = 'word '.repeat(60);
	const options = { shortenTexts: true };
	const cut = (words: number) => `${'word '.repeat(words).trim()}…`;

	test('cuts only what is limited with Shorten Long Texts', () => {
		const actionButtons = { button: [{ ...shop, title: long }] };
		const texts = { title: long, message: long, additionalFields: { name: long }, actionButtons };
		expect(bodyOf({ ...texts, options })).toEqual({
			...required,
			...{ title: cut(20), message: cut(51) },
			...('name' in more ? { name: cut(20) } : {}),
			action_buttons: [{ ...shop, title: path === 'all' ? cut(20) : long }],
		});
	});

	test('refuses what can’t be shortened', () => {
		const refused = (given: object) => refusal(() => bodyOf(given)).message;
		const targetUrl = `https://a.example/${'x'.repeat(300)}`;
		expect(refused({ targetUrl, options })).toMatch(/^Target URL is 318 characters long/);
		expect(refused({ title: long })).toMatch(/^Title is 300 characters long/);
		expect(refused({ title: true, options })).toBe('Title is not text: true');
		const title = `a${'\u0301'.repeat(120)}`;
		expect(refused({ title, options })).toMatch(/^Title is 121 characters long/);
	});
});

describe('texts', () => {
	test('addresses are trimmed, other texts are not', () => {
		const { body } = all({ title: ' a ', targetUrl: ' https://shop.example\n' });
		expect(body).toEqual({ ...contentBody, title: ' a ', target_url: 'https://shop.example' });
	});

	test('a number is sent as its text in a title, a message, a name and the title of a button', () => {
		const { body } = all({
			title: 7,
			message: -0.5,
			actionButtons: { button: [{ ...shop, title: 2030 }] },
			additionalFields: { name: 0 },
		});
		expect(body).toEqual({
			...contentBody,
			title: '7',
			message: '-0.5',
			name: '0',
			action_buttons: [{ ...shop, title: '2030' }],
		});
		expect(refusedBy({ title: Number.NaN }).message).toBe('Title is not text: NaN');
		expect(refusedBy({ targetUrl: 7 }).message).toBe('Target URL is not text: 7');
	});
});

describe('Action Buttons', () => {
	test.each([
		{ name: 'null', actionButtons: null },
		{ name: 'an empty collection', actionButtons: {} },
		{ name: 'only buttons that were not filled in', actionButtons: { button: [emptyButton, {}] } },
	])('are none if they are $name', ({ actionButtons }) => {
		expect(all({ actionButtons }).body).toEqual(contentBody);
	});

	test('are a parameter of their own, without buttons that were not filled in', () => {
		const button = [emptyButton, { ...shop, url: ` ${shop.url} `, id: 'not sent' }, emptyButton];
		expect(all({ actionButtons: { button } }).body.action_buttons).toEqual([shop]);
		expect(all({ additionalFields: { actionButtons: { button } } }).body).toEqual(contentBody);
	});
});

describe('UTM Parameters', () => {
	const iconUrl = 'https://shop.example/icon.png';
	const button = { title: 'Shop', url: ' https://shop.example/#top ' };
	const parameters = { source: 'web_push', campaign: 'Summer sale' };
	const utm = 'utm_source=web_push&utm_campaign=Summer%20sale';
	const bodyWith = (more: object) =>
		all({
			actionButtons: { button: [button] },
			additionalFields: { iconUrl, utmParameters: { parameters: { ...parameters, ...more } } },
		}).body;

	test.each([
		{ name: 'by default', more: {}, url: `https://shop.example/?${utm}#top` },
		{
			name: 'with Target URL and Buttons',
			more: { addTo: 'all' },
			url: `https://shop.example/?${utm}#top`,
		},
		{
			name: 'but not the URLs of buttons with Target URL Only',
			more: { addTo: 'targetUrl' },
			url: 'https://shop.example/#top',
		},
	])('extend the URLs that are clicked $name', ({ more, url }) => {
		expect(bodyWith(more)).toEqual({
			...contentBody,
			target_url: `https://shop.example/sale?${utm}`,
			icon: iconUrl,
			action_buttons: [{ title: 'Shop', url }],
		});
	});

	const url = 'https://shop.example/summer/sale/sandals/';
	const long = { source: 'web_push', medium: 'push', campaign: 'sandals_2030' };
	const withLong = (addTo: string) => ({
		actionButtons: { button: [shop, { title: 'Buy', url }] },
		additionalFields: { utmParameters: { parameters: { ...long, addTo } } },
	});

	test('say both lengths of a button’s URL that they make too long, and name the choice', () => {
		expect(url).toHaveLength(41);
		expect(refusedBy(withLong('all'))).toMatchObject({
			message:
				'URL of button 2 in Action Buttons is 41 characters long, and 103 with its UTM parameters, 3 more than the 100 that the service accepts',
			advice:
				'Choose "Target URL Only" in Add To of UTM Parameters, or shorten the URL or the parameters.',
		});
		expect(all(withLong('targetUrl')).body.action_buttons?.[1]?.url).toBe(url);
	});

	test('do not limit the URL of a button where the service states no limit', () => {
		const parameters = { ...content, ...withLong('all'), subscriberId: '5001' };
		const { body } = readSend(itemOf(parameters), sendToSubscriber);
		expect(body.action_buttons?.[1]?.url).toHaveLength(103);
	});

	test('say both lengths of a Target URL that they make too long', () => {
		const source = 'x'.repeat(240);
		const refused = refusedBy({ additionalFields: { utmParameters: { parameters: { source } } } });
		expect(refused).toMatchObject({
			message:
				'Target URL is 25 characters long, and 277 with its UTM parameters, 22 more than the 255 that the service accepts',
			advice: 'Shorten the URL or the UTM parameters.',
		});
	});
});

describe('Send At', () => {
	test.each([
		{
			name: 'a time without an offset is read in Send At Timezone',
			sendAt: '2030-05-17T09:30:00',
			sendAtTimezone: ' Europe/Berlin ',
			text: '2030-05-17 09:30 +02:00',
		},
		{
			name: 'a time with an offset keeps it',
			sendAt: '2030-05-17T09:30:00+05:30',
			sendAtTimezone: 'Europe/Berlin',
			text: '2030-05-17 09:30 +05:30',
		},

		{
			name: 'without Send At Timezone the time zone of the workflow counts',
			sendAt: '2030-05-17T09:30:00',
			sendAtTimezone: undefined,
			text: '2030-05-17 09:30 -04:00',
		},

		{
			name: 'the name of a time zone may have a sign in it',
			sendAt: '2030-05-17T09:30:00',
			sendAtTimezone: 'Etc/GMT+5',
			text: '2030-05-17 09:30 -05:00',
		},
	])('$name', ({ sendAt, sendAtTimezone, text }) => {
		const zone = sendAtTimezone === undefined ? {} : { sendAtTimezone };
		const sent = all({ additionalFields: { sendAt, ...zone } }, 'America/New_York');
		expect(sent.body).toEqual({ ...contentBody, send_at: text });
		expect(sent.schedule).toEqual({ text, at: Date.parse(text) });
		expect(sent.timezone).toBe(sendAtTimezone?.trim() ?? 'America/New_York');
	});

	test('the word now sends right away, whatever else is there', () => {
		const { body, schedule } = all({
			additionalFields: { sendAt: '\nNOW ', sendAtTimezone: 'Europe/Berlin' },
		});
		expect([body, schedule]).toEqual([contentBody, undefined]);
		expect(all({ additionalFields: { sendAt: 'now' } }, '+02:00').body).toEqual(contentBody);
	});

	test.each([
		{ name: 'Send At', additionalFields: { sendAt: '2030-05-17T09:30Z' } },
		{ name: 'Quiet Hours', additionalFields: { quietHours: { hours: {} } } },
	])(
		'with $name, a time zone of the workflow that nobody knows is refused',
		({ additionalFields }) => {
			expect(refusal(() => all({ additionalFields }, 'Mars/Base'))).toMatchObject({
				message: 'The time zone of the workflow is not known: "Mars/Base"',
				advice: 'Choose a time zone in the settings of the workflow, or add Send At Timezone.',
			});
			const own = { ...additionalFields, sendAtTimezone: 'UTC' };
			expect(all({ additionalFields: own }, 'Mars/Base').timezone).toBe('UTC');
		},
	);

	test('what is sent right away has no schedule, and the time zone of the workflow', () => {
		expect(all({}, 'Asia/Tokyo')).toMatchObject({ timezone: 'Asia/Tokyo' });
		expect(all({}).schedule).toBeUndefined();
		// Judged only if a user entered it.
		expect(all({}, '+02:00')).toMatchObject({ timezone: '+02:00' });
	});
});

describe('Quiet Hours', () => {
	const sentAt = (now: string) => jest.setSystemTime(new Date(now));
	beforeEach(() => jest.useFakeTimers({ now: new Date('2030-01-15T21:30Z') }));
	afterEach(() => jest.useRealTimers());

	const scheduled = z.object({ send_at: z.string().optional() });
	const quietHours = { hours: { from: '21:00', to: '08:00' } };
	const held = (more: object = {}) =>
		prepare(sendToAll, { additionalFields: { quietHours, ...more } }, 'UTC');
	const bodiesSent = async (send: ReturnType<typeof held>, ...times: string[]) => {
		const { client, asked } = recordingClient({ status: 'success', description: 'Done', ID: 1 });
		const rows: unknown[] = [];
		for (const time of times) {
			sentAt(time);
			const result = await send.perform(client);
			if (result.kind === 'failed') throw new TypeError('It was not sent');
			rows.push([result.value.sendAt, send.toItem(result.value)['sendAt']]);
		}
		return {
			times: asked.map(({ request }) => scheduled.parse(request.body).send_at),
			rows,
		};
	};

	test('the time is calculated when the request leaves, not when the item was read', async () => {
		sentAt('2030-01-15T12:00Z');
		const send = held();
		const { times, rows } = await bodiesSent(
			send,
			'2030-01-15T20:59Z',
			'2030-01-15T21:00Z',
			'2030-01-16T07:57Z',
			'2030-01-16T07:58Z',
			'2030-01-16T08:00Z',
		);
		const expected = [
			undefined,
			'2030-01-16 08:00 +00:00',
			'2030-01-16 08:02 +00:00',
			'2030-01-16 08:03 +00:00',
			undefined,
		];
		expect(times).toEqual(expected);
		expect(rows).toEqual(expected.map((time) => [time, time]));
	});

	test('the identity of the send is what was entered, whatever the time is', () => {
		const identities = ['2030-01-15T12:00Z', '2030-01-15T21:30Z', '2030-01-16T07:58Z'].map(
			(now) => {
				sentAt(now);
				return JSON.stringify(held({ sendAt: '2030-01-17T22:00Z' }).content);
			},
		);
		expect(new Set(identities).size).toBe(1);
		expect(identities[0]).toContain('2030-01-17 22:00 +00:00');
	});

	test('a Send At within them is moved, and is not too late while they last', async () => {
		const send = held({ sendAt: '2030-01-15T22:00Z' });
		expect(send.schedule).toBeUndefined();
		const { times } = await bodiesSent(send, '2030-01-15T21:59Z', '2030-01-16T08:30Z');
		expect(times).toEqual(['2030-01-16 08:00 +00:00', '2030-01-16 08:35 +00:00']);
	});

	test.each([
		{ name: 'within them of a day ago', sendAt: '2030-01-14T21:30Z' },
		{ name: 'outside of them', sendAt: '2030-01-16T12:00Z' },
		{ name: 'outside of them that is over', sendAt: '2030-01-15T20:59Z' },
	])('the notice of a Send At $name is judged as without them', ({ sendAt }) => {
		expect(held({ sendAt }).schedule?.at).toBe(Date.parse(sendAt));
	});

	test.each([
		{
			name: 'a minute ago',
			sendAt: '2030-01-15T21:29Z',
			now: '2030-01-15T21:30Z',
			moved: '2030-01-16 08:00 +00:00',
		},
		{
			name: 'just before their end',
			sendAt: '2030-01-16T07:59Z',
			now: '2030-01-16T08:01Z',
			moved: '2030-01-16 08:06 +00:00',
		},
		{
			name: 'nearly a day ago',
			sendAt: '2030-01-15T21:31Z',
			now: '2030-01-16T21:30:59Z',
			moved: '2030-01-17 08:00 +00:00',
		},
	])('a Send At within them that is over since $name is moved', async ({ sendAt, now, moved }) => {
		sentAt(now);
		const send = held({ sendAt });
		expect(send.schedule).toBeUndefined();
		expect((await bodiesSent(send, now)).times).toEqual([moved]);
	});

	test('the word now is held back as what is sent right away', async () => {
		const { times } = await bodiesSent(held({ sendAt: 'now' }), '2030-01-15T21:30Z');
		expect(times).toEqual(['2030-01-16 08:00 +00:00']);
	});

	describe('the row of a send that failed', () => {
		const failure = { status: 'unknown', error: { message: 'No' } };
		/** Its time, if it was requested at these times and its row is made later. */
		const rowAfter = async (send: ReturnType<typeof held>, ...requested: string[]) => {
			for (const time of requested) {
				sentAt(time);
				await send.perform(recordingClient({}).client);
			}
			sentAt('2030-01-15T23:00Z');
			return send.toFailedItem(failure)['sendAt'];
		};

		test.each([
			{ name: 'right away', requested: ['2030-01-15T20:59:50Z'], sendAt: undefined },
			{
				name: 'moved, at last',
				requested: ['2030-01-15T20:59:50Z', '2030-01-15T21:00Z'],
				sendAt: '2030-01-16 08:00 +00:00',
			},
			{ name: 'never', requested: [], sendAt: undefined },
		])('has the time with which it left: $name', async ({ requested, sendAt }) => {
			expect(await rowAfter(held(), ...requested)).toBe(sendAt);
		});

		test('that never left has the time that was entered, unless quiet hours move it', async () => {
			expect(await rowAfter(held({ sendAt: '2030-01-17T12:00Z' }))).toBe('2030-01-17 12:00 +00:00');
			expect(await rowAfter(held({ sendAt: '2030-01-17T22:00Z' }))).toBeUndefined();
		});
	});

	test('a dry run shows the time of a send that leaves now', () => {
		const send = held({ sendAtTimezone: 'America/New_York' });
		expect(send.toDryRunItem('')).toMatchObject({
			request: { body: contentBody },
		});
		expect(send.toDryRunItem('')).not.toHaveProperty('sendAt');
		sentAt('2030-01-16T02:30Z');
		const sendAt = '2030-01-16 08:00 -05:00';
		expect(send.toDryRunItem('')).toMatchObject({
			sendAt,
			request: { body: { ...contentBody, send_at: sendAt } },
		});
	});

	test('hints are given the time that was sent, or that would be sent now', () => {
		const send = held();
		const sendAt = '2030-01-16 08:02 +00:00';
		expect(send.asSent({ description: 'Done', sendAt })).toMatchObject({
			schedule: { text: sendAt, at: Date.parse(sendAt) },
			isMoved: true,
			body: { send_at: sendAt },
		});
		expect(send.asSent({ description: 'Done' })?.schedule).toBeUndefined();
		expect(send.preview()).toMatchObject({
			schedule: { text: '2030-01-16 08:00 +00:00' },
			isMoved: true,
		});
		const kept = '2030-01-17 12:00 +00:00';
		const outside = held({ sendAt: kept });
		for (const described of [
			outside.preview(),
			outside.asSent({ description: '', sendAt: kept }),
		]) {
			expect(described?.schedule?.text).toBe(kept);
			expect(described).not.toHaveProperty('isMoved');
		}
	});

	test('a send that was made earlier under its key has a time only if it is known', () => {
		expect(held().toSentEarlierItem()).not.toHaveProperty('sendAt');
		expect(held({ sendAt: '2030-01-17T22:00Z' }).toSentEarlierItem()).not.toHaveProperty('sendAt');
		const known = held({ sendAt: '2030-01-17T12:00Z' }).toSentEarlierItem();
		expect(known['sendAt']).toBe('2030-01-17 12:00 +00:00');
	});

	test('are read in Send At Timezone, which may be there without Send At', () => {
		const zone = { sendAtTimezone: 'Asia/Tokyo' };
		sentAt('2030-01-15T12:00Z');
		expect(held(zone).preview().body.send_at).toBe('2030-01-16 08:00 +09:00');
		expect(held().preview().body.send_at).toBeUndefined();
	});
});

const set = 'is not a set of fields';
const nothing = 'is empty for this item: its expression returned nothing';
const sendAt = '2030-01-01T09:00:00Z';
const utmOf = (source: string) => ({ utmParameters: { parameters: { source } } });

const own = (parameter: string) => (value: unknown) => ({
	[parameter]: value,
	additionalFields: utmOf('web_push'),
});
const added =
	(field: string, others = {}) =>
	(value: unknown) => ({ additionalFields: { ...others, [field]: value } });
const expiry = (part: string) => (value: unknown) =>
	added('expireAfter')({ duration: { amount: 1, unit: 'd', [part]: value } });
const hours = (part: string) => (value: unknown) =>
	added('quietHours')({ hours: { [part]: value } });
const utm = (part: string) => (value: unknown) =>
	added('utmParameters')({ parameters: { [part]: value } });
const button = (part: string) => (value: unknown) =>
	own('actionButtons')({ button: [emptyButton, shop, { ...shop, [part]: value }] });

interface Refused {
	field: string;
	rule: string;
	of: (value: unknown) => Parameters;
	values: unknown[];
}
const blank = ['', ' \n'];
const noTime = 'is empty: give a time, or the word now to send right away';

// The other rules of the body are tested with its schemas.
const refused: Refused[] = [
	{ field: 'Title', rule: 'is missing', of: own('title'), values: blank },
	{ field: 'Title', rule: nothing, of: own('title'), values: [null] },
	{ field: 'Message', rule: 'is missing', of: own('message'), values: blank },
	{ field: 'Target URL', rule: 'is missing', of: own('targetUrl'), values: blank },
	{
		field: 'Title of button 3 in Action Buttons',
		rule: 'is missing',
		of: button('title'),
		values: blank,
	},
	{
		field: 'URL of button 3 in Action Buttons',
		rule: 'is not text: true',
		of: button('url'),
		values: [true],
	},
	{ field: 'Action Buttons', rule: set, of: own('actionButtons'), values: ['Shop', []] },
	{
		field: 'Action Buttons',
		rule: 'is not a list of fields',
		of: own('actionButtons'),
		values: [{ button: ['Shop'] }],
	},
	{
		field: 'Additional Fields',
		rule: set,
		of: (additionalFields) => ({ additionalFields }),
		values: ['text', 7, [], [{}]],
	},
	{ field: 'Campaign Name', rule: 'is not text: true', of: added('name'), values: [true] },
	{ field: 'Icon URL', rule: 'is not text: 7', of: added('iconUrl'), values: [7] },
	{ field: 'Image URL', rule: 'is not text: 7', of: added('imageUrl'), values: [7] },
	{
		field: 'Send At',
		rule: `can't be read as a date: "soon"`,
		of: added('sendAt'),
		values: ['soon'],
	},
	{ field: 'Send At', rule: noTime, of: added('sendAt'), values: [...blank, null] },
	{
		field: 'Send At Timezone',
		rule: 'is set without Send At or Quiet Hours',
		of: added('sendAtTimezone'),
		values: ['UTC'],
	},
	{
		field: 'Send At Timezone',
		rule: 'is empty',
		of: added('sendAtTimezone', { sendAt }),
		values: [...blank, null],
	},
	...[
		{ value: 'Berlin', quoted: '"Berlin"' },
		{ value: '+02:00', quoted: '"+02:00"' },
		{ value: 2, quoted: '2' },
	].map(({ value, quoted }) => ({
		field: 'Send At Timezone',
		rule: `is not the name of a time zone: ${quoted}`,
		of: added('sendAtTimezone', { sendAt: 'now', quietHours: { hours: {} } }),
		values: [value],
	})),
	...[
		{ field: 'Quiet Hours', of: added('quietHours') },
		{ field: 'Expire After', of: added('expireAfter') },
		{ field: 'UTM Parameters', of: added('utmParameters') },
	].map((row) => ({ ...row, rule: 'was added and is empty', values: [{}, null, ''] })),
	{ field: 'Auto Hide', rule: 'is not true or false', of: added('autoHide'), values: ['true'] },
	{ field: 'Auto Hide', rule: nothing, of: added('autoHide'), values: [null] },
	{
		field: 'Expire After',
		rule: set,
		of: added('expireAfter'),
		values: ['7d', [], { duration: '3d' }],
	},
	{
		field: 'Expire After',
		rule: 'is not a whole number from 1: "1,5"',
		of: expiry('amount'),
		values: ['1,5'],
	},
	{ field: 'From in Quiet Hours', rule: 'is empty', of: hours('from'), values: blank },
	{ field: 'To in Quiet Hours', rule: nothing, of: hours('to'), values: [null] },
	...['24:00', '21:60', '9:5', '021:00', '21', 21].map((value) => ({
		field: 'From in Quiet Hours',
		rule: `is not a time such as 21:00: ${JSON.stringify(value)}`,
		of: hours('from'),
		values: [value],
	})),
	{
		field: 'Quiet Hours',
		rule: 'has 08:00 both as From and as To',
		of: hours('from'),
		values: ['8:00'],
	},
	{ field: 'Campaign in UTM Parameters', rule: 'is not text', of: utm('campaign'), values: [{}] },
	{
		field: 'Add To in UTM Parameters',
		rule: 'is not a choice from the list',
		of: utm('addTo'),
		values: ['buttons', 7],
	},
	{ field: 'Add To in UTM Parameters', rule: nothing, of: utm('addTo'), values: [null] },
];

describe('a refused value is named with its field and its reason:', () => {
	test.each(
		refused.map((row) => ({
			...row,
			name: `${row.field} ${row.rule} (${row.values.map((value) => JSON.stringify(value)).join(', ')})`,
		})),
	)('$name', ({ field, rule, of, values }) => {
		for (const value of values) {
			expect(refusedBy(of(value)).message).toMatch(withAnyValue(`${field} ${rule}`));
		}
	});
});

describe('a refused value comes with what to do:', () => {
	test.each([
		{
			name: 'add Send At or Quiet Hours to a time zone',
			parameters: added('sendAtTimezone')('Europe/Berlin'),
			advice:
				'Add Send At or Quiet Hours, or remove Send At Timezone from the additional fields to send right away.',
		},
		{
			name: 'the time zone of a city',
			parameters: added('sendAtTimezone', { sendAt })(' new york '),
			advice:
				'America/New_York? Choose one from the list, or give an IANA name such as Europe/Berlin or UTC.',
		},
		...['Narnia', 'ris', 7].map((zone) => ({
			name: `choose a time zone, if ${zone} is none`,
			parameters: added('sendAtTimezone', { sendAt })(zone),
			advice: 'Choose one from the list, or give an IANA name such as Europe/Berlin or UTC.',
		})),
		{
			name: 'the word now if a time is empty',
			parameters: added('sendAt')(''),
			advice:
				'Enter a time such as 2030-05-17 09:30, let the expression give now where there is no time, or remove Send At.',
		},
		{ name: 'fill in an empty title', parameters: { title: '' }, advice: 'Fill in Title.' },
		{
			name: 'change a title of another type',
			parameters: { title: true },
			advice: 'Change Title and run the workflow again.',
		},
		{
			name: 'fill in a field that was added',
			parameters: added('quietHours')({}),
			advice: 'Fill in Quiet Hours, or remove it from the additional fields.',
		},
	])('$name', ({ parameters, advice }) => {
		expect(refusedBy(parameters).advice).toBe(advice);
	});
});
