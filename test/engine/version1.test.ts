import type { IConnections, INode } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { pollerOf } from './support/poll';
import { credentialsFor, useSimulator } from './support/pushCampaign';
import { itemsOf, runWorkflow } from './support/run';
import saved from './workflows/version1.json';

// A workflow as version 1 of both nodes saves it: every operation, every parameter. Workflows like it are in users'
// databases, so it is not changed.

const simulator = useSimulator();

const trigger = 'n8n-nodes-push-campaign.pushCampaignTrigger';
const nodes: INode[] = saved.nodes.map(({ position: [x = 0, y = 0], ...node }) => ({
	...node,
	position: [x, y],
}));
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
const send = '/v1/notification/send/';

test('a workflow that was saved with version 1 sends what its parameters say', async () => {
	const actions = nodes.filter(({ type }) => type !== trigger);
	const done = await runWorkflow(
		{ nodes: actions, connections, settings: { timezone: saved.settings.timezone } },
		{ credentials: credentialsFor(simulator()) },
	);
	expect(done.data.resultData.error).toBeUndefined();
	expect(simulator().requests.map(({ path, json }) => ({ path, json }))).toStrictEqual([
		{
			path: `${send}all`,
			json: {
				...content,
				target_url: `${content.target_url}${utm}`,
				auto_hide: 0,
				name: 'Summer, all',
				expire_push: '3d',
				icon: 'https://shop.example.com/icon.png',
				image: 'https://shop.example.com/banner.jpg',
				action_buttons: [{ title: 'Shop now', url: `https://shop.example.com/now${utm}` }],
				// 22:30 in Oslo is in the quiet hours, which end at 8:00.
				send_at: '2035-05-18 08:00 +02:00',
			},
		},
		{
			path: `${send}attribute`,
			json: { ...content, attribute: { plan: 'pro', orders: 3, member: true } },
		},
		{ path: `${send}segment`, json: { ...content, segment: ['31', '32'] } },
		{ path: `${send}sid`, json: { ...content, sid: '5001' } },
		{ path: '/v1/notification/status/id/1001', json: undefined },
		{ path: '/v1/notification/status/id/1001', json: undefined },
		{ path: '/v1/site/subscriber_count', json: undefined },
	]);

	const outputs = Object.fromEntries(
		actions.map(({ name }) => [name, itemsOf(done, name).map(({ json }) => json)]),
	);
	expect(outputs).toMatchObject({
		'Send to All': [
			{ campaignId: '1001', name: 'Summer, all', idempotencyKey: 'summer-2099', status: 'success' },
		],
		'Send to Attributes': [
			{ dryRun: true, recipients: 'every subscriber with plan = pro or city = Oslo' },
		],
		'Send to Attributes (JSON)': [{ campaignId: '1002', audience: 'attributes' }],
		'Send to Segments': [{ campaignId: '1003', recipients: 'segments 31, 32' }],
		'Send to Subscriber': [{ subscriberId: '5001', status: 'success' }],
		'Get Status': [{ campaignId: '1001', status: 'Scheduled', clicked: 0, clickRate: null }],
		'Get Status (as It Came)': [{ notification_id: '1001' }],
		'Get Subscriber Count': [{ totalLifetimeSubscribers: 12_500, activeSubscribers: 10_000 }],
	});
});

test.each([
	{
		name: 'Campaign Numbers Change',
		item: {
			...{ campaignId: '2001', status: 'Sent', statusBefore: null, firstSeen: true },
			...{ clicked: 3, clickedBy: 3 },
		},
	},
	{
		name: 'Campaign Reaches a Number',
		item: { campaignId: '2001', clickedBy: 3 },
	},
	{
		name: 'Subscriber Count Changes',
		item: { totalLifetimeSubscribersBy: 12_500 },
	},
	{ name: 'Subscriber Count Reaches a Number', item: { activeSubscribers: 10_000 } },
])('a trigger that was saved with version 1 starts on: $name', async ({ name, item }) => {
	simulator().addCampaign({ id: '2001', status: 'Sent', counters: { delivered: 6, clicked: 3 } });
	const parameters = nodes.find((node) => node.name === name)?.parameters ?? {};
	const poll = pollerOf(parameters, { credentials: credentialsFor(simulator()) });
	expect((await poll()).items?.map(({ json }) => json)).toMatchObject([item]);
	expect((await poll()).items).toBeNull();
});
