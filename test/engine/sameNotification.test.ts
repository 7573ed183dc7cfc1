import type { INodeParameters } from 'n8n-workflow';
import {
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	inputOf,
	NODE,
	outputOf,
	push,
	titlesAt,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { retryRun, runWorkflow } from './support/run';
import { chain, connect } from './support/workflow';

// The same notification twice in one execution: many rows in front of a send to all look like that.

const simulator = useSimulator();
const otherSite = useSimulator();
useDatabase();

const rows = inputOf({ id: 5001 }, { id: 5002 }, { id: 5003 });
const run = async (parameters: INodeParameters = {}, more: object = {}, input = rows) =>
	await runWorkflow(workflowOf(parameters, more), {
		credentials: credentialsFor(simulator()),
		input,
	});

test('is refused before anything is sent: which items, to whom, and what to do', async () => {
	const { message, description } = failureOf(await run());
	expect(message).toBe(
		'Items 0 to 2 would send the same notification to all subscribers. None of 3 was sent.',
	);
	expect(description).toMatch(
		/^To send it once, turn on Execute Once in the settings of the node\. 'Retry with /,
	);
	expect(simulator().requests).toEqual([]);
});

test('is refused for some of the items with Continue, and the others go out', async () => {
	const title = "={{ $json.id === 5002 ? 'Another' : 'Sale' }}";
	const done = await run({ title }, continuing);
	const description = 'Items 0, 2 would send the same notification to all subscribers';
	const error = {
		type: 'validation',
		description: 'Leave out all but one of them, for example with the node Remove Duplicates.',
	};
	expect(outputOf(done)).toMatchObject([
		{ status: 'notSent', description, error },
		{ status: 'success', title: 'Another' },
		{ status: 'notSent', description, error },
	]);
	expect(titlesAt(simulator())).toEqual(['Another']);
});

test('is told for each of several', async () => {
	const titles = ['a', 'b', 'a', 'b', 'c'];
	const { message } = failureOf(
		await run({ title: '={{ $json.title }}' }, {}, inputOf(...titles.map((title) => ({ title })))),
	);
	expect(message).toBe(
		'4 of 5 items are not valid. None was sent. Items 0, 2 (counted from 0): each would send the same notification to all subscribers; items 1, 3: each would send the same notification to all subscribers',
	);
});

test('is refused in a dry run and in a test as well', async () => {
	const preview = await run({ options: { dryRun: true } });
	expect(outputOf(preview)).toMatchObject(
		rows.map(() => ({ dryRun: true, error: { type: 'validation' } })),
	);
	expect(hintsOf(preview)[0]).toContain('3 of 3 items are not valid, so none would be sent:');
	const test = await runWorkflow(workflowOf({ options: { testSubscriberId: '5001' } }), {
		...{ credentials: credentialsFor(simulator()), input: rows, mode: 'manual' },
	});
	expect(failureOf(test).message).toMatch(/^Items 0 to 2 would send the same notification /);
	expect(simulator().requests.filter(({ method }) => method === 'POST')).toEqual([]);
});

const segments = { operation: 'sendToSegments', segmentIds: '12, 34' };
const attributes = (json: string) => ({
	...{ operation: 'sendToAttributes', specifyAttributes: 'json' },
	attributesJson: `=${json}`,
});
const night = { quietHours: { hours: { from: '21:00', to: '08:00' } } };

test.each<[what: string, parameters: INodeParameters]>([
	['all subscribers', {}],
	['the same segments', segments],
	[
		'the same segments in another order',
		{ ...segments, segmentIds: "={{ $json.id === 5001 ? '12, 34' : '34,12,12' }}" },
	],
	['the same attribute', attributes('{ "plan": "pro" }')],
	[
		'the same attributes in another order, one as a number',
		attributes(`{{ $json.id === 5001 ? '{"a": 1, "b": true}' : '{"b": "true", "a": "1"}' }}`),
	],
	[
		'the same people with other UTM parameters',
		{ additionalFields: { utmParameters: { parameters: { content: '={{ $json.id }}' } } } },
	],
	[
		'the same people with another icon',
		{ additionalFields: { iconUrl: '=https://shop.example.com/{{ $json.id }}.png' } },
	],
	['the same people with another campaign name', { additionalFields: { name: '={{ $json.id }}' } }],
	['the same people with another ID each', { options: { idempotencyKey: '={{ $json.id }}' } }],
	[
		'the same people at the same moment, with another offset',
		{
			additionalFields: {
				sendAt: "={{ $json.id === 5001 ? '2035-05-17T09:30+02:00' : '2035-05-17T07:30Z' }}",
			},
		},
	],
	[
		'the same people at two times of one night of quiet hours',
		{ additionalFields: { ...night, sendAt: '=2035-05-17 2{{ $json.id - 5000 }}:00' } },
	],
])('is one if it goes to %s', async (_what, parameters) => {
	const told = failureOf(await run(parameters));
	expect(told.message).toMatch(/would send the same notification to /);
	expect(simulator().requests).toEqual([]);
});

test.each<[what: string, parameters: INodeParameters]>([
	['to one subscriber each', { operation: 'sendToSubscriber', subscriberId: '={{ $json.id }}' }],
	['to the same subscriber', { operation: 'sendToSubscriber', subscriberId: '5001' }],
	['with another title each', { title: '=Order {{ $json.id }}' }],
	['with another message each', { message: '=Order {{ $json.id }}' }],
	['with another address each', { targetUrl: '=https://shop.example.com/{{ $json.id }}' }],
	['to another segment each', { operation: 'sendToSegments', segmentIds: '={{ $json.id }}' }],
	['to another attribute each', attributes('{ "id": {{ $json.id }} }')],
	[
		'at another time each',
		{ additionalFields: { sendAt: '=2035-05-17 09:{{ $json.id - 4990 }}' } },
	],
])('is none if it goes %s', async (_what, parameters) => {
	await run(parameters);
	expect(simulator().requests).toHaveLength(3);
});

test('goes out once with one ID', async () => {
	await run({ options: { idempotencyKey: 'sale' } });
	expect(simulator().requests).toHaveLength(1);
});

test('is none if it goes to another site', async () => {
	const sites = inputOf({ url: simulator().url }, { url: otherSite().url });
	await runWorkflow(workflowOf(), {
		credentials: credentialsFor(simulator(), { baseUrl: '={{ $json.url }}' }),
		input: sites,
	});
	expect([simulator().requests.length, otherSite().requests.length]).toEqual([1, 1]);
});

describe('in a later round of a loop', () => {
	function loop(parameters: INodeParameters = {}, more = {}) {
		const json = chain([{ name: 'Loop', type: 'test.loopTwice' }]);
		json.nodes.push(...chain([push(parameters, more)]).nodes.slice(1));
		connect(json, 'Loop', NODE, 1);
		connect(json, NODE, 'Loop');
		return json;
	}
	const runLoop = async (json = loop()) =>
		await runWorkflow(json, { credentials: credentialsFor(simulator()), input: rows.slice(0, 1) });

	test('is refused, as an earlier round has sent it', async () => {
		const { message, description } = failureOf(await runLoop());
		expect(message).toBe(
			'This would send the same notification to all subscribers that an earlier round of this execution has sent, or may have sent',
		);
		expect(description).toMatch(/^Leave out all but one of them, for example with the node Remove/);
		expect(simulator().requests).toHaveLength(1);
	});

	test('is refused if the earlier round left it unknown', async () => {
		// Two branches, one after the other: the item is the same for both.
		const json = chain([{ name: 'One', type: 'n8n-nodes-base.noOp' }, push({}, continuing)]);
		json.nodes.push(...chain([{ name: 'Other', type: 'n8n-nodes-base.noOp' }]).nodes.slice(1));
		connect(json, 'Start', 'Other');
		connect(json, 'Other', NODE);
		simulator().addFault(faultFor(undefined, { kind: 'reset-after' }));
		const done = await runLoop(json);
		expect(outputOf(done)).toMatchObject([{ status: 'notSent', error: { type: 'validation' } }]);
		expect(simulator().requests).toHaveLength(1);
	});

	test('goes out if the service refused it in the earlier round', async () => {
		simulator().addFault({ ...faultFor(undefined, failure('invalid_value')), times: 1 });
		const done = await runLoop(loop({}, continuing));
		expect(outputOf(done)).toMatchObject([{ status: 'success' }]);
		expect(simulator().requests).toHaveLength(2);
	});

	test('is already sent if it has the ID of the earlier round', async () => {
		const done = await runLoop(loop({ options: { idempotencyKey: 'sale' } }));
		expect(outputOf(done)).toMatchObject([{ status: 'alreadySent' }]);
		expect(simulator().requests).toHaveLength(1);
	});

	test('is refused in a Retry of that round, too', async () => {
		const json = loop({ title: "={{ $runIndex === 1 ? 'Sale' : 'Other' }}" });
		simulator().addFault(faultFor('Sale', failure()));
		const failed = await runLoop(json);
		simulator().clearFaults();
		simulator().requests.length = 0;
		const done = await retryRun(failed, loop({ title: 'Other' }), {
			credentials: credentialsFor(simulator()),
		});
		expect(failureOf(done).message).toMatch(/that an earlier round of this execution has sent/);
		expect(simulator().requests).toEqual([]);
	});
});
