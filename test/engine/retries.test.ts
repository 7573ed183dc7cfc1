import type { INodeParameters, IRun } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import {
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	inputOf,
	NODE,
	outputOf,
	push,
	titled,
	titlesAt,
	toErrorOutput,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { itemsOf, retryRun, runWorkflow } from './support/run';
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

test('Retry On Fail never sends again what is unknown', async () => {
	simulator().addFault(faultFor('second', { kind: 'reset-after' }));
	const json = workflow({}, retryOnFail);
	const done = await runWorkflow(json, { ...credentials(), input: titled('first', 'second') });
	expect(titlesAt(simulator()).sort()).toEqual(['first', 'second']);
	expect(failureOf(done).message).toMatch(/it is unknown whether item 1 was sent/);
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

test('a Retry that fails says what was sent now and earlier', async () => {
	const { message } = failureOf(await retry(await runThree()));
	expect(message).toMatch(/\. 0 of 3 were sent now, 2 earlier\.$/);
});

test('a dry run is refused in a Retry: n8n would offer no other one after it', async () => {
	const failed = await runThree();
	serveAgain();
	const told = failureOf(await retry(failed, workflow({ dryRun: true })));
	expect(told.message).toMatch(
		/^'Dry Run' does not work in a Retry, .*\. 0 of 3 were sent now, 2 earlier\.$/,
	);
	expect(told.description).toMatch(/^Take 'Dry Run' out of the options\. 'Retry with /);
	expect(simulator().requests).toEqual([]);
	expect(outputOf(await retry(failed))).toMatchObject([{}, { status: 'success' }, {}]);
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

describe('Unknown Outcome where nothing was left unknown', () => {
	const choose = async (options: object, mode: 'manual' | 'trigger' = 'trigger') =>
		await runWorkflow(workflow({ ...options }), {
			...{ ...credentials(), mode },
			input: titled('first', 'second'),
		});
	const keyed = { idempotencyKey: '={{ $json.title }}' };

	test.each(['resend', 'countAsSent'])('is refused, keyed or not: %s', async (unknownOutcome) => {
		for (const options of [{}, keyed]) {
			for (const mode of ['manual', 'trigger'] as const) {
				const told = failureOf(await choose({ unknownOutcome, ...options }, mode));
				expect(told.message).toBe(
					"'Unknown Outcome' is set, and nothing here was left unknown. None of 2 was sent.",
				);
				expect(told.description).toMatch(/^Take 'Unknown Outcome' out of the options\./);
			}
		}
		expect(simulator().requests).toEqual([]);
	});

	test('is refused in a Retry of an execution that was only refused', async () => {
		const told = failureOf(await retry(await runThree(), workflow({ unknownOutcome: 'resend' })));
		expect(told.message).toContain('nothing here was left unknown');
		expect(titlesAt(simulator()).filter((title) => title === 'second')).toHaveLength(1);
	});

	test('is shown by a dry run', async () => {
		const [item] = outputOf(await choose({ unknownOutcome: 'resend', dryRun: true }));
		expect(item).toMatchObject({ dryRun: true, error: { type: 'validation' } });
	});

	test('changes nothing if it reports again', async () => {
		await choose({ unknownOutcome: 'report' });
		expect(titlesAt(simulator())).toEqual(['first', 'second']);
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
	/** Without the tally, which says what was sent now. */
	const reasonOf = (run: IRun) => failureOf(run).message.replace(/\. [^.]+\.$/, '');
	const lost = async () => {
		const failed = await runThree({ kind: 'reset-after' });
		serveAgain();
		return failed;
	};

	test('fails again with the same words, and is not requested', async () => {
		const failed = await lost();
		const again = await retry(failed);
		expect(reasonOf(again)).toBe(reasonOf(failed));
		expect(failureOf(again)).toMatchObject({ name: 'NodeApiError', itemIndex: 1 });
		expect(simulator().requests).toEqual([]);
	});

	test('keeps nothing else from being sent', async () => {
		simulator().addFault(faultFor('third', failure()));
		const failed = await lost();
		expect(failureOf(await retry(failed)).message).toMatch(/1 of 3 was sent now, 1 earlier\.$/);
		expect(titlesAt(simulator())).toEqual(['third']);
	});

	test('fails again with the same words although an option is not valid by then', async () => {
		const failed = await lost();
		const again = await retry(failed, workflow({ timeout: 0 }));
		expect(reasonOf(again)).toBe(reasonOf(failed));
	});

	test('is sent again with Send Again, and the hint says to take the option out', async () => {
		const done = await retry(await lost(), workflow({ unknownOutcome: 'resend' }));
		expect(titlesAt(simulator())).toEqual(['second']);
		expect(outputOf(done)[1]).toMatchObject({ title: 'second', status: 'success' });
		expect(hintsOf(done).join()).toContain("Take 'Unknown Outcome' out of the options now");
	});

	test('comes out as already sent with Count as Sent', async () => {
		const done = await retry(await lost(), workflow({ unknownOutcome: 'countAsSent' }));
		expect(simulator().requests).toEqual([]);
		const [, second] = outputOf(done);
		expect(second).toMatchObject({ audience: 'all', status: 'alreadySent', title: 'second' });
		expect(second).not.toHaveProperty('campaignId');
		expect(hintsOf(done).join()).toContain("Take 'Unknown Outcome' out of the options now");
	});

	test('comes out as already sent with Count as Sent although nothing of it is valid by then', async () => {
		const failed = await lost();
		const options = { unknownOutcome: 'countAsSent', timeout: 0 };
		const json = workflowOf({ title: "={{ '' }}", options });
		const [, second] = outputOf(
			await retryRun(failed, json, { credentials: credentialsFor(simulator(), { baseUrl: '' }) }),
		);
		expect(second).toMatchObject({ status: 'alreadySent' });
	});

	test('keeps the others from being sent if it is not valid with Send Again', async () => {
		simulator().addFault(faultFor('first', failure()));
		const failed = await runThree({ kind: 'reset-after' });
		serveAgain();
		const json = workflowOf({
			...{ title: "={{ $json.title === 'second' ? '' : $json.title }}" },
			options: { unknownOutcome: 'resend' },
		});
		const { message, description } = failureOf(await retry(failed, json));
		expect(message).toMatch(
			/^1 of 3 items is not valid\. .* Item 1 .*'Title' is empty for this item$/,
		);
		// It has decided nothing yet.
		expect(description).not.toContain('Unknown Outcome');
		expect(simulator().requests).toEqual([]);
	});

	test('says to take the option out if the push service refuses another item', async () => {
		const failed = await lost();
		simulator().addFault(faultFor('second', failure()));
		const { description } = failureOf(await retry(failed, workflow({ unknownOutcome: 'resend' })));
		expect(description).toMatch(/Take 'Unknown Outcome' out of the options now, so that it/);
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

	test('with Count as Sent, its own key is sent from then on, and not the one that it has by now', async () => {
		simulator().addFault({ ...faultFor('monday', { kind: 'reset-after' }), times: 1 });
		const json = (day: string, more = {}) => workflow({ idempotencyKey: day, ...more });
		const run = async (day: string) =>
			await runWorkflow(json(day), { ...credentials(), input: titled(day) });
		const monday = await run('monday');
		await retry(monday, json('tuesday', { unknownOutcome: 'countAsSent' }));
		expect(outputOf(await run('tuesday'))).toMatchObject([{ status: 'success' }]);
		expect(outputOf(await run('monday'))).toMatchObject([{ status: 'alreadySent' }]);
	});

	test('with Count as Sent and a key that is added then, is never sent under that key', async () => {
		const keyed = { idempotencyKey: '={{ $json.title }}' };
		await retry(await lost(), workflow({ unknownOutcome: 'countAsSent', ...keyed }));
		const titles = ['1', '2', '3', 'second', '4'];
		await runWorkflow(workflow(keyed), { ...credentials(), input: titled(...titles) });
		expect(titlesAt(simulator()).sort()).toEqual(['1', '2', '3', '4']);
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
	/** Each round sends something else. */
	const byRound = { title: '={{ $json.title.slice(0, 6) }} {{ $runIndex }}' };
	function loop(parameters: INodeParameters = byRound, more = {}) {
		const json = chain([{ name: 'Loop', type: 'test.loopTwice' }]);
		json.nodes.push(...chain([push(parameters, more)]).nodes.slice(1));
		connect(json, 'Loop', NODE, 1);
		connect(json, NODE, 'Loop');
		return json;
	}

	test('each round sends anew', async () => {
		await runWorkflow(loop(), { ...credentials(), input: titled('first') });
		expect(titlesAt(simulator())).toEqual(['first 0', 'first 1']);
	});

	test('a Retry of the second round sends what that round did not send', async () => {
		simulator().addFault({ ...faultFor('second 1', failure()), times: 1 });
		const input = titled('first', 'second');
		const failed = await runWorkflow(loop(), { ...credentials(), input });
		serveAgain();
		const done = await retry(failed, loop());
		expect(titlesAt(simulator())).toEqual(['second 1']);
		expect(outputOf(done, 1)).toMatchObject([{ campaignId: '1003' }, { campaignId: '1004' }]);
	});
});

describe('an item that comes back from the error output', () => {
	/** The error output leads back into the loop, whose second round has what failed in the first. */
	function back(options: INodeParameters = {}) {
		const json = chain([{ name: 'Loop', type: 'test.loopTwice' }]);
		json.nodes.push(...chain([push({ ...byTitle, options }, toErrorOutput)]).nodes.slice(1));
		connect(json, 'Loop', NODE, 1);
		connect(json, NODE, 'Loop', 1);
		return json;
	}
	const run = async (action: Fault['action'], options = {}) => {
		simulator().addFault({ ...faultFor('first', action), times: 1 });
		const input = titled('first', 'second');
		return await runWorkflow(back(options), { ...credentials(), input });
	};
	const failedIn = (done: IRun) => itemsOf(done, NODE, 1).map(({ json }) => json);

	test('is sent in the next round if it was refused', async () => {
		expect(failedIn(await run(failure()))).toEqual([]);
		expect(titlesAt(simulator()).sort()).toEqual(['first', 'first', 'second']);
	});

	test('stays unknown if it was, and is not sent again', async () => {
		const [item] = failedIn(await run({ kind: 'reset-after' }));
		expect(item).toMatchObject({ title: 'first', error: { outcome: 'unknown' } });
		expect(titlesAt(simulator()).sort()).toEqual(['first', 'second']);
	});

	test('stays unknown with a key, also if Send Again was left in', async () => {
		const key = { idempotencyKey: '={{ $json.title }}' };
		// Something else is unknown, so that the option is not refused.
		simulator().addFault({ ...faultFor('second', { kind: 'reset-after' }), times: 1 });
		await runWorkflow(workflow(key, continuing), { ...credentials(), input: titled('second') });
		simulator().requests.length = 0;
		const done = await run({ kind: 'reset-after' }, { ...key, unknownOutcome: 'resend' });
		expect(failedIn(done)).toMatchObject([{ title: 'first', error: { outcome: 'unknown' } }]);
		expect(titlesAt(simulator()).sort()).toEqual(['first', 'second']);
	});

	test('is not sent by a Retry either, until its user decides', async () => {
		const came = inputOf({ title: 'first', error: { outcome: 'unknown' } });
		simulator().addFault({ ...faultFor('second', failure()), times: 1 });
		const input = [...came, ...titled('second')];
		const failed = await runWorkflow(workflow(), { ...credentials(), input });
		const { message, description } = failureOf(failed);
		expect(message).toMatch(/^Do not send it again yet: it is unknown whether item 0 was sent/);
		expect(description).toContain(
			"leave out its field 'error', for example with the node Edit Fields",
		);
		serveAgain();
		await retry(failed);
		expect(titlesAt(simulator())).toEqual(['second']);
		const counted = await retry(failed, workflow({ unknownOutcome: 'countAsSent' }));
		expect(outputOf(counted)[0]).toMatchObject({ status: 'alreadySent' });
		expect(titlesAt(simulator())).toEqual(['second']);
	});

	test('is sent by a Retry with Send Again', async () => {
		const input = inputOf({ title: 'first', error: { outcome: 'unknown' } });
		const failed = await runWorkflow(workflow(), { ...credentials(), input });
		await retry(failed, workflow({ unknownOutcome: 'resend' }));
		expect(titlesAt(simulator())).toEqual(['first']);
	});
});

test('of three equal items each is known by its number', async () => {
	const equal = titled('first', 'first', 'first');
	const toOne = workflowOf({ operation: 'sendToSubscriber', subscriberId: '5001', ...byTitle });
	await runWorkflow(toOne, { ...credentials(), input: equal });
	expect(titlesAt(simulator())).toEqual(['first', 'first', 'first']);
});

test('each run of the node sends, also if the same item comes in', async () => {
	const json = chain([
		{ name: 'One branch', type: 'n8n-nodes-base.noOp' },
		push({ title: '={{ $json.title }} {{ $runIndex }}' }),
	]);
	json.nodes.push(...chain([{ name: 'Another', type: 'n8n-nodes-base.noOp' }]).nodes.slice(1));
	connect(json, 'Start', 'Another');
	connect(json, 'Another', NODE);
	await runWorkflow(json, { ...credentials(), input: titled('first') });
	expect(titlesAt(simulator())).toEqual(['first 0', 'first 1']);
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
