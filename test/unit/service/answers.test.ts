import {
	campaignCreated,
	campaignStatusOf,
	notificationSent,
	subscriberCount,
	toRates,
} from '../../../nodes/PushCampaign/service/answers';

const created = { status: 'success', description: 'Campaign created', ID: 1001 };
const count = {
	...{ total_attempts: '9', successfully_sent: '8', failed_to_send: '1' },
	...{ delivered: '6', clicked: '3', closed: '0' },
};
const record = { notification_status: 'Sent', notification_id: '1001', count };
const counters = {
	...{ totalAttempts: 9, successfullySent: 8, failedToSend: 1 },
	...{ delivered: 6, clicked: 3, closed: 0 },
};
const statusOf = (change: object, id = '1001') =>
	campaignStatusOf(id).safeParse({ ...record, ...change });

describe('the answer to a send', () => {
	test.each([
		{ ID: 1001, campaignId: '1001' },
		{ ID: ' 12345678901234567890 ', campaignId: '12345678901234567890' },
	])('with the ID $ID has it as text', ({ ID, campaignId }) => {
		expect(campaignCreated.parse({ ...created, ID })).toEqual({
			campaignId,
			description: 'Campaign created',
		});
	});

	test.each([null, ' ', -1, 1.5, 2 ** 53])('with the ID %j is not usable', (ID) => {
		expect(campaignCreated.safeParse({ ...created, ID }).success).toBe(false);
	});

	test('to one subscriber has no ID', () => {
		expect(notificationSent.parse(created)).toEqual({ description: 'Campaign created' });
	});

	test('without success is not usable', () => {
		expect(notificationSent.safeParse({ ...created, status: 'ok' }).success).toBe(false);
	});

	test.each([undefined, 5])('with the description %j is one without it', (description) => {
		expect(campaignCreated.parse({ ...created, description })).toEqual({ campaignId: '1001' });
		expect(notificationSent.parse({ status: 'success', description })).toEqual({});
	});
});

describe('a status record', () => {
	test('has counters as numbers', () => {
		expect(statusOf({}).data).toEqual({ campaignId: '1001', status: 'Sent', counters });
	});

	test.each([undefined, null, ' '])('with the counter %j has null, never 0', (clicked) => {
		const { data } = statusOf({ count: { ...count, clicked } });
		expect(data?.counters).toEqual({ ...counters, clicked: null });
	});

	test.each(['x', '1e3', -1, 1.5, true, '9007199254740993'])(
		'with the counter %j is not usable',
		(clicked) => {
			expect(statusOf({ count: { ...count, clicked } }).success).toBe(false);
		},
	);

	test.each([undefined, null, []])('with the counters %j has null for each', (none) => {
		const nulls = Object.fromEntries(Object.keys(counters).map((name) => [name, null]));
		expect(statusOf({ count: none }).data?.counters).toEqual(nulls);
	});

	test.each(['text', [1]])('with the counters %j is not usable', (odd) => {
		expect(statusOf({ count: odd }).success).toBe(false);
	});

	test.each([undefined, null, ' '])('with the status %j has null', (notification_status) => {
		expect(statusOf({ notification_status }).data).toMatchObject({ status: null });
	});

	// A cache in between.
	test.each(['1002', undefined])('of the campaign %j is no answer about 1001', (other) => {
		expect(statusOf({ notification_id: other }).success).toBe(false);
	});

	test('with its ID as a number is usable', () => {
		expect(statusOf({ notification_id: 1001 }).success).toBe(true);
	});
});

describe('a subscriber count', () => {
	test('may lack one of its numbers', () => {
		expect(subscriberCount.parse({ active_subscribers: '7' })).toEqual({
			totalLifetimeSubscribers: null,
			activeSubscribers: 7,
		});
	});

	test.each([{}, { active_subscribers: 'x' }, 'text'])('%j is not usable', (answer) => {
		expect(subscriberCount.safeParse(answer).success).toBe(false);
	});
});

test.each([
	{ given: { successfullySent: 3, delivered: 2, clicked: 1 }, then: [0.6667, 0.5] },
	{ given: { successfullySent: 0, delivered: 0, clicked: 0 }, then: [null, null] },
	{ given: { successfullySent: 8, delivered: null, clicked: 1 }, then: [null, null] },
	{ given: { successfullySent: 8, delivered: 4, clicked: null }, then: [0.5, null] },
])('of $given the rates are $then', ({ given, then: [deliveryRate, clickRate] }) => {
	expect(toRates(given)).toEqual({ deliveryRate, clickRate });
});
