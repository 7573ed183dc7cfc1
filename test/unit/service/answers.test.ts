import * as fc from 'fast-check';
import type { z } from 'zod/v3';
import {
	campaignCreated,
	campaignStatus,
	counterNames,
	failureAnswer,
	notificationSent,
	ownWords,
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
const counts = { total_life_time_subscribers: '120', active_subscribers: 90 };
const failure = { status: 'failure', type: 'invalid_sid', description: 'Subscriber not found' };
const record = { notification_status: 'Sent', notification_id: '1001', count };
const counters = {
	totalAttempts: 10,
	successfullySent: 9,
	failedToSend: 1,
	delivered: 8,
	clicked: 3,
	closed: 2,
};

const isRead = (schema: z.ZodTypeAny, value: unknown) => schema.safeParse(value).success;
const without = (value: object, name: string) =>
	Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));

// Specification, POST send/all and send/sid: Success response.
describe('a success answer', () => {
	test.each([
		[1001, '1001'],
		[' 1001 ', '1001'],
		['12345678901234567890', '12345678901234567890'],
		[0, '0'],
		['📣', '📣'],
	])('with the ID %j is of the campaign %s', (ID, id) => {
		expect(campaignCreated.parse({ ...created, ID })).toMatchObject({ ID: id });
	});

	test.each(['', ' ', -1, 1.5, 2 ** 53, NaN, null, true, {}, ['1'], undefined, '\udc00'])(
		'%p is no ID',
		(ID) => expect(isRead(campaignCreated, { ...created, ID })).toBe(false),
	);

	test.each([
		['status', 'Success'],
		['description', {}],
		['ID', {}],
	])('has a %s', (name, wrong) => {
		for (const change of [without(created, name), { ...created, [name]: wrong }]) {
			expect(isRead(campaignCreated, change)).toBe(false);
			expect(isRead(notificationSent, change)).toBe(name === 'ID');
		}
	});
});

// Specification, Campaign status record.
describe('a status record', () => {
	test('gives the six counters as numbers', () => {
		expect(campaignStatus.parse({ ...record, notification_id: 1001 })).toEqual({
			...record,
			count: counters,
		});
		expect(counterNames).toEqual(Object.keys(counters));
	});

	test.each(Object.keys(count))('%s is never made up', (field) => {
		const name = counterNames[Object.keys(count).indexOf(field)] ?? '';
		const counted = (value: unknown) =>
			campaignStatus.safeParse({ ...record, count: { ...count, [field]: value } });
		for (const [value, number] of [
			['0', 0],
			['007', 7],
			['9007199254740991', 9007199254740991],
			[7, 7],
			...['', ' \n', null, undefined].map((none) => [none, null]),
		]) {
			expect(counted(value).data?.count).toEqual({ ...counters, [name]: number });
		}
		const wrong = [' 7', '7 ', '-1', '+7', '1.5', '1e3', '0x1', '١', 'seven', 'NaN'];
		const notCounts = [-1, 1.5, NaN, Infinity, 2 ** 53, '9007199254740992', true, [], ['7'], {}];
		for (const value of [...wrong, ...notCounts]) expect(counted(value).success).toBe(false);
	});

	test.each([undefined, null, [], {}])('with the counters %p gives none', (given) => {
		const none = Object.fromEntries(counterNames.map((name) => [name, null]));
		expect(campaignStatus.parse({ ...record, count: given }).count).toEqual(none);
	});

	test.each([
		...['', 7, undefined].map((status) => ({ notification_status: status })),
		...['', undefined].map((id) => ({ notification_id: id })),
		...['', '10', 10, ['10'], [null], false].map((given) => ({ count: given })),
	])('%p is none', (change) =>
		expect(isRead(campaignStatus, { ...record, ...change })).toBe(false),
	);
});

describe('the rates', () => {
	test.each([
		[8, 4, 1, 0.5, 0.25],
		[3, 2, 1, 0.6667, 0.5],
		[0, 4, 4, null, 1],
		[8, 0, 0, 0, null],
		[null, 4, 1, null, 0.25],
		[8, null, 1, null, null],
		[8, 4, null, 0.5, null],
	])('of %j sent, %j delivered, %j clicked are %j and %j', (...numbers) => {
		const [successfullySent, delivered, clicked, deliveryRate, clickRate] = numbers;
		const given = { ...counters, successfullySent, delivered, clicked };
		expect(toRates(given)).toEqual({ deliveryRate, clickRate });
	});

	test('have at most four decimals', () => {
		fc.assert(
			fc.property(fc.nat(), fc.integer({ min: 1 }), (delivered, successfullySent) => {
				const { deliveryRate } = toRates({ ...counters, delivered, successfullySent });
				const rate = deliveryRate ?? NaN;
				expect(rate).toBe(Number(rate.toFixed(4)));
				expect(Math.abs(rate - delivered / successfullySent)).toBeLessThanOrEqual(0.000051);
			}),
		);
	});
});

// Specification, Subscriber count record.
describe('a subscriber count', () => {
	const numbers = { total_life_time_subscribers: 120, active_subscribers: 90 };

	test('is two whole numbers', () => expect(subscriberCount.parse(counts)).toEqual(numbers));

	test.each(Object.keys(counts))('has null for %s that is not given', (name) => {
		for (const given of [without(counts, name), { ...counts, [name]: ' ' }]) {
			expect(subscriberCount.parse(given)).toEqual({ ...numbers, [name]: null });
		}
		expect(isRead(subscriberCount, { ...counts, [name]: 'many' })).toBe(false);
	});

	test.each([{}, [], { total_life_time_subscribers: '', active_subscribers: null }])(
		'%j is none',
		(given) => expect(isRead(subscriberCount, given)).toBe(false),
	);
});

test('a text that is longer than anyone reads is cut', () => {
	const long = `${'x'.repeat(299)}👍${'x'.repeat(10_000_000)}`;
	const kept = `${'x'.repeat(299)}…`;
	expect(campaignCreated.parse({ ...created, description: long }).description).toBe(kept);
	const { notification_status } = campaignStatus.parse({ ...record, notification_status: long });
	expect(notification_status).toBe(kept);
	const fits = 'x\n'.repeat(150);
	expect(notificationSent.parse({ ...created, description: fits }).description).toBe(fits);
});

// Specification, Errors.
describe('a failure', () => {
	test.each([failure, { status: 'failure', type: null, description: null }, { status: 'failure' }])(
		'%j is one',
		(value) => expect(failureAnswer.parse(value)).toEqual(value),
	);

	test.each([
		{ status: 'Failure' },
		{ type: 'rate_limit' },
		{ status: 'failure', type: 7 },
		{ status: 'failure', type: ['rate_limit'] },
		{ status: 'failure', description: {} },
		'failure',
	])('%j is none', (value) => expect(isRead(failureAnswer, value)).toBe(false));
});

test('the words of the interface are the specification’s', () => {
	const fields = [failure, record, count, counts].flatMap((answer) => Object.keys(answer));
	const words = ['success', 'failure', 'rate_limit', 'invalid_sid', ...fields];
	for (const word of words) expect(ownWords).toContain(word);
});
