import type { INodeParameters, IRun } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import {
	byTitle,
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	inputOf,
	loopOf,
	lost,
	NODE,
	numbered,
	outputOf,
	push,
	retriesAt,
	runsAt,
	titled,
	titlesAt,
	toErrorOutput,
	toOne,
	useSimulator,
} from './support/pushCampaign';
import { itemsOf, retryRun, runWorkflow } from './support/run';
import { chain } from './support/workflow';

// Nothing that was sent is sent again when n8n runs the same node again for the same execution.

const simulator = useSimulator();
const run = runsAt(simulator);
const retryWith = retriesAt(simulator);

const retryOnFail = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
const keyed = { idempotencyKey: '={{ $json.title }}' };
const three = titled('first', 'second', 'third');

/** Three sends, of which the second one ends as given. */
const runThree = async (action = failure(), more = {}) => {
	simulator().addFault(faultFor('second', action));
	return await run(byTitle, three, more);
};
const retry = async (failed: IRun, options: INodeParameters = {}, more = {}) =>
	await retryWith(failed, { ...byTitle, options }, more);

/** From now on the service answers, and what arrived until now does not count. */
function serveAgain() {
	simulator().clearFaults();
	simulator().requests.length = 0;
}

test.each([
	{ what: 'was not sent', fault: faultFor('first', failure(), 2), more: {}, tries: 3 },
	// n8n looks at the first item alone (n8n-core 2.41.1: `workflow-execute.js`).
	{ what: 'failed with Continue', fault: faultFor('first', failure()), more: continuing, tries: 3 },
	{ what: 'is unknown', fault: faultFor('first', lost), more: {}, tries: 1 },
])('Retry On Fail requests what $what $tries times, and nothing else again', async (row) => {
	simulator().addFault(row.fault);
	await run(byTitle, three, { ...row.more, ...retryOnFail });
	const firsts = Array.from({ length: row.tries }, () => 'first');
	expect(titlesAt(simulator()).sort()).toEqual([...firsts, 'second', 'third']);
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
	expect(titlesAt(simulator())).toEqual(['second']);
});

test('Retry knows an item by its place, and does not judge again what was sent', async () => {
	const failed = await runThree();
	serveAgain();
	// Everything is edited in between, and it would not even be valid for the first one.
	const edited = {
		...{ operation: 'sendToSegments', segmentIds: '12', message: 'Corrected' },
		title: "={{ $json.title === 'second' ? 'corrected' : '' }}",
		options: { timeout: "={{ $json.title === 'second' ? 1000 : 0 }}" },
	};
	const credentials = credentialsFor(simulator(), { allowHttp: true });
	const done = await retryWith(failed, edited, {}, { credentials });
	expect(titlesAt(simulator())).toEqual(['corrected']);
	expect(outputOf(done)).toMatchObject([
		{ title: 'first', audience: 'all' },
		{ title: 'corrected', audience: 'segments' },
		{ title: 'third', audience: 'all' },
	]);
});

test('a dry run is refused in a Retry: n8n would offer no other one after it', async () => {
	const failed = await runThree();
	serveAgain();
	const told = failureOf(await retry(failed, { dryRun: true }));
	expect(told.message).toBe(
		"'Dry Run' does not work in a Retry, because n8n would offer no other one after it. 0 of these 3 were sent now, 2 earlier.",
	);
	expect(told.description).toMatch(
		/^Take 'Dry Run' out of the options\. n8n's 'Retry' .* A new execution, .* also sends again what this one has sent\.$/,
	);
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

describe('what an execution left unknown', () => {
	const statuses = (done: IRun) => outputOf(done).map(({ status }) => status);
	const leaveUnknown = async () => {
		const failed = await runThree(lost);
		serveAgain();
		return failed;
	};
	const reported = ['success', 'unknown', 'success'];

	test('is a row of its Retry, without an error, and a hint: what stands behind the node goes on', async () => {
		const done = await retry(await leaveUnknown());
		expect(statuses(done)).toEqual(reported);
		expect(outputOf(done)[1]).not.toHaveProperty('error');
		expect(hintsOf(done)).toEqual([
			'Nothing was sent now. 2 were sent earlier.',
			'Unknown: item 1 ("second"), counted from 0: nobody knows whether it was sent earlier.'.replaceAll(
				'"',
				'&#34;',
			),
		]);
		expect(simulator().requests).toEqual([]);
	});

	test('keeps nothing else back', async () => {
		simulator().addFault(faultFor('third', failure()));
		expect(statuses(await retry(await leaveUnknown()))).toEqual(reported);
		expect(titlesAt(simulator())).toEqual(['third']);
	});

	test('stays so although an option is not valid by then, or it has another ID', async () => {
		for (const options of [{ timeout: 0 }, keyed]) {
			expect(statuses(await retry(await leaveUnknown(), options))).toEqual(reported);
			expect(simulator().requests).toEqual([]);
		}
	});
});

test('what was sent under an ID earlier is not sent by a Retry with another ID', async () => {
	const options = { idempotencyKey: '={{ $json.title }}' };
	await run({ ...byTitle, options }, titled('first', 'third'));
	simulator().addFault(faultFor('second', failure(), 1));
	const failed = await run({ ...byTitle, options }, three);
	serveAgain();
	const done = await retry(failed, { idempotencyKey: '=other-{{ $json.title }}' });
	expect(titlesAt(simulator())).toEqual(['second']);
	expect(outputOf(done).map(({ status }) => status)).toEqual([
		...['alreadySent', 'success', 'alreadySent'],
	]);
});

test('a Retry of the second round of a loop sends what that round did not send', async () => {
	simulator().addFault(faultFor('second 1', failure(), 1));
	const json = loopOf(push({ title: '={{ $json.title.slice(0, 6) }} {{ $runIndex }}' }));
	const options = { credentials: credentialsFor(simulator()), input: titled('first', 'second') };
	const failed = await runWorkflow(json, options);
	serveAgain();
	const done = await retryRun(failed, json, options);
	expect(titlesAt(simulator())).toEqual(['second 1']);
	expect(outputOf(done, 1)).toMatchObject([{ campaignId: '1003' }, { campaignId: '1004' }]);
});

describe('an item that comes back from the error output', () => {
	const options = () => ({ credentials: credentialsFor(simulator()), input: three.slice(0, 2) });
	const runBack = async (action: Fault['action'] = lost, more = {}) => {
		simulator().addFault(faultFor('first', action, 1));
		const node = push({ ...byTitle, options: more }, toErrorOutput);
		return await runWorkflow(loopOf(node, 'error output'), options());
	};
	const failedIn = (done: IRun) => itemsOf(done, NODE, 1).map(({ json }) => json);
	const unknown = [{ title: 'first', error: { outcome: 'unknown' } }];

	test('is sent in the next round if it was refused', async () => {
		expect(failedIn(await runBack(failure()))).toEqual([]);
		expect(titlesAt(simulator()).sort()).toEqual(['first', 'first', 'second']);
	});

	test('stays unknown if it was, and is not sent again, unlike what was refused beside it', async () => {
		simulator().addFault(faultFor('second', failure(), 1));
		expect(failedIn(await runBack())).toMatchObject(unknown);
		expect(titlesAt(simulator()).sort()).toEqual(['first', 'second', 'second']);
	});

	test('is a row that says so under an ID, and is not sent again', async () => {
		const done = await runBack(lost, keyed);
		expect(outputOf(done)).toMatchObject([{ status: 'unknown', idempotencyKey: 'first' }]);
		expect(titlesAt(simulator()).sort()).toEqual(['first', 'second']);
	});

	test('is sent if its error names no outcome, as that of another node', async () => {
		await run(byTitle, inputOf({ title: 'first', error: { message: 'Not found' } }));
		expect(titlesAt(simulator())).toEqual(['first']);
	});

	const cameBack = inputOf({ title: 'first', error: { outcome: 'unknown' } });

	test('is not sent by a Retry either', async () => {
		simulator().addFault(faultFor('second', failure(), 1));
		const failed = await run(byTitle, [...cameBack, ...titled('second')]);
		expect(failureOf(failed).message).toMatch(
			/whether item 0 \("first"\) was sent \(what came in is marked as unknown by another send\)/,
		);
		serveAgain();
		// It is reported: a row, and the Retry is green.
		expect(outputOf(await retry(failed))).toMatchObject([
			{ status: 'unknown' },
			{ status: 'success' },
		]);
		expect(titlesAt(simulator())).toEqual(['second']);
	});

	test('is not sent by another node under the same ID either', async () => {
		simulator().addFault({ ...faultFor('first', { kind: 'reset-after' }), times: 1 });
		const json = chain([
			push({ ...byTitle, options: keyed }, { name: 'Before', id: 'before', ...continuing }),
			push({ ...byTitle, options: keyed }, continuing),
		]);
		const credentials = credentialsFor(simulator());
		const done = await runWorkflow(json, { credentials, input: titled('first') });
		expect(outputOf(done)).toMatchObject([{ status: 'unknown' }]);
		expect(titlesAt(simulator())).toEqual(['first']);
	});
});

test('of three equal items to one subscriber each is known by its number', async () => {
	const equal = inputOf({ id: 5001 }, { id: 5001 }, { id: 5001 });
	expect(outputOf(await run(toOne, equal))).toHaveLength(3);
	expect(simulator().requests).toHaveLength(3);
});

test('n8n saves a few hundred bytes for each item that was sent', async () => {
	const done = await run(byTitle, numbered(50));
	const context = done.data.executionData?.contextData[`node:${NODE}`];
	expect(JSON.stringify(context).length / 50).toBeLessThan(300);
});
