import {
	credentialsFor,
	failureOf,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import type * as run from './support/run';

// Each process tries once what Send Only Once leans on. So each of these tests loads the node again.

const simulator = useSimulator();
const database = useDatabase();
beforeEach(() => void jest.resetModules());

let rows = 0;

test.each([
	['gives a node one row alone', () => 'n:always the same'],
	['does not find a row again', () => `n:${(rows += 1)}`],
])("'Send Only Once' is refused by a version of n8n that %s", async (_what, contextOf) => {
	database.contextOf = contextOf;
	const { runWorkflow } = jest.requireActual<typeof run>('./support/run');
	const done = await runWorkflow(workflowOf({ options: { idempotencyKey: '' } }), {
		credentials: credentialsFor(simulator()),
	});
	expect(failureOf(done).message).toMatch(
		/^'Send Only Once' does not work with this version of n8n/,
	);
	expect(simulator().requests).toEqual([]);
});
