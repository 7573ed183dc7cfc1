import type { INode, NodeError } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import {
	findProblem,
	toApiError,
	toErrorJson,
	toExpected,
	toInvalid,
	toNodeError,
	toProblem,
} from '../../../nodes/PushCampaign/execution/errors';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';

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
	[{ kind: 'done', value: 1 } as const, undefined],
	[{ kind: 'notStarted' } as const, undefined],
	[{ kind: 'failed', problem: lost } as const, lost],
	[{ kind: 'invalid', invalid: input } as const, invalid],
])('why an item failed: %j', (outcome, problem) => {
	expect(findProblem(outcome)).toEqual(problem);
});

describe('the error that stops a run', () => {
	const counts = { items: 14, done: 3, doneEarlier: 2, notDone: 4, unknown: 5 };

	test.each([
		[invalid, NodeOperationError, undefined],
		[refused, NodeApiError, '400'],
		[lost, NodeApiError, null],
	] as const)('says how all ended, then what to do: %j', (problem, errorClass, httpCode) => {
		const error = toNodeError(node, problem, 6, 'send', counts);
		expect(error).toBeInstanceOf(errorClass);
		expect(shown(error)).toEqual({
			message: problem.message,
			description: `5 of 14 were sent. Sent: 3, sent earlier under their keys: 2, not sent: 4, unknown: 5. First to fail: item 6. ${problem.description} To send only what was not sent, use 'Retry' in the list of executions. Executing the workflow again sends all 14 again, except those with an idempotency key that was sent already.`,
			httpCode,
			itemIndex: 6,
			failure: { cause: 'configuration-invalid' },
		});
	});

	test.each([
		['read', counts],
		['send', undefined],
	] as const)('tells an agent all in its message, all that it hands on: %s', (kind, all) => {
		const tool = { ...node, type: `${node.type}Tool` };
		const { message, description } = toNodeError(tool, invalid, 0, kind, all);
		expect([message, description]).toEqual(['Title is missing. Give a title.', 'Give a title.']);
	});

	const none = { done: 0, doneEarlier: 0, notDone: 0, unknown: 0 };
	test.each([
		[{ items: 1, notDone: 1 }, /^Give a title\.$/],
		[{ items: 1, unknown: 1 }, /^Give a title\.$/],
		[
			{ items: 2, notDone: 2 },
			/^Sent: 0, not sent: 2, unknown: 0\. First to fail: item 0\. Give a title\.$/,
		],
		[
			{ items: 3, notDone: 2, done: 1 },
			/^1 of 3 was sent\. Sent: 1, not sent: 2, .* all 3 again, except/,
		],
		[
			{ items: 2, doneEarlier: 1, notDone: 1 },
			/^1 of 2 was sent\. Sent: 0, sent earlier under their keys: 1, .* all 2 again/,
		],
		[
			{ items: 2, notDone: 1, unknown: 1 },
			/^Sent: 0, not sent: 1, unknown: 1\. .* use 'Retry' .* all 2 again/,
		],
	] as const)('says no more than there is to say: %j', (ends, told) => {
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
		['rate-limited', 2000, { cause: 'rate-limited', retryAfterMs: 2000 }],
		['rate-limited', undefined, { cause: 'rate-limited' }],
		['temporarily-unavailable', 2000, { cause: 'temporarily-unavailable', retryAfterMs: 2000 }],
		['credential-invalid', 2000, { cause: 'credential-invalid' }],
	] as const)('declares its cause: %s, wait for %p ms', (cause, retryAfterMs, failure) => {
		expect(toApiError(node, { ...refused, retryAfterMs, cause }).failure).toStrictEqual(failure);
	});
});

describe('whatever is thrown', () => {
	test.each([toApiError(node, invalid), toApiError(node, refused)])(
		'is left as it is where it is n8n’s: %p',
		(error) => {
			expect(toExpected(node, error, 0)).toBe(error);
		},
	);

	test('is what the user entered where it says so', () => {
		expect(toInvalid(input)).toBe(input);
		expect(toProblem(input)).toEqual(invalid);
		const expected = toExpected(node, input, 3);
		expect(expected).toBeInstanceOf(NodeOperationError);
		expect(shown(expected)).toMatchObject({ message: 'Title is missing', itemIndex: 3 });
	});

	test.each([
		[new TypeError('x is not a function'), 'x is not a function'],
		['a text', 'a text'],
		[undefined, 'undefined'],
		[null, 'null'],
	])('is no fault of the user’s otherwise, and a request may have left: %p', (error, said) => {
		const message = `Unexpected error: ${said}`;
		const description =
			'This is not about what you entered. Report it to the maintainers of this node, with the workflow and the input item.';
		expect(toInvalid(error)).toMatchObject({ message, advice: description });
		expect(toProblem(error)).toMatchObject({ message, description, outcome: 'unknown' });
		const expected = toExpected(node, error);
		expect(expected).toBeInstanceOf(NodeOperationError);
		const failure = { cause: 'node-defect' };
		expect(shown(expected)).toMatchObject({ message, description, failure });
	});
});

test.each([
	['send', invalid, { type: 'validation', outcome: 'notSent' }],
	['read', invalid, { type: 'validation' }],
	['send', refused, { type: 'bad_request', httpCode: '400', outcome: 'notSent' }],
	['send', lost, { type: 'bad_request', outcome: 'unknown' }],
	['read', lost, { type: 'bad_request' }],
] as const)('the error item of a %s: %j', (kind, problem, facts) => {
	const { message, description } = problem;
	// Strictly: n8n routes by which fields are there.
	expect(toErrorJson(problem, kind)).toStrictEqual({ error: { message, description, ...facts } });
});
