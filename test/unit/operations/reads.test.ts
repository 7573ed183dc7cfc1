import { getStatus } from '../../../nodes/PushCampaign/operations/getStatus';
import { itemOf, recordingClient, refusalOf } from './support';

const record = {
	notification_status: 'Sent',
	notification_id: '1001',
	count: {
		...{ total_attempts: '120', successfully_sent: '100', failed_to_send: '20' },
		...{ delivered: '90', clicked: '9', closed: '30' },
	},
};

describe('Get Status', () => {
	const prepare = (campaignId: unknown, more = {}) =>
		getStatus.prepare(itemOf({ campaignId, ...more }));

	test('gives a flat item with rates', async () => {
		const { client, asked } = recordingClient(record);
		const result = await prepare(' 1001 ', { options: { timeout: 5000 } }).perform(client);
		expect(result).toMatchObject({ answered: true });
		expect(Object.entries('value' in result ? result.value : {})).toEqual([
			['campaignId', '1001'],
			['status', 'Sent'],
			['totalAttempts', 120],
			['successfullySent', 100],
			['failedToSend', 20],
			['delivered', 90],
			['clicked', 9],
			['closed', 30],
			['deliveryRate', 0.9],
			['clickRate', 0.1],
		]);
		const path = '/v1/notification/status/id/1001';
		// What the message says if there is no such campaign, and the field to correct.
		const named = { what: 'campaign 1001', fix: "Correct 'Campaign ID'." };
		const request = { isSend: false, path, named };
		expect(asked).toEqual([{ request, timeoutMs: 5000 }]);
	});

	test('gives the answer as it came if it is not simplified', async () => {
		const { client } = recordingClient(record);
		const result = await prepare('1001', { simplify: false }).perform(client);
		expect(result).toMatchObject({ value: record });
	});

	test('asks the same for the same campaign alone', () => {
		expect(prepare('1001').key).toBe(prepare(1001).key);
		expect(prepare('1002').key).not.toBe(prepare('1001').key);
		expect(prepare('1001', { simplify: false }).key).not.toBe(prepare('1001').key);
		expect(prepare('1001', { options: { timeout: 5 } }).key).not.toBe(prepare('1001').key);
	});

	test.each([
		[1001, '1001'],
		[0, '0'],
		['\u00A01001\u200B', '1001'],
		['\u202A\u00AD1001\u202C', '1001'],
		['9007199254740993', '9007199254740993'],
		['a-1_b', 'a-1_b'],
		['1.a.', '1.a.'],
		['.a', '.a'],
		['a/b?c#d', 'a%2Fb%3Fc%23d'],
	])('asks for %j by the path %s', (id, path) => {
		expect(prepare(id).key).toContain(`"/v1/notification/status/id/${path}"`);
	});

	test.each([
		['', "'Campaign ID' is missing"],
		['1001, 1002', `'Campaign ID' holds what is not one ID: "1001, 1002"`],
		['10\u200D01', `'Campaign ID' holds what is not one ID: "10\u200D01"`],
		['..', `'Campaign ID' is not a campaign's ID: ".."`],
		[' \u200B... ', `'Campaign ID' is not a campaign's ID: "..."`],
		[10.5, "'Campaign ID' holds what is not one ID: 10.5"],
		['.', `'Campaign ID' is not a campaign's ID: "."`],
		['={{ $json.id }}', "'Campaign ID': {{ $json.id }} gave nothing"],
		['10\uD83C01', '\'Campaign ID\' holds U+D83C, a character that nobody sees: "10\uD83C01"'],
		[-1, "'Campaign ID' holds what is not one ID: -1"],
		[['1001'], `'Campaign ID' holds what is not one ID: ["1001"]`],
	])('refuses %j', (id, refusal) => {
		expect(refusalOf(() => prepare(id))).toBe(refusal);
	});

	test.each(['yes', 1, ''])('refuses a Simplify that is not true or false: %j', (simplify) => {
		expect(refusalOf(() => prepare('1001', { simplify }))).toMatch(/^'Simplify' is /);
	});

	test('names the campaign of a read that failed', () => {
		expect(getStatus.toFailedRow(itemOf({ campaignId: '1, 2' }))).toEqual({ campaignId: '1, 2' });
		expect(getStatus.toFailedRow(itemOf({ campaignId: '' }))).toEqual({});
	});
});
