import type { INode, NodeError } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import {
	findProblem,
	toApiError,
	toError,
	toExpected,
	toFailure,
	toNodeError,
	toProblem,
} from '../../../nodes/PushCampaign/execution/errors';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { InvalidInput, Unavailable } from '../../../nodes/PushCampaign/service/invalidInput';

const node: INode = {
	id: '1',
	name: 'Push Campaign',
	type: 'n8n-nodes-push-campaign.pushCampaign',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};
const unanswered: Problem = {
	type: 'bad_request',
	outcome: 'notDone',
	message: 'The push service could not read the request',
	description: 'Check Base URL.',
	cause: 'configuration-invalid',
};
const refused = { ...unanswered, httpCode: '400' };
const lost: Problem = { ...unanswered, outcome: 'unknown' };
const input = new InvalidInput('Title is missing', 'Give a title.');
const invalid: Problem = {
	type: 'validation',
	outcome: 'notDone',
	message: 'Title is missing',
	description: 'Give a title.',
	cause: 'configuration-invalid',
};

/** What n8n shows and hands on of an error. */
const shown = (error: NodeError) => ({
	message: error.message,
	description: error.description,
	httpCode: 'httpCode' in error ? error.httpCode : undefined,
	itemIndex: error.context['itemIndex'],
	failure: error.failure,
});

test.each([
	{
		name: 'an item that is done',
		outcome: { kind: 'done', value: 1 } as const,
		problem: undefined,
	},
	{
		name: 'an item that never started',
		outcome: { kind: 'notStarted' } as const,
		problem: undefined,
	},
	{
		name: 'an item that failed at the service',
		outcome: { kind: 'failed', problem: lost } as const,
		problem: lost,
	},
	{
		name: 'an item that is not valid',
		outcome: { kind: 'invalid', invalid: input } as const,
		problem: invalid,
	},
])('$name has its own reason, or none', ({ outcome, problem }) => {
	expect(findProblem(outcome)).toEqual(problem);
});

describe('the error that stops a run', () => {
	const counts = { items: 14, done: 3, doneEarlier: 2, notDone: 4, unknown: 5 };

	test.each([
		{
			name: 'an item that is not valid',
			problem: invalid,
			errorClass: NodeOperationError,
			httpCode: undefined,
		},
		{ name: 'a refusal', problem: refused, errorClass: NodeApiError, httpCode: '400' },
		{ name: 'a lost answer', problem: lost, errorClass: NodeApiError, httpCode: null },
	])('says after $name how all ended, then what to do', ({ problem, errorClass, httpCode }) => {
		const error = toNodeError(node, problem, 6, 'send', counts);
		expect(error).toBeInstanceOf(errorClass);
		expect(shown(error)).toEqual({
			message: problem.message,
			description: `5 of 14 were sent. Sent: 3, sent earlier under their keys: 2, not sent: 4, unknown: 5. First to fail: item 6 (the 7th of 14). ${problem.description} To send only what was not sent, use 'Retry' in the list of executions. Executing the workflow again sends all 14 again, except those with an idempotency key that was sent already.`,
			httpCode,
			itemIndex: 6,
			failure: { cause: 'configuration-invalid' },
		});
	});

	test.each([
		{ kind: 'read', all: counts },
		{ kind: 'send', all: undefined },
	] as const)(
		'tells an agent in its message how a $kind failed and what to do',
		({ kind, all }) => {
			const tool = { ...node, type: `${node.type}Tool` };
			const { message, description } = toNodeError(tool, invalid, 0, kind, all);
			expect([message, description]).toEqual(['Title is missing. Give a title.', 'Give a title.']);
		},
	);

	const none = { done: 0, doneEarlier: 0, notDone: 0, unknown: 0 };
	test.each([
		{
			name: 'does not count where the only item was not sent',
			ends: { items: 1, notDone: 1 },
			told: /^Give a title\.$/,
		},
		{
			name: 'does not count where the only item is unknown',
			ends: { items: 1, unknown: 1 },
			told: /^Give a title\.$/,
		},
		{
			name: 'begins with it where nothing was sent, and advises no Retry',
			ends: { items: 2, notDone: 2 },
			told: /^Nothing was sent: item 0 \(the 1st of 2\) failed first\. Sent: 0, not sent: 2, unknown: 0\. Give a title\.$/,
		},
		{
			name: 'begins with how many were sent',
			ends: { items: 3, notDone: 2, done: 1 },
			told: /^1 of 3 was sent\. Sent: 1, not sent: 2, .* all 3 again, except/,
		},
		{
			name: 'counts what was sent earlier as sent',
			ends: { items: 2, doneEarlier: 1, notDone: 1 },
			told: /^1 of 2 was sent\. Sent: 0, sent earlier under their keys: 1, .* all 2 again/,
		},
		{
			name: 'does not say that nothing was sent where one item is unknown',
			ends: { items: 2, notDone: 1, unknown: 1 },
			told: /^Sent: 0, not sent: 1, unknown: 1\. .* use 'Retry' .* all 2 again/,
		},
	])('$name', ({ ends, told }) => {
		const { description } = toNodeError(node, invalid, 0, 'send', { ...none, ...ends });
		expect(description).toMatch(told);
	});
});

describe('n8n’s error', () => {
	test('keeps the type of the failure, and names no item where none is to blame', () => {
		const error = toApiError(node, refused);
		expect(error).toMatchObject({ messages: [], errorResponse: { type: 'bad_request' } });
		expect(shown(error).itemIndex).toBeUndefined();
	});

	test.each([
		{ cause: 'rate-limited', retryAfterMs: 2000, told: 2000 },
		{ cause: 'rate-limited', retryAfterMs: undefined, told: undefined },
		{ cause: 'temporarily-unavailable', retryAfterMs: 2000, told: 2000 },
		{ cause: 'credential-invalid', retryAfterMs: 2000, told: undefined },
	] as const)(
		'tells n8n its cause, $cause, and to wait for $told of $retryAfterMs ms',
		({ cause, retryAfterMs, told }) => {
			expect(toApiError(node, { ...refused, retryAfterMs, cause }).failure).toStrictEqual({
				cause,
				...(told !== undefined && { retryAfterMs: told }),
			});
		},
	);
});

describe('what is thrown', () => {
	test('is left as it is if it is an error of n8n', () => {
		const error = toApiError(node, refused);
		expect(toExpected(node, error, 0)).toBe(error);
	});

	test('is about what the user entered if it says so, and nothing was sent', () => {
		expect(toProblem(input, true)).toEqual(invalid);
		const expected = toExpected(node, input, 3);
		expect(expected).toBeInstanceOf(NodeOperationError);
		expect(shown(expected)).toMatchObject({ message: 'Title is missing', itemIndex: 3 });
	});

	test('is temporary if n8n does not give what the node needs, and nothing was sent', () => {
		const unavailable = new Unavailable('n8n could not open it', 'Try again.');
		expect(toProblem(unavailable, true)).toEqual({
			type: 'network',
			outcome: 'notDone',
			message: 'n8n could not open it',
			description: 'Try again.',
			cause: 'temporarily-unavailable',
		});
		const expected = toExpected(node, unavailable);
		expect(expected).toBeInstanceOf(NodeApiError);
		expect(shown(expected).failure).toEqual({ cause: 'temporarily-unavailable' });
	});

	const description =
		'This is not about what you entered. Report it to the maintainers of this node, with the workflow and the input item.';
	test.each([
		{ thrown: new TypeError('x is not a function'), said: 'x is not a function' },
		{ thrown: 'a text', said: 'a text' },
		{ thrown: undefined, said: 'undefined' },
		{ thrown: null, said: 'null' },
	])('is a defect of this node if it is anything else: $said', ({ thrown, said }) => {
		const message = `This node has a defect: ${said}`;
		const problem = { type: 'unspecified', cause: 'node-defect', message, description };
		expect(toProblem(thrown, true)).toEqual({ ...problem, outcome: 'unknown' });
		expect(toProblem(thrown, false)).toEqual({ ...problem, outcome: 'notDone' });
		expect(toError(thrown).message).toBe(said);
		const expected = toExpected(node, thrown, 3);
		expect(expected).toBeInstanceOf(NodeOperationError);
		const failure = { cause: 'node-defect' };
		expect(shown(expected)).toMatchObject({ message, description, failure });
		// No item is to blame.
		expect(shown(expected).itemIndex).toBeUndefined();
	});
});

test.each([
	{
		name: 'a send that is not valid',
		kind: 'send',
		problem: invalid,
		facts: { type: 'validation', outcome: 'notSent' },
	},
	{
		name: 'a read that is not valid',
		kind: 'read',
		problem: invalid,
		facts: { type: 'validation' },
	},
	{
		name: 'a send that the service refused',
		kind: 'send',
		problem: refused,
		facts: { type: 'bad_request', httpCode: '400', outcome: 'notSent' },
	},
	{
		name: 'a send whose answer was lost',
		kind: 'send',
		problem: lost,
		facts: { type: 'bad_request', outcome: 'unknown' },
	},
	{
		name: 'a read whose answer was lost',
		kind: 'read',
		problem: lost,
		facts: { type: 'bad_request' },
	},
] as const)(
	'the error item of $name has these fields and no others',
	({ kind, problem, facts }) => {
		const { message, description } = problem;
		const { error, status } = toFailure(problem, kind);
		// Strictly: n8n routes by which fields are there.
		expect(error).toStrictEqual({ message, description, ...facts });
		expect(status).toBe('outcome' in facts ? facts.outcome : undefined);
	},
);
