import type { IConnections, INode } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { pollerOf } from './support/poll';
import { credentialsFor, useSimulator } from './support/pushCampaign';
import { itemsOf, runWorkflow } from './support/run';
import saved from './workflows/version1.json';

// A workflow as version 1 of both nodes saves it: every operation, every field. Workflows like it are in users'
// databases, so it is not changed: CONTRIBUTING.md, Versions of the nodes.

const simulator = useSimulator();

const trigger = 'n8n-nodes-push-campaign.pushCampaignTrigger';
const nodes: INode[] = saved.nodes.map(({ position: [x = 0, y = 0], ...node }) => ({
	...node,
	position: [x, y],
}));

/** The nodes of each output's connections, of which this workflow has one kind. */
const connections: IConnections = Object.fromEntries(
	Object.entries(saved.connections).map(([name, { main }]) => [
		name,
		{ main: main.map((output) => output.map((to) => ({ ...to, type: NodeConnectionTypes.Main }))) },
	]),
);

const utm = '?utm_source=web&utm_medium=p&utm_campaign=s&utm_term=t&utm_content=a';
const content = {
	title: 'Summer sale 🌷',
	message: 'Everything at "half price" until Sunday',
	target_url: 'https://shop.example.com/sale',
};
/** What every send that fills in all of its fields has, with these parameters behind the URLs of its buttons. */
const filledIn = (parameters: string) => ({
	...content,
	target_url: `${content.target_url}${utm}`,
	icon: 'https://shop.example.com/icon.png',
	expire_push: '3d',
	// 22:30 in Oslo is in the quiet hours, which end at 8:00.
	send_at: '2099-05-18 08:00 +02:00',
	action_buttons: [
		{ title: 'Shop now', url: `https://shop.example.com/now${parameters}` },
		{ title: 'Later', url: `https://shop.example.com/later${parameters}` },
	],
});
const image = 'https://shop.example.com/banner.jpg';
const attributes = { plan: 'pro', city: 'Oslo' };
const typedAttributes = { plan: 'pro', orders: 3, member: true };

describe('a workflow that was saved with version 1', () => {
	test('sends what its parameters say, and returns the items that later nodes read', async () => {
		const done = await runWorkflow(
			{
				nodes: nodes.filter(({ type }) => type !== trigger),
				connections,
				settings: { timezone: saved.settings.timezone, executionOrder: 'v1' },
			},
			{ credentials: credentialsFor(simulator()) },
		);

		expect(done.data.resultData.error).toBeUndefined();
		expect(simulator().requests.map(({ path, json }) => ({ path, json }))).toStrictEqual([
			{
				path: '/v1/notification/send/attribute',
				json: { ...filledIn(utm), auto_hide: 1, name: 'Summer, attributes', attribute: attributes },
			},
			{
				path: '/v1/notification/send/attribute',
				json: { ...content, attribute: typedAttributes },
			},
			{
				path: '/v1/notification/send/segment',
				json: {
					...filledIn(''),
					target_url: `${content.target_url}?utm_source=web`,
					auto_hide: 1,
					image,
					name: 'Summer, segments',
					segment: ['31', '32'],
				},
			},
			{
				path: '/v1/notification/send/sid',
				json: { ...filledIn(utm), auto_hide: 1, sid: '5001' },
			},
			{
				path: '/v1/notification/send/all',
				json: { ...filledIn(utm), auto_hide: 0, image, name: 'Summer, all' },
			},
			{ path: '/v1/notification/status/id/1004', json: undefined },
			{ path: '/v1/notification/status/id/1004', json: undefined },
			{ path: '/v1/site/subscriber_count', json: undefined },
		]);

		const sent = { status: 'success', title: content.title };
		const created = { ...sent, description: 'Campaign created successfully' };
		const sendAt = filledIn('').send_at;
		const outputs = Object.fromEntries(
			nodes.map(({ name }) => [name, itemsOf(done, name).map(({ json }) => json)]),
		);
		expect(outputs).toMatchObject({
			'Send to Attributes': [
				{
					...created,
					campaignId: '1001',
					audience: 'attributes',
					name: 'Summer, attributes',
					attributes,
					sendAt,
				},
			],
			'Send to Attributes (JSON)': [
				{ ...created, campaignId: '1002', audience: 'attributes', attributes: typedAttributes },
			],
			'Send to Segments': [
				{
					...created,
					campaignId: '1003',
					audience: 'segments',
					name: 'Summer, segments',
					segmentIds: ['31', '32'],
					sendAt,
				},
			],
			'Send to Subscriber': [{ ...sent, subscriberId: '5001', audience: 'subscriber', sendAt }],
			'Dry Run with a Key': [
				{
					subscriberId: '5002',
					audience: 'subscriber',
					title: content.title,
					idempotencyKey: 'order-17',
					dryRun: true,
					request: {
						method: 'POST',
						url: `${simulator().url}/v1/notification/send/sid`,
						body: { ...content, sid: '5002' },
					},
				},
			],
			'Send to All': [
				{ ...created, campaignId: '1004', audience: 'all', name: 'Summer, all', sendAt },
			],
			'Get Status': [{ campaignId: '1004', status: 'Scheduled', clicked: 0, clickRate: null }],
			'Get Status (as It Came)': [{ notification_id: '1004' }],
			'Get Subscriber Count': [{ totalLifetimeSubscribers: 12_500, activeSubscribers: 10_000 }],
		});
	});

	test.each([
		{
			name: 'Campaign Numbers Change',
			item: {
				campaignId: '2001',
				status: 'Sent',
				changes: {
					status: { from: null, to: 'Sent' },
					clicked: { from: 0, to: 3, by: 3 },
					delivered: { from: 0, to: 6, by: 6 },
				},
				deliveryRate: 0.75,
				clickRate: 0.5,
				firstSeen: true,
			},
		},
		{
			name: 'Campaign Reaches a Number',
			item: { campaignId: '2001', clicked: 3, changes: { clicked: { from: 0, to: 3, by: 3 } } },
		},
		{
			name: 'Subscriber Count Changes',
			item: {
				activeSubscribers: 10_000,
				totalLifetimeSubscribers: 12_500,
				changes: {
					activeSubscribers: { from: 0, to: 10_000, by: 10_000 },
					totalLifetimeSubscribers: { from: 0, to: 12_500, by: 12_500 },
				},
			},
		},
		{
			name: 'Subscriber Count Reaches a Number',
			item: {
				activeSubscribers: 10_000,
				changes: { activeSubscribers: { from: 0, to: 10_000, by: 10_000 } },
			},
		},
	])('starts when its trigger says so: $name', async ({ name, item }) => {
		const counters = { total_attempts: 9, successfully_sent: 8, failed_to_send: 1 };
		simulator().addCampaign({
			id: '2001',
			status: 'Sent',
			counters: { ...counters, delivered: 6, clicked: 3, closed: 1 },
		});
		const parameters = nodes.find((node) => node.name === name)?.parameters ?? {};
		const poll = pollerOf(parameters, { credentials: credentialsFor(simulator()) });
		const { items } = await poll();
		expect(items?.map(({ json }) => json)).toMatchObject([item]);
		expect((await poll()).items).toBeNull();
	});
});
