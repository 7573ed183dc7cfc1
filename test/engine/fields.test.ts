import { DateTime } from 'luxon';
import type { INodeParameters } from 'n8n-workflow';
import {
	content,
	credentialsFor,
	inputOf,
	outputOf,
	push,
	sendOperations,
	sendsAt,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

const simulator = useSimulator();

const bodyOf = async (parameters: INodeParameters, json = {}, timezone = 'Europe/Berlin') => {
	const run = await runWorkflow(chain([push(parameters)], { timezone }), {
		credentials: credentialsFor(simulator()),
		input: inputOf(json),
	});
	expect(run.data.resultData.error).toBeUndefined();
	expect(sendsAt(simulator())).toHaveLength(1);
	return sendsAt(simulator())[0];
};
const required = {
	title: content.title,
	message: content.message,
	target_url: content.targetUrl,
};
const audienceBody = {
	sendToAll: {},
	sendToAttributes: { attribute: { plan: 'pro' } },
	sendToSegments: { segment: ['31'] },
	sendToSubscriber: { sid: '5001' },
};

const future = { sendAt: '2099-01-02T03:04:00Z' };
const everything = {
	name: 'Internal',
	iconUrl: 'https://shop.example.com/icon.png',
	imageUrl: 'https://shop.example.com/image.jpg',
	expireAfter: { duration: { amount: 90, unit: 'm' } },
	autoHide: true,
	actionButtons: { button: [{ title: 'Go', url: 'https://shop.example.com/go' }] },
	sendAtTimezone: 'Asia/Tokyo',
	...future,
};
const everywhere = {
	icon: everything.iconUrl,
	expire_push: '90m',
	action_buttons: everything.actionButtons.button,
	send_at: '2099-01-02 03:04 +00:00',
};

describe.each(sendOperations)('$operation', ({ operation, parameters, audience }) => {
	const minimum = { ...required, ...audienceBody[operation] };

	test('sends no field that was left out', async () => {
		const request = await bodyOf({ operation, ...parameters });
		expect(request?.json).toStrictEqual(minimum);
	});

	test('sends no blank optional field', async () => {
		const additionalFields = {
			name: ' ',
			iconUrl: '',
			imageUrl: '',
			expireAfter: {},
			// What the editor gives for fields that were added and never filled in.
			actionButtons: { button: [{ title: '', url: '' }] },
			utmParameters: {
				parameters: { source: '', medium: '', campaign: '', term: '', content: '' },
			},
		};
		const request = await bodyOf({ operation, ...parameters, additionalFields });
		expect(request?.json).toStrictEqual(minimum);
	});

	test('sends nothing that is left over from another operation', async () => {
		const request = await bodyOf({
			attributes: { pairs: [{ name: 'old', value: 'value' }] },
			attributesJson: '{"older": 1}',
			segmentIds: '99',
			subscriberId: '9999',
			campaignId: '77',
			...parameters,
			operation,
			additionalFields: everything,
		});
		const name = audience === 'subscriber' ? {} : { name: everything.name };
		const takesImage = audience === 'all' || audience === 'segments';
		expect(request?.json).toStrictEqual({
			...minimum,
			...everywhere,
			...name,
			...(takesImage ? { image: everything.imageUrl } : {}),
			auto_hide: audience === 'all' ? 1 : 0,
		});
	});

	test.each([
		[true, audience === 'all' ? 1 : 0],
		[false, audience === 'all' ? 0 : 1],
	])('sends auto hide %s in its own reading', async (autoHide, number) => {
		const request = await bodyOf({ operation, ...parameters, additionalFields: { autoHide } });
		expect(request?.json).toStrictEqual({ ...minimum, auto_hide: number });
		const [campaign] = simulator().campaigns.values();
		expect(campaign?.closesByItself).toBe(autoHide);
	});
});

test.each([
	['name', { name: 'Internal' }, { name: 'Internal' }],
	['name of 100 emoji', { name: '🌷'.repeat(100) }, { name: '🌷'.repeat(100) }],
	['icon', { iconUrl: ' https://a.example/i.png ' }, { icon: 'https://a.example/i.png' }],
	['image', { imageUrl: 'https://a.example/i.jpg' }, { image: 'https://a.example/i.jpg' }],
	['minutes', { expireAfter: { duration: { amount: 1, unit: 'm' } } }, { expire_push: '1m' }],
	['hours', { expireAfter: { duration: { amount: 36, unit: 'h' } } }, { expire_push: '36h' }],
	['days', { expireAfter: { duration: { amount: 28, unit: 'd' } } }, { expire_push: '28d' }],
	[
		'buttons',
		{
			actionButtons: {
				button: [
					{ title: 'x'.repeat(100), url: `https://a.example/${'y'.repeat(82)}` },
					{ title: 'Two', url: 'http://a.example' },
				],
			},
		},
		{
			action_buttons: [
				{ title: 'x'.repeat(100), url: `https://a.example/${'y'.repeat(82)}` },
				{ title: 'Two', url: 'http://a.example' },
			],
		},
	],
])('additional field: %s', async (_name, additionalFields, fields) => {
	const request = await bodyOf({ additionalFields });
	expect(request?.json).toStrictEqual({ ...required, ...fields });
});

test.each(['sendToAttributes', 'sendToSegments', 'sendToSubscriber'])(
	'%s knows no limit for buttons',
	async (operation) => {
		const parameters = sendOperations.find((known) => known.operation === operation)?.parameters;
		const button = [{ title: 'x'.repeat(300), url: `https://a.example/${'y'.repeat(300)}` }];
		const request = await bodyOf({
			operation,
			...parameters,
			additionalFields: { actionButtons: { button } },
		});
		expect(request?.json).toMatchObject({ action_buttons: button });
	},
);

test.each([
	['title of 100 emoji', { title: '🌷'.repeat(100) }, { title: '🌷'.repeat(100) }],
	['message of 255 emoji', { message: '👍'.repeat(255) }, { message: '👍'.repeat(255) }],
	[
		'target URL of 255 characters',
		{ targetUrl: `http://a.example/${'z'.repeat(238)}` },
		{ target_url: `http://a.example/${'z'.repeat(238)}` },
	],
])('the longest %s', async (_name, parameters, fields) => {
	const request = await bodyOf(parameters);
	expect(request?.json).toStrictEqual({ ...required, ...fields });
});

test('UTM parameters go into every URL that is clicked', async () => {
	const request = await bodyOf(
		{
			targetUrl: 'https://shop.example.com/sale?from=push+me#top',
			additionalFields: {
				actionButtons: { button: [{ title: 'Go', url: 'https://shop.example.com' }] },
				utmParameters: { parameters: { source: 'n8n', campaign: '={{ $json.campaign }}' } },
			},
		},
		{ campaign: 'Summer sale' },
	);
	const utm = 'utm_source=n8n&utm_campaign=Summer%20sale';
	expect(request?.json).toStrictEqual({
		...required,
		target_url: `https://shop.example.com/sale?from=push+me&${utm}#top`,
		action_buttons: [{ title: 'Go', url: `https://shop.example.com?${utm}` }],
	});
});

test('texts that are too long are shortened where that is wished, and put out as sent', async () => {
	const run = await runWorkflow(
		chain([
			push({
				title: 'word '.repeat(30),
				additionalFields: { name: '👨‍👩‍👧‍👦'.repeat(20) },
				options: { shortenTexts: true },
			}),
		]),
		{ credentials: credentialsFor(simulator()) },
	);
	const fields = {
		title: `${'word '.repeat(20).trim()}…`,
		name: `${'👨‍👩‍👧‍👦'.repeat(14)}…`,
	};
	expect(sendsAt(simulator())[0]?.json).toMatchObject(fields);
	expect(outputOf(run)).toMatchObject([fields]);
});

test('an idempotency key is put out, and is nothing that the service is told', async () => {
	const run = await runWorkflow(chain([push({ options: { idempotencyKey: '={{ 1042 }}' } })]), {
		credentials: credentialsFor(simulator()),
	});
	expect(sendsAt(simulator()).map(({ json }) => json)).toStrictEqual([required]);
	expect(outputOf(run)).toMatchObject([{ title: content.title, idempotencyKey: '1042' }]);
});

test('a run tells in a hint when it sends, and that a dry run sent nothing', async () => {
	const hintsOf = async (parameters: INodeParameters) => {
		const run = await runWorkflow(chain([push(parameters)], { timezone: 'Europe/Berlin' }), {
			credentials: credentialsFor(simulator()),
		});
		const tasks = Object.values(run.data.resultData.runData).flat();
		return tasks.flatMap(({ hints = [] }) => hints.map(({ message }) => message));
	};
	expect(await hintsOf({})).toEqual([]);
	expect(await hintsOf({ additionalFields: { sendAt: '2099-12-24T09:00:00' } })).toEqual([
		expect.stringMatching(/^Scheduled for 24 Dec 2099 09:00, Europe\/Berlin\. /),
	]);
	expect(await hintsOf({ options: { dryRun: true } })).toEqual([
		'Nothing was sent: this was a dry run.',
	]);
	const refused = { title: 'x'.repeat(101), additionalFields: { sendAt: '2099-12-24T09:00:00' } };
	expect(await hintsOf(refused)).toEqual([]);
});

describe('attributes', () => {
	test.each<[string, INodeParameters, Record<string, unknown>]>([
		[
			'pairs, of which an expression may give numbers and booleans',
			{
				attributes: {
					pairs: [
						{ name: 'plan', value: 'pro' },
						{ name: 'visits', value: '={{ $json.visits }}' },
						{ name: 'vip', value: '={{ $json.vip }}' },
					],
				},
			},
			{ plan: 'pro', visits: 12, vip: false },
		],
		[
			'JSON text',
			{ specifyAttributes: 'json', attributesJson: '{"plan": "pro", "visits": 1.5, "vip": true}' },
			{ plan: 'pro', visits: 1.5, vip: true },
		],
		[
			'the object of an expression',
			{ specifyAttributes: 'json', attributesJson: '={{ $json.wanted }}' },
			{ city: 'Oslo', floor: -3 },
		],
		[
			'names that a JavaScript object treats in its own way',
			{
				specifyAttributes: 'json',
				attributesJson: '{"constructor": "x", "toString": "y", "2": "b", "1": "a"}',
			},
			{ constructor: 'x', toString: 'y', 2: 'b', 1: 'a' },
		],
	])('%s', async (_name, parameters, attribute) => {
		const json = { visits: 12, vip: false, wanted: { city: 'Oslo', floor: -3 } };
		const request = await bodyOf({ operation: 'sendToAttributes', ...parameters }, json);
		expect(request?.json).toStrictEqual({ ...required, attribute });
	});
});

test.each([
	['31', '["31"]'],
	[' 31 ,; 007;a-b\n 31', '["31","007","a-b"]'],
	['[31, "32"]', '[31,"32"]'],
	['={{ 31 }}', '[31]'],
	['={{ [31, "32", 9007199254740991] }}', '[31,"32",9007199254740991]'],
	['={{ ["9007199254740993"] }}', '["9007199254740993"]'],
])('segment IDs %s are sent as %s', async (segmentIds, sent) => {
	const request = await bodyOf({ operation: 'sendToSegments', segmentIds });
	expect(request?.body).toContain(`"segment":${sent}`);
});

test.each([
	['5001', '"5001"'],
	['={{ 5001 }}', '"5001"'],
	[' 5001 ', '"5001"'],
	['9007199254740993', '"9007199254740993"'],
	['123456789012345678901234567890', '"123456789012345678901234567890"'],
	['={{ "9007199254740993" }}', '"9007199254740993"'],
	['={{ 9007199254740991 }}', '"9007199254740991"'],
	['00042', '"00042"'],
])('subscriber ID %s is sent as %s and put out unrounded', async (subscriberId, sent) => {
	const id: unknown = JSON.parse(sent);
	simulator().addSubscribers([String(id)]);
	const run = await runWorkflow(chain([push({ operation: 'sendToSubscriber', subscriberId })]), {
		credentials: credentialsFor(simulator()),
	});
	expect(outputOf(run)).toMatchObject([{ subscriberId: id, audience: 'subscriber' }]);
	expect(outputOf(run)[0]).not.toHaveProperty('campaignId');
	expect(sendsAt(simulator())[0]?.body).toContain(`"sid":${sent}`);
});

test.each([
	['1001', '1001'],
	['={{ 1001 }}', '1001'],
	['a/b?c=d#e %', 'a%2Fb%3Fc%3Dd%23e%20%25'],
	['ä🌷', '%C3%A4%F0%9F%8C%B7'],
	['9007199254740993', '9007199254740993'],
])('campaign ID %s stands in the path as %s', async (campaignId, encoded) => {
	const id = campaignId.startsWith('=') ? '1001' : campaignId;
	simulator().addCampaign({ id });
	const run = await runWorkflow(chain([push({ operation: 'getStatus', campaignId })]), {
		credentials: credentialsFor(simulator()),
	});
	expect(outputOf(run)).toMatchObject([{ campaignId: id }]);
	expect(simulator().requests[0]?.path).toBe(`/v1/notification/status/id/${encoded}`);
});

test.each([
	['1001', '"1001"'],
	['9007199254740993', '9007199254740993'],
	['7', '7'],
	['abc-1', '"abc-1"'],
])('the campaign ID %s is text, however the service gives it', async (campaignId, given) => {
	const body = `{"status":"success","description":"Created","ID":${given}}`;
	simulator().addFault({ action: { kind: 'respond', body, process: true } });
	const run = await runWorkflow(chain([push()]), { credentials: credentialsFor(simulator()) });
	expect(outputOf(run)).toStrictEqual([
		{
			campaignId,
			audience: 'all',
			status: 'success',
			description: 'Created',
			title: content.title,
		},
	]);
});

describe('Send At', () => {
	const moment = Date.UTC(2099, 6, 1, 10, 30);
	test.each<[string, string, string]>([
		['a date in the workflow’s timezone', '2099-07-01T12:30:00', '2099-07-01 12:30 +02:00'],
		['a winter date there', '2099-01-01 12:30', '2099-01-01 12:30 +01:00'],
		['a day', '2099-07-01', '2099-07-01 00:00 +02:00'],
		['ISO with an offset', '2099-07-01T12:30:00-05:30', '2099-07-01 12:30 -05:30'],
		['ISO in UTC', '2099-07-01T12:30:00.000Z', '2099-07-01 12:30 +00:00'],
		['the service’s own form', '2099-07-01 12:30 +5:30', '2099-07-01 12:30 +05:30'],
		['seconds', '2099-07-01T12:30:01', '2099-07-01 12:31 +02:00'],
		['milliseconds at the end of a year', '2099-12-31T23:59:00.001', '2100-01-01 00:00 +01:00'],
		['epoch milliseconds', `={{ ${moment} }}`, '2099-07-01 12:30 +02:00'],
		['a JavaScript Date', `={{ new Date(${moment}) }}`, '2099-07-01 12:30 +02:00'],
		[
			'a Luxon DateTime',
			`={{ DateTime.fromMillis(${moment}, { zone: 'Asia/Kolkata' }) }}`,
			'2099-07-01 16:00 +05:30',
		],
		[
			'a Luxon DateTime as n8n makes it',
			'={{ $now.set({ year: 2099, month: 7, day: 1, hour: 12, minute: 30, second: 0, millisecond: 0 }) }}',
			'2099-07-01 12:30 +02:00',
		],
	])('%s', async (_name, sendAt, text) => {
		const run = await runWorkflow(
			chain([push({ additionalFields: { sendAt } })], { timezone: 'Europe/Berlin' }),
			{ credentials: credentialsFor(simulator()) },
		);
		expect(run.data.resultData.error).toBeUndefined();
		expect(sendsAt(simulator())[0]?.json).toMatchObject({ send_at: text });
		expect(outputOf(run)).toMatchObject([{ sendAt: text }]);
	});

	test('Send At Timezone goes before the timezone of the workflow', async () => {
		const additionalFields = { sendAt: '2099-07-01T12:30:00', sendAtTimezone: 'Asia/Tokyo' };
		const request = await bodyOf({ additionalFields }, {}, 'America/New_York');
		expect(request?.json).toMatchObject({ send_at: '2099-07-01 12:30 +09:00' });
	});

	test('the same text names another moment in another timezone', async () => {
		const additionalFields = { sendAt: '2099-07-01T12:30:00' };
		const request = await bodyOf({ additionalFields }, {}, 'America/New_York');
		expect(request?.json).toMatchObject({ send_at: '2099-07-01 12:30 -04:00' });
	});

	test('5 minutes ahead, the seconds rounded up, is accepted by node and service', async () => {
		const sendAt = DateTime.utc().plus({ minutes: 5, seconds: 2 }).toISO();
		const request = await bodyOf({ additionalFields: { sendAt } });
		expect(request?.answered).toMatchObject({ status: 200, type: null });
	});
});

describe('the credential', () => {
	const custom = useSimulator({
		pathPrefix: '/push/site-7',
		keyHeader: 'X-Api-Key',
		tokenHeader: 'X-Api-Token',
	});
	const names = { apiKeyHeader: 'X-Api-Key', authTokenHeader: 'X-Api-Token' };

	test.each(['', '/', '///'])('takes an address with a prefix and "%s" after it', async (end) => {
		const credentials = credentialsFor(custom(), { ...names, baseUrl: `${custom().url}${end}` });
		const run = await runWorkflow(chain([push()]), { credentials });
		expect(run.status).toBe('success');
		expect(custom().requests[0]?.path).toBe('/push/site-7/v1/notification/send/all');
		expect(custom().requests[0]?.headers).toMatchObject({
			'x-api-key': 'demo-key',
			'x-api-token': 'demo-token',
		});
		expect(custom().requests[0]?.headers).not.toHaveProperty('servicekey');
		expect(custom().requests[0]?.headers).not.toHaveProperty('serviceauthtoken');
	});

	test('shows the prefix in a dry run, and no header', async () => {
		const run = await runWorkflow(chain([push({ options: { dryRun: true } })]), {
			credentials: credentialsFor(custom(), names),
		});
		expect(outputOf(run)).toStrictEqual([
			{
				dryRun: true,
				request: {
					method: 'POST',
					url: `${custom().origin}/push/site-7/v1/notification/send/all`,
					body: required,
				},
			},
		]);
		expect(custom().requests).toHaveLength(0);
	});

	test('is opened once for a run, however many items it has', async () => {
		const run = await runWorkflow(chain([push()]), {
			credentials: credentialsFor(custom(), { ...names, apiKey: ' demo-key ' }),
			input: inputOf({}, {}, {}),
		});
		expect(run.status).toBe('success');
		expect(custom().requests).toHaveLength(3);
	});
});

test('a dry run still refuses what can’t be sent', async () => {
	const run = await runWorkflow(chain([push({ title: ' ', options: { dryRun: true } })]), {
		credentials: credentialsFor(simulator()),
	});
	expect(run.data.resultData.error).toMatchObject({ name: 'NodeOperationError' });
});
