import type { INodeParameters } from 'n8n-workflow';
import { credentialsFor, inputOf, NODE, push, useSimulator } from './support/pushCampaign';
import { itemsOf, runWorkflow } from './support/run';
import { chain } from './support/workflow';

// One whole workflow for each operation: the parameters as the editor saves them, the request, and the item.

const simulator = useSimulator();

const run = async (parameters: INodeParameters, input = inputOf({})) =>
	await runWorkflow(chain([push(parameters)], { timezone: 'Europe/Berlin' }), {
		credentials: credentialsFor(simulator()),
		input,
	});

const headers = {
	servicekey: 'demo-key',
	serviceauthtoken: 'demo-token',
	'content-type': 'application/json',
	accept: 'application/json',
};

const message = 'Everything at "half price" until Sunday';
const url = 'https://shop.example.com/sale?from=push&lang=de#top';
const icon = 'https://shop.example.com/icon.png';
const image = 'https://shop.example.com/banner.jpg';
const button = [
	{ title: 'Shop now', url: 'https://shop.example.com/now' },
	{ title: 'Later', url: 'http://shop.example.com/later' },
];
const name = 'Spring, newsletter readers';
const onEverySend = {
	iconUrl: icon,
	expireAfter: { duration: { amount: 3, unit: 'd' } },
	autoHide: false,
	sendAt: '2099-05-17T09:30:00',
};
const shared = { title: 'Spring sale 🌷', message };
const body = {
	...shared,
	target_url: url,
	icon,
	expire_push: '3d',
	send_at: '2099-05-17 09:30 +02:00',
	action_buttons: button,
};
const item = { status: 'success', title: shared.title, sendAt: body.send_at };
const created = { ...item, campaignId: '1001', description: 'Campaign created successfully', name };

test.each([
	{
		operation: 'sendToAll',
		parameters: { additionalFields: { ...onEverySend, name, imageUrl: image } },
		path: 'all',
		sent: { ...body, name, image, auto_hide: 0 },
		out: { ...created, audience: 'all' },
	},
	{
		operation: 'sendToAttributes',
		parameters: {
			specifyAttributes: 'keypair',
			attributes: {
				pairs: [
					{ name: 'plan', value: 'pro' },
					{ name: 'city', value: 'Oslo' },
				],
			},
			additionalFields: { ...onEverySend, name },
		},
		path: 'attribute',
		sent: { ...body, name, auto_hide: 1, attribute: { plan: 'pro', city: 'Oslo' } },
		out: { ...created, audience: 'attributes', attributes: { plan: 'pro', city: 'Oslo' } },
	},
	{
		operation: 'sendToSegments',
		parameters: {
			segmentIds: '31, 32',
			additionalFields: { ...onEverySend, name, imageUrl: image },
		},
		path: 'segment',
		sent: { ...body, name, image, auto_hide: 1, segment: ['31', '32'] },
		out: { ...created, audience: 'segments', segmentIds: ['31', '32'] },
	},
	{
		operation: 'sendToSubscriber',
		parameters: { subscriberId: '5001', additionalFields: onEverySend },
		path: 'sid',
		sent: { ...body, auto_hide: 1, sid: '5001' },
		out: {
			...item,
			subscriberId: '5001',
			audience: 'subscriber',
			description: 'Notification sent successfully',
		},
	},
])('$operation', async ({ operation, parameters, path, sent, out }) => {
	const content = { ...shared, targetUrl: url, actionButtons: { button } };
	const done = await run({ operation, ...content, ...parameters, options: {} });
	expect(itemsOf(done, NODE)).toStrictEqual([{ json: out, pairedItem: { item: 0 } }]);
	expect(simulator().requests).toMatchObject([
		{ method: 'POST', path: `/v1/notification/send/${path}`, headers },
	]);
	expect(simulator().requests[0]?.json).toStrictEqual(sent);
});

test('getStatus of the campaign that comes in, as its default says', async () => {
	const counters = { total_attempts: 50, successfully_sent: 40, failed_to_send: 10, delivered: 30 };
	const id = simulator().addCampaign({ status: 'Sent', counters: { ...counters, clicked: 12 } });
	const done = await run({ operation: 'getStatus' }, inputOf({ campaignId: id }));
	expect(itemsOf(done, NODE)).toStrictEqual([
		{
			json: {
				campaignId: id,
				status: 'Sent',
				totalAttempts: 50,
				successfullySent: 40,
				failedToSend: 10,
				delivered: 30,
				clicked: 12,
				closed: 0,
				deliveryRate: 0.75,
				clickRate: 0.4,
			},
			pairedItem: { item: 0 },
		},
	]);
	const [request] = simulator().requests;
	const path = `/v1/notification/status/id/${id}`;
	expect(request).toMatchObject({ method: 'GET', path, body: '', headers });
	expect(request?.headers['content-length']).toBeUndefined();
	expect(request?.headers['transfer-encoding']).toBeUndefined();
});

test('getSubscriberCount', async () => {
	const done = await run({ resource: 'site', operation: 'getSubscriberCount' });
	const json = { totalLifetimeSubscribers: 12500, activeSubscribers: 10000 };
	expect(itemsOf(done, NODE)).toStrictEqual([{ json, pairedItem: { item: 0 } }]);
	expect(simulator().requests).toMatchObject([
		{ method: 'GET', path: '/v1/site/subscriber_count', body: '', headers },
	]);
});

test('each item of many keeps its place and is paired with its input', async () => {
	const input = inputOf(...Array.from({ length: 60 }, (_, index) => ({ title: `No ${index}` })));
	// The first answers come last.
	simulator().addFault({ times: 20, action: { kind: 'delay', ms: 60 } });
	const items = itemsOf(await run({ title: '={{ $json.title }}' }, input), NODE);
	expect(items.map(({ pairedItem }) => pairedItem)).toStrictEqual(
		input.map((_, index) => ({ item: index })),
	);
	const titleOf = (id: unknown) => simulator().campaign(String(id))?.body['title'];
	expect(items.map(({ json }) => titleOf(json['campaignId']))).toStrictEqual(
		input.map(({ json }) => json['title']),
	);
});
