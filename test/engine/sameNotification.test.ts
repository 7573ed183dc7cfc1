import type { INodeParameters } from 'n8n-workflow';
import {
	branchesTo,
	byTitle,
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	inputOf,
	loopOf,
	lost,
	outputOf,
	push,
	runsAt,
	titled,
	titlesAt,
	toOne,
	useSimulator,
} from './support/pushCampaign';
import { retryRun, runWorkflow } from './support/run';

// The same notification twice in one execution: many rows in front of a send to all look like that. What makes two the same
// is in unit/operations/send.

const simulator = useSimulator();
const otherSite = useSimulator();

const rows = inputOf({ id: 5001 }, { id: 5002 }, { id: 5003 });
const run = runsAt(simulator);

test('is refused before anything is sent: which items, to whom, and what to do', async () => {
	const { message, description } = failureOf(await run({}, rows));
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
	const done = await run({ title }, rows, continuing);
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

test('is named for each of several', async () => {
	const { message } = failureOf(await run(byTitle, titled('a', 'b', 'a', 'b', 'c')));
	expect(message).toBe(
		'4 of 5 items are not valid. None was sent. Items 0, 2 (counted from 0): each would send the same notification to all subscribers; items 1, 3: each would send the same notification to all subscribers',
	);
});

test('is refused in a dry run and in a test as well', async () => {
	const preview = await run({ options: { dryRun: true } }, rows);
	expect(outputOf(preview)).toMatchObject(
		rows.map(() => ({ dryRun: true, error: { type: 'validation' } })),
	);
	expect(hintsOf(preview)[0]).toContain('3 of 3 items are not valid, so none would be sent:');
	const test = await run({ options: { testSubscriberId: '5001' } }, rows, {}, { mode: 'manual' });
	expect(failureOf(test).message).toMatch(/^Items 0 to 2 would send the same notification /);
	expect(simulator().requests.filter(({ method }) => method === 'POST')).toEqual([]);
});

const toPlan = { operation: 'sendToAttributes', specifyAttributes: 'json' };
test.each<{ to: string; parameters: INodeParameters }>([
	{ to: 'all subscribers', parameters: { options: { idempotencyKey: '={{ $json.id }}' } } },
	{
		to: 'segments 12, 34',
		parameters: { operation: 'sendToSegments', segmentIds: '12, 34' },
	},
	{
		to: 'every subscriber with plan = pro',
		parameters: { ...toPlan, attributesJson: '{ "plan": "pro" }' },
	},
])('is refused to $to', async ({ to, parameters }) => {
	const { message } = failureOf(await run(parameters, rows));
	expect(message).toBe(
		`Items 0 to 2 would send the same notification to ${to}. None of 3 was sent.`,
	);
	expect(simulator().requests).toEqual([]);
});

test.each<{ what: string; parameters: INodeParameters }>([
	{ what: 'to one subscriber each', parameters: toOne },
	{ what: 'to the same subscriber', parameters: { ...toOne, subscriberId: '5001' } },
	{ what: 'with another title each', parameters: { title: '=Order {{ $json.id }}' } },
])('is none if it goes $what', async ({ parameters }) => {
	await run(parameters, rows);
	expect(simulator().requests).toHaveLength(3);
});

test('goes out once with one ID', async () => {
	await run({ options: { idempotencyKey: 'sale' } }, rows);
	expect(simulator().requests).toHaveLength(1);
});

test('is none if it goes to another site', async () => {
	const sites = inputOf({ url: simulator().url }, { url: otherSite().url });
	const credentials = credentialsFor(simulator(), { baseUrl: '={{ $json.url }}' });
	await run({}, sites, {}, { credentials });
	expect([simulator().requests.length, otherSite().requests.length]).toEqual([1, 1]);
});

describe('in a later round of a loop', () => {
	const options = () => ({ credentials: credentialsFor(simulator()), input: rows.slice(0, 1) });
	const runAll = async (json = loopOf(push())) => await runWorkflow(json, options());

	test('is refused, as an earlier round has sent it', async () => {
		const { message, description } = failureOf(await runAll());
		expect(message).toBe(
			'This would send the same notification to all subscribers that an earlier round of this execution has sent, or may have sent',
		);
		expect(description).toMatch(/^Leave out all but one of them, for example with the node Remove/);
		expect(simulator().requests).toHaveLength(1);
	});

	test('is refused if the earlier round left it unknown', async () => {
		simulator().addFault(faultFor(undefined, lost));
		// In a loop the item itself would say that it is unknown.
		const done = await runAll(branchesTo(push({}, continuing)));
		expect(outputOf(done)).toMatchObject([{ status: 'notSent', error: { type: 'validation' } }]);
		expect(simulator().requests).toHaveLength(1);
	});

	test('goes out if the service refused it in the earlier round', async () => {
		simulator().addFault(faultFor(undefined, failure('invalid_value'), 1));
		const done = await runAll(loopOf(push({}, continuing)));
		expect(outputOf(done)).toMatchObject([{ status: 'success' }]);
		expect(simulator().requests).toHaveLength(2);
	});

	test('is refused in a Retry of that round, too', async () => {
		const json = loopOf(push({ title: "={{ $runIndex === 1 ? 'Sale' : 'Other' }}" }));
		simulator().addFault(faultFor('Sale', failure()));
		const failed = await runAll(json);
		simulator().clearFaults();
		simulator().requests.length = 0;
		const done = await retryRun(failed, loopOf(push({ title: 'Other' })), options());
		expect(failureOf(done).message).toMatch(/that an earlier round of this execution has sent/);
		expect(simulator().requests).toEqual([]);
	});
});
