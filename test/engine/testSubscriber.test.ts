import type { INodeParameters } from 'n8n-workflow';
import { execute } from '../../nodes/PushCampaign/execution/execute';
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
import { ownAgentContext, retryRun, runWorkflow } from './support/run';

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

test('in the editor the first item goes to the test subscriber alone, right away, without what that does not take', async () => {
	const hours = { from: '00:00', to: '23:59' };
	const fields = {
		...{ name: 'Spring', imageUrl: 'https://shop.example.com/a.png', autoHide: true },
		...{ sendAt: '2035-05-17 09:30', quietHours: { hours } },
	};
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
		/^This was a test: it went to subscriber 5001 alone\. The other 2 items went to nobody\. When the workflow runs by itself, it goes each to all subscribers on 17 May 2035 at 23:59, Europe\/Berlin, because of quiet hours\.$/,
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

test('is refused in a Retry of which n8n does not know how it was started', async () => {
	// n8n 1 saves nothing of an execution that crashed.
	const context = ownAgentContext(workflow('5001'), {
		...{ credentials: credentialsFor(simulator()), input: titled('a') },
	});
	jest.spyOn(context, 'getMode').mockReturnValue('retry');
	await expect(execute(context)).rejects.toThrow(
		/^'Test Subscriber ID' does not work in this Retry/,
	);
	expect(simulator().requests).toEqual([]);
});

test('a Retry of what was begun without it sends the rest to nobody', async () => {
	simulator().addFault({ ...faultFor('"c"', failure()), times: 1 });
	const failed = await run(workflowOf({ title: '={{ $json.title }}' }));
	simulator().requests.length = 0;
	const done = await retryRun(failed, workflow('5001'), {
		credentials: credentialsFor(simulator()),
	});
	expect(outputOf(done)[2]).toMatchObject({ title: 'c', dryRun: true });
	expect(simulator().requests.map(({ path }) => path.split('/').at(-1))).toEqual(['sid']);
});

test('a test whose answer is lost says nothing about the send that it stands for', async () => {
	simulator().addFault(faultFor('"sid"', { kind: 'reset-after' }));
	const failed = await run();
	expect(failureOf(failed).message).toMatch(/^Do not send it again yet/);
	simulator().requests.length = 0;
	await retryRun(failed, workflowOf({ title: '={{ $json.title }}' }), {
		credentials: credentialsFor(simulator()),
	});
	expect(titlesAt(simulator()).sort()).toEqual(['a', 'b', 'c']);
});

test('a test whose answer is lost says to ask the subscriber', async () => {
	simulator().addFault(faultFor(undefined, { kind: 'reset-after' }));
	const { description } = failureOf(await run());
	expect(description).toContain('does not list a notification to one subscriber: ask whether');
});

test('keys are neither claimed nor asked', async () => {
	const json = workflow('5001', {}, { idempotencyKey: 'order-1' });
	await run(json);
	expect(database.queries).toEqual([]);
	await runWorkflow(json, { credentials: credentialsFor(simulator()), input: titled('a') });
	expect(titlesAt(simulator())).toEqual(['a', 'a']);
});

test('one that does not exist is named, with its own field, whoever the send is meant for', async () => {
	const toOne = { operation: 'sendToSubscriber', subscriberId: '5007' };
	for (const parameters of [{}, toOne]) {
		const { message, description } = failureOf(await run(workflow('999', parameters)));
		expect(message).toBe('The push service has no subscriber 999. None of 3 was sent.');
		expect(description).toBe(
			`The service says: "Subscriber not found". Correct 'Test Subscriber ID'.`,
		);
	}
});

test('one whose answer is lost is named, and its Retry decides nothing about the send it stands for', async () => {
	simulator().addFault(faultFor('"sid"', { kind: 'reset-after' }));
	const options = { idempotencyKey: '={{ $json.title }}' };
	const toOne = { operation: 'sendToSubscriber', subscriberId: '5007' };
	const failed = await run(workflow('5001', toOne, options));
	const { message, description } = failureOf(failed);
	expect(message).toContain('it is unknown whether item 0 (subscriber 5001) was sent');
	expect(description).not.toMatch(/Retry|Unknown Outcome|An ID/);
	simulator().clearFaults();
	const counted = workflow('5001', toOne, { ...options, unknownOutcome: 'countAsSent' });
	const again = await retryRun(failed, counted, { credentials: credentialsFor(simulator()) });
	expect(failureOf(again).message).toContain('item 0 (subscriber 5001) was sent');
	expect(database.keyRows).toEqual([]);
	// Nor does it let the sends themselves go out with that choice.
	simulator().requests.length = 0;
	const real = workflowOf({
		title: '={{ $json.title }}',
		options: { unknownOutcome: 'countAsSent' },
	});
	const refused = await retryRun(failed, real, { credentials: credentialsFor(simulator()) });
	expect(failureOf(refused).message).toContain('nothing here was left unknown');
	expect(simulator().requests).toEqual([]);
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
