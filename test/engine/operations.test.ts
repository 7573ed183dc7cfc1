import { join } from 'node:path';
import { credentialsFor, inputOf, useSimulator } from './support/pushCampaign';
import { itemsOf, runWorkflow } from './support/run';

const simulator = useSimulator();
const file = (name: string) => join(__dirname, 'workflows', `${name}.json`);
const run = async (name: string, options: Partial<Parameters<typeof runWorkflow>[1]> = {}) =>
	await runWorkflow(file(name), { credentials: credentialsFor(simulator()), ...options });

const content = {
	title: 'Spring sale 🌷',
	message: 'Everything at "half price" until Sunday',
	target_url: 'https://shop.example.com/sale?from=push&lang=de#top',
};
const sendAt = '2099-05-17 09:30 +02:00';
const shared = {
	icon: 'https://shop.example.com/icon.png',
	expire_push: '3d',
	send_at: sendAt,
	action_buttons: [
		{ title: 'Shop now', url: 'https://shop.example.com/now' },
		{ title: 'Later', url: 'http://shop.example.com/later' },
	],
};
const name = 'Spring, newsletter readers';
const image = 'https://shop.example.com/banner.jpg';
const created = {
	status: 'success',
	description: 'Campaign created successfully',
	title: content.title,
	sendAt,
};

const sends = [
	{
		workflow: 'send-to-all',
		path: '/v1/notification/send/all',
		body: { ...content, ...shared, name, image, auto_hide: 0 },
		item: { campaignId: '1001', audience: 'all', ...created, name },
	},
	{
		workflow: 'send-to-attributes',
		path: '/v1/notification/send/attribute',
		body: {
			...content,
			...shared,
			name,
			auto_hide: 1,
			attribute: { plan: 'pro', city: 'Oslo' },
		},
		item: {
			campaignId: '1001',
			audience: 'attributes',
			...created,
			name,
			attributes: { plan: 'pro', city: 'Oslo' },
		},
	},
	{
		workflow: 'send-to-segments',
		path: '/v1/notification/send/segment',
		body: { ...content, ...shared, name, image, auto_hide: 1, segment: ['31', '32'] },
		item: {
			campaignId: '1001',
			audience: 'segments',
			...created,
			name,
			segmentIds: ['31', '32'],
		},
	},
	{
		workflow: 'send-to-subscriber',
		path: '/v1/notification/send/sid',
		body: { ...content, ...shared, auto_hide: 1, sid: '5001' },
		item: {
			subscriberId: '5001',
			audience: 'subscriber',
			status: 'success',
			description: 'Notification sent successfully',
			title: content.title,
			sendAt,
		},
	},
];

const expectedHeaders = {
	servicekey: 'demo-key',
	serviceauthtoken: 'demo-token',
	'content-type': 'application/json',
	accept: 'application/json',
};

describe.each(sends)('$workflow', ({ workflow, path, body, item }) => {
	test('makes exactly the request of the specification and puts out its item', async () => {
		const done = await run(workflow);
		expect(done.status).toBe('success');
		expect(simulator().requests).toMatchObject([{ method: 'POST', path }]);
		const [request] = simulator().requests;
		expect(request?.headers).toMatchObject(expectedHeaders);
		expect(request?.json).toStrictEqual(body);
		expect(itemsOf(done, 'Push Campaign')).toStrictEqual([{ json: item, pairedItem: { item: 0 } }]);
	});
});

test('get-status', async () => {
	const id = simulator().addCampaign({ status: 'Sent' });
	simulator().setCounters(id, {
		total_attempts: 50,
		successfully_sent: 40,
		failed_to_send: 10,
		delivered: 30,
		clicked: 12,
		closed: 7,
	});
	const done = await run('get-status', { input: inputOf({ campaignId: id }) });
	expect(itemsOf(done, 'Push Campaign')).toStrictEqual([
		{
			json: {
				campaignId: id,
				status: 'Sent',
				totalAttempts: 50,
				successfullySent: 40,
				failedToSend: 10,
				delivered: 30,
				clicked: 12,
				closed: 7,
				deliveryRate: 0.75,
				clickRate: 0.4,
			},
			pairedItem: { item: 0 },
		},
	]);
	const [request] = simulator().requests;
	const path = `/v1/notification/status/id/${id}`;
	expect(request).toMatchObject({ method: 'GET', path, body: '', headers: expectedHeaders });
	expect(request?.headers['content-length']).toBeUndefined();
	expect(request?.headers['transfer-encoding']).toBeUndefined();
});

test('get-subscriber-count', async () => {
	const done = await run('get-subscriber-count');
	expect(itemsOf(done, 'Push Campaign')).toStrictEqual([
		{
			json: { totalLifetimeSubscribers: 12500, activeSubscribers: 10000 },
			pairedItem: { item: 0 },
		},
	]);
	expect(simulator().requests).toMatchObject([
		{ method: 'GET', path: '/v1/site/subscriber_count', body: '', headers: expectedHeaders },
	]);
});

test('send-then-status reads the campaign that was sent', async () => {
	const done = await run('send-then-status');
	expect(done.status).toBe('success');
	expect(itemsOf(done, 'Read Status').map(({ json }) => json)).toMatchObject([
		{ campaignId: '1001', totalAttempts: 0 },
	]);
});

test('each item of many keeps its place and is paired with its input', async () => {
	const input = inputOf(...Array.from({ length: 60 }, (_, index) => ({ title: `No ${index}` })));
	// The first answers come last.
	simulator().addFault({ times: 20, action: { kind: 'delay', ms: 60 } });
	const done = await run('retry-on-fail', { input });
	const items = itemsOf(done, 'Push Campaign');
	expect(items.map(({ pairedItem }) => pairedItem)).toStrictEqual(
		input.map((_, item) => ({ item })),
	);
	const titleOf = (id: unknown) => simulator().campaign(String(id))?.body['title'];
	expect(items.map(({ json }) => titleOf(json['campaignId']))).toStrictEqual(
		input.map(({ json }) => json['title']),
	);
});
