import type { INodeParameters, IRun } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import {
	branchesTo,
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
	expect(outputOf(await retry(failed))[1]).toMatchObject({ campaignId: '1003' });
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
	test.each(['resend', 'countAsSent'])('is refused, keyed or not: %s', async (unknownOutcome) => {
		for (const more of [{}, keyed]) {
			for (const mode of ['manual', 'trigger'] as const) {
				const parameters = { ...byTitle, options: { unknownOutcome, ...more } };
				const told = failureOf(await run(parameters, three, {}, { mode }));
				expect(told.message).toBe(
					"'Unknown Outcome' is set, and nothing here was left unknown. None of 3 was sent.",
				);
				expect(told.description).toMatch(/^Take 'Unknown Outcome' out of the options\./);
			}
		}
		expect(simulator().requests).toEqual([]);
	});

	test('is refused in a Retry of an execution that was only refused', async () => {
		const told = failureOf(await retry(await runThree(), { unknownOutcome: 'resend' }));
		expect(told.message).toContain('nothing here was left unknown');
		expect(titlesAt(simulator()).filter((title) => title === 'second')).toHaveLength(1);
	});

	test('is shown by a dry run, but for a key: a dry run does not ask it', async () => {
		const options = { unknownOutcome: 'resend', dryRun: true };
		const [item] = outputOf(await run({ ...byTitle, options }, three));
		expect(item).toMatchObject({ dryRun: true, error: { type: 'validation' } });
		const [other] = outputOf(await run({ ...byTitle, options: { ...options, ...keyed } }, three));
		expect(other).toMatchObject({ dryRun: true, request: {} });
	});
});

describe('what an execution left unknown', () => {
	/** Without the tally, which says what was sent now. */
	const reasonOf = (done: IRun) => failureOf(done).message.replace(/\. [^.]+\.$/, '');
	const leaveUnknown = async () => {
		const failed = await runThree(lost);
		serveAgain();
		return failed;
	};
	const takeOut = "Take 'Unknown Outcome' out of the options now, so that it";

	test('fails again with the same words, is not requested, and keeps nothing else back', async () => {
		simulator().addFault(faultFor('third', failure()));
		const failed = await leaveUnknown();
		const again = await retry(failed);
		expect(reasonOf(again)).toBe(reasonOf(failed));
		expect(failureOf(again)).toMatchObject({ name: 'NodeApiError', itemIndex: 1 });
		expect(failureOf(again).message).toMatch(/1 of 3 was sent now, 1 earlier\.$/);
		expect(titlesAt(simulator())).toEqual(['third']);
	});

	test('fails again with the same words although an option is not valid by then', async () => {
		const failed = await leaveUnknown();
		expect(reasonOf(await retry(failed, { timeout: 0 }))).toBe(reasonOf(failed));
	});

	test('is sent again with Send Again, and the hint says to take the option out', async () => {
		const done = await retry(await leaveUnknown(), { unknownOutcome: 'resend' });
		expect(titlesAt(simulator())).toEqual(['second']);
		expect(outputOf(done)[1]).toMatchObject({ title: 'second', status: 'success' });
		expect(hintsOf(done).join()).toContain(takeOut);
	});

	test('comes out as already sent with Count as Sent', async () => {
		const done = await retry(await leaveUnknown(), { unknownOutcome: 'countAsSent' });
		expect(simulator().requests).toEqual([]);
		const [, second] = outputOf(done);
		expect(second).toMatchObject({ audience: 'all', status: 'alreadySent', title: 'second' });
		expect(second).not.toHaveProperty('campaignId');
		expect(hintsOf(done).join()).toContain(takeOut);
	});

	test('comes out as already sent with Count as Sent although nothing of it is valid by then', async () => {
		const failed = await leaveUnknown();
		const invalid = {
			...{ title: "={{ '' }}", additionalFields: { sendAt: '2024-05-17 09:30' } },
			options: { unknownOutcome: 'countAsSent', timeout: 0 },
		};
		const credentials = credentialsFor(simulator(), { baseUrl: '' });
		const [, second] = outputOf(await retryWith(failed, invalid, {}, { credentials }));
		expect(second).toMatchObject({ status: 'alreadySent' });
	});

	test('keeps the others from being sent if it is not valid with Send Again', async () => {
		simulator().addFault(faultFor('first', failure()));
		const failed = await leaveUnknown();
		const title = "={{ $json.title === 'second' ? '' : $json.title }}";
		const invalid = { title, options: { unknownOutcome: 'resend' } };
		const { message, description } = failureOf(await retryWith(failed, invalid));
		expect(message).toMatch(
			/^1 of 3 items is not valid\. .* Item 1 .*'Title' is empty for this item$/,
		);
		// It has decided nothing yet.
		expect(description).not.toContain('Unknown Outcome');
		expect(simulator().requests).toEqual([]);
	});

	test('says to take the option out if the push service refuses another item', async () => {
		const failed = await leaveUnknown();
		simulator().addFault(faultFor('second', failure()));
		const { description } = failureOf(await retry(failed, { unknownOutcome: 'resend' }));
		expect(description).toContain(takeOut);
	});

	test('with Count as Sent, its own key is sent from then on, and not the one that it has by now', async () => {
		simulator().addFault(faultFor('monday', lost, 1));
		const runOn = async (idempotencyKey: string) =>
			await run({ ...byTitle, options: { idempotencyKey } }, titled(idempotencyKey));
		const monday = await runOn('monday');
		await retry(monday, { idempotencyKey: 'tuesday', unknownOutcome: 'countAsSent' });
		expect(outputOf(await runOn('tuesday'))).toMatchObject([{ status: 'success' }]);
		expect(outputOf(await runOn('monday'))).toMatchObject([{ status: 'alreadySent' }]);
	});

	test('with Count as Sent and a key that is added then, is never sent under that key', async () => {
		await retry(await leaveUnknown(), { unknownOutcome: 'countAsSent', ...keyed });
		await run({ ...byTitle, options: keyed }, titled('1', '2', '3', 'second', '4'));
		expect(titlesAt(simulator()).sort()).toEqual(['1', '2', '3', '4']);
	});

	test('is not sent a third time if Send Again leaves it unknown in the same execution', async () => {
		const failed = await leaveUnknown();
		simulator().addFault(faultFor('second', lost));
		await retry(failed, { unknownOutcome: 'resend' }, retryOnFail);
		expect(titlesAt(simulator())).toEqual(['second']);
	});
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

	test('stays unknown with a key, also if Send Again was left in', async () => {
		// Something else is unknown, so that the option is not refused.
		simulator().addFault(faultFor('second', lost, 1));
		await run({ ...byTitle, options: keyed }, titled('second'), continuing);
		simulator().requests.length = 0;
		const done = await runBack(lost, { ...keyed, unknownOutcome: 'resend' });
		expect(failedIn(done)).toMatchObject(unknown);
		expect(titlesAt(simulator()).sort()).toEqual(['first', 'second']);
	});

	const cameBack = inputOf({ title: 'first', error: { outcome: 'unknown' } });

	test('is not sent by a Retry either, until its user decides', async () => {
		simulator().addFault(faultFor('second', failure(), 1));
		const failed = await run(byTitle, [...cameBack, ...titled('second')]);
		const { message, description } = failureOf(failed);
		expect(message).toMatch(/^Do not send it again yet: it is unknown whether item 0 was sent/);
		expect(description).toContain(
			"leave out its field 'error', for example with the node Edit Fields",
		);
		serveAgain();
		await retry(failed);
		const counted = await retry(failed, { unknownOutcome: 'countAsSent' });
		expect(outputOf(counted)[0]).toMatchObject({ status: 'alreadySent' });
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

	test('is sent by a Retry with Send Again', async () => {
		await retry(await run(byTitle, cameBack), { unknownOutcome: 'resend' });
		expect(titlesAt(simulator())).toEqual(['first']);
	});
});

test('of three equal items each is known by its number', async () => {
	const equal = inputOf({ id: 5001 }, { id: 5001 }, { id: 5001 });
	expect(outputOf(await run(toOne, equal))).toHaveLength(3);
	expect(simulator().requests).toHaveLength(3);
});

test('each run of the node sends, also if the same item comes in', async () => {
	const json = branchesTo(push({ title: '={{ $json.title }} {{ $runIndex }}' }));
	await runWorkflow(json, { credentials: credentialsFor(simulator()), input: titled('first') });
	expect(titlesAt(simulator())).toEqual(['first 0', 'first 1']);
});

test('n8n saves a few hundred bytes for each item that was sent', async () => {
	const done = await run(byTitle, numbered(50));
	const context = done.data.executionData?.contextData[`node:${NODE}`];
	expect(JSON.stringify(context).length / 50).toBeLessThan(300);
});
