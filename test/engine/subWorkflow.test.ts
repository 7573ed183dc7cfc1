import {
	byTitle,
	failure,
	failureOf,
	faultFor,
	outputOf,
	retriesAt,
	runsAt,
	titled,
	useSimulator,
} from './support/pushCampaign';

// Another workflow called this one: its Retry begins from the beginning, and other calls may have sent.

const simulator = useSimulator();
const runAt = runsAt(simulator);
const retry = retriesAt(simulator);
const run = async (options = {}) =>
	await runAt({ ...byTitle, options }, titled('first', 'second'), {}, { mode: 'integrated' });

const ownRetry =
	"'Retry with original workflow' of this sub-workflow's own execution sends only what was not sent. A Retry of the workflow that called it begins from the beginning. A new execution also sends again what this one has sent.";

test('a failure names the Retry of its own execution, which sends the rest, or names itself again', async () => {
	simulator().addFault(faultFor('second', failure(), 2));
	const failed = await run();
	expect(failureOf(failed).message).toMatch(/\. 1 of 2 was sent\.$/);
	expect(failureOf(failed).description.endsWith(ownRetry)).toBe(true);
	const again = failureOf(await retry(failed, byTitle));
	expect(again.message).toMatch(/\. 0 of 2 were sent now, 1 earlier\.$/);
	expect(again.description.endsWith(ownRetry)).toBe(true);
	simulator().requests.length = 0;
	const done = await retry(failed, byTitle);
	expect(outputOf(done).map(({ status }) => status)).toEqual(['success', 'success']);
	expect(simulator().requests).toHaveLength(1);
});

describe('Test Subscriber ID', () => {
	const options = { testSubscriberId: '5001' };

	test('is refused: n8n does not tell a node there whether somebody tries the workflow', async () => {
		const failed = await run(options);
		const { message, description } = failureOf(failed);
		expect(message).toMatch(/^'Test Subscriber ID' does not work here: n8n does not tell /);
		expect(description).toMatch(/^Take 'Test Subscriber ID' out of the options\./);
		expect(failureOf(await retry(failed, { ...byTitle, options })).message).toBe(message);
		expect(simulator().requests).toEqual([]);
	});

	test('does no harm in a dry run', async () => {
		const done = await run({ ...options, dryRun: true });
		expect(outputOf(done)).toMatchObject([{ dryRun: true, request: {} }, { dryRun: true }]);
	});
});
