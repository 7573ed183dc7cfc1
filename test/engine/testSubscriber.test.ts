import type { INodeParameters } from 'n8n-workflow';
import { execute } from '../../nodes/PushCampaign/execution/execute';
import {
	byTitle,
	credentialsFor,
	database,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	lost,
	outputOf,
	pathsAt,
	retriesAt,
	runsAt,
	titled,
	titlesAt,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { ownAgentContext } from './support/run';

// Test Subscriber ID: in the editor the first item goes to one subscriber, and the others to nobody.

const simulator = useSimulator();
const runAt = runsAt(simulator);
const retry = retriesAt(simulator);

const tested = (options: INodeParameters = {}, more: INodeParameters = {}) => ({
	...{ ...byTitle, ...more },
	options: { testSubscriberId: '5001', ...options },
});
const run = async (
	parameters: INodeParameters = tested(),
	mode: 'manual' | 'evaluation' | 'trigger' = 'manual',
) => await runAt(parameters, titled('a', 'b', 'c'), {}, { mode });

test('in the editor the first item goes to the test subscriber alone, and right away', async () => {
	const quietHours = { hours: { from: '00:00', to: '23:59' } };
	const additionalFields = { name: 'Spring', sendAt: '2035-05-17 09:30', quietHours };
	const done = await run(tested({}, { additionalFields }));
	expect(pathsAt(simulator())).toEqual(['sid']);
	expect(simulator().requests[0]?.json).not.toHaveProperty('send_at');
	expect(outputOf(done)).toMatchObject([
		{ subscriberId: '5001', audience: 'test', status: 'success', title: 'a' },
		{ audience: 'all', title: 'b', dryRun: true, request: { method: 'POST' } },
		{ audience: 'all', title: 'c', dryRun: true },
	]);
	expect(hintsOf(done)[0]).toMatch(
		/^This was a test: it went to subscriber 5001 alone\. The other 2 items went to nobody\. When the workflow runs by itself, they go each to all subscribers on 17 May 2035 at 23:59, Europe\/Berlin, because of quiet hours\.$/,
	);
});

test('in every other execution it changes nothing', async () => {
	await run(tested(), 'trigger');
	expect(pathsAt(simulator())).toEqual(['all', 'all', 'all']);
});

test.each([
	{ mode: 'manual', item: { audience: 'test' }, path: 'sid' },
	{ mode: 'evaluation', item: { audience: 'test' }, path: 'sid' },
	{ mode: 'trigger', item: { audience: 'all', title: 'a' }, path: 'all' },
] as const)('a Retry of an execution in the mode $mode goes on in that mode', async (row) => {
	simulator().addFault(faultFor('"a"', failure(), 1));
	const failed = await run(tested(), row.mode);
	simulator().requests.length = 0;
	expect(outputOf(await retry(failed, tested()))[0]).toMatchObject(row.item);
	expect(pathsAt(simulator())).toEqual([row.path]);
});

test('is refused in a Retry of which n8n does not know how it was started', async () => {
	// n8n 1 saves nothing of an execution that crashed.
	const credentials = credentialsFor(simulator());
	const context = ownAgentContext(workflowOf(tested()), { credentials, input: titled('a') });
	jest.spyOn(context, 'getMode').mockReturnValue('retry');
	await expect(execute(context)).rejects.toThrow(
		/^'Test Subscriber ID' does not work in this Retry/,
	);
	expect(simulator().requests).toEqual([]);
});

test('a Retry of what was begun without it sends the rest to nobody', async () => {
	simulator().addFault(faultFor('"c"', failure(), 1));
	const failed = await run(byTitle);
	simulator().requests.length = 0;
	expect(outputOf(await retry(failed, tested()))[2]).toMatchObject({ title: 'c', dryRun: true });
	expect(pathsAt(simulator())).toEqual(['sid']);
});

test('keys are neither claimed nor asked', async () => {
	const parameters = tested({ idempotencyKey: 'order-1' });
	await run(parameters);
	await run(tested({ idempotencyKey: 'order-1', unknownOutcome: 'resend' }));
	expect(database.queries).toEqual([]);
	await runAt(parameters, titled('a'));
	expect(titlesAt(simulator())).toEqual(['a', 'a']);
});

const toAnother = { operation: 'sendToSubscriber', subscriberId: '5007' };

test('one that does not exist is named, with its own field, whoever the send is meant for', async () => {
	for (const more of [{}, toAnother]) {
		const failed = await run(tested({ testSubscriberId: '999' }, more));
		const { message, description } = failureOf(failed);
		expect(message).toBe('The push service has no subscriber 999. None of 3 was sent.');
		expect(description).toBe(
			`The service says: "Subscriber not found". Correct 'Test Subscriber ID'.`,
		);
	}
});

describe('a test whose answer is lost', () => {
	test('says to ask the subscriber, and nothing about the send that it stands for', async () => {
		simulator().addFault(faultFor('"sid"', lost));
		const failed = await run();
		expect(failureOf(failed).description).toContain(
			'does not list a notification to one subscriber: ask whether',
		);
		simulator().requests.length = 0;
		await retry(failed, byTitle);
		expect(titlesAt(simulator()).sort()).toEqual(['a', 'b', 'c']);
	});

	test('names the subscriber, and its Retry decides nothing about the send that it stands for', async () => {
		simulator().addFault(faultFor('"sid"', lost));
		const options = { idempotencyKey: '={{ $json.title }}' };
		const failed = await run(tested(options, toAnother));
		const { message, description } = failureOf(failed);
		expect(message).toContain('it is unknown whether item 0 (subscriber 5001) was sent');
		expect(description).not.toMatch(/Retry|Unknown Outcome|An ID/);
		simulator().clearFaults();
		const counted = tested({ ...options, unknownOutcome: 'countAsSent' }, toAnother);
		const again = await retry(failed, counted);
		expect(failureOf(again).message).toContain('item 0 (subscriber 5001) was sent');
		expect(database.keyRows).toEqual([]);
		// Nor does it let the sends themselves go out with that choice.
		simulator().requests.length = 0;
		const real = { ...byTitle, options: { unknownOutcome: 'countAsSent' } };
		const refused = failureOf(await retry(failed, real));
		expect(refused.message).toContain('nothing here was left unknown');
		expect(simulator().requests).toEqual([]);
	});
});

test('with a dry run nothing is sent, and the hint says whom the editor would send to', async () => {
	const done = await run(tested({ dryRun: true }));
	expect(simulator().requests.filter(({ method }) => method === 'POST')).toEqual([]);
	expect(hintsOf(done)[0]).toContain('From the editor, the first item would go to subscriber 5001');
});
