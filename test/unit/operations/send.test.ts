import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import {
	describeRecipients,
	testOf,
	toRow,
	toRowAsEntered,
} from '../../../nodes/PushCampaign/operations/send';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { content, contentBody, itemOf, prepare, reasonsOf, refusalOf } from './support';

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

describe('what the subscribers of a campaign would see twice', () => {
	const seen = (send: { notification?: string | undefined }) => send.notification;

	test('is the same whatever else of it differs, and whatever the options', () => {
		const fields = { name: 'x', iconUrl: 'https://shop.example/a.png', autoHide: true };
		const utmParameters = { parameters: { source: 'push' } };
		const options = { dryRun: true, timeout: 5, idempotencyKey: 'a', testSubscriberId: '1' };
		const others = [
			prepare({ additionalFields: { ...fields, utmParameters } }),
			prepare({ options }),
			prepare({ targetUrl: ' https://shop.example/sale\u200e' }),
			prepare({ actionButtons: { button: [{ title: 'Shop', url: 'https://shop.example' }] } }),
		];
		expect(new Set([prepare({}), ...others].map(seen)).size).toBe(1);
	});

	test('differs with title, message, target URL, subscribers and moment', () => {
		const all = [
			prepare({}),
			prepare({ title: 'Winter sale' }),
			prepare({ message: 'Nothing must go' }),
			prepare({ targetUrl: 'https://shop.example/winter' }),
			prepare({ additionalFields: { sendAt } }),
			prepare({ additionalFields: { sendAt, sendAtTimezone: 'Europe/Berlin' } }),
			toAttributes({ plan: 'pro' }),
			toAttributes({ plan: 'free' }),
			toSegments(12),
			toSegments(13),
		];
		expect(new Set(all.map(seen)).size).toBe(all.length);
	});

	test('is the same at one moment, with whichever offset that is written', () => {
		const at = (sendAt: string) => seen(prepare({ additionalFields: { sendAt } }));
		expect(at('2030-05-17 22:00 +02:00')).toBe(at('2030-05-17 20:00 +00:00'));
	});

	test('has the moment at which quiet hours end', () => {
		const at = (time: string) =>
			seen(prepare({ additionalFields: { sendAt: `2030-05-17 ${time}`, quietHours: night } }));
		expect(at('22:00')).toBe(at('23:00'));
		expect(at('22:00')).not.toBe(at('20:00'));
	});
});

test('the same subscribers have the same text, whatever they get', () => {
	const others = [prepare({}), toAttributes({ plan: 'pro' }), toSegments(12), toSubscriber()];
	expect(new Set(others.map(({ recipients }) => recipients)).size).toBe(4);
	expect(prepare({ title: 'Winter sale' }).recipients).toBe(prepare({}).recipients);
	expect(toSegments('34,12').recipients).toBe(toSegments([12, 34, 12]).recipients);
	expect(toAttributes({ plan: 'pro', city: 'Oslo' }).recipients).toBe(
		toAttributes({ city: 'Oslo', plan: 'pro' }).recipients,
	);
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
			expect(test.body).toEqual({ ...contentBody, auto_hide: 0, sid: '5001' });
		},
	);

	test('has no key, and the other options', () => {
		const others = { dryRun: false, timeoutMs: 5000 };
		expect(testWith({}).options).toEqual(others);
	});

	test('goes out right away: somebody waits for it', () => {
		const send = prepare({ ...parameters, additionalFields: { sendAt, quietHours: night } });
		expect(send.timing.isMoved).toBe(true);
		const { body, timing } = testOf(itemOf(parameters), send);
		expect([body.send_at, timing.effective, timing.isMoved]).toEqual([undefined, undefined, false]);
	});

	test.each([
		{ testSubscriberId: '', refusal: "'Test Subscriber ID' is missing" },
		{ testSubscriberId: 'me', refusal: `'Test Subscriber ID' is not a number: "me"` },
	])('is refused by its own name: "$testSubscriberId"', ({ testSubscriberId, refusal }) => {
		expect(refusalOf(() => testWith({ options: { testSubscriberId } }))).toBe(refusal);
		expect(prepare({ ...parameters, options: { testSubscriberId } }).isTest).toBe(false);
	});
});

describe('the item of a send', () => {
	const named = {
		additionalFields: { name: 'Readers', sendAt },
		options: { idempotencyKey: 'a-1' },
	};

	test('names no time that quiet hours made when it was sent earlier', () => {
		const moved = prepare({ additionalFields: { sendAt, quietHours: night } });
		expect(toRow(moved, { status: 'alreadySent' })).toEqual({
			...{ audience: 'all', status: 'alreadySent' },
			...{ title: 'Summer sale', recipients: 'all subscribers' },
		});
		expect(toRow(moved, { status: 'success' })['sendAt']).toBe('2030-05-18 08:00 +00:00');
		const item = itemOf({ ...content, additionalFields: { sendAt, quietHours: night } });
		const counted = toRowAsEntered(item, sendToAll, { status: 'alreadySent' });
		expect(counted).toEqual(toRow(moved, { status: 'alreadySent' }));
		const kept = prepare({ additionalFields: { sendAt } });
		expect(toRow(kept, { status: 'alreadySent' })['sendAt']).toBe('2030-05-17 22:00 +00:00');
	});

	test('that is not valid has what can be read', () => {
		const error = { message: "'Message' is missing" };
		const ending = { status: 'notSent', description: 'Why', error } as const;
		const item = itemOf({ title: ' Sale ', subscriberId: 5001, segmentIds: '', ...named });
		const known = { sendAt: '2030-05-17 22:00 +00:00', idempotencyKey: 'a-1', error };
		expect(toRowAsEntered(item, sendToSubscriber, ending)).toEqual({
			...{ subscriberId: '5001', audience: 'subscriber', status: 'notSent', description: 'Why' },
			...{ title: 'Sale', recipients: 'subscriber 5001', ...known },
		});
		// The service knows no name of a campaign there.
		expect(toRowAsEntered(item, sendToAll, ending)).toMatchObject({ name: 'Readers', ...known });
		const unreadable = {
			...itemOf({}),
			get: () => {
				throw new Error('No such field');
			},
		};
		const row = toRowAsEntered(unreadable, sendToSegments, { dryRun: true, error });
		expect(row).toEqual({ audience: 'segments', dryRun: true, error });
	});
});

test('all reasons of an item are reported at once, if its fields do not depend on each other', () => {
	const wrong = {
		...{ title: '', message: 'x'.repeat(300), targetUrl: 'nowhere' },
		actionButtons: { button: [{ title: 'Buy', url: '' }] },
		additionalFields: { iconUrl: 'http://a.example/i.png', name: 'x'.repeat(101), sendAt: 'soon' },
		options: { timeout: 0 },
	};
	expect(reasonsOf(() => prepare(wrong)).map((reason) => /^'[^']*'/.exec(reason)?.[0])).toEqual([
		...["'Timeout'", "'Send At'", "'Title'", "'Message'", "'Target URL'", "'Campaign Name'"],
		...["'Icon URL'", "'URL'"],
	]);
});
