import { getStatus } from '../../../nodes/PushCampaign/operations/getStatus';
import { getSubscriberCount } from '../../../nodes/PushCampaign/operations/getSubscriberCount';
import type { ReadOperation } from '../../../nodes/PushCampaign/operations/operation';
import type { Client, ServiceRequest } from '../../../nodes/PushCampaign/service/client';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import { refusal } from '../service/support';
import { itemOf } from './support';

const record = {
	notification_status: 'Sent',
	notification_id: '1001',
	count: {
		total_attempts: '10',
		successfully_sent: '8',
		failed_to_send: '2',
		delivered: '4',
		clicked: '1',
		closed: '3',
	},
};
const site = { total_life_time_subscribers: '120', active_subscribers: '90' };

const asked: Array<{ request: ServiceRequest; timeoutMs: number }> = [];
const clientOf = (answer: unknown): Client => ({
	async request(request, schema, timeoutMs) {
		asked.push({ request, timeoutMs });
		const parsed = schema.safeParse(answer);
		return parsed.success
			? { kind: 'done', value: parsed.data, raw: answer }
			: { kind: 'failed', problem: explain(reasons.connectionLost, request.kind) };
	},
});
const perform = async (operation: ReadOperation, parameters: object, answer: unknown) =>
	await operation.prepare(itemOf({ ...parameters })).perform(clientOf(answer));

beforeEach(() => asked.splice(0));

describe('getStatus', () => {
	test('asks for the campaign, its ID encoded', async () => {
		const options = { timeout: 99 };
		await perform(getStatus, { campaignId: ' a/b ', options }, record);
		expect(asked).toEqual([
			{
				request: {
					kind: 'read',
					path: '/v1/notification/status/id/a%2Fb',
					campaignId: 'a/b',
					subject: 'a/b',
				},
				timeoutMs: 99,
			},
		]);
	});

	test('gives the counters as numbers and the two rates', async () => {
		expect(await perform(getStatus, { campaignId: 1001 }, record)).toMatchObject({
			kind: 'done',
			value: {
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
			},
		});
	});

	test.each([
		['8', '0', '0', 0, null],
		['0', '0', '0', null, null],
		['0', '4', '4', null, 1],
		['8', '8', '0', 1, 0],
	])('%s sent, %s delivered, %s clicked', async (sent, delivered, clicked, ...rates) => {
		const count = { ...record.count, successfully_sent: sent, delivered, clicked };
		const result = await perform(getStatus, { campaignId: '1001' }, { ...record, count });
		const [deliveryRate, clickRate] = rates;
		expect(result).toMatchObject({ value: { deliveryRate, clickRate } });
	});

	test('gives null for a counter that is not there, and the raw answer as it came', async () => {
		const { clicked: _clicked, ...count } = { ...record.count, delivered: '', closed: null };
		const given = { ...record, notification_status: 'Scheduled', count };
		expect(await perform(getStatus, { campaignId: '1001' }, given)).toMatchObject({
			value: {
				totalAttempts: 10,
				delivered: null,
				clicked: null,
				closed: null,
				deliveryRate: null,
				clickRate: null,
			},
		});
		const raw = { campaignId: '1001', simplify: false };
		expect(await perform(getStatus, raw, given)).toEqual({ kind: 'done', value: given });
	});

	test('hands on why there is no answer', async () => {
		expect(await perform(getStatus, { campaignId: '1' }, {})).toEqual({
			kind: 'failed',
			problem: explain(reasons.connectionLost, 'read'),
		});
	});

	test.each([
		['', 'Campaign ID is missing'],
		[null, 'Campaign ID is empty for this item: its expression gave nothing'],
		['1001, 1002', 'Campaign ID holds more than one ID: "1001, 1002"'],
		['..', 'Campaign ID is not a campaign ID'],
	])('%j is refused', (campaignId, message) => {
		expect(refusal(() => getStatus.prepare(itemOf({ campaignId }))).message).toBe(message);
	});

	test('the same campaign has the same key, another one another', () => {
		const keyOf = (campaignId: unknown) => getStatus.prepare(itemOf({ campaignId })).key;
		expect(keyOf(1001)).toBe(keyOf(' 1001 '));
		expect(keyOf('1001')).not.toBe(keyOf('1002'));
		expect(keyOf('1001')).not.toBe(getSubscriberCount.prepare(itemOf({})).key);
		const raw = getStatus.prepare(itemOf({ campaignId: '1001', simplify: false }));
		expect(keyOf('1001')).not.toBe(raw.key);
	});
});

describe('getSubscriberCount', () => {
	test('gives both counts as numbers', async () => {
		expect(await perform(getSubscriberCount, {}, site)).toMatchObject({
			kind: 'done',
			value: { totalLifetimeSubscribers: 120, activeSubscribers: 90 },
		});
		expect(asked).toEqual([
			{
				request: { kind: 'read', path: '/v1/site/subscriber_count' },
				timeoutMs: 30_000,
			},
		]);
	});

	test('gives null for a count that is not there, and the raw answer as it came', async () => {
		const given = { active_subscribers: '90', extra: [1] };
		expect(await perform(getSubscriberCount, {}, given)).toEqual({
			kind: 'done',
			value: { totalLifetimeSubscribers: null, activeSubscribers: 90 },
		});
		const raw = { simplify: false };
		expect(await perform(getSubscriberCount, raw, given)).toEqual({ kind: 'done', value: given });
		for (const simplify of [true, false]) {
			expect(await perform(getSubscriberCount, { simplify }, {})).toMatchObject({ kind: 'failed' });
		}
	});
});

test.each([
	[undefined, 'activeSubscribers'],
	[null, 'activeSubscribers'],
	[true, 'activeSubscribers'],
	[false, 'active_subscribers'],
])('simplify %j: %s', async (simplify, name) => {
	const result = await perform(getSubscriberCount, { simplify }, site);
	expect(result).toHaveProperty(['value', name]);
});

test.each(['true', 1, {}, ''])('simplify %j is refused', (simplify) => {
	expect(refusal(() => getSubscriberCount.prepare(itemOf({ simplify }))).message).toBe(
		'Simplify is not true or false',
	);
});
