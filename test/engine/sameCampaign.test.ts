import type { INodeParameters } from 'n8n-workflow';
import {
	continuing,
	credentialsFor,
	failureOf,
	hintsOf,
	inputOf,
	outputOf,
	titlesAt,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';

// The same campaign twice in one run: many rows in front of a send to all look like that.

const simulator = useSimulator();
const otherSite = useSimulator();
useDatabase();

const rows = inputOf({ id: 5001 }, { id: 5002 }, { id: 5003 });
const run = async (parameters: INodeParameters = {}, more: object = {}, input = rows) =>
	await runWorkflow(workflowOf(parameters, more), {
		credentials: credentialsFor(simulator()),
		input,
	});

test('is refused before anything is sent: how many, to whom, and what to do', async () => {
	const { message, description } = failureOf(await run());
	expect(message).toBe(
		'3 items would send the same notification to all subscribers: everybody there would get it 3 times',
	);
	expect(description).toMatch(/^Nothing was sent\. .*Execute Once.*'Send Only Once'\. /);
	expect(simulator().requests).toEqual([]);
});

test('is refused for each of the items with Continue, and the others go out', async () => {
	const title = "={{ $json.id === 5002 ? 'Another' : 'Sale' }}";
	const done = await run({ title }, continuing);
	expect(outputOf(done)).toMatchObject([
		{ status: 'notSent', error: { type: 'validation' } },
		{ status: 'success', title: 'Another' },
		{ status: 'notSent', error: { type: 'validation' } },
	]);
	expect(titlesAt(simulator())).toEqual(['Another']);
});

test('is refused in a dry run and in a test as well', async () => {
	const preview = await run({ options: { dryRun: true } });
	expect(outputOf(preview)).toMatchObject(
		rows.map(() => ({ dryRun: true, error: { type: 'validation' } })),
	);
	expect(hintsOf(preview)[0]).toContain('0 of 3 would be sent.');
	const test = await runWorkflow(workflowOf({ options: { testSubscriberId: '5001' } }), {
		...{ credentials: credentialsFor(simulator()), input: rows, mode: 'manual' },
	});
	expect(failureOf(test).message).toMatch(/^3 items would send the same notification /);
	expect(simulator().requests.filter(({ method }) => method === 'POST')).toEqual([]);
});

test.each<[what: string, parameters: INodeParameters]>([
	['to one subscriber each', { operation: 'sendToSubscriber', subscriberId: '={{ $json.id }}' }],
	['to the same subscriber', { operation: 'sendToSubscriber', subscriberId: '5001' }],
	['with another text each', { title: '=Order {{ $json.id }}' }],
	['to another segment each', { operation: 'sendToSegments', segmentIds: '={{ $json.id }}' }],
	[
		'at another time each',
		{ additionalFields: { sendAt: '=2099-05-17 09:{{ $json.id - 4990 }}' } },
	],
])('is none if it goes %s', async (_what, parameters) => {
	await run(parameters);
	expect(simulator().requests).toHaveLength(3);
});

test('goes out once with Send Only Once', async () => {
	await run({ options: { idempotencyKey: '' } });
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
