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

const bodyOf = async (parameters: INodeParameters, json = {}) => {
	const run = await runWorkflow(chain([push(parameters)]), {
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

	test('sends no field that was left out, or is blank', async () => {
		const blank = {
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
		for (const more of [{}, { additionalFields: blank }]) {
			simulator().reset();
			const request = await bodyOf({ operation, ...parameters, ...more });
			expect(request?.json).toStrictEqual(minimum);
		}
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
		const [campaign] = simulator().campaigns.values();
		expect(campaign?.closesByItself).toBe(true);
	});
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
		chain([push({ title: 'word '.repeat(30), options: { shortenTexts: true } })]),
		{ credentials: credentialsFor(simulator()) },
	);
	const title = `${'word '.repeat(20).trim()}…`;
	expect(sendsAt(simulator())[0]?.json).toStrictEqual({ ...required, title });
	expect(outputOf(run)).toMatchObject([{ title }]);
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

test('an attribute may have a name that a JavaScript object treats in its own way', async () => {
	const attribute = { constructor: 'x', toString: 'y', 2: 'b', 1: 'a' };
	const request = await bodyOf({
		operation: 'sendToAttributes',
		specifyAttributes: 'json',
		attributesJson: JSON.stringify(attribute),
	});
	expect(request?.json).toStrictEqual({ ...required, attribute });
});

test('the ID of a subscriber and of a campaign keep every digit, and are put out so', async () => {
	const id = '9007199254740993';
	simulator().addSubscribers([id]);
	simulator().addFault({
		match: { path: 'send/all' },
		action: { kind: 'respond', body: `{"status":"success","description":"Created","ID":${id}}` },
	});
	const output = async (parameters: INodeParameters) =>
		outputOf(
			await runWorkflow(chain([push(parameters)]), { credentials: credentialsFor(simulator()) }),
		);
	expect(await output({ operation: 'sendToSubscriber', subscriberId: id })).toStrictEqual([
		{
			subscriberId: id,
			audience: 'subscriber',
			status: 'success',
			description: 'Notification sent successfully',
			title: content.title,
		},
	]);
	expect(sendsAt(simulator())[0]?.body).toContain(`"sid":"${id}"`);
	expect(await output({})).toMatchObject([{ campaignId: id }]);
});

test('a campaign ID stands in the path encoded once', async () => {
	const campaignId = 'a/b?c=d#e %ä🌷';
	simulator().addCampaign({ id: campaignId });
	const run = await runWorkflow(chain([push({ operation: 'getStatus', campaignId })]), {
		credentials: credentialsFor(simulator()),
	});
	expect(outputOf(run)).toMatchObject([{ campaignId }]);
	const encoded = 'a%2Fb%3Fc%3Dd%23e%20%25%C3%A4%F0%9F%8C%B7';
	expect(simulator().requests[0]?.path).toBe(`/v1/notification/status/id/${encoded}`);
});

describe('Send At', () => {
	test.each<[string, INodeParameters, string]>([
		['the workflow’s timezone', { sendAt: '2099-07-01T12:30:00' }, '2099-07-01 12:30 -04:00'],
		[
			'its own timezone',
			{ sendAt: '2099-07-01T12:30:00', sendAtTimezone: 'Asia/Tokyo' },
			'2099-07-01 12:30 +09:00',
		],
		[
			'that of a DateTime as n8n makes it',
			{
				sendAt:
					'={{ $now.set({ year: 2099, month: 7, day: 1, hour: 12, minute: 29, second: 1 }) }}',
			},
			'2099-07-01 12:30 -04:00',
		],
	])('is read in %s, and put out', async (_name, additionalFields, text) => {
		const run = await runWorkflow(
			chain([push({ additionalFields })], { timezone: 'America/New_York' }),
			{ credentials: credentialsFor(simulator()) },
		);
		expect(sendsAt(simulator())[0]?.json).toMatchObject({ send_at: text });
		expect(outputOf(run)).toMatchObject([{ sendAt: text }]);
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

	test('takes an address with a prefix, and other names of the headers', async () => {
		const run = await runWorkflow(chain([push()]), {
			credentials: credentialsFor(custom(), { ...names, baseUrl: `${custom().url}//` }),
			input: inputOf({}, {}, {}),
		});
		expect(run.status).toBe('success');
		expect(custom().requests).toHaveLength(3);
		for (const { path, headers } of custom().requests) {
			expect(path).toBe('/push/site-7/v1/notification/send/all');
			expect(headers).toMatchObject({ 'x-api-key': 'demo-key', 'x-api-token': 'demo-token' });
			expect(headers).not.toHaveProperty('servicekey');
			expect(headers).not.toHaveProperty('serviceauthtoken');
		}
	});

	describe('with an expression in it', () => {
		const keys = ['demo-key', 'other-key', 'demo-key'];
		const credentials = () => credentialsFor(simulator(), { apiKey: '={{ $json.key }}' });
		const runEach = async (parameters: INodeParameters) =>
			await runWorkflow(chain([push(parameters, { onError: 'continueRegularOutput' })]), {
				credentials: credentials(),
				input: inputOf(...keys.map((key) => ({ key }))),
			});

		test('is that of each item, also where the first and the last have the same', async () => {
			const run = await runEach({});
			expect(outputOf(run).map(({ error }) => error === undefined)).toEqual([true, false, true]);
			const used = simulator().requests.map(({ headers }) => headers['servicekey']);
			expect(used.sort()).toEqual([...keys].sort());
		});

		test('shares a read among the items of the same credential alone', async () => {
			const run = await runEach({ resource: 'site', operation: 'getSubscriberCount' });
			expect(outputOf(run).map(({ error }) => error === undefined)).toEqual([true, false, true]);
			expect(simulator().requests).toHaveLength(2);
		});
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
});

test('a dry run still refuses what can’t be sent', async () => {
	const run = await runWorkflow(chain([push({ title: ' ', options: { dryRun: true } })]), {
		credentials: credentialsFor(simulator()),
	});
	expect(run.data.resultData.error).toMatchObject({ name: 'NodeOperationError' });
});
