import type { IDataObject, INodeParameters, IRun } from 'n8n-workflow';
import { execute } from '../../nodes/PushCampaign/execution/execute';
import type { Fault } from '../../simulator';
import {
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	inputOf,
	matching,
	NODE,
	outputOf,
	push,
	titled,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { ownAgentContext, runWorkflow } from './support/run';
import { chain, connect } from './support/workflow';

// What a person reads when something failed, through n8n. The sentences are in unit/execution/failureTexts.md.

const simulator = useSimulator();
useDatabase();

const run = async (parameters: INodeParameters, input = inputOf({}), more = {}): Promise<IRun> =>
	await runWorkflow(workflowOf(parameters, more), {
		credentials: credentialsFor(simulator()),
		input,
	});

const said = 'The service says: "Just as the service says it".';

/** Three sends by title, of which the second one ends as given. */
async function runThree(action: Fault['action'], options = {}, more = {}) {
	simulator().addFault(faultFor('second', action));
	const parameters = { title: '={{ $json.title }}', options };
	return await run(parameters, titled('first', 'second', 'third'), more);
}

/** Three sends to one subscriber each. */
const runToThree = async (ids: string[], more = {}) =>
	await run(
		{ operation: 'sendToSubscriber', subscriberId: '={{ $json.id }}' },
		inputOf(...ids.map((id) => ({ id }))),
		more,
	);

/** What a message and its description say, sentence by sentence. */
const sentencesOf = ({ message, description }: { message: string; description: string }) =>
	`${message}. ${description}`.split(/(?<=\.["']?)\s+/);

test.each([
	['header_invalid', '401', 'credential-invalid'],
	['authentication_failure', '401', 'credential-invalid'],
	['invalid_sid', '404', 'configuration-invalid'],
	['invalid_value', '400', 'configuration-invalid'],
	['bad_request', '400', 'configuration-invalid'],
	[undefined, '500', 'temporarily-unavailable'],
])('a failure of the type %s has the code %s and the cause %s', async (type, httpCode, cause) => {
	simulator().addFault(faultFor(undefined, failure(type)));
	const told = failureOf(await run({}));
	expect(told).toMatchObject({ name: 'NodeApiError', httpCode, cause, itemIndex: 0 });
	expect(told.description.startsWith(`${said} `)).toBe(true);
	expect(told.message).not.toMatch(/error|problem|failure|mistake/i);
	expect(new Set(sentencesOf(told)).size).toBe(sentencesOf(told).length);
});

const retry =
	"'Retry with currently saved workflow', in the list of executions, sends only what was not sent, with the items of this execution.";

test('a credential that is not accepted names what to check, and what Retry does', async () => {
	const done = await runWorkflow(workflowOf(), {
		credentials: credentialsFor(simulator(), { apiKey: 'wrong' }),
	});
	const { message, description } = failureOf(done);
	expect(message).toBe('The push service does not accept the credential');
	expect(description).toBe(
		`The service says: "You are not authorized". Check 'API Key' and 'Auth Token' in the Push Campaign API credential. ${retry}`,
	);
});

test('in the editor nothing is said about Retry as long as nothing was sent', async () => {
	simulator().addFault(faultFor('second', failure()));
	const tryOut = async (...titles: string[]) =>
		failureOf(
			await runWorkflow(workflowOf({ title: '={{ $json.title }}' }), {
				...{ credentials: credentialsFor(simulator()), input: titled(...titles) },
				mode: 'manual',
			}),
		).description;
	expect(await tryOut('second')).toBe(said);
	expect(await tryOut('first', 'second')).toBe(`${said} ${retry}`);
});

test('in the editor Retry is named if an earlier try, or an earlier round, has sent', async () => {
	simulator().addFault(faultFor('second', failure()));
	const options = { credentials: credentialsFor(simulator()), mode: 'manual' } as const;
	const tries = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
	const parameters = { title: '={{ $json.title }}' };
	const tried = await runWorkflow(workflowOf(parameters, tries), {
		...{ ...options, input: titled('first', 'second') },
	});
	expect(failureOf(tried).description).toBe(`${said} ${retry}`);
	const round = { title: "={{ $runIndex === 0 ? 'first' : 'second' }}" };
	const json = chain([{ name: 'Loop', type: 'test.loopTwice' }]);
	json.nodes.push(...chain([push(round)]).nodes.slice(1));
	connect(json, 'Loop', NODE, 1);
	connect(json, NODE, 'Loop');
	const looped = await runWorkflow(json, { ...options, input: titled('a') });
	expect(failureOf(looped).description).toBe(`${said} ${retry}`);
});

describe('what was refused by the service', () => {
	test('is counted in the message, and has its place in the error', async () => {
		const told = failureOf(await runThree(failure()));
		expect(told).toMatchObject({ itemIndex: 1, description: `${said} ${retry}` });
		expect(told.message).toBe(
			'The push service could not carry out the request. 2 of 3 were sent.',
		);
	});

	test('has a hint with Continue: how many, where to look, and which', async () => {
		const [hint = ''] = hintsOf(await runThree(failure(), {}, continuing));
		expect(hint).toBe(
			'1 of 3 items failed: see the error column. Not sent: item 1 (counted from 0).',
		);
	});

	test('says with Continue and Send Only Once that an ID that was sent is not sent again', async () => {
		const options = { idempotencyKey: '={{ $json.title }}' };
		const done = await runThree(failure(), options, continuing);
		expect(hintsOf(done)[0]).toMatch(/An ID that was sent is not sent again\.$/);
		expect(outputOf(done)[1]).toMatchObject({
			error: { description: `${said} An ID that was sent is not sent again.` },
		});
	});
});

describe('a subscriber who does not exist', () => {
	const message = 'The push service has no subscriber 999';
	const ids = ['5001', '999', ...Array.from({ length: 58 }, (_, index) => `${5002 + index}`)];

	test('stops no other one, and is named with its field', async () => {
		const told = failureOf(await runToThree(ids));
		expect(told).toMatchObject({ message: `${message}. 59 of 60 were sent.`, httpCode: '404' });
		expect(told).toMatchObject({ itemIndex: 1, cause: 'configuration-invalid' });
		expect(told.description).toBe(
			`The service says: "Subscriber not found". They may have unsubscribed: correct 'Subscriber ID', or take them out of the list. With On Error set to Continue, the workflow goes on with the others. ${retry}`,
		);
		expect(simulator().requests).toHaveLength(60);
	});

	test('keeps no other round of a loop from being sent, if the workflow goes on', async () => {
		const { description } = failureOf(await runToThree(['999']));
		expect(description).toContain('With On Error set to Continue, the workflow goes on with the');
	});

	test('is named beside others who do not exist', async () => {
		const told = failureOf(await runToThree(['999', '5001', '1007']));
		expect(told.message).toBe('The push service has no subscribers 999, 1007. 1 of 3 was sent.');
	});

	test('has a row with its ID and without a campaign ID with Continue', async () => {
		const [, item] = outputOf(await runToThree(['5001', '999', '5003'], continuing));
		expect(item).toMatchObject({
			...{ subscriberId: '999', audience: 'subscriber', status: 'notSent', description: message },
			error: { message, type: 'invalid_sid', httpCode: '404', outcome: 'notSent' },
		});
	});
});

describe('an unknown outcome', () => {
	const lost = { kind: 'reset-after' } as const;

	test('names the item, says to look, to choose, to retry, and to take the option out', async () => {
		const { message, description } = failureOf(await runThree(lost));
		expect(message).toBe(
			'Do not send it again yet: it is unknown whether item 1 was sent (the connection was lost before the push service answered). 2 of 3 were sent.',
		);
		expect(description).toMatch(
			/^Unknown: item 1 \(counted from 0\)\. Look for it in the dashboard .*Then use 'Retry with currently saved workflow' in the list of executions, and take the option out afterwards\.$/,
		);
	});

	test('says to ask where it was for one subscriber, and names the subscriber', async () => {
		simulator().addFault(faultFor('5002', lost));
		const told = failureOf(await runToThree(['5001', '5002', '5003']));
		expect(told.message).toContain('item 1 (subscriber 5002)');
		expect(told.description).toContain('ask whether it arrived');
	});

	test('comes before what was refused, which is told, too', async () => {
		simulator().addFault(faultFor('first', failure()));
		const { message, description } = failureOf(await runThree(lost));
		expect(message).toMatch(/^Do not send it again yet: it is unknown whether item 1 was sent/);
		expect(description).toContain(
			'Not sent: item 0 (counted from 0): The push service could not carry out the request.',
		);
	});
});

describe('items that are not valid', () => {
	test('keep all from being sent: how many, and the reason', async () => {
		const titles = ['fine', ...Array.from({ length: 13 }, () => ' ')];
		const told = failureOf(await run({ title: '={{ $json.title }}' }, titled(...titles)));
		expect(told).toMatchObject({ name: 'NodeOperationError', itemIndex: 1 });
		expect(told.message).toBe(
			"13 of 14 items are not valid. None was sent. Items 1 to 13 (counted from 0): 'Title' is empty for this item",
		);
		expect(told.description).toBe(`Check the expression, and the data that it reads. ${retry}`);
		expect(simulator().requests).toEqual([]);
	});

	test('are named by their subscriber', async () => {
		const told = failureOf(await runToThree(['5001', '12 34', '5003']));
		expect(told.message).toMatch(
			/^1 of 3 items is not valid\. None was sent\. Item 1 \(subscriber 12 34\) \(counted from 0\): 'Subscriber ID' /,
		);
	});

	test('have no numbers if all have one reason', async () => {
		const done = await run({ options: { timeout: 0 } }, titled('a', 'b', 'c'));
		expect(failureOf(done).message).toBe(
			"'Timeout' is not a whole number from 1 to 2147483647: 0. None of 3 was sent.",
		);
	});

	test('have no tally if there is one item', async () => {
		const { message } = failureOf(await run({ targetUrl: 'example.com' }));
		expect(message).toBe(`'Target URL' is not an http:// or https:// address: "example.com"`);
	});

	test('fail an execution that quotes the word canceled: n8n does not take it for canceled', async () => {
		const done = await run({ targetUrl: 'canceled.example' });
		expect(done.status).toBe('error');
		expect(failureOf(done).message).toMatch(/^'Target URL' is not/);
	});
});

test('an item that holds itself is sent like any other', async () => {
	const json: IDataObject = { title: 'first' };
	json['self'] = json;
	const context = ownAgentContext(workflowOf({ title: '={{ $json.title }}' }), {
		credentials: credentialsFor(simulator()),
		input: [{ json }],
	});
	expect(await execute(context)).toMatchObject([{ json: { status: 'success' } }]);
});

test('after the first hard failure no further item starts, and those in flight finish', async () => {
	simulator().addFault(faultFor('No 0"', failure('invalid_value')));
	simulator().addFault(faultFor(undefined, { kind: 'delay', ms: 100 }));
	const titles = Array.from({ length: 60 }, (_, index) => `No ${index}`);
	const { message } = failureOf(await run({ title: '={{ $json.title }}' }, titled(...titles)));
	const arrived = simulator().requests.length;
	expect(arrived).toBeLessThanOrEqual(20);
	expect(message).toBe(
		`The push service does not accept one of the values. ${arrived - 1} of 60 were sent.`,
	);
});

test.each<[string, Fault['action'] | 'unreachable']>([
	[
		'a failure that repeats them',
		{ kind: 'failure', type: 'k3y-secret', description: 'k3y-secret or t0k3n-secret is wrong' },
	],
	[
		'a success that repeats them',
		{
			kind: 'respond',
			body: '{"status":"success","ID":7,"description":"k3y-secret t0k3n-secret"}',
		},
	],
	['a page that repeats them', { kind: 'respond', status: 403, body: 'k3y-secret t0k3n-secret' }],
	[
		'a redirect that repeats them',
		{ kind: 'redirect', location: 'https://k3y-secret.example/?t0k3n-secret' },
	],
	['a connection that is lost', { kind: 'reset-after' }],
	['no connection', 'unreachable'],
])('the key and the token are in nothing that n8n saves after %s', async (_what, action) => {
	const { url } = simulator();
	if (action !== 'unreachable') simulator().addFault({ times: 0, action });
	const baseUrl = action === 'unreachable' ? 'http://127.0.0.1:1' : url;
	const secrets = { baseUrl, apiKey: 'k3y-secret', authToken: 't0k3n-secret' };
	for (const more of [{}, continuing]) {
		const done = await runWorkflow(workflowOf({}, more), {
			credentials: credentialsFor(simulator(), secrets),
		});
		expect(done.data.resultData.runData['Push Campaign']).toHaveLength(1);
		expect(JSON.stringify(done)).not.toMatch(/k3y|t0k3n/i);
		expect(String(done.data.resultData.error?.stack)).not.toMatch(/k3y|t0k3n/i);
	}
});

describe('a defect of the node', () => {
	const bug = {
		message: 'This is a bug in the Push Campaign node: x is undefined',
		description: matching(/Report it to the maintainers/),
	};
	const read = { resource: 'site', operation: 'getSubscriberCount' };
	const runWithDefect = async (parameters: INodeParameters, more = {}) => {
		const context = ownAgentContext(workflowOf(parameters, more), {
			credentials: credentialsFor(simulator()),
			input: titled('first', 'second'),
		});
		jest.spyOn(context, 'getTimezone').mockImplementation(() => {
			throw new TypeError('x is undefined');
		});
		return await execute(context);
	};

	test('that one item meets keeps all from being sent', async () => {
		const toJSON = () => {
			throw new TypeError('x is undefined');
		};
		const context = ownAgentContext(workflowOf({ title: '={{ $json.title }}' }), {
			credentials: credentialsFor(simulator()),
			input: inputOf({ title: 'first' }, { title: 'second', bad: { toJSON } }),
		});
		await expect(execute(context)).rejects.toMatchObject(bug);
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
