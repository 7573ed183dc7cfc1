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
	outputOf,
	titled,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { ownAgentContext, runWorkflow } from './support/run';

// What a person reads when something failed: what happened, what was sent, and the one thing to do.

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
	expect(told.description.startsWith(`Nothing was sent. ${said} `)).toBe(true);
	expect(told.message).not.toMatch(/error|problem|failure|mistake/i);
	expect(new Set(sentencesOf(told)).size).toBe(sentencesOf(told).length);
});

test('a credential that is not accepted names what to check, and then Retry', async () => {
	const done = await runWorkflow(workflowOf(), {
		credentials: credentialsFor(simulator(), { apiKey: 'wrong' }),
	});
	const { message, description } = failureOf(done);
	expect(message).toBe('The push service does not accept the credential');
	expect(description).toBe(
		`Nothing was sent. The service says: "You are not authorized". Check 'API Key' and 'Auth Token' in the Push Campaign API credential. Then use 'Retry' in the list of executions.`,
	);
});

describe('what was refused by the service', () => {
	test('is sent by Retry, and nothing says to run all again', async () => {
		const { description, itemIndex } = failureOf(await runThree(failure()));
		expect(itemIndex).toBe(1);
		expect(description).toMatch(/^2 of 3 were sent, 1 not sent\. .*use 'Retry' in the list of/);
		expect(description).not.toMatch(/[^.] run the workflow again/);
	});

	test('is sent by Retry or by running it again with Send Only Once', async () => {
		const { description } = failureOf(await runThree(failure(), { idempotencyKey: '' }));
		expect(description).toMatch(/^2 of 3 were sent, 1 not sent\. .*'Retry'.*, or run the workflow/);
	});

	test('with Continue has a hint: how many, where to look, what to do', async () => {
		const done = await runThree(failure(), {}, continuing);
		const [hint = ''] = hintsOf(done);
		expect(hint).toMatch(
			/^1 of 3 items failed: see the error column\. 2 of 3 were sent, 1 not sent\. /,
		);
		expect(hint).not.toContain('&#39;Retry&#39; in the list');
	});
});

describe('a subscriber that does not exist', () => {
	const message = 'The push service has no subscriber 999';

	test('is named with its field, and the advice is to correct the data, not to retry', async () => {
		const told = failureOf(await runToThree(['5001', '999', '5003']));
		expect(told).toMatchObject({ message, httpCode: '404', itemIndex: 1 });
		expect(told.description).toMatch(/^2 of 3 were sent, 1 not sent\. /);
		expect(told.description).toMatch(
			/would send again what was sent\. .*items alone that were not sent, as 'Retry' would use the old data\.$/,
		);
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

	test('says to look first, then to choose, then to retry, and to take the option out', async () => {
		const { description } = failureOf(await runThree(lost));
		expect(description).toMatch(
			/^2 of 3 were sent, 1 unknown: item 1 \(counted from 0\)\. Do not run it again yet\. .*Then use 'Retry with currently saved workflow' in the list of executions, and take the option out afterwards\.$/,
		);
	});

	test('says to run the workflow again with Send Only Once', async () => {
		const { description } = failureOf(await runThree(lost, { idempotencyKey: '' }));
		expect(description).toMatch(
			/Do not run it again yet\. .* Then run the workflow again, and take/,
		);
		expect(description).not.toContain('Retry');
	});

	test('says to ask where it was for one subscriber, and names the subscriber', async () => {
		simulator().addFault(faultFor('5002', lost));
		const told = failureOf(await runToThree(['5001', '5002', '5003']));
		expect(told.message).toContain('5002');
		expect(told.description).toContain('ask the subscriber');
		expect(told.description).not.toContain('Look');
	});

	test('has no tally if it was the only item', async () => {
		simulator().addFault(faultFor(undefined, lost));
		const { description } = failureOf(await run({}));
		expect(description).toMatch(/^Do not run it again yet\. /);
	});

	test('comes before what was refused', async () => {
		simulator().addFault(faultFor('first', failure()));
		const { message } = failureOf(await runThree(lost));
		expect(message).toMatch(/^Do not run it again yet: it is unknown whether this was sent/);
	});
});

describe('items that are not valid', () => {
	test('keep all from being sent: how many, the first reason, up to ten others', async () => {
		const titles = ['fine', ...Array.from({ length: 13 }, () => ' ')];
		const told = failureOf(await run({ title: '={{ $json.title }}' }, titled(...titles)));
		expect(told).toMatchObject({ name: 'NodeOperationError', itemIndex: 1 });
		expect(told.message).toBe(
			"13 of 14 items are not valid (counted from 0): items 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …: 'Title' is empty for this item",
		);
		expect(told.description).toMatch(/^Nothing was sent\. .*'Retry' would use the old data\.$/);
		expect(simulator().requests).toEqual([]);
	});

	test('are named by their subscriber', async () => {
		const told = failureOf(await runToThree(['5001', '12 34', '5003']));
		expect(told.message).toMatch(
			/^1 of 3 items is not valid \(counted from 0\): item 1 \(subscriber 12 34\): 'Subscriber ID' /,
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
	const { description } = failureOf(await run({ title: '={{ $json.title }}' }, titled(...titles)));
	const arrived = simulator().requests.length;
	expect(arrived).toBeLessThanOrEqual(20);
	expect(description).toMatch(
		new RegExp(`^${arrived - 1} of 60 were sent, ${61 - arrived} not sent\\. .* items alone`),
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

	test('says of a send to find out first what was sent', async () => {
		const description = matching(/^Do not run it again before you know what was sent: .* Report/);
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
