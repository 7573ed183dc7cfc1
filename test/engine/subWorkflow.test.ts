import type { INodeParameters } from 'n8n-workflow';
import {
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	outputOf,
	titled,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { retryRun, runWorkflow } from './support/run';

// Another workflow called this one: its Retry begins from the beginning, and other calls may have sent.

const simulator = useSimulator();

const workflow = (options: INodeParameters = {}) =>
	workflowOf({ title: '={{ $json.title }}', options });
const run = async (json = workflow()) =>
	await runWorkflow(json, {
		...{ credentials: credentialsFor(simulator()), mode: 'integrated' },
		input: titled('first', 'second'),
	});

test('a failure names the Retry of its own execution, not that of the caller', async () => {
	simulator().addFault(faultFor('second', failure()));
	const { description } = failureOf(await run());
	expect(description).toMatch(/^1 of 2 was sent, 1 not sent\. /);
	expect(description).toMatch(
		/'Retry' of the sub-workflow's own execution, not of the workflow that/,
	);
});

test('a failure that kept all back says only of its own call that nothing was sent', async () => {
	simulator().addFault(faultFor(undefined, failure()));
	expect(failureOf(await run()).description).toMatch(/^Nothing was sent by this call\. /);
});

test('a Retry of its own execution sends the rest', async () => {
	simulator().addFault({ ...faultFor('second', failure()), times: 1 });
	const failed = await run();
	simulator().requests.length = 0;
	const options = { credentials: credentialsFor(simulator()) };
	const done = await retryRun(failed, workflow(), options);
	expect(outputOf(done).map(({ status }) => status)).toEqual(['success', 'success']);
	expect(simulator().requests).toHaveLength(1);
});

test('a Retry of its own execution that fails again names that Retry again', async () => {
	simulator().addFault(faultFor('second', failure()));
	const options = { credentials: credentialsFor(simulator()) };
	const { description } = failureOf(await retryRun(await run(), workflow(), options));
	expect(description).toMatch(/^0 sent now, 1 sent earlier, 1 not sent\. /);
	expect(description).toMatch(/'Retry' of the sub-workflow's own execution, not of the workflow/);
});

describe('Test Subscriber ID', () => {
	const json = workflow({ testSubscriberId: '5001' });

	test('is refused: n8n does not tell a node there whether somebody tries the workflow', async () => {
		const failed = await run(json);
		const { message, description } = failureOf(failed);
		expect(message).toMatch(/'Test Subscriber ID' does not work in a sub-workflow: /);
		expect(description).toContain("'Dry Run'");
		const again = await retryRun(failed, json, { credentials: credentialsFor(simulator()) });
		expect(failureOf(again).message).toBe(message);
		expect(simulator().requests).toEqual([]);
	});

	test('does no harm in a dry run', async () => {
		const done = await run(workflow({ testSubscriberId: '5001', dryRun: true }));
		expect(outputOf(done)).toMatchObject([{ dryRun: true, request: {} }, { dryRun: true }]);
	});
});
