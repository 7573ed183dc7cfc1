import type { IRun } from 'n8n-workflow';
import {
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	NODE,
	outputOf,
	push,
	titled,
	titlesAt,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { retryRun, runWorkflow } from './support/run';
import { chain, connect } from './support/workflow';

// Nothing that was sent is sent again when n8n runs the same node again for the same execution.

const simulator = useSimulator();
useDatabase();

const credentials = () => ({ credentials: credentialsFor(simulator()) });
const byTitle = { title: '={{ $json.title }}' };
const workflow = (options = {}, more = {}) => workflowOf({ ...byTitle, options }, more);
const retryOnFail = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

/** Three sends, of which the second one ends as given. */
const runThree = async (action = failure(), more = {}) => {
	simulator().addFault(faultFor('second', action));
	return await runWorkflow(workflow({}, more), {
		...credentials(),
		input: titled('first', 'second', 'third'),
	});
};
const retry = async (failed: IRun, json = workflow()) =>
	await retryRun(failed, json, credentials());

/** What arrived since the faults were taken away. */
function serveAgain() {
	simulator().clearFaults();
	simulator().requests.length = 0;
}

test('Retry On Fail tries again what was not sent, and nothing else', async () => {
	simulator().addFault({ ...faultFor('second', failure()), times: 2 });
	const done = await runWorkflow(workflow({}, retryOnFail), {
		...credentials(),
		input: titled('first', 'second', 'third'),
	});
	expect(titlesAt(simulator()).sort()).toEqual(['first', 'second', 'second', 'second', 'third']);
	expect(outputOf(done)).toMatchObject([
		{ title: 'first', status: 'success' },
		{ title: 'second', status: 'success' },
		{ title: 'third', status: 'success' },
	]);
});

test('Retry On Fail tries again what failed with Continue, and nothing else', async () => {
	// n8n looks at the first item alone (n8n-core 2.41.1: `workflow-execute.js`).
	simulator().addFault(faultFor('first', failure()));
	const json = workflow({}, { ...continuing, ...retryOnFail });
	const input = titled('first', 'second', 'third');
	const items = outputOf(await runWorkflow(json, { ...credentials(), input }));
	expect(items.map(({ status }) => status)).toEqual(['notSent', 'success', 'success']);
	expect(titlesAt(simulator()).sort()).toEqual(['first', 'first', 'first', 'second', 'third']);
});

test('Retry On Fail never sends again what is unknown, also with Send Again', async () => {
	simulator().addFault(faultFor('second', { kind: 'reset-after' }));
	const json = workflow({ unknownOutcome: 'resend', idempotencyKey: '' }, retryOnFail);
	const done = await runWorkflow(json, { ...credentials(), input: titled('first', 'second') });
	expect(titlesAt(simulator()).sort()).toEqual(['first', 'second']);
	expect(failureOf(done).message).toMatch(/it is unknown whether this was sent/);
});

test('Retry sends the rest, and gives the first answers again', async () => {
	const failed = await runThree();
	serveAgain();
	const done = await retry(failed);
	expect(titlesAt(simulator())).toEqual(['second']);
	expect(outputOf(done)).toMatchObject([
		{ title: 'first', campaignId: '1001', status: 'success' },
		{ title: 'second', campaignId: '1003', status: 'success' },
		{ title: 'third', campaignId: '1002', status: 'success' },
	]);
	expect(hintsOf(done)).toContain('1 sent now, to all subscribers. 2 were sent earlier.');
});

test('Retry knows an item by its place, and does not judge again what was sent', async () => {
	const failed = await runThree();
	serveAgain();
	// Everything is edited in between, and it would not even be valid for the first one.
	const json = workflowOf({
		...{ operation: 'sendToSegments', segmentIds: '12', message: 'Corrected' },
		title: "={{ $json.title === 'second' ? 'corrected' : '' }}",
		options: { timeout: "={{ $json.title === 'second' ? 1000 : 0 }}" },
	});
	const done = await retryRun(failed, json, {
		credentials: credentialsFor(simulator(), { allowHttp: true }),
	});
	expect(titlesAt(simulator())).toEqual(['corrected']);
	expect(outputOf(done)).toMatchObject([
		{ title: 'first', audience: 'all' },
		{ title: 'corrected', audience: 'segments' },
		{ title: 'third', audience: 'all' },
	]);
});

test('a Retry that fails says what was sent earlier', async () => {
	const done = await retry(await runThree());
	expect(failureOf(done).description).toMatch(/^0 sent now, 2 sent earlier, 1 not sent\. /);
});

test('a Retry that fails says nothing about running it again if a key was added after the first sends', async () => {
	const { description } = failureOf(
		await retry(await runThree(), workflow({ idempotencyKey: '' })),
	);
	expect(description).toMatch(/Running the workflow again would send all again\.$/);
});

test('a Retry that stays unknown says to retry, not to run it again, if a key was added after the first sends', async () => {
	simulator().addFault(faultFor('only', { kind: 'reset-after' }));
	const failed = await runWorkflow(workflow(), { ...credentials(), input: titled('only') });
	const { description } = failureOf(await retry(failed, workflow({ idempotencyKey: '' })));
	expect(description).toMatch(/Then use 'Retry with currently saved workflow'/);
});

test('an item that another one stands in the place of by then is sent', async () => {
	const failed = await runThree();
	serveAgain();
	// As in a loop that reads the next row: what comes in is another item.
	const [waiting] = failed.data.executionData?.nodeExecutionStack ?? [];
	waiting?.data['main']?.[0]?.splice(0, 1, ...titled('another'));
	await retry(failed);
	expect(titlesAt(simulator()).sort()).toEqual(['another', 'second']);
});

describe('Unknown Outcome in an execution that has left nothing unknown', () => {
	const choose = async (unknownOutcome: string, options = {}, mode?: 'manual') =>
		await runWorkflow(workflow({ unknownOutcome, ...options }), {
			...credentials(),
			...(mode === undefined ? {} : { mode }),
			input: titled('first'),
		});

	test.each(['resend', 'countAsSent'])('is refused: %s', async (choice) => {
		for (const mode of ['manual', undefined] as const) {
			const told = failureOf(await choose(choice, {}, mode));
			expect(told.message).toMatch(/^'Unknown Outcome' works only in a Retry /);
			expect(told.description).toMatch(
				/^Nothing was sent\. Use 'Retry with currently saved workflow' .* to send anew\.$/,
			);
		}
		const [shown] = outputOf(await choose(choice, { dryRun: true }));
		expect(shown).toMatchObject({ dryRun: true, error: { type: 'validation' } });
		expect(simulator().requests).toEqual([]);
	});

	test('changes nothing if it reports again, or with a key', async () => {
		await choose('report');
		await choose('resend', { idempotencyKey: '' });
		expect(titlesAt(simulator())).toEqual(['first', 'first']);
	});
});

test('a second Retry of the same execution knows what the first one sent', async () => {
	const failed = await runThree();
	serveAgain();
	await retry(failed);
	const [, second] = outputOf(await retry(failed));
	expect(titlesAt(simulator())).toEqual(['second']);
	expect(second).toMatchObject({ campaignId: '1003', status: 'success' });
});

describe('what an execution left unknown', () => {
	const lost = async () => {
		const failed = await runThree({ kind: 'reset-after' });
		serveAgain();
		return failed;
	};

	test('fails again with the same words, and is not requested', async () => {
		const failed = await lost();
		const again = await retry(failed);
		expect(failureOf(again).message).toBe(failureOf(failed).message);
		expect(failureOf(again)).toMatchObject({ name: 'NodeApiError', itemIndex: 1 });
		expect(simulator().requests).toEqual([]);
	});

	test('keeps nothing else from being sent', async () => {
		simulator().addFault(faultFor('third', failure()));
		const failed = await lost();
		expect(failureOf(await retry(failed)).description).toMatch(
			/^1 sent now, 1 sent earlier, 1 unknown: /,
		);
		expect(titlesAt(simulator())).toEqual(['third']);
	});

	test('fails again with the same words although an option is not valid by then', async () => {
		const failed = await lost();
		const again = await retry(failed, workflow({ timeout: 0 }));
		expect(failureOf(again).message).toBe(failureOf(failed).message);
	});

	test('is sent again with Send Again, and the hint says to take the option out', async () => {
		const done = await retry(await lost(), workflow({ unknownOutcome: 'resend' }));
		expect(titlesAt(simulator())).toEqual(['second']);
		expect(outputOf(done)[1]).toMatchObject({ title: 'second', status: 'success' });
		expect(hintsOf(done).join()).toContain("'Unknown Outcome' is set to Send Again. Take it out");
	});

	test('comes out as already sent with Count as Sent', async () => {
		const done = await retry(await lost(), workflow({ unknownOutcome: 'countAsSent' }));
		expect(simulator().requests).toEqual([]);
		const [, second] = outputOf(done);
		expect(second).toMatchObject({ audience: 'all', status: 'alreadySent', title: 'second' });
		expect(second).not.toHaveProperty('campaignId');
		expect(hintsOf(done).join()).toContain("'Unknown Outcome' is set to Count as Sent.");
	});

	test('stays counted as sent in a further Retry without the option', async () => {
		const failed = await runThree({ kind: 'reset-after' });
		simulator().clearFaults();
		// Something else fails, so that there is something to retry.
		simulator().addFault(faultFor('fourth', failure()));
		const json = workflowOf({
			title: "={{ $json.title === 'third' ? 'fourth' : $json.title }}",
			options: { unknownOutcome: 'countAsSent' },
		});
		const again = await retry(failed, json);
		simulator().requests.length = 0;
		expect(outputOf(await retry(again))[1]).toMatchObject({ status: 'alreadySent' });
		expect(simulator().requests).toEqual([]);
	});

	test('comes out as already sent with Count as Sent although its time is over by then', async () => {
		const late = workflowOf({
			...{ ...byTitle, additionalFields: { sendAt: '2024-05-17 09:30' } },
			options: { unknownOutcome: 'countAsSent' },
		});
		expect(outputOf(await retry(await lost(), late))[1]).toMatchObject({ status: 'alreadySent' });
		expect(simulator().requests).toEqual([]);
	});

	test('with Count as Sent and a key that is added then, is never sent under that key', async () => {
		const keyed = { idempotencyKey: '={{ $json.title }}' };
		await retry(await lost(), workflow({ unknownOutcome: 'countAsSent', ...keyed }));
		const titles = ['1', '2', '3', 'second', '4'];
		await runWorkflow(workflow(keyed), { ...credentials(), input: titled(...titles) });
		expect(titlesAt(simulator()).sort()).toEqual(['1', '2', '3', '4']);
	});

	test('is shown as not sendable by a dry run', async () => {
		const done = await retry(await lost(), workflow({ dryRun: true }));
		expect(outputOf(done)[1]).toMatchObject({ dryRun: true, error: { outcome: 'unknown' } });
	});

	test('is not sent a third time if Send Again leaves it unknown in the same execution', async () => {
		const failed = await lost();
		simulator().addFault(faultFor('second', { kind: 'reset-after' }));
		const json = workflow({ unknownOutcome: 'resend' }, retryOnFail);
		await retry(failed, json);
		expect(titlesAt(simulator())).toEqual(['second']);
	});
});

describe('in a loop', () => {
	function loop() {
		const json = chain([{ name: 'Loop', type: 'test.loopTwice' }]);
		json.nodes.push(...chain([push(byTitle)]).nodes.slice(1));
		connect(json, 'Loop', NODE, 1);
		connect(json, NODE, 'Loop');
		return json;
	}

	test('each round sends all again', async () => {
		const done = await runWorkflow(loop(), { ...credentials(), input: titled('first') });
		expect(titlesAt(simulator())).toEqual(['first', 'first']);
		expect([0, 1].map((round) => outputOf(done, round)[0]?.['campaignId'])).toEqual([
			'1001',
			'1002',
		]);
	});

	test('a Retry of the second round sends what that round did not send', async () => {
		simulator().addFault({ ...faultFor('second', failure()), skip: 1, times: 1 });
		const input = titled('first', 'second');
		const failed = await runWorkflow(loop(), { ...credentials(), input });
		serveAgain();
		const done = await retry(failed, loop());
		expect(titlesAt(simulator())).toEqual(['second']);
		expect(outputOf(done, 1)).toMatchObject([{ campaignId: '1003' }, { campaignId: '1004' }]);
	});
});

test('each run of the node sends, also if the same item comes in', async () => {
	const json = chain([{ name: 'One branch', type: 'n8n-nodes-base.noOp' }, push(byTitle)]);
	json.nodes.push(...chain([{ name: 'Another', type: 'n8n-nodes-base.noOp' }]).nodes.slice(1));
	connect(json, 'Start', 'Another');
	connect(json, 'Another', NODE);
	await runWorkflow(json, { ...credentials(), input: titled('first') });
	expect(titlesAt(simulator())).toEqual(['first', 'first']);
});

test('a new execution sends all again', async () => {
	const run = async () =>
		await runWorkflow(workflow(), { ...credentials(), input: titled('first') });
	await run();
	await run();
	expect(titlesAt(simulator())).toEqual(['first', 'first']);
});

test('n8n saves a few hundred bytes for each item that was sent', async () => {
	const titles = Array.from({ length: 50 }, (_, index) => `No ${index}`);
	const done = await runWorkflow(workflow(), { ...credentials(), input: titled(...titles) });
	const context = done.data.executionData?.contextData[`node:${NODE}`];
	expect(JSON.stringify(context).length / titles.length).toBeLessThan(300);
});
