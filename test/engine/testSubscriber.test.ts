import type { INodeParameters } from 'n8n-workflow';
import {
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	outputOf,
	titled,
	titlesAt,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { retryRun, runWorkflow } from './support/run';

// Test Subscriber ID: in the editor the first item goes to one subscriber, and the others to nobody.

const simulator = useSimulator();
const database = useDatabase();

const workflow = (testSubscriberId: string, more: INodeParameters = {}, options = {}) =>
	workflowOf({
		...{ title: '={{ $json.title }}', ...more },
		options: { testSubscriberId, ...options },
	});
const run = async (json = workflow('5001'), mode: 'manual' | 'evaluation' | 'trigger' = 'manual') =>
	await runWorkflow(json, {
		...{ credentials: credentialsFor(simulator()), mode },
		input: titled('a', 'b', 'c'),
	});

test('in the editor the first item goes to the test subscriber alone, without what that does not take', async () => {
	const fields = { name: 'Spring', imageUrl: 'https://shop.example.com/a.png', autoHide: true };
	const done = await run(workflow('5001', { additionalFields: fields }));
	expect(simulator().requests).toMatchObject([{ path: '/v1/notification/send/sid' }]);
	expect(simulator().requests[0]?.json).toStrictEqual({
		...{ title: 'a', message: 'Everything must go', target_url: 'https://shop.example.com/sale' },
		...{ auto_hide: 0, sid: '5001' },
	});
	expect(outputOf(done)).toMatchObject([
		{ subscriberId: '5001', audience: 'test', status: 'success', title: 'a' },
		{ audience: 'all', title: 'b', dryRun: true, request: { method: 'POST' } },
		{ audience: 'all', title: 'c', dryRun: true },
	]);
	expect(hintsOf(done)[0]).toMatch(
		/^This was a test: it went to subscriber 5001 alone\. The other 2 items went to nobody\. .* each to all subscribers\.$/,
	);
});

test('in every other execution it changes nothing', async () => {
	await run(workflow('5001'), 'trigger');
	expect(simulator().requests.map(({ path }) => path.split('/').at(-1))).toEqual([
		'all',
		'all',
		'all',
	]);
});

describe('a Retry', () => {
	const retry = async (mode: 'manual' | 'evaluation' | 'trigger') => {
		simulator().addFault({ ...faultFor('"a"', failure()), times: 1 });
		const json = workflow('5001');
		const failed = await run(json, mode);
		simulator().requests.length = 0;
		return await retryRun(failed, json, { credentials: credentialsFor(simulator()) });
	};
	const paths = () => simulator().requests.map(({ path }) => path.split('/').at(-1));

	test.each(['manual', 'evaluation'] as const)(
		'of an execution in the mode %s is a test as well',
		async (mode) => {
			expect(outputOf(await retry(mode))[0]).toMatchObject({ audience: 'test' });
			expect(paths()).toEqual(['sid']);
		},
	);

	test('of any other execution sends what that one did not send', async () => {
		expect(outputOf(await retry('trigger'))[0]).toMatchObject({ audience: 'all', title: 'a' });
		expect(paths()).toEqual(['all']);
		expect(titlesAt(simulator())).toEqual(['a']);
	});
});

test('a Retry of what was begun without it sends the rest to nobody, and says so', async () => {
	simulator().addFault({ ...faultFor('"c"', failure()), times: 1 });
	const failed = await run(workflowOf({ title: '={{ $json.title }}' }));
	simulator().requests.length = 0;
	const done = await retryRun(failed, workflow('5001'), {
		credentials: credentialsFor(simulator()),
	});
	expect(outputOf(done)[2]).toMatchObject({ title: 'c', dryRun: true });
	expect(simulator().requests).toEqual([]);
	expect(hintsOf(done).join()).toContain('This was a test, and nothing was sent now.');
});

test('a test whose answer is lost says to ask the subscriber', async () => {
	simulator().addFault(faultFor(undefined, { kind: 'reset-after' }));
	const { description } = failureOf(await run());
	expect(description).toContain('does not list a notification to one subscriber');
});

test('keys are neither claimed nor asked', async () => {
	const json = workflow('5001', {}, { idempotencyKey: 'order-1' });
	await run(json);
	expect(database.queries).toEqual([]);
	await runWorkflow(json, { credentials: credentialsFor(simulator()), input: titled('a') });
	expect(titlesAt(simulator())).toEqual(['a', 'a']);
});

test('one that does not exist is named by its own field', async () => {
	const { description } = failureOf(await run(workflow('999')));
	expect(description).toContain("Correct 'Test Subscriber ID', or leave this subscriber out");
});

test('one that is not valid is refused by its own field', async () => {
	const { message } = failureOf(await run(workflow('no digits')));
	expect(message).toMatch(/'Test Subscriber ID' /);
	expect(simulator().requests).toEqual([]);
});

test('with a dry run nothing is sent, and the hint says whom the editor would send to', async () => {
	const done = await run(workflow('5001', {}, { dryRun: true }));
	expect(simulator().requests.filter(({ method }) => method === 'POST')).toEqual([]);
	expect(hintsOf(done)[0]).toContain('From the editor, the first item would go to subscriber 5001');
});
