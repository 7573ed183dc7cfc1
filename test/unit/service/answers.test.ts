import * as fc from 'fast-check';
import type { z } from 'zod/v3';
import {
	campaignCreated,
	campaignStatus,
	counterNames,
	failureAnswer,
	failureTypes,
	notificationSent,
	subscriberCount,
	toRates,
} from '../../../nodes/PushCampaign/service/answers';

const created = { status: 'success', description: 'Campaign created', ID: 1001 };
const count = {
	total_attempts: '10',
	successfully_sent: '9',
	failed_to_send: '1',
	delivered: '8',
	clicked: '3',
	closed: '2',
};
const record = { notification_status: 'Sent', notification_id: '1001', count };

const isRead = (schema: z.ZodTypeAny, value: unknown) => schema.safeParse(value).success;
const without = (value: object, name: string) =>
	Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));

// Specification, POST send/all: Success response.
describe('a created campaign', () => {
	test.each([
		[1001, '1001'],
		['1001', '1001'],
		[' 1001 ', '1001'],
		['12345678901234567890', '12345678901234567890'],
		[0, '0'],
		['📣', '📣'],
	])('ID %j is %s', (ID, id) => {
		expect(campaignCreated.parse({ ...created, ID })).toMatchObject({ ID: id });
	});

	test.each(['', ' ', -1, 1.5, 2 ** 53, NaN, null, true, {}, ['1'], undefined, '\udc00'])(
		'%p is no ID',
		(ID) => expect(isRead(campaignCreated, { ...created, ID })).toBe(false),
	);

	test.each(['status', 'description', 'ID'])('has a %s', (name) => {
		expect(isRead(campaignCreated, without(created, name))).toBe(false);
		expect(isRead(campaignCreated, { ...created, [name]: {} })).toBe(false);
	});

	test.each(['ok', 'failure', 'Success'])('status %s is none', (status) => {
		expect(isRead(campaignCreated, { ...created, status })).toBe(false);
	});
});

// Specification, POST send/sid: Success response.
test('a sent notification has no ID', () => {
	const { ID: _id, ...sent } = created;
	expect(notificationSent.parse(sent)).toEqual(sent);
	expect(notificationSent.parse(created)).toEqual(sent);
	expect(isRead(notificationSent, without(sent, 'description'))).toBe(false);
	expect(isRead(notificationSent, { ...sent, status: 'failure' })).toBe(false);
});

// Specification, Campaign status record.
describe('a status record', () => {
	test('gives the six counters as numbers', () => {
		const parsed = campaignStatus.parse(record);
		expect(parsed).toMatchObject({ notification_status: 'Sent', notification_id: '1001' });
		expect(parsed.count).toEqual({
			totalAttempts: 10,
			successfullySent: 9,
			failedToSend: 1,
			delivered: 8,
			clicked: 3,
			closed: 2,
		});
		expect(Object.keys(parsed.count)).toEqual([...counterNames]);
	});

	test.each([
		['total_attempts', 'totalAttempts'],
		['successfully_sent', 'successfullySent'],
		['failed_to_send', 'failedToSend'],
		['delivered', 'delivered'],
		['clicked', 'clicked'],
		['closed', 'closed'],
	])('%s is never made up', (field, name) => {
		const counted = (value: unknown) =>
			campaignStatus.safeParse({ ...record, count: { ...count, [field]: value } });
		for (const [value, number] of [
			['0', 0],
			['007', 7],
			['9007199254740991', 9007199254740991],
			[7, 7],
			[0, 0],
		]) {
			expect(counted(value).data?.count).toMatchObject({ [name]: number });
		}
		for (const value of ['', ' ', '\n', null, undefined]) {
			expect(counted(value).data?.count).toMatchObject({ [name]: null });
		}
		const wrong = [' 7', '7 ', '-1', '+7', '1.5', '1e3', '0x1', '١', 'seven', 'NaN'];
		const notCounts = [-1, 1.5, NaN, Infinity, 2 ** 53, '9007199254740992', true, [], ['7'], {}];
		for (const value of [...wrong, ...notCounts]) {
			expect(counted(value).success).toBe(false);
		}
	});

	test.each([
		{ notification_status: '' },
		{ notification_status: 7 },
		{ notification_status: undefined },
		{ notification_id: '' },
		{ notification_id: undefined },
		{ count: '' },
		{ count: '10' },
		{ count: 10 },
		{ count: ['10'] },
		{ count: [null] },
		{ count: false },
	])('%p is none', (change) => {
		expect(isRead(campaignStatus, { ...record, ...change })).toBe(false);
	});

	test.each([' 1001 ', 1001])('with the ID %p is that of the campaign', (id) => {
		const parsed = campaignStatus.parse({ ...record, notification_id: id });
		expect(parsed.notification_id).toBe('1001');
	});

	test.each([undefined, null, [], {}])('with the counters %p gives none', (given) => {
		const counters = campaignStatus.parse({ ...record, count: given }).count;
		expect(Object.keys(counters)).toEqual([...counterNames]);
		expect(new Set(Object.values(counters))).toEqual(new Set([null]));
	});
});

describe('the rates', () => {
	const rates = (
		successfullySent: number | null,
		delivered: number | null,
		clicked: number | null,
	) => {
		const parsed = campaignStatus.parse(record).count;
		const { deliveryRate, clickRate } = toRates({
			...parsed,
			successfullySent,
			delivered,
			clicked,
		});
		return [deliveryRate, clickRate];
	};

	test.each([
		[
			[8, 4, 1],
			[0.5, 0.25],
		],
		[
			[3, 2, 1],
			[0.6667, 0.5],
		],
		[
			[30_000, 10_000, 1],
			[0.3333, 0.0001],
		],
		[
			[8, 8, 0],
			[1, 0],
		],
		[
			[0, 4, 4],
			[null, 1],
		],
		[
			[8, 0, 0],
			[0, null],
		],
		[
			[null, 4, 1],
			[null, 0.25],
		],
		[
			[8, null, 1],
			[null, null],
		],
		[
			[8, 4, null],
			[0.5, null],
		],
	] as const)('of %j are %j', ([sent, delivered, clicked], expected) => {
		expect(rates(sent, delivered, clicked)).toEqual(expected);
	});

	test('have at most four decimals', () => {
		fc.assert(
			fc.property(fc.nat(), fc.integer({ min: 1 }), (part, whole) => {
				const [rate] = rates(whole, part, null);
				expect(rate).toBe(Number((rate ?? NaN).toFixed(4)));
				expect(Math.abs((rate ?? NaN) - part / whole)).toBeLessThanOrEqual(0.000051);
			}),
		);
	});
});

// Specification, Subscriber count record.
describe('a subscriber count', () => {
	const counts = { total_life_time_subscribers: '120', active_subscribers: 90 };
	const numbers = { total_life_time_subscribers: 120, active_subscribers: 90 };

	test('is two whole numbers', () => expect(subscriberCount.parse(counts)).toEqual(numbers));

	test.each(Object.keys(counts))('has null for %s that is not given', (name) => {
		for (const given of [
			without(counts, name),
			...['', ' ', null].map((none) => ({ ...counts, [name]: none })),
		]) {
			expect(subscriberCount.parse(given)).toEqual({ ...numbers, [name]: null });
		}
		expect(isRead(subscriberCount, { ...counts, [name]: 'many' })).toBe(false);
	});

	test.each([
		{},
		{ status: 'success' },
		[],
		{ total_life_time_subscribers: '', active_subscribers: null },
	])('%j is none', (given) => expect(isRead(subscriberCount, given)).toBe(false));
});

test('a text that is longer than anyone reads is cut', () => {
	const long = `${'x'.repeat(299)}👍${'x'.repeat(10_000_000)}`;
	const kept = `${'x'.repeat(299)}…`;
	expect(campaignCreated.parse({ ...created, description: long }).description).toBe(kept);
	expect(campaignStatus.parse({ ...record, notification_status: long }).notification_status).toBe(
		kept,
	);
	const fits = 'x\n'.repeat(150);
	expect(notificationSent.parse({ ...created, description: fits }).description).toBe(fits);
});

// Specification, Errors.
describe('a failure', () => {
	test.each([
		{ status: 'failure', type: 'invalid_sid', description: 'Subscriber not found' },
		{ status: 'failure', description: 'Something went wrong' },
		{ status: 'failure', type: null, description: null },
		{ status: 'failure' },
	])('%j is one', (value) => expect(failureAnswer.parse(value)).toEqual(value));

	test.each([
		{ status: 'success' },
		{ status: 'Failure' },
		{ type: 'rate_limit' },
		{ status: 'failure', type: 7 },
		{ status: 'failure', type: ['rate_limit'] },
		{ status: 'failure', description: {} },
		'failure',
		null,
		[],
	])('%j is none', (value) => expect(isRead(failureAnswer, value)).toBe(false));

	test('has one of the types of the specification, or another', () => {
		expect([...failureTypes].sort()).toEqual(
			[
				'authentication_failure',
				'bad_request',
				'header_invalid',
				'invalid_format',
				'invalid_sid',
				'invalid_type',
				'invalid_value',
				'missing_parameter',
				'rate_limit',
			].sort(),
		);
	});
});

test('whatever is answered is read or not, never thrown at', () => {
	fc.assert(
		fc.property(fc.anything(), (value) => {
			const answers = [campaignCreated, notificationSent, subscriberCount, failureAnswer];
			for (const schema of answers) schema.safeParse(value);
			const read = campaignStatus.safeParse(value);
			if (read.success) expect(read.data.count).toBeDefined();
		}),
	);
});
