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
	// It is no send: nothing is claimed.
	expect(database.rows.size).toBe(0);
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

test('a Retry of a production execution sends as that did', async () => {
	simulator().addFault(faultFor('"a"', failure(), 1));
	const failed = await run(tested(), 'trigger');
	simulator().requests.length = 0;
	expect(outputOf(await retry(failed, tested()))[0]).toMatchObject({ audience: 'all', title: 'a' });
	expect(pathsAt(simulator())).toEqual(['all']);
});

test.each(['manual', 'evaluation'] as const)(
	'is refused in a Retry of an execution in the mode %s: n8n would offer no other one after it',
	async (mode) => {
		simulator().addFault(faultFor(undefined, failure()));
		for (const began of [tested(), byTitle]) {
			const failed = await run(began, mode);
			simulator().requests.length = 0;
			const { message, description } = failureOf(await retry(failed, tested()));
			expect(message).toMatch(/^'Test Subscriber ID' does not work in a Retry, because n8n would/);
			expect(description).toMatch(/^Take 'Test Subscriber ID' out of the options\./);
			expect(simulator().requests).toEqual([]);
		}
	},
);

test('is refused in a Retry of which n8n does not know how it was started', async () => {
	// n8n 1 saves nothing of an execution that crashed.
	const credentials = credentialsFor(simulator());
	const context = ownAgentContext(workflowOf(tested()), { credentials, input: titled('a') });
	jest.spyOn(context, 'getMode').mockReturnValue('retry');
	await expect(execute(context)).rejects.toThrow(/^'Test Subscriber ID' does not work here/);
	expect(simulator().requests).toEqual([]);
});

test('an item that is not valid is named without the test subscriber, who would not get it', async () => {
	const failed = await runAt(tested(), titled('a', '', ''), {}, { mode: 'manual' });
	expect(failureOf(failed).message).toMatch(/ Items 1, 2, counted from 0: 'Title': /);
});

test('a time that is over is refused as it would be for the send itself', async () => {
	const { message } = failureOf(
		await run(tested({}, { additionalFields: { sendAt: '2024-05-17 09:30' } })),
	);
	expect(message).toMatch(/^'Send At' is 2024-05-17 09:30 \+02:00, which is in the past/);
	expect(simulator().requests).toEqual([]);
});

test('keys are neither claimed nor asked', async () => {
	const parameters = tested({ idempotencyKey: '={{ $json.title }}' });
	await run(parameters);
	await run(parameters);
	expect(database.queries).toEqual([]);
	await runAt(parameters, titled('a'));
	expect(titlesAt(simulator())).toEqual(['a', 'a', 'a']);
});

const toAnother = { operation: 'sendToSubscriber', subscriberId: '5007' };

test('one that does not exist is named, with its own field, whoever the send is meant for', async () => {
	for (const more of [{}, toAnother]) {
		const failed = await run(tested({ testSubscriberId: '999' }, more));
		const { message, description } = failureOf(failed);
		expect(message).toBe('The push service has no subscriber 999. None of these 3 was sent.');
		expect(description).toBe(
			`This was a test. The service says: "Subscriber not found". Correct 'Test Subscriber ID'.`,
		);
	}
});

test('whose answer is lost names the subscriber, says to ask, and nothing remembers it', async () => {
	simulator().addFault(faultFor('"sid"', lost));
	const failed = await run(tested({ idempotencyKey: '={{ $json.title }}' }, toAnother));
	const { message, description } = failureOf(failed);
	expect(message).toContain('it is unknown whether item 0 (subscriber 5001) was sent');
	expect(description).toMatch(
		/^This was a test\. The dashboard does not list .*: ask whether it arrived\.$/,
	);
	simulator().clearFaults();
	simulator().requests.length = 0;
	await retry(failed, byTitle);
	expect(titlesAt(simulator()).sort()).toEqual(['a', 'b', 'c']);
	expect(database.keyRows).toEqual([]);
});

test('with a dry run nothing is sent, and the hint says whom the editor would send to', async () => {
	const done = await run(tested({ dryRun: true }));
	expect(simulator().requests.filter(({ method }) => method === 'POST')).toEqual([]);
	expect(hintsOf(done)[0]).toContain('From the editor, the first item would go to subscriber 5001');
});

describe('in a sub-workflow', () => {
	const runCalled = async (parameters: INodeParameters) =>
		await runAt(parameters, titled('a', 'b'), {}, { mode: 'integrated' });

	test('it is refused: n8n does not tell a node there whether somebody tries the workflow', async () => {
		const failed = await runCalled(tested());
		const { message, description } = failureOf(failed);
		expect(message).toMatch(/^'Test Subscriber ID' does not work here: n8n does not tell /);
		expect(description).toMatch(/^Take 'Test Subscriber ID' out of the options\./);
		expect(failureOf(await retry(failed, tested())).message).toBe(message);
		expect(simulator().requests).toEqual([]);
	});

	test('it does no harm in a dry run', async () => {
		const done = await runCalled(tested({ dryRun: true }));
		expect(outputOf(done)).toMatchObject([{ dryRun: true, request: {} }, { dryRun: true }]);
	});
});
