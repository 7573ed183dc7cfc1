import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import {
	describeRecipients,
	performSend,
	testOf,
	toInvalidRow,
	toRequest,
	toRow,
} from '../../../nodes/PushCampaign/operations/send';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { content, contentBody, itemOf, prepare, recordingClient, refusalOf } from './support';

beforeAll(() => jest.useFakeTimers({ now: Date.UTC(2030, 0, 1) }));
afterAll(() => jest.useRealTimers());

const pairsOf = (attributes: Record<string, string>) => ({
	pairs: Object.entries(attributes).map(([name, value]) => ({ name, value })),
});
const sendAt = '2030-05-17 22:00';
const night = { hours: { from: '21:00', to: '08:00' } };
const toAttributes = (attributes: Record<string, string>) =>
	prepare({ attributes: pairsOf(attributes) }, {}, sendToAttributes);
const toSegments = (segmentIds: unknown) => prepare({ segmentIds }, {}, sendToSegments);
const toSubscriber = (parameters: object = {}) =>
	prepare({ subscriberId: '5001', ...parameters }, {}, sendToSubscriber);

describe('the content that a made key stands for', () => {
	// Keys that are saved in n8n's database are made of these texts.
	const sale = '"message":"Everything must go"';
	const end = '"target_url":"https://shop.example/sale","title":"Summer sale"';
	test.each([
		{
			kind: 'a send to all',
			send: prepare({}),
			content: `{"audience":"all",${sale},${end}}`,
		},
		{
			kind: 'a send to attributes',
			send: toAttributes({ plan: 'pro', city: 'Oslo' }),
			content: `{"attribute":{"city":"Oslo","plan":"pro"},"audience":"attributes",${sale},${end}}`,
		},
		{
			kind: 'a send to segments',
			send: toSegments(['34', 12, 5]),
			content: `{"audience":"segments",${sale},"segment":["12","34","5"],${end}}`,
		},
		{
			kind: 'a send to one subscriber',
			send: toSubscriber(),
			content: `{"audience":"subscriber",${sale},"sid":"5001",${end}}`,
		},
		{
			kind: 'a send with quiet hours',
			send: prepare({ additionalFields: { quietHours: night, sendAtTimezone: 'Asia/Tokyo' } }),
			content: `{"audience":"all",${sale},"quietHours":{"from":"21:00","timezone":"Asia/Tokyo","to":"08:00"},${end}}`,
		},
		{
			kind: 'a send with Send At',
			send: prepare({ additionalFields: { sendAt } }),
			content: `{"audience":"all",${sale},"send_at":"2030-05-17 22:00 +00:00",${end}}`,
		},
		{
			kind: 'a send with all fields',
			send: prepare({
				actionButtons: { button: [{ title: 'Shop', url: 'https://shop.example' }] },
				additionalFields: {
					name: 'All',
					iconUrl: 'https://shop.example/icon.png',
					imageUrl: 'https://shop.example/sale.jpg',
					expireAfter: { duration: { amount: 3, unit: 'd' } },
					autoHide: false,
				},
			}),
			content: `{"action_buttons":[{"title":"Shop","url":"https://shop.example"}],"audience":"all","auto_hide":0,"expire_push":"3d","icon":"https://shop.example/icon.png","image":"https://shop.example/sale.jpg",${sale},"name":"All",${end}}`,
		},
	])('is written in a format that stays, for $kind', ({ send, content: written }) => {
		expect(send.content).toBe(written);
	});

	test('is the same whatever the order of attributes and segments', () => {
		expect(toAttributes({ plan: 'pro', city: 'Oslo' }).content).toBe(
			toAttributes({ city: 'Oslo', plan: 'pro' }).content,
		);
		expect(toSegments('34, 12').content).toBe(toSegments([12, 34, 12]).content);
	});

	test('has the time as it was entered, not as quiet hours make it today', () => {
		jest.setSystemTime(Date.UTC(2030, 0, 1, 22));
		const held = prepare({ additionalFields: { quietHours: night } });
		jest.setSystemTime(Date.UTC(2030, 0, 2, 12));
		const sentAtOnce = prepare({ additionalFields: { quietHours: night } });
		expect([held.body.send_at, sentAtOnce.body.send_at]).toEqual([
			'2030-01-02 08:00 +00:00',
			undefined,
		]);
		expect(held.content).toBe(sentAtOnce.content);
	});

	test('differs with everything that is sent, and with the audience', () => {
		const contents = [
			prepare({}),
			prepare({ title: 'Winter sale' }),
			prepare({ additionalFields: { sendAt } }),
			prepare({ additionalFields: { sendAt, sendAtTimezone: 'Europe/Berlin' } }),
			prepare({ additionalFields: { quietHours: night } }),
			prepare({ additionalFields: { autoHide: true } }),
			toAttributes({ plan: 'pro' }),
			toAttributes({ plan: 'free' }),
			toSegments(12),
			toSubscriber(),
		].map((send) => send.content);
		expect(new Set(contents).size).toBe(contents.length);
	});

	test('is the same whatever the options', () => {
		const options = { dryRun: true, timeout: 5, idempotencyKey: 'a', testSubscriberId: '1' };
		expect(prepare({ options }).content).toBe(prepare({}).content);
	});
});

test('the same subscribers have the same text, whatever they get', () => {
	const others = [prepare({}), toAttributes({ plan: 'pro' }), toSegments(12), toSubscriber()];
	expect(new Set(others.map(({ recipients }) => recipients)).size).toBe(4);
	expect(prepare({ title: 'Winter sale' }).recipients).toBe(prepare({}).recipients);
	expect(toSegments('34,12').recipients).toBe(toSegments([12, 34]).recipients);
});

test.each([
	{ send: prepare({}), recipients: 'all subscribers' },
	{ send: prepare({}), active: 10_000, recipients: 'all 10,000 active subscribers' },
	{
		send: toAttributes({ plan: 'pro', city: 'Oslo' }),
		recipients: 'every subscriber with plan = pro or city = Oslo',
	},
	{ send: toSegments('12'), recipients: 'segment 12' },
	{ send: toSegments('12, 34'), recipients: 'segments 12, 34' },
	{ send: toSubscriber(), recipients: 'subscriber 5001' },
])('a send is for $recipients', ({ send, active, recipients }) => {
	expect(describeRecipients(send, active)).toBe(recipients);
});

describe('a test', () => {
	const parameters = {
		...content,
		segmentIds: '12',
		additionalFields: { name: 'x', imageUrl: 'https://shop.example/a.png', autoHide: true, sendAt },
		options: { testSubscriberId: ' 5001 ', idempotencyKey: 'sale', timeout: 5000 },
	};
	const testWith = (changes: object, operation: SendOperation = sendToAll) => {
		const given = { ...parameters, ...changes };
		return testOf(itemOf(given), prepare(given, {}, operation));
	};

	test.each([{ operation: sendToAll }, { operation: sendToSegments }])(
		'of $operation.option.name goes to one subscriber, without what that does not take',
		({ operation }) => {
			const test = testWith({}, operation);
			expect(test).toMatchObject({ audience: 'subscriber', isTest: true });
			expect(test?.body).toEqual({
				...contentBody,
				auto_hide: 0,
				send_at: '2030-05-17 22:00 +00:00',
				sid: '5001',
			});
		},
	);

	test('has no key, and the other options', () => {
		expect(testWith({})?.options).toEqual({
			dryRun: false,
			timeoutMs: 5000,
			unknownOutcome: 'report',
		});
	});

	test('has the time of the send, which quiet hours moved when it was read', () => {
		const send = prepare({ ...parameters, additionalFields: { sendAt, quietHours: night } });
		expect(testOf(itemOf(parameters), send)?.timing).toBe(send.timing);
	});

	test('is none without a Test Subscriber ID', () => {
		expect(testWith({ options: {} })).toBeUndefined();
	});

	test.each([
		{ testSubscriberId: '', refusal: "'Test Subscriber ID' is missing" },
		{ testSubscriberId: 'me', refusal: `'Test Subscriber ID' is not a number: "me"` },
	])('is refused by its own name: "$testSubscriberId"', ({ testSubscriberId, refusal }) => {
		expect(refusalOf(() => testWith({ options: { testSubscriberId } }))).toBe(refusal);
		expect(prepare({ ...parameters, options: { testSubscriberId } }).isTest).toBe(false);
	});

	test('says whom it went to', () => {
		const test = testWith({ options: { testSubscriberId: '5001' } });
		expect(test && toRow(test, { status: 'success', description: 'Sent' })).toEqual({
			subscriberId: '5001',
			audience: 'test',
			status: 'success',
			description: 'Sent',
			title: 'Summer sale',
			recipients: 'subscriber 5001',
			sendAt: '2030-05-17 22:00 +00:00',
		});
	});
});

describe('the request of a send', () => {
	const created = { status: 'success', description: 'Created', ID: 1001 };

	test('becomes a campaign, whose ID the answer has', async () => {
		const { client, asked } = recordingClient(created);
		const result = await performSend(client, prepare({ options: { timeout: 5000 } }));
		expect(result).toMatchObject({ value: { campaignId: '1001', description: 'Created' } });
		expect(asked).toEqual([
			{
				request: { isSend: true, path: '/v1/notification/send/all', body: contentBody },
				timeoutMs: 5000,
			},
		]);
	});

	test.each([
		{ send: toSubscriber(), label: "'Subscriber ID'" },
		{
			send: testOf(itemOf({ ...content, options: { testSubscriberId: '5001' } }), prepare({})),
			label: "'Test Subscriber ID'",
		},
	])('names the field that its subscriber stands in: $label', async ({ send, label }) => {
		const { client, asked } = recordingClient({ status: 'success', description: 'Sent' });
		const result = send && (await performSend(client, send));
		expect(result).toMatchObject({ value: { description: 'Sent' } });
		expect(asked[0]?.request).toEqual({
			isSend: true,
			path: '/v1/notification/send/sid',
			body: { ...contentBody, sid: '5001' },
			about: { of: 'subscriber', label, id: '5001' },
		});
	});

	test('is shown by a dry run, without a header', () => {
		expect(toRequest('https://push.example/base', toSegments('12'))).toEqual({
			method: 'POST',
			url: 'https://push.example/base/v1/notification/send/segment',
			body: { ...contentBody, segment: ['12'] },
		});
	});
});

describe('the item of a send', () => {
	const named = {
		additionalFields: { name: 'Readers', sendAt },
		options: { idempotencyKey: 'a-1' },
	};

	test('has what is known, in the order in which it is read', () => {
		const send = prepare({ segmentIds: [12, 34], ...named }, {}, sendToSegments);
		const row = toRow(send, { campaignId: '1001', status: 'success', description: 'Created' });
		expect(Object.entries(row)).toEqual([
			['campaignId', '1001'],
			['audience', 'segments'],
			['status', 'success'],
			['description', 'Created'],
			['title', 'Summer sale'],
			['recipients', 'segments 12, 34'],
			['name', 'Readers'],
			['sendAt', '2030-05-17 22:00 +00:00'],
			['idempotencyKey', 'a-1'],
		]);
	});

	test.each([prepare({}), toAttributes({ plan: 'pro', city: 'Oslo' }), toSegments([12, 34])])(
		'is flat, so that a table takes it: for $audience',
		(send) => {
			const row = toRow(send, { campaignId: '1001', status: 'success', description: 'Created' });
			expect(row['recipients']).toBe(describeRecipients(send));
			expect(Object.values(row).map((value) => typeof value)).not.toContain('object');
		},
	);

	test('names no key that is made of its content', () => {
		const send = prepare({ options: { idempotencyKey: '' } });
		expect(toRow(send, { status: 'success' })).not.toHaveProperty('idempotencyKey');
	});

	test('names no time that quiet hours made when it was sent earlier', () => {
		const moved = prepare({ additionalFields: { sendAt, quietHours: night } });
		expect(toRow(moved, { status: 'alreadySent' })).toEqual({
			...{ audience: 'all', status: 'alreadySent' },
			...{ title: 'Summer sale', recipients: 'all subscribers' },
		});
		expect(toRow(moved, { status: 'success' })['sendAt']).toBe('2030-05-18 08:00 +00:00');
		const kept = prepare({ additionalFields: { sendAt } });
		expect(toRow(kept, { status: 'alreadySent' })['sendAt']).toBe('2030-05-17 22:00 +00:00');
	});

	test('of a dry run has the request and neither status nor description', () => {
		const send = toSubscriber();
		const request = toRequest('https://push.example', send);
		expect(toRow(send, { dryRun: true, request })).toEqual({
			subscriberId: '5001',
			audience: 'subscriber',
			title: 'Summer sale',
			recipients: 'subscriber 5001',
			dryRun: true,
			request,
		});
	});

	test('that is not valid has what can be read', () => {
		const error = { message: "'Message' is missing" };
		const ending = { status: 'notSent', description: 'Why', error } as const;
		const item = itemOf({ title: ' Sale ', subscriberId: 5001, segmentIds: '' });
		expect(toInvalidRow(item, sendToSubscriber, ending)).toEqual({
			subscriberId: '5001',
			audience: 'subscriber',
			status: 'notSent',
			description: 'Why',
			title: 'Sale',
			recipients: 'subscriber 5001',
			error,
		});
		const unreadable = {
			...itemOf({}),
			get: () => {
				throw new Error('No such field');
			},
		};
		expect(toInvalidRow(unreadable, sendToSegments, { dryRun: true, error })).toEqual({
			audience: 'segments',
			dryRun: true,
			error,
		});
	});
});
