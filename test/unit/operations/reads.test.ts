import { getStatus } from '../../../nodes/PushCampaign/operations/getStatus';
import { getSubscriberCount } from '../../../nodes/PushCampaign/operations/getSubscriberCount';
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
const statusRequest = { kind: 'read', path, campaignId: '1001', subject: '1001' };
const reads = [
	[
		getStatus,
		{ campaignId: ' 1001 ' },
		statusRequest,
		[
			[record, status],
			[waiting, { ...status, ...none }],
		],
	],
	[
		getSubscriberCount,
		{},
		{ kind: 'read', path: '/v1/site/subscriber_count' },
		[
			[
				{ total_life_time_subscribers: '120', active_subscribers: '90' },
				{ totalLifetimeSubscribers: 120, activeSubscribers: 90 },
			],
			[
				{ active_subscribers: '90', extra: [1] },
				{ totalLifetimeSubscribers: null, activeSubscribers: 90 },
			],
		],
	],
] as const;

describe.each(
	reads.map(([operation, parameters, request, answers]) => ({
		name: operation.option.name,
		prepare: (more = {}) => operation.prepare(itemOf({ ...parameters, ...more })),
		request,
		answers,
	})),
)('$name', ({ prepare, request, answers }) => {
	test('makes one request', async () => {
		const { client, asked } = recordingClient({});
		await prepare({ options: { timeout: 99 } }).perform(client);
		expect(asked).toEqual([{ request, timeoutMs: 99 }]);
	});

	test.each<readonly [answer: object, item: object]>(answers)(
		'puts %j out simplified, or as it came',
		async (answer, item) => {
			const { client } = recordingClient(answer);
			for (const simplify of [undefined, null, true]) {
				expect(await prepare({ simplify }).perform(client)).toEqual({ kind: 'done', value: item });
			}
			const raw = await prepare({ simplify: false }).perform(client);
			expect(raw).toEqual({ kind: 'done', value: answer });
		},
	);

	test.each([true, false])('hands on why there is no answer (simplify %j)', async (simplify) => {
		expect(await prepare({ simplify }).perform(recordingClient({}).client)).toEqual({
			kind: 'failed',
			problem: explain(reasons.connectionLost, 'read'),
		});
	});

	test.each(['text', null])('puts %j out as an empty item', async (raw) => {
		const client: Client = {
			request: async (_request, schema) => ({
				kind: 'done',
				value: schema.parse(answers[0][0]),
				raw,
			}),
		};
		const result = await prepare({ simplify: false }).perform(client);
		expect(result).toEqual({ kind: 'done', value: {} });
	});

	test.each(['true', 1, {}])('simplify %j is refused', (simplify) => {
		expect(refusal(() => prepare({ simplify })).message).toBe('Simplify is not true or false');
	});
});

test.each([
	['', 'Campaign ID is missing'],
	[null, 'Campaign ID is empty for this item: its expression gave nothing'],
	['1001, 1002', 'Campaign ID holds more than one ID: "1001, 1002"'],
])('the campaign ID %j is refused', (campaignId, message) => {
	expect(refusal(() => getStatus.prepare(itemOf({ campaignId }))).message).toBe(message);
});

test('reads of the same have the same key, others another', () => {
	const keyOf = (campaignId: unknown, simplify = true) =>
		getStatus.prepare(itemOf({ campaignId, simplify })).key;
	expect(keyOf(1001)).toBe(keyOf(' 1001 '));
	const others = [keyOf('1001'), keyOf('1002'), keyOf('1001', false)];
	expect(new Set([...others, getSubscriberCount.prepare(itemOf({})).key]).size).toBe(4);
});
