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

const ownRetry =
	"'Retry with currently saved workflow' of this sub-workflow's own execution sends only what was not sent. A Retry of the workflow that called it begins from the beginning.";

test('a failure names the Retry of its own execution, and what that of the caller does', async () => {
	simulator().addFault(faultFor('second', failure()));
	const { message, description } = failureOf(await run());
	expect(message).toMatch(/\. 1 of 2 was sent\.$/);
	expect(description.endsWith(ownRetry)).toBe(true);
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
	const { message, description } = failureOf(await retryRun(await run(), workflow(), options));
	expect(message).toMatch(/\. 0 of 2 were sent now, 1 earlier\.$/);
	expect(description.endsWith(ownRetry)).toBe(true);
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
