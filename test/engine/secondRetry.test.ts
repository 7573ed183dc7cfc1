import type { INodeParameters, IRun } from 'n8n-workflow';
import {
	byTitle,
	continuing,
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
	// However busy the machine is, no answer comes too late.
	const failed = await run({ ...byTitle, options: { timeout: 3_600_000 } }, numbered(60));
	expect(failureOf(failed).message).toMatch(
		/^The push service could not carry out the request\. \d+ of these 60 were sent\.$/,
	);
	return failed;
}

const refused = {
	message: 'An earlier run of this execution has begun to send. This one sent nothing.',
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

test('so it is of two Retries in one process at once, and of one after the other', async () => {
	const failed = await failInBetween();
	const retry = newProcess();
	const done = await Promise.all([retry(failed), retry(failed)]);
	expect(done.filter(isRefused)).toHaveLength(1);
	expect(isRefused(await retry(failed))).toBe(true);
	expect(twice(60)).toBe(0);
});

describe('after a crash, of which n8n has saved nothing,', () => {
	const options = { idempotencyKey: '={{ $json.title }}' };
	const input = numbered(10);
	const { asCrashed } = jest.requireActual<typeof engine>('./support/run');
	/** The Retry of an execution that had sent all but one of its items when n8n ended. */
	async function retryCrashed(parameters: INodeParameters, edited = parameters) {
		simulator().addFault(faultFor('No 5"', failure(), 1));
		const done = await run(parameters, input);
		simulator().requests.length = 0;
		const json = workflowOf(edited);
		return await newProcess()(asCrashed(done, json, input), json);
	}

	test('a Retry is refused, whatever was sent', async () => {
		expect(isRefused(await retryCrashed(byTitle))).toBe(true);
		expect(simulator().requests).toEqual([]);
	});

	test('a Retry is refused also if IDs were added in between: they do not know what was sent', async () => {
		expect(isRefused(await retryCrashed(byTitle, { ...byTitle, options }))).toBe(true);
		expect(simulator().requests).toEqual([]);
	});

	test('a Retry is refused also if the node was set up again under its name: n8n finds it by that', async () => {
		const done = await run(byTitle, input);
		simulator().requests.length = 0;
		const json = workflowOf(byTitle, { id: 'set up again' });
		expect(isRefused(await newProcess()(asCrashed(done, json, input), json))).toBe(true);
		expect(simulator().requests).toEqual([]);
	});

	test('rows of a Retry that is refused say that nobody knows, so that no node behind sends them', async () => {
		const done = await run(byTitle, input);
		const json = workflowOf(byTitle, continuing);
		const refusedRows = outputOf(await newProcess()(asCrashed(done, json, input), json));
		expect(refusedRows).toHaveLength(10);
		expect(refusedRows[9]).toMatchObject({ status: 'unknown', error: { outcome: 'unknown' } });
	});

	test('a Retry of items with IDs sends exactly the rest, and claims nothing', async () => {
		expect(outputOf(await retryCrashed({ ...byTitle, options }))).toHaveLength(10);
		expect(titlesAt(simulator())).toEqual(['No 5']);
		expect([...database.rows.keys()].join()).not.toContain('-begun:');
	});

	test('a Retry goes on if the node had not begun to send', async () => {
		const done = await run({ ...byTitle, options: { timeout: 0 } }, input);
		const json = workflowOf(byTitle);
		expect(outputOf(await newProcess()(asCrashed(done, json, input), json))).toHaveLength(10);
	});
});

test('two executions that began in the same millisecond both send, and each has a Retry', async () => {
	const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
	simulator().addFault(faultFor('No 1"', failure(), 2));
	const both = await Promise.all([run(byTitle, numbered(2)), run(byTitle, numbered(2))]);
	clock.mockRestore();
	for (const failed of both) expect((await newProcess()(failed)).status).toBe('success');
	expect(titlesAt(simulator()).filter((title) => title === 'No 0')).toHaveLength(2);
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
	expect(failureOf(invalid).message).toMatch(/'Message': .* gave nothing/);
	expect((await newProcess()(failed)).status).toBe('success');
	expect(twice(60)).toBe(0);
});

test('a refused Retry stays refused in each of its tries, and so does its own Retry', async () => {
	const failed = await failInBetween();
	await newProcess()(failed);
	simulator().requests.length = 0;
	const tries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const second = await newProcess()(failed, workflowOf(byTitle, tries));
	expect([second, await newProcess()(second)].map(isRefused)).toEqual([true, true]);
	expect(simulator().requests).toEqual([]);
});

test("each try of a Retry goes on, by one claim beside the first execution's", async () => {
	const failed = await failInBetween();
	simulator().clearFaults();
	simulator().addFault(faultFor('No 58"', failure(), 1));
	const tries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	expect((await newProcess()(failed, workflowOf(byTitle, tries))).status).toBe('success');
	expect([...database.rows.keys()].filter((row) => row.includes('-begun:'))).toHaveLength(2);
});

test('a first execution sends also if the database does not answer', async () => {
	database.beforeQuery = () => {
		throw new Error('SQLITE_BUSY');
	};
	expect((await run(byTitle, numbered(2))).status).toBe('success');
});

test('a database that does not answer refuses the Retry, and the next one sends', async () => {
	const failed = await failInBetween();
	database.beforeQuery = () => {
		throw new Error('SQLITE_BUSY');
	};
	const sent = simulator().requests.length;
	const { message } = failureOf(await newProcess()(failed));
	expect(message).toMatch(
		/database did not answer.*SQLITE_BUSY\. 0 of these 60 were sent now, \d+ earlier/,
	);
	expect(simulator().requests).toHaveLength(sent);
	database.beforeQuery = () => undefined;
	expect((await newProcess()(failed)).status).toBe('success');
});

test('where n8n gives no rows, nothing is claimed, and a Retry sends', async () => {
	database.contextOf = () => 'n:always the same';
	const failed = await failInBetween();
	expect((await newProcess()(failed)).status).toBe('success');
	expect(twice(60)).toBe(0);
});
