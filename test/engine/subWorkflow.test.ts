import {
	byTitle,
	failureOf,
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
