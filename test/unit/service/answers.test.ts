import * as fc from 'fast-check';
import type { z } from 'zod/v3';
import {
	campaignCreated,
	campaignStatus,
	campaignStatusOf,
	failureAnswer,
	notificationSent,
	ownWords,
	subscriberCount,
	toRates,
	rejectionText,
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
describe('the answer to a send', () => {
	test.each([
		{ name: 'a number', ID: 1001, then: '1001' },
		{ name: 'a text with blanks around it', ID: ' 1001 ', then: '1001' },
		{
			name: 'longer than a number can hold',
			ID: '12345678901234567890',
			then: '12345678901234567890',
		},
		{ name: 'zero', ID: 0, then: '0' },
		{ name: 'an emoji', ID: '📣', then: '📣' },
	])('gives the campaign ID as text if it is $name', ({ ID, then }) => {
		expect(campaignCreated.parse({ ...created, ID })).toMatchObject({ ID: then });
	});

	test.each([
		{ name: 'empty', ID: '' },
		{ name: 'blank', ID: ' ' },
		{ name: 'negative', ID: -1 },
		{ name: 'a fraction', ID: 1.5 },
		{ name: 'a number that is not exact', ID: 2 ** 53 },
		{ name: 'not a number', ID: NaN },
		{ name: 'null', ID: null },
		{ name: 'a boolean', ID: true },
		{ name: 'an object', ID: {} },
		{ name: 'a list', ID: ['1'] },
		{ name: 'missing', ID: undefined },
		{ name: 'half of a character', ID: '\udc00' },
	])('is refused if its ID is $name', ({ ID }) =>
		expect(isRead(campaignCreated, { ...created, ID })).toBe(false),
	);

	test.each([
		{ field: 'status', wrong: 'Success' },
		{ field: 'description', wrong: {} },
		{ field: 'ID', wrong: {} },
	])('is refused without its $field, or with another one', ({ field, wrong }) => {
		for (const change of [without(created, field), { ...created, [field]: wrong }]) {
			expect(isRead(campaignCreated, change)).toBe(false);
			// For one subscriber there is no ID.
			expect(isRead(notificationSent, change)).toBe(field === 'ID');
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
	});

	describe.each([
		{ field: 'total_attempts', name: 'totalAttempts' },
		{ field: 'successfully_sent', name: 'successfullySent' },
		{ field: 'failed_to_send', name: 'failedToSend' },
		{ field: 'delivered', name: 'delivered' },
		{ field: 'clicked', name: 'clicked' },
		{ field: 'closed', name: 'closed' },
	])('with the counter $field', ({ field, name }) => {
		const counted = (value: unknown) =>
			campaignStatus.safeParse({ ...record, count: { ...count, [field]: value } });

		test.each([
			{ given: '0', then: 0 },
			{ given: '007', then: 7 },
			{ given: '9007199254740991', then: 9007199254740991 },
			{ given: 7, then: 7 },
			...['', ' \n', null, undefined].map((given) => ({ given, then: null })),
		])('reads $given as $then', ({ given, then }) => {
			expect(counted(given).data?.count).toEqual({ ...counters, [name]: then });
		});

		test('is refused if that is no whole number from 0', () => {
			const texts = [' 7', '7 ', '-1', '+7', '1.5', '1e3', '0x1', '١', 'seven', 'NaN'];
			const others = [-1, 1.5, NaN, Infinity, 2 ** 53, '9007199254740992', true, [], ['7'], {}];
			for (const value of [...texts, ...others]) expect(counted(value).success).toBe(false);
		});
	});

	test.each([
		{ name: 'missing', given: undefined },
		{ name: 'null', given: null },
		{ name: 'empty', given: '' },
		{ name: 'blank', given: ' \n' },
	])('has null as its status if that is $name', ({ given }) => {
		const read = campaignStatus.parse({ ...record, notification_status: given });
		expect(read).toEqual({ ...campaignStatus.parse(record), notification_status: null });
	});

	test.each([
		{ name: 'missing', given: undefined },
		{ name: 'null', given: null },
		{ name: 'an empty list', given: [] },
		{ name: 'an empty object', given: {} },
		{ name: 'a comment', given: { comment: 'The campaign is scheduled' } },
	])('has null for every counter if the counters are $name', ({ given }) => {
		const none = Object.fromEntries(Object.keys(counters).map((name) => [name, null]));
		expect(campaignStatus.parse({ ...record, count: given }).count).toEqual(none);
	});

	test.each([
		{ name: 'a number as status', change: { notification_status: 7 } },
		{ name: 'an empty ID', change: { notification_id: '' } },
		{ name: 'no ID', change: { notification_id: undefined } },
		...['', '10', 10, ['10'], [null], false].map((given) => ({
			name: `${JSON.stringify(given)} as counters`,
			change: { count: given },
		})),
	])('is refused with $name', ({ change }) =>
		expect(isRead(campaignStatus, { ...record, ...change })).toBe(false),
	);
});

describe('the status record of a campaign', () => {
	const isOf = (asked: string, notification_id: unknown) =>
		isRead(campaignStatusOf(asked), { ...record, notification_id });

	test.each([
		{ name: 'the ID is the same text', asked: '1001', said: '1001' },
		{ name: 'the ID is the same number', asked: '1001', said: 1001 },
		{ name: 'only the list has leading zeros', asked: '0012', said: '12' },
		{ name: 'only the service has leading zeros', asked: '12', said: '0012' },
		{ name: 'both are zero', asked: '0', said: '000' },
		{ name: 'the ID holds letters', asked: 'a1', said: 'a1' },
		{ name: 'the ID is long', asked: '90071992547409931', said: '90071992547409931' },
	])('is accepted if $name', ({ asked, said }) => expect(isOf(asked, said)).toBe(true));

	test.each([
		{ name: 'the IDs differ', asked: '1001', said: '1002' },
		{ name: 'the ID is longer', asked: '1001', said: 10010 },
		{ name: 'the ID is a part', asked: '1001', said: '11' },
		{ name: 'there are letters after zeros', asked: '0', said: '00a' },
		{ name: 'zeros come before letters', asked: '0a', said: 'a' },
		{ name: 'there are fewer zeros before letters', asked: '00a1', said: '0a1' },
		{ name: 'the case of letters differs', asked: 'A1', said: 'a1' },
		{
			name: 'long IDs differ in the last digit',
			asked: '90071992547409931',
			said: '90071992547409930',
		},
		{ name: 'there is no ID', asked: '1001', said: '' },
	])('is refused if $name', ({ asked, said }) => expect(isOf(asked, said)).toBe(false));

	test('is refused in its own words, and what is no record without any', () => {
		const schema = campaignStatusOf('7', 'about another campaign than 7');
		const wordsFor = (answer: unknown) => {
			const { error } = schema.safeParse(answer);
			return error && rejectionText(error);
		};
		expect(wordsFor(record)).toBe('about another campaign than 7');
		expect(wordsFor({ ...record, notification_id: '\udc00' })).toBeUndefined();
		expect(wordsFor({})).toBeUndefined();
	});
});

describe('the rates', () => {
	test.each([
		{ sent: 8, delivered: 4, clicked: 1, then: [0.5, 0.25] },
		{ sent: 3, delivered: 2, clicked: 1, then: [0.6667, 0.5] },
		{ sent: 0, delivered: 4, clicked: 4, then: [null, 1] },
		{ sent: 8, delivered: 0, clicked: 0, then: [0, null] },
		{ sent: null, delivered: 4, clicked: 1, then: [null, 0.25] },
		{ sent: 8, delivered: null, clicked: 1, then: [null, null] },
		{ sent: 8, delivered: 4, clicked: null, then: [0.5, null] },
	])('of $sent sent, $delivered delivered and $clicked clicked are $then', (row) => {
		const { sent: successfullySent, delivered, clicked } = row;
		const [deliveryRate, clickRate] = row.then;
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
	const numbers = { totalLifetimeSubscribers: 120, activeSubscribers: 90 };

	test('gives two whole numbers', () => expect(subscriberCount.parse(counts)).toEqual(numbers));

	describe.each([
		{ field: 'total_life_time_subscribers', name: 'totalLifetimeSubscribers' },
		{ field: 'active_subscribers', name: 'activeSubscribers' },
	])('with $field', ({ field, name }) => {
		test('has null for it if it is missing or blank', () => {
			for (const given of [without(counts, field), { ...counts, [field]: ' ' }]) {
				expect(subscriberCount.parse(given)).toEqual({ ...numbers, [name]: null });
			}
		});

		test('is refused if it is not a number', () => {
			expect(isRead(subscriberCount, { ...counts, [field]: 'many' })).toBe(false);
		});
	});

	test('is refused with neither number', () => {
		const blank = { total_life_time_subscribers: '', active_subscribers: null };
		for (const given of [{}, [], blank]) expect(isRead(subscriberCount, given)).toBe(false);
	});
});

test('a text of the service is cut after 300 characters, never within a character', () => {
	const long = `${'x'.repeat(299)}👍${'x'.repeat(10_000_000)}`;
	const kept = `${'x'.repeat(299)}…`;
	expect(campaignCreated.parse({ ...created, description: long }).description).toBe(kept);
	const { notification_status } = campaignStatus.parse({ ...record, notification_status: long });
	expect(notification_status).toBe(kept);
	const fits = 'x\n'.repeat(150);
	expect(notificationSent.parse({ ...created, description: fits }).description).toBe(fits);
});

// Specification, Errors.
describe('a failure answer', () => {
	test.each([
		{ name: 'with all its fields', given: failure },
		{ name: 'with null in place of texts', given: { ...failure, type: null, description: null } },
		{ name: 'with nothing but its status', given: { status: 'failure' } },
	])('is accepted $name', ({ given }) => expect(failureAnswer.parse(given)).toEqual(given));

	test.each([
		{ name: 'another case of letters', given: { status: 'Failure' } },
		{ name: 'no status', given: { type: 'rate_limit' } },
		{ name: 'a number as type', given: { status: 'failure', type: 7 } },
		{ name: 'a list as type', given: { status: 'failure', type: ['rate_limit'] } },
		{ name: 'an object as description', given: { status: 'failure', description: {} } },
		{ name: 'a text in place of an object', given: 'failure' },
	])('is refused with $name', ({ given }) => expect(isRead(failureAnswer, given)).toBe(false));
});

test('the words of the interface are those of the specification', () => {
	const fields = [failure, record, count, counts].flatMap((answer) => Object.keys(answer));
	const words = ['success', 'failure', 'rate_limit', 'invalid_sid', ...fields];
	for (const word of words) expect(ownWords).toContain(word);
});
