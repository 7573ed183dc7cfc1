import type { IDataObject, INodeParameters } from 'n8n-workflow';
import {
	byTitle,
	content,
	continuing,
	failure,
	failureOf,
	faultFor,
	inputOf,
	matching,
	NODE,
	numbered,
	outputOf,
	runsAt,
	sentHeaders,
	titled,
	toErrorOutput,
	useSimulator,
} from './support/pushCampaign';
import { itemsOf } from './support/run';
import { declaredIn, declaredTypes, typesIn } from './support/schemas';

// One whole workflow for each send: the parameters as the editor saves them, the request, and the item.

const simulator = useSimulator();

const run = runsAt(simulator);

const name = 'Spring, newsletter readers';
const title = 'Spring sale 🌷';
const idempotencyKey = 'spring-1';
const filledIn = {
	title,
	additionalFields: { name, sendAt: '2035-05-17T09:30:00' },
	options: { idempotencyKey: `={{ '${idempotencyKey}' }}` },
};
const ending = { sendAt: '2035-05-17 09:30 +02:00', idempotencyKey };
const created = { status: 'success', description: 'Campaign created successfully' };
const pairs = [
	{ name: 'plan', value: 'pro' },
	{ name: 'city', value: 'Oslo' },
];

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
		sent: { name },
		out: {
			...{ campaignId: '1001', audience: 'all', ...created, title },
			...{ recipients: 'all subscribers', name, ...ending },
		},
	},
	{
		operation: 'sendToAttributes',
		parameters: { specifyAttributes: 'keypair', attributes: { pairs } },
		path: 'attribute',
		sent: { name, attribute: { plan: 'pro', city: 'Oslo' } },
		out: {
			...{ campaignId: '1001', audience: 'attributes', ...created, title },
			...{ recipients: 'every subscriber with plan = pro or city = Oslo', name, ...ending },
		},
	},
	{
		operation: 'sendToSegments',
		parameters: { segmentIds: '31, 32' },
		path: 'segment',
		sent: { name, segment: ['31', '32'] },
		out: {
			...{ campaignId: '1001', audience: 'segments', ...created, title },
			...{ recipients: 'segments 31, 32', name, ...ending },
		},
	},
	{
		operation: 'sendToSubscriber',
		parameters: { subscriberId: '5001' },
		path: 'sid',
		sent: { sid: '5001' },
		out: {
			...{ subscriberId: '5001', audience: 'subscriber', status: 'success' },
			...{ description: 'Notification sent successfully', title },
			...{ recipients: 'subscriber 5001', ...ending },
		},
	},
])('$operation sends what the panel holds, and gives the row of its output schema', async (row) => {
	const { operation, parameters, path, sent, out } = row;
	const done = await run({ operation, ...filledIn, ...parameters });
	expect(itemsOf(done, NODE)).toStrictEqual([{ json: out, pairedItem: { item: 0 } }]);
	expect(Object.keys(outputOf(done)[0] ?? {})).toEqual(Object.keys(out));
	const schema = `campaign/${operation}`;
	expect(declaredTypes(schema)).toEqual(typesIn(out));
	expect(Object.fromEntries(declaredIn(schema))['audience']?.enum).toEqual([out['audience']]);
	expect(simulator().requests).toMatchObject([
		{ method: 'POST', path: `/v1/notification/send/${path}`, headers: sentHeaders },
	]);
	const { message, targetUrl: target_url } = content;
	const body = { title, message, target_url, send_at: ending.sendAt, ...sent };
	expect(simulator().requests[0]?.json).toStrictEqual(body);
});

test('each item of many keeps its place, whichever is answered first', async () => {
	const input = numbered(30);
	simulator().addFault({ times: 10, action: { kind: 'delay', ms: 40 } });
	const items = itemsOf(await run(byTitle, input), NODE);
	expect(items.map(({ pairedItem }) => pairedItem)).toEqual(input.map((_, item) => ({ item })));
	const titleOf = (id: unknown) => simulator().campaign(String(id))?.body['title'];
	expect(items.map(({ json }) => titleOf(json['campaignId']))).toEqual(
		input.map(({ json }) => json['title']),
	);
});

describe('of three sends, one that is refused and one that is not valid', () => {
	const input = titled('first', 'refused', '');
	const start = async (more: object) => {
		simulator().addFault(faultFor('refused', failure('invalid_value')));
		return await run(byTitle, input, more);
	};
	const refused = {
		message: 'The push service does not accept one of the values',
		type: 'invalid_value',
		httpCode: '400',
		outcome: 'notSent',
	};
	const notValid = {
		message: "'Title': {{ $json.title }} gave nothing",
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
		const order = ['audience', 'status', 'description', 'title', 'recipients', 'error'];
		expect(Object.keys(second?.json ?? {})).toEqual(order);
		expect(third?.json).toMatchObject({ description: notValid.message, error: notValid });
		const known = order.filter((field) => field !== 'title');
		expect(Object.keys(third?.json ?? {})).toEqual(known);
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

test('an ID under Send Only Once that can’t be evaluated fails its own item, whose row says the rest', async () => {
	const idempotencyKey = "={{ $json.id ?? $('Not there').item.json.id }}";
	const parameters = { ...byTitle, options: { idempotencyKey } };
	const input = inputOf({ title: 'first', id: 1 }, { title: 'second' });
	expect(outputOf(await run(parameters, input, continuing))).toMatchObject([
		{ title: 'first', status: 'success' },
		{
			...{ title: 'second', audience: 'all', recipients: 'all subscribers', status: 'notSent' },
			error: { message: matching(/^'Send Only Once' can't be evaluated/), type: 'validation' },
		},
	]);
});

test('an operation that does not exist is refused', async () => {
	expect(failureOf(await run({ operation: 'sendToNobody' })).message).toBe(
		'Operation is not known',
	);
	expect(simulator().requests).toEqual([]);
});

test('no input items are no requests', async () => {
	const done = await run({}, []);
	expect(done.status).toBe('success');
	expect(simulator().requests).toEqual([]);
});
