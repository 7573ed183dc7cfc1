import { credentialsFor, failureOf, push, useDatabase, useSimulator } from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// By itself, because each process tries once what Send Only Once leans on.

const simulator = useSimulator();
const database = useDatabase();

test('Send Only Once is refused by a version of n8n that gives a node one row alone', async () => {
	database.contextOf = () => 'n:always the same';
	const done = await runWorkflow(chain([push({ options: { idempotencyKey: '' } })]), {
		credentials: credentialsFor(simulator()),
	});
	expect(failureOf(done).message).toMatch(/^Send Only Once does not work with this version of n8n/);
	expect(simulator().requests).toEqual([]);
});
