import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { execute } from '../../nodes/PushCampaign/execution/execute';
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
	matching,
	NODE,
	numbered,
	outputOf,
	push,
	retriesAt,
	runsAt,
	titled,
	toErrorOutput,
	toOne,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { itemsOf, ownAgentContext, runWorkflow } from './support/run';

// What a person reads when something failed, through n8n. The sentences are in unit/execution/failureTexts.md.

const simulator = useSimulator();
const run = runsAt(simulator);
const retries = retriesAt(simulator);

const said = 'The service says: "Just as the service says it".';
const retry =
	"n8n's 'Retry' of this execution, in the list of executions, sends only what was not sent, and goes on. A new execution, or a Retry of a workflow that called this one, also sends again what this one has sent.";

/** Three sends by title, of which the second one ends as given. */
async function runThree(action: Fault['action'], options = {}, more = {}) {
	simulator().addFault(faultFor('second', action));
	return await run({ ...byTitle, options }, titled('first', 'second', 'third'), more);
}

/** Sends to one subscriber each. */
const runTo = async (ids: string[], more = {}) =>
	await run(toOne, inputOf(...ids.map((id) => ({ id }))), more);

test('in the editor nothing is said about Retry as long as nothing was sent', async () => {
	simulator().addFault(faultFor('second', failure()));
	const tryOut = async (...titles: string[]) =>
		failureOf(await run(byTitle, titled(...titles), {}, { mode: 'manual' })).description;
	expect(await tryOut('second')).toBe(said);
	expect(await tryOut('first', 'second')).toBe(`${said} ${retry}`);
	// Its Retry begins in the list of executions.
	const failed = await run(byTitle, titled('second'), {}, { mode: 'manual' });
	expect(failureOf(await retries(failed, byTitle)).description).toMatch(
		/n8n's 'Retry' .* goes on\.$/,
	);
});

test('in the editor Retry is named if an earlier try, or an earlier round, has sent', async () => {
	simulator().addFault(faultFor('second', failure()));
	const options = { credentials: credentialsFor(simulator()), mode: 'manual' } as const;
	const tries = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
	const tried = await run(byTitle, titled('first', 'second'), tries, options);
	expect(failureOf(tried).description).toBe(`${said} ${retry}`);
	const json = loopOf(push({ title: "={{ $runIndex === 0 ? 'first' : 'second' }}" }));
	const looped = await runWorkflow(json, { ...options, input: titled('a') });
	expect(failureOf(looped).description).toBe(`${said} ${retry}`);
});

describe('what was refused by the service', () => {
	test('is counted in the message, behind which n8n writes no number of one item', async () => {
		const told = failureOf(await runThree(failure()));
		expect(told).toMatchObject({ name: 'NodeApiError', itemIndex: undefined, httpCode: '500' });
		expect(told.cause).toBe('temporarily-unavailable');
		expect(told.description).toBe(`${said} ${retry}`);
		expect(told.message).toBe(
			'The push service could not carry out the request. 2 of these 3 were sent.',
		);
	});

	test('says nothing of a new execution if all that was sent has an ID', async () => {
		const { description } = failureOf(
			await runThree(failure(), { idempotencyKey: '={{ $json.title }}' }),
		);
		expect(description).toMatch(/only what was not sent, and goes on\.$/);
	});
});

test('a run of one item says that this was not sent', async () => {
	simulator().addFault(faultFor(undefined, failure('authentication_failure')));
	const { message, description } = failureOf(await run());
	expect(message).toBe('The push service does not accept the credential. This was not sent.');
	expect(description).toMatch(/n8n's 'Retry' /);
});

test('all reasons of an item are in one message', async () => {
	const button = [{ title: 'Buy', url: "={{ '' }}" }];
	const wrong = { title: "={{ '' }}", targetUrl: 'nowhere', actionButtons: { button } };
	const { message } = failureOf(await run(wrong));
	expect(message).toMatch(
		/^'Title': \{\{ .* gave nothing; 'Target URL' is not .*; 'URL' in button 1 .* gave nothing/,
	);
});

test.each([
	{ what: 'Stop', more: {} },
	{ what: 'Continue', more: continuing },
])(
	'a workflow whose timezone is none sends nothing, with $what, and its settings are named',
	async ({ more }) => {
		const json = {
			...workflowOf({ title: '={{ $json.title }}' }, more),
			settings: { timezone: 'Asia/Kolkatta' },
		};
		const done = await runWorkflow(json, {
			credentials: credentialsFor(simulator()),
			input: titled('a'),
		});
		expect(JSON.stringify(done)).toContain(
			'The timezone in the workflow\'s settings is none: \\"Asia/Kolkatta\\"',
		);
		expect(JSON.stringify(done)).not.toContain('unknown');
		expect(simulator().requests).toEqual([]);
	},
);

describe('a subscriber who does not exist', () => {
	const gone = ['999', '1007'];

	test('is no failure if others were reached: a flat row, and a hint that names who', async () => {
		const ids = [
			'999',
			'5001',
			'1007',
			...Array.from({ length: 57 }, (_, index) => `${5002 + index}`),
		];
		for (const more of [{}, continuing]) {
			const done = await runTo(ids, more);
			expect(done.status).toBe('success');
			expect(outputOf(done)[0]).toStrictEqual({
				...{ subscriberId: '999', audience: 'subscriber', status: 'notSent' },
				description: 'The push service has no subscriber 999',
				...{ title: 'Summer sale', recipients: 'subscriber 999' },
			});
			expect(hintsOf(done)).toEqual([
				'58 sent: to 58 subscribers.',
				'Not sent: items 0 (subscriber 999), 2 (subscriber 1007), counted from 0: the push service has no such subscriber.',
			]);
		}
		expect(simulator().requests).toHaveLength(120);
	});

	test('goes to the error output where there is one', async () => {
		const done = await runTo(['5001', '999'], toErrorOutput);
		expect(outputOf(done)).toHaveLength(1);
		expect(itemsOf(done, NODE, 1)).toMatchObject([{ json: { error: { type: 'invalid_sid' } } }]);
		expect(hintsOf(done)).toEqual([
			'1 of 2 items failed: see the Error output. Not sent: item 1 (subscriber 999), counted from 0.',
			'1 sent: to subscriber 5001.',
		]);
	});

	test('fails a run of several that reached nobody, which is what a wrong column looks like', async () => {
		const told = failureOf(await runTo(gone));
		expect(told).toMatchObject({ httpCode: '404', cause: 'configuration-invalid' });
		expect(told.message).toBe(
			'The push service has no subscribers 999, 1007. None of these 2 was sent.',
		);
		expect(told.description).toMatch(
			/^The service says: "Subscriber not found"\. They may have unsubscribed\. n8n's 'Retry' /,
		);
	});

	test('is no failure of a run of one, as in a loop and a sub-workflow: what stands behind goes on', async () => {
		for (const mode of ['trigger', 'integrated'] as const) {
			const done = await run(toOne, inputOf({ id: '999' }), {}, { mode });
			expect(outputOf(done)).toMatchObject([{ status: 'notSent' }]);
		}
	});

	test('is no failure of a Retry, where the others were sent or all are gone', async () => {
		simulator().addFault(faultFor('5001', failure(), 1));
		const failed = await runTo(['5001', '999']);
		expect(outputOf(await retries(failed, toOne))).toMatchObject([
			{ status: 'success' },
			{ status: 'notSent' },
		]);
		expect(outputOf(await retries(await runTo(gone), toOne))).toMatchObject([
			{ status: 'notSent' },
			{ status: 'notSent' },
		]);
	});
});

test('an unknown outcome comes before what was refused, and says to look, or to ask one subscriber', async () => {
	simulator().addFault(faultFor('first', failure()));
	const { message, description } = failureOf(await runThree(lost));
	expect(message).toBe(
		'Do not send it again yet: it is unknown whether item 1 ("second") was sent (the connection was lost before the push service answered). 1 of these 3 was sent.',
	);
	expect(description).toMatch(/^The service says: .* Look for it in the dashboard /);
	simulator().addFault(faultFor('5002', lost));
	const ofOne = failureOf(await runTo(['5001', '5002']));
	expect(ofOne.message).toContain('item 1 (subscriber 5002)');
	expect(ofOne.description).toContain('ask whether it arrived');
});

test('items that are not valid keep all from being sent: how many, which, and the reason', async () => {
	const told = failureOf(await runTo(['5001', '12 34', '12 34']));
	expect(told).toMatchObject({ name: 'NodeOperationError', itemIndex: undefined });
	expect(told.message).toMatch(
		/^2 of 3 items are not valid\. None of these 3 was sent\. Items 1 \(subscriber 12 34\), 2 \(subscriber 12 34\), counted from 0: 'Subscriber ID' /,
	);
	expect(told.description).toMatch(/^Use one item for each ID\. n8n's 'Retry' /);
	expect(simulator().requests).toEqual([]);
});

test('an execution that quotes the word canceled fails: n8n does not take it for canceled', async () => {
	const done = await run({ targetUrl: 'canceled.example' });
	expect(done.status).toBe('error');
	expect(failureOf(done).message).toMatch(/^'Target URL' is not an http/);
});

/** Runs the node outside of a workflow, with items as no workflow hands them on. */
async function runWith(
	parameters: INodeParameters,
	input: INodeExecutionData[],
	{ more = {}, timezone }: { more?: object; timezone?: () => never } = {},
) {
	const credentials = credentialsFor(simulator());
	const context = ownAgentContext(workflowOf(parameters, more), { credentials, input });
	if (timezone !== undefined) jest.spyOn(context, 'getTimezone').mockImplementation(timezone);
	return await execute(context);
}

test('an operation that does not exist sends nothing, and says what to choose', async () => {
	await expect(runWith({ operation: 'sendToNobody' }, titled('a'))).rejects.toMatchObject({
		...{ message: 'Operation is not known', description: 'Choose a resource and an operation.' },
	});
	expect(simulator().requests).toEqual([]);
});

test('an item that holds itself is sent like any other', async () => {
	const json: IDataObject = { title: 'first' };
	json['self'] = json;
	expect(await runWith(byTitle, [{ json }])).toMatchObject([{ json: { status: 'success' } }]);
});

test('after the first hard failure no further item starts, and those in flight finish', async () => {
	simulator().addFault(faultFor('No 0"', failure('invalid_value')));
	simulator().addFault(faultFor(undefined, { kind: 'delay', ms: 300 }));
	const { message } = failureOf(await run(byTitle, numbered(60)));
	const arrived = simulator().requests.length;
	expect(arrived).toBeLessThanOrEqual(20);
	expect(message).toBe(
		`The push service does not accept one of the values. ${arrived - 1} of these 60 were sent.`,
	);
});

const both = 'k3y-secret t0k3n-secret';
test.each<[string, Fault['action'] | 'unreachable']>([
	['a failure that repeats them', { kind: 'failure', type: 'k3y-secret', description: both }],
	[
		'a success that repeats them',
		{ kind: 'respond', body: `{"status":"success","ID":7,"description":"${both}"}` },
	],
	['a page that repeats them', { kind: 'respond', status: 403, body: both }],
	[
		'a redirect that repeats them',
		{ kind: 'redirect', location: 'https://k3y-secret.example/?t0k3n-secret' },
	],
	['a connection that is lost', lost],
	['no connection', 'unreachable'],
])('the key and the token are in nothing that n8n saves after %s', async (_what, action) => {
	const { url } = simulator();
	if (action !== 'unreachable') simulator().addFault({ times: 0, action });
	const baseUrl = action === 'unreachable' ? 'http://127.0.0.1:1' : url;
	const secrets = { baseUrl, apiKey: 'k3y-secret', authToken: 't0k3n-secret' };
	for (const more of [{}, continuing]) {
		const credentials = credentialsFor(simulator(), secrets);
		const done = await run({}, inputOf({}), more, { credentials });
		expect(done.data.resultData.runData[NODE]).toHaveLength(1);
		expect(JSON.stringify(done)).not.toMatch(/k3y|t0k3n/i);
		expect(String(done.data.resultData.error?.stack)).not.toMatch(/k3y|t0k3n/i);
	}
});

describe('a defect of the node', () => {
	const bug = {
		message: 'This is a bug in the Push Campaign node: x is undefined',
		description: matching(/Report it to the maintainers/),
	};
	const defect = () => {
		throw new TypeError('x is undefined');
	};
	const read = { resource: 'site', operation: 'getSubscriberCount' };
	const runWithDefect = async (parameters: INodeParameters, more = {}) =>
		await runWith(parameters, titled('first', 'second'), { more, timezone: defect });

	test('that one item meets keeps all from being sent, and the words say so', async () => {
		const input = inputOf({ title: 'first' }, { title: 'second', bad: { toJSON: defect } });
		await expect(runWith(byTitle, input)).rejects.toMatchObject(bug);
		expect(simulator().requests).toEqual([]);
	});

	test('says of a send to look what was sent', async () => {
		const description = matching(/^It is unknown what was sent: look in the dashboard .* Report/);
		await expect(runWithDefect({})).rejects.toMatchObject({ ...bug, description });
	});

	test('says of a read how to report it', async () => {
		const description = matching(/^Report it to the maintainers/);
		await expect(runWithDefect(read)).rejects.toMatchObject({ ...bug, description });
	});

	test('fails each item of a run that goes on: n8n would hand the input on', async () => {
		const error = { ...bug, type: 'unspecified' };
		const json = {
			...{ status: 'unknown', description: bug.message },
			error: { ...error, outcome: 'unknown' },
		};
		expect(await runWithDefect({}, continuing)).toEqual([
			{ json, pairedItem: { item: 0 } },
			{ json, pairedItem: { item: 1 } },
		]);
		expect(await runWithDefect(read, continuing)).toEqual([
			{ json: { error }, pairedItem: { item: 0 } },
			{ json: { error }, pairedItem: { item: 1 } },
		]);
	});
});
