import type { IDataObject, INodeParameters } from 'n8n-workflow';
import {
	content,
	continuing,
	credentialsFor,
	failure,
	faultFor,
	inputOf,
	NODE,
	outputOf,
	titled,
	toErrorOutput,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { itemsOf, runWorkflow } from './support/run';

// One whole workflow for each operation: the parameters as the editor saves them, the request, and the item.

const simulator = useSimulator();
useDatabase();

const run = async (parameters: INodeParameters, input = inputOf({}), more = {}) =>
	await runWorkflow(workflowOf(parameters, more), {
		credentials: credentialsFor(simulator()),
		input,
	});

const headers = {
	servicekey: 'demo-key',
	serviceauthtoken: 'demo-token',
	'content-type': 'application/json',
	accept: 'application/json',
};

const url = 'https://shop.example.com/sale?from=push&lang=de#top';
const icon = 'https://shop.example.com/icon.png';
const image = 'https://shop.example.com/banner.jpg';
const button = [
	{ title: 'Shop now', url: 'https://shop.example.com/now' },
	{ title: 'Later', url: 'http://shop.example.com/later' },
];
const name = 'Spring, newsletter readers';
const shared = { title: 'Spring sale 🌷', message: 'Everything at "half price" until Sunday' };
/** All that a send may have; what its operation does not accept is left over from another one. */
const filledIn = {
	...shared,
	targetUrl: url,
	actionButtons: { button },
	additionalFields: {
		name,
		iconUrl: icon,
		imageUrl: image,
		expireAfter: { duration: { amount: 3, unit: 'd' } },
		autoHide: false,
		sendAt: '2099-05-17T09:30:00',
	},
	options: { idempotencyKey: 'spring-1' },
};
const body = {
	...shared,
	target_url: url,
	icon,
	expire_push: '3d',
	send_at: '2099-05-17 09:30 +02:00',
	action_buttons: button,
};
const ending = { sendAt: body.send_at, idempotencyKey: 'spring-1' };
const created = { status: 'success', description: 'Campaign created successfully' };
const pairs = [
	{ name: 'plan', value: 'pro' },
	{ name: 'city', value: 'Oslo' },
];
const attribute = { plan: 'pro', city: 'Oslo' };

test.each<{
	operation: string;
	parameters: INodeParameters;
	path: string;
	sent: object;
	out: IDataObject;
}>([
	{
		operation: 'sendToAll',
		parameters: {},
		path: 'all',
		sent: { ...body, name, image, auto_hide: 0 },
		out: { campaignId: '1001', audience: 'all', ...created, title: shared.title, name, ...ending },
	},
	{
		operation: 'sendToAttributes',
		parameters: { specifyAttributes: 'keypair', attributes: { pairs } },
		path: 'attribute',
		sent: { ...body, name, auto_hide: 1, attribute },
		out: {
			...{ campaignId: '1001', audience: 'attributes', ...created, title: shared.title, name },
			...{ attributes: attribute, ...ending },
		},
	},
	{
		operation: 'sendToSegments',
		parameters: { segmentIds: '31, 32' },
		path: 'segment',
		sent: { ...body, name, image, auto_hide: 1, segment: ['31', '32'] },
		out: {
			...{ campaignId: '1001', audience: 'segments', ...created, title: shared.title, name },
			...{ segmentIds: ['31', '32'], ...ending },
		},
	},
	{
		operation: 'sendToSubscriber',
		parameters: { subscriberId: '5001' },
		path: 'sid',
		sent: { ...body, auto_hide: 1, sid: '5001' },
		out: {
			...{ subscriberId: '5001', audience: 'subscriber', status: 'success' },
			...{ description: 'Notification sent successfully', title: shared.title, ...ending },
		},
	},
])('$operation sends what the panel holds, and gives a row that can be logged', async (row) => {
	const { operation, parameters, path, sent, out } = row;
	const done = await run({ operation, ...filledIn, ...parameters });
	expect(itemsOf(done, NODE)).toStrictEqual([{ json: out, pairedItem: { item: 0 } }]);
	expect(Object.keys(outputOf(done)[0] ?? {})).toEqual(Object.keys(out));
	expect(simulator().requests).toMatchObject([
		{ method: 'POST', path: `/v1/notification/send/${path}`, headers },
	]);
	expect(simulator().requests[0]?.json).toStrictEqual(sent);
});

test('a field that is left out is not sent at all', async () => {
	await run({});
	expect(simulator().requests[0]?.json).toStrictEqual({
		title: content.title,
		message: content.message,
		target_url: content.targetUrl,
	});
});

describe('a read', () => {
	const counters = { total_attempts: 50, successfully_sent: 40, failed_to_send: 10, delivered: 30 };
	const addCampaign = () =>
		simulator().addCampaign({ status: 'Sent', counters: { ...counters, clicked: 11 } });
	const getCount = { resource: 'site', operation: 'getSubscriberCount' };

	test('of a status asks for the campaign that comes in, and gives its numbers', async () => {
		const id = addCampaign();
		const done = await run({ operation: 'getStatus', simplify: true }, inputOf({ campaignId: id }));
		const json = {
			campaignId: id,
			status: 'Sent',
			totalAttempts: 50,
			successfullySent: 40,
			failedToSend: 10,
			delivered: 30,
			clicked: 11,
			closed: 0,
			deliveryRate: 0.75,
			clickRate: 0.3667,
		};
		expect(itemsOf(done, NODE)).toStrictEqual([{ json, pairedItem: { item: 0 } }]);
		expect(Object.keys(outputOf(done)[0] ?? {})).toEqual(Object.keys(json));
		const [request] = simulator().requests;
		const path = `/v1/notification/status/id/${id}`;
		expect(request).toMatchObject({ method: 'GET', path, body: '', headers });
	});

	test('of the subscriber count gives both numbers', async () => {
		const done = await run(getCount);
		const json = { totalLifetimeSubscribers: 12_500, activeSubscribers: 10_000 };
		expect(itemsOf(done, NODE)).toStrictEqual([{ json, pairedItem: { item: 0 } }]);
		expect(simulator().requests).toMatchObject([
			{ method: 'GET', path: '/v1/site/subscriber_count', body: '', headers },
		]);
	});

	test('that is not simplified gives the answer as it came', async () => {
		const count = { total_life_time_subscribers: '12500', active_subscribers: '10000' };
		expect(outputOf(await run({ ...getCount, simplify: false }))).toStrictEqual([count]);
		const id = addCampaign();
		const raw = await run({ operation: 'getStatus', campaignId: id, simplify: false });
		expect(outputOf(raw)).toMatchObject([{ notification_id: id, count: { clicked: '11' } }]);
	});

	test('gives null for a counter that the service does not give', async () => {
		simulator().configure({ waitingCounters: 'null' });
		const id = simulator().addCampaign({ dueAt: Date.now() + 3_600_000 });
		const [item] = outputOf(await run({ operation: 'getStatus', campaignId: id }));
		expect(item).toMatchObject({ totalAttempts: null, clicked: null, clickRate: null });
	});

	test('with the same parameters as another item asks the service once', async () => {
		const [first, second] = [addCampaign(), addCampaign()];
		const ids = [first, second, first, first];
		const done = await run(
			{ operation: 'getStatus' },
			inputOf(...ids.map((campaignId) => ({ campaignId }))),
		);
		expect(outputOf(done).map(({ campaignId }) => campaignId)).toEqual(ids);
		expect(simulator().requests).toHaveLength(2);
	});

	test('refuses the record of another campaign', async () => {
		const id = addCampaign();
		const answer = { notification_status: 'Sent', notification_id: '77', count: {} };
		simulator().addFault({ times: 0, action: { kind: 'respond', body: JSON.stringify(answer) } });
		const done = await run({ operation: 'getStatus', campaignId: id }, inputOf({}), continuing);
		expect(outputOf(done)).toMatchObject([
			{ campaignId: id, error: { type: 'unexpected_answer', httpCode: '200' } },
		]);
		// Two more tries: it may be right by then.
		expect(simulator().requests).toHaveLength(3);
	});

	test('that fails has no outcome, and keeps its campaign ID with Continue', async () => {
		const fix = 'Push Campaign returns the ID of each campaign that it sends, as campaignId.';
		const error = {
			message: 'Campaign ID: the push service has no campaign 999',
			description: `The service says: "Invalid notification ID". ${fix}`,
			type: 'invalid_value',
			httpCode: '404',
		};
		const parameters = { operation: 'getStatus', campaignId: '999' };
		const done = await run(parameters, inputOf({}), continuing);
		expect(outputOf(done)).toStrictEqual([{ campaignId: '999', error }]);
		const routed = await run(parameters, inputOf({ order: 7 }), toErrorOutput);
		expect(itemsOf(routed, NODE, 1)).toMatchObject([{ json: { order: 7, error } }]);
	});
});

test('each item of many keeps its place, whichever is answered first', async () => {
	const titles = Array.from({ length: 30 }, (_, index) => `No ${index}`);
	simulator().addFault({ times: 10, action: { kind: 'delay', ms: 40 } });
	const items = itemsOf(await run({ title: '={{ $json.title }}' }, titled(...titles)), NODE);
	expect(items.map(({ pairedItem }) => pairedItem)).toEqual(titles.map((_, item) => ({ item })));
	const titleOf = (id: unknown) => simulator().campaign(String(id))?.body['title'];
	expect(items.map(({ json }) => titleOf(json['campaignId']))).toEqual(titles);
});

describe('of three sends, one that is refused and one that is not valid', () => {
	const input = titled('first', 'refused', '');
	const start = async (more: object) => {
		simulator().addFault(faultFor('refused', failure('invalid_value')));
		return await run({ title: '={{ $json.title }}' }, input, more);
	};
	const refused = {
		message: 'The push service does not accept one of the values',
		type: 'invalid_value',
		httpCode: '400',
		outcome: 'notSent',
	};
	const notValid = {
		message: 'Title is empty for this item',
		type: 'validation',
		outcome: 'notSent',
	};

	test('come out in their places with Continue: the row, the reason and the error', async () => {
		const [first, second, third] = itemsOf(await start(continuing), NODE);
		expect(first?.json).toMatchObject({ campaignId: '1001', status: 'success' });
		expect(second?.json).toMatchObject({
			...{ audience: 'all', status: 'notSent', description: refused.message, title: 'refused' },
			error: refused,
		});
		const order = ['audience', 'status', 'description', 'title', 'error'];
		expect(Object.keys(second?.json ?? {})).toEqual(order);
		expect(third?.json).toMatchObject({ description: notValid.message, error: notValid });
		expect(Object.keys(third?.json ?? {})).toEqual(['audience', 'status', 'description', 'error']);
		expect([second, third]).toMatchObject([
			{ pairedItem: { item: 1 } },
			{ pairedItem: { item: 2 } },
		]);
	});

	test('go to the error output with their input beside the error', async () => {
		const done = await start(toErrorOutput);
		expect(outputOf(done)).toMatchObject([{ title: 'first', campaignId: '1001' }]);
		const failed = itemsOf(done, NODE, 1);
		expect(failed).toMatchObject([
			{ json: { title: 'refused', error: refused }, pairedItem: { item: 1 } },
			{ json: { title: '', error: notValid }, pairedItem: { item: 2 } },
		]);
		const fields = ['message', 'description', 'type', 'httpCode', 'outcome'];
		expect(Object.keys(failed[0]?.json['error'] ?? {})).toEqual(fields);
		// Else n8n replaces what the item holds.
		expect(failed[0]?.error).toBeUndefined();
	});
});

test('no input items are no requests', async () => {
	const done = await run({}, []);
	expect(done.status).toBe('success');
	expect(simulator().requests).toEqual([]);
});
