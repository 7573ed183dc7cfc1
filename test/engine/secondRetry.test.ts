import type { IRun } from 'n8n-workflow';
import {
	byTitle,
	credentialsFor,
	database,
	failure,
	failureOf,
	faultFor,
	numbered,
	outputOf,
	push,
	runsAt,
	titlesAt,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import type * as engine from './support/run';
import { chain } from './support/workflow';

// What a failed execution has left is sent by one of its Retries, however many there are, and in however many processes.

const simulator = useSimulator();
const run = runsAt(simulator);

/** The Retries of a process of its own: what another one remembers is not known there. */
function newProcess() {
	jest.resetModules();
	const { retryRun } = jest.requireActual<typeof engine>('./support/run');
	return async (failed: IRun, json = workflowOf(byTitle)) =>
		await retryRun(failed, json, { credentials: credentialsFor(simulator()) });
}

/** An execution of which some of 60 were sent; from then on the service answers, a little later. */
async function failInBetween() {
	simulator().addFault(faultFor('No 5"', failure(), 1));
	simulator().addFault(faultFor(undefined, { kind: 'delay', ms: 60 }));
	const failed = await run(byTitle, numbered(60));
	expect(failureOf(failed).message).toMatch(/ \d+ of 60 were sent\.$/);
	return failed;
}

const refused = {
	message: 'Another Retry of this execution has begun to send. This one sent nothing.',
	description:
		'If that one failed, retry it. If it was stopped, or n8n ended, nobody knows what it has sent: look in the dashboard of your push service.',
};
const isRefused = (done: IRun) =>
	done.status === 'error' && failureOf(done).message === refused.message;

/** What arrived more than once, without what the service refused at first. */
const twice = (expected: number) => {
	const titles = titlesAt(simulator()).filter((title) => title !== 'No 5');
	expect(new Set(titles).size).toBe(expected - 1);
	return titles.length - new Set(titles).size;
};

test('of two Retries in two processes at once, one sends the rest, and the other one says so', async () => {
	const failed = await failInBetween();
	const done = await Promise.all([newProcess()(failed), newProcess()(failed)]);
	expect(done.filter(isRefused)).toHaveLength(1);
	const [told] = done.filter(isRefused).map(failureOf);
	expect(told?.description).toBe(refused.description);
	expect(twice(60)).toBe(0);
});

test('of two Retries in one process at once, the second one goes on with what the first one sends', async () => {
	const failed = await failInBetween();
	const retry = newProcess();
	const done = await Promise.all([retry(failed), retry(failed)]);
	expect(done.map(({ status }) => status)).toEqual(['success', 'success']);
	expect(twice(60)).toBe(0);
});

test('of two Retries in one process at once, the one that sends last is the one to be retried', async () => {
	simulator().addFault(faultFor('No 5"', failure(), 1));
	const failed = await run(byTitle, numbered(200));
	simulator().addFault(faultFor('Edited', failure()));
	simulator().addFault(faultFor(undefined, { kind: 'delay', ms: 200 }));
	const retry = newProcess();
	const first = retry(failed);
	// It is refused, while the first one goes on.
	const second = await retry(failed, workflowOf({ ...byTitle, message: 'Edited' }));
	expect(second.status).toBe('error');
	const saved = structuredClone(second);
	await first;
	// What was in flight then is unknown to it.
	expect(failureOf(await newProcess()(saved)).description).toContain(refused.message);
	const sent = [...simulator().campaigns.values()].map(({ body }) => body['title']);
	expect(new Set(sent).size).toBe(sent.length);
	expect((await newProcess()(await first)).status).toBe('success');
	expect(new Set(titlesAt(simulator())).size).toBe(200);
});

test('after a restart the newest Retry can be retried, and an older execution can not', async () => {
	const failed = await failInBetween();
	simulator().clearFaults();
	simulator().addFault(faultFor('No 58"', failure(), 1));
	const second = await newProcess()(failed);
	expect(second.status).toBe('error');
	const restarted = newProcess();
	expect(isRefused(await restarted(failed))).toBe(true);
	expect(outputOf(await restarted(second))).toHaveLength(60);
	expect(new Set(titlesAt(simulator())).size).toBe(60);
	expect(titlesAt(simulator()).filter((title) => title === 'No 4')).toHaveLength(1);
});

test('of two Retries of an execution in which the node never ran, one sends', async () => {
	const front = { name: 'Front', type: 'test.failsOnce' };
	const json = chain([front, push(byTitle)]);
	const { runWorkflow } = jest.requireActual<typeof engine>('./support/run');
	const input = numbered(10);
	const failed = await runWorkflow(json, { credentials: credentialsFor(simulator()), input });
	expect(failed.status).toBe('error');
	simulator().addFault(faultFor(undefined, { kind: 'delay', ms: 20 }));
	const done = await Promise.all([newProcess()(failed, json), newProcess()(failed, json)]);
	expect(done.filter(isRefused)).toHaveLength(1);
	expect(titlesAt(simulator())).toHaveLength(10);
});

test('a Retry that is not valid leaves the rest to the next one', async () => {
	const failed = await failInBetween();
	const invalid = await newProcess()(failed, workflowOf({ ...byTitle, message: "={{ '' }}" }));
	expect(failureOf(invalid).message).toMatch(/'Message' is empty for this item/);
	expect((await newProcess()(failed)).status).toBe('success');
	expect(twice(60)).toBe(0);
});

test('a refused Retry stays refused in each of its tries', async () => {
	const failed = await failInBetween();
	await newProcess()(failed);
	simulator().requests.length = 0;
	const tries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	expect(isRefused(await newProcess()(failed, workflowOf(byTitle, tries)))).toBe(true);
	expect(simulator().requests).toEqual([]);
});

test('each try of a Retry goes on, by one claim', async () => {
	const failed = await failInBetween();
	simulator().clearFaults();
	simulator().addFault(faultFor('No 58"', failure(), 1));
	const tries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	expect((await newProcess()(failed, workflowOf(byTitle, tries))).status).toBe('success');
	expect([...database.rows.keys()].filter((row) => row.includes('-retry:'))).toHaveLength(1);
});

test('a database that does not answer refuses the Retry, and the next one sends', async () => {
	const failed = await failInBetween();
	database.beforeQuery = () => {
		throw new Error('SQLITE_BUSY');
	};
	const sent = simulator().requests.length;
	const { message } = failureOf(await newProcess()(failed));
	expect(message).toMatch(
		/database did not answer.*SQLITE_BUSY\. 0 of 60 were sent now, \d+ earlier/,
	);
	expect(simulator().requests).toHaveLength(sent);
	database.beforeQuery = () => undefined;
	expect((await newProcess()(failed)).status).toBe('success');
});

test('where n8n gives no rows, what the process remembers holds alone', async () => {
	database.contextOf = () => 'n:always the same';
	const failed = await failInBetween();
	const retry = newProcess();
	const done = await Promise.all([retry(failed), retry(failed)]);
	expect(done.map(({ status }) => status)).toEqual(['success', 'success']);
	expect(twice(60)).toBe(0);
});
