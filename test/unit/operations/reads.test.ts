import { getStatus } from '../../../nodes/PushCampaign/operations/getStatus';
import { getSubscriberCount } from '../../../nodes/PushCampaign/operations/getSubscriberCount';
import type { ReadOperation } from '../../../nodes/PushCampaign/operations/operation';
import type { Client } from '../../../nodes/PushCampaign/service/client';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import { refusal } from '../service/support';
import { itemOf, recordingClient } from './support';

const counters = {
	total_attempts: '10',
	successfully_sent: '8',
	failed_to_send: '2',
	delivered: '4',
	clicked: '1',
	closed: '3',
};
const record = { notification_status: 'Sent', notification_id: '1001', count: counters };
const status = {
	campaignId: '1001',
	status: 'Sent',
	totalAttempts: 10,
	successfullySent: 8,
	failedToSend: 2,
	delivered: 4,
	clicked: 1,
	closed: 3,
	deliveryRate: 0.5,
	clickRate: 0.25,
};
// Counters that the service does not give.
const { clicked: _clicked, ...some } = { ...counters, delivered: '', closed: null };
const waiting = { ...record, count: some };
const none = { delivered: null, clicked: null, closed: null, deliveryRate: null, clickRate: null };

const path = '/v1/notification/status/id/1001';
interface Case {
	operation: ReadOperation;
	parameters: object;
	request: object;
	answers: Array<{ given: string; answer: object; item: object }>;
}
const reads: Case[] = [
	{
		operation: getStatus,
		parameters: { campaignId: ' 1001 ' },
		request: { kind: 'read', path, requestedId: { of: 'campaign', id: '1001' } },
		answers: [
			{ given: 'all counters', answer: record, item: status },
			{ given: 'some counters', answer: waiting, item: { ...status, ...none } },
		],
	},
	{
		operation: getSubscriberCount,
		parameters: {},
		request: { kind: 'read', path: '/v1/site/subscriber_count' },
		answers: [
			{
				given: 'both counts',
				answer: { total_life_time_subscribers: '120', active_subscribers: '90' },
				item: { totalLifetimeSubscribers: 120, activeSubscribers: 90 },
			},
			{
				given: 'one count and more',
				answer: { active_subscribers: '90', extra: [1, { a: { b: null } }] },
				item: { totalLifetimeSubscribers: null, activeSubscribers: 90 },
			},
		],
	},
];

describe.each(
	reads.map(({ operation, parameters, ...read }) => ({
		...read,
		name: operation.option.name,
		prepare: (more = {}) => operation.prepare(itemOf({ ...parameters, ...more })),
	})),
)('$name', ({ prepare, request, answers }) => {
	test('makes one request', async () => {
		const { client, asked } = recordingClient({});
		await prepare({ options: { timeout: 99 } }).perform(client);
		expect(asked).toEqual([{ request, timeoutMs: 99 }]);
	});

	test.each(answers)(
		'returns an answer with $given simplified, or as it came',
		async ({ answer, item }) => {
			const { client } = recordingClient(answer);
			for (const simplify of [undefined, null, true]) {
				expect(await prepare({ simplify }).perform(client)).toEqual({ kind: 'done', value: item });
			}
			const raw = await prepare({ simplify: false }).perform(client);
			expect(raw).toEqual({ kind: 'done', value: answer });
		},
	);

	test('returns why there is no answer, simplified or not', async () => {
		for (const simplify of [true, false]) {
			expect(await prepare({ simplify }).perform(recordingClient({}).client)).toEqual({
				kind: 'failed',
				problem: explain(reasons.connectionLost, 'read'),
			});
		}
	});

	test('returns an empty item for a raw answer that is no object', async () => {
		for (const raw of ['text', null]) {
			const client: Client = {
				request: async (_request, schema) => ({
					kind: 'done',
					value: schema.parse(answers[0]?.answer),
					raw,
				}),
			};
			const result = await prepare({ simplify: false }).perform(client);
			expect(result).toEqual({ kind: 'done', value: {} });
		}
	});

	test('refuses a Simplify that is neither true nor false', () => {
		const refused = ['true', 1, {}].map((simplify) => refusal(() => prepare({ simplify })).message);
		const message = 'Simplify is not true or false';
		expect(refused).toEqual([`${message}: "true"`, `${message}: 1`, `${message}: {}`]);
	});
});

describe('a campaign ID', () => {
	test.each([
		{ name: 'that is empty', campaignId: '', message: 'Campaign ID is missing' },
		{
			name: 'whose expression returned nothing',
			campaignId: null,
			message: 'Campaign ID is empty for this item: its expression returned nothing',
		},
		{
			name: 'that is two IDs',
			campaignId: '1001, 1002',
			message: 'Campaign ID holds more than one ID: "1001, 1002"',
		},
	])('$name is refused', ({ campaignId, message }) => {
		expect(refusal(() => getStatus.prepare(itemOf({ campaignId }))).message).toBe(message);
	});
});

test('reads of the same campaign in the same form share a key, others do not', () => {
	const keyOf = (campaignId: unknown, simplify = true) =>
		getStatus.prepare(itemOf({ campaignId, simplify })).key;
	expect(keyOf(1001)).toBe(keyOf(' 1001 '));
	const others = [keyOf('1001'), keyOf('1002'), keyOf('1001', false)];
	expect(new Set([...others, getSubscriberCount.prepare(itemOf({})).key]).size).toBe(4);
});

describe('Get Status of an item without a campaign ID', () => {
	const skipIt = 'Put an If node before this one that lets through only items with a campaignId.';
	const prepare = (input: Record<string, unknown>) => () =>
		getStatus.prepare(itemOf({ campaignId: null }, 'UTC', input));

	test.each([
		{
			name: 'that was sent earlier',
			input: { status: 'alreadySent', audience: 'all' },
			message:
				'Campaign ID is not known: the item was sent earlier, and n8n keeps no campaign ID of that',
			advice: `${skipIt} The campaign ID is in the output of the execution that sent it, and in the dashboard of your push service.`,
		},
		{
			name: 'that was not sent',
			input: { status: 'notSent', audience: 'all' },
			message: 'Campaign ID is empty: the item was not sent',
			advice: skipIt,
		},
		{
			name: 'whose outcome is unknown',
			input: { status: 'unknown', audience: 'all' },
			message: 'Campaign ID is empty: it is unknown whether the item was sent',
			advice: skipIt,
		},
		{
			name: 'that went to one subscriber',
			input: { status: 'success', audience: 'subscriber' },
			message:
				'Campaign ID is empty: a send to one subscriber has no campaign ID, and so no status',
			advice: `Get Status works after sends to all, to attributes and to segments. ${skipIt}`,
		},
	])('says so of one $name', ({ input, message, advice }) => {
		expect(refusal(prepare(input))).toMatchObject({ message, advice });
	});

	test('says of any other that its expression returned nothing', () => {
		for (const input of [{}, { status: 'Sent' }, { status: 'constructor' }]) {
			expect(refusal(prepare(input)).message).toBe(
				'Campaign ID is empty for this item: its expression returned nothing',
			);
		}
	});
});

describe('an item that failed', () => {
	const error = { message: 'No' };

	test('names its campaign', () => {
		const read = getStatus.prepare(itemOf({ campaignId: 1001 }));
		expect(read.toFailedItem({ error })).toEqual({ campaignId: '1001', error });
		const invalid = itemOf({ campaignId: 'spring sale' });
		expect(getStatus.toInvalidItem(invalid, { error })).toEqual({
			campaignId: 'spring sale',
			error,
		});
	});

	test('names nothing if there is nothing to name', () => {
		expect(getStatus.toInvalidItem(itemOf({}), { error })).toEqual({ error });
		expect(getSubscriberCount.toInvalidItem(itemOf({}), { error })).toEqual({ error });
		expect(getSubscriberCount.prepare(itemOf({})).toFailedItem({ error })).toEqual({ error });
	});
});
