import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { Failed, Tally } from '../../../nodes/PushCampaign/execution/errors';
import {
	faultJson,
	isFailed,
	stoppedError,
	tally,
	toErrorJson,
	toExpected,
	toInvalid,
	toNodeError,
	toOperationError,
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
const problem: Problem = {
	type: 'bad_request',
	outcome: 'notDone',
	message: 'The push service could not read the request',
	description: 'Check Base URL.',
	httpCode: '400',
	cause: 'configuration-invalid',
};
const { httpCode: _httpCode, ...unanswered } = problem;
const refused: Failed = { kind: 'failed', problem };
const lost: Failed = { kind: 'failed', problem: { ...unanswered, outcome: 'unknown' } };
const invalid: Failed = {
	kind: 'invalid',
	invalid: new InvalidInput('Title is missing', 'Give a title.'),
};

test.each([
	[{ kind: 'done', value: 1 } as const, false],
	[{ kind: 'notStarted' } as const, false],
	[refused, true],
	[lost, true],
	[invalid, true],
])('%j has failed: %p', (outcome, expected) => {
	expect(isFailed(outcome)).toBe(expected);
});

test('the tally counts each end once', () => {
	const ends = ['done', 'notDone', 'unknown', 'doneEarlier', 'notDone', 'notDone'] as const;
	expect(tally(ends, 1)).toEqual({
		done: 1,
		doneEarlier: 1,
		unknown: 1,
		notDone: 3,
		firstFailed: 1,
	});
});

/** What n8n shows and hands on of an error. */
const shown = (error: NodeApiError | NodeOperationError) => ({
	message: error.message,
	description: error.description,
	httpCode: 'httpCode' in error ? error.httpCode : undefined,
	itemIndex: error.context['itemIndex'],
	failure: error.failure,
});

describe('the error that stops a run', () => {
	const counts: Tally = { done: 3, doneEarlier: 2, notDone: 4, unknown: 5, firstFailed: 6 };
	const kind = 'send';
	const counted =
		'5 of 14 were sent. Sent: 3, sent earlier under their keys: 2, not sent: 4, unknown: 5. First to fail: item 6.';
	const goOn =
		"To send only what was not sent, use 'Retry' in the list of executions. Executing the workflow again sends all 14 again, except those with an idempotency key that was sent already.";

	test.each([
		[invalid, NodeOperationError, 'Title is missing', 'Give a title.', undefined],
		[refused, NodeApiError, problem.message, 'Check Base URL.', '400'],
	] as const)(
		'says how all ended, then what to do: %j',
		(failed, errorClass, message, advice, code) => {
			const error = toNodeError(node, failed, 6, { kind, counts });
			expect(error).toBeInstanceOf(errorClass);
			expect(shown(error)).toEqual({
				message,
				description: `${counted} ${advice} ${goOn}`,
				httpCode: code,
				itemIndex: 6,
				failure: { cause: 'configuration-invalid' },
			});
			// An agent hands its model the message alone.
			const told = toNodeError(node, failed, 6, { isTool: true });
			expect(told.message).toBe(`${message}. ${advice}`);
			expect(told.description).toBe(advice);
		},
	);

	test('keeps the type of the failure', () => {
		expect(toNodeError(node, refused, 0)).toMatchObject({
			messages: [],
			errorResponse: { type: 'bad_request' },
		});
	});

	// Sent, sent earlier, not sent, unknown.
	test.each([
		[[0, 0, 1, 0], /^Give a title\.$/],
		[[0, 0, 0, 1], /^Give a title\.$/],
		[[0, 0, 2, 0], /^Sent: 0, not sent: 2, unknown: 0\. First to fail: item 0\. Give a title\.$/],
		[[1, 0, 2, 0], /^1 of 3 was sent\. Sent: 1, not sent: 2, .* all 3 again, except/],
		[[0, 1, 1, 0], /^1 of 2 was sent\. Sent: 0, sent earlier under their keys: 1, .* all 2 again/],
		[[0, 0, 1, 1], /^Sent: 0, not sent: 1, unknown: 1\. .* use 'Retry' .* all 2 again/],
	] as const)(
		'says no more than there is to say: %j',
		([done, doneEarlier, notDone, unknown], told) => {
			const few = { done, doneEarlier, notDone, unknown, firstFailed: 0 };
			expect(toNodeError(node, invalid, 0, { kind, counts: few }).description).toMatch(told);
		},
	);

	test('has no HTTP code where there was no answer', () => {
		expect(shown(toNodeError(node, lost, 0)).httpCode).toBeNull();
	});

	test('names no item where none is to blame', () => {
		expect(shown(toOperationError(node, invalid.invalid)).itemIndex).toBeUndefined();
	});

	test.each([
		['rate-limited', 2000, { cause: 'rate-limited', retryAfterMs: 2000 }],
		['rate-limited', undefined, { cause: 'rate-limited' }],
		['temporarily-unavailable', 2000, { cause: 'temporarily-unavailable', retryAfterMs: 2000 }],
		['credential-invalid', 2000, { cause: 'credential-invalid' }],
	] as const)('tells n8n its cause: %s, wait for %p ms', (cause, retryAfterMs, failure) => {
		const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
		const failed: Failed = { kind: 'failed', problem: { ...problem, ...wait, cause } };
		expect(toNodeError(node, failed, 0).failure).toEqual(failure);
	});

	test('of a run that the user stopped says so', () => {
		expect(stoppedError(node).message).toBe(
			'The execution was canceled before all items were done',
		);
	});
});

describe('whatever is thrown', () => {
	const advice =
		'This is not about what you entered. Report it to the maintainers of this node, with the workflow and the input item.';

	test.each([toNodeError(node, invalid, 0), toNodeError(node, refused, 0)])(
		'is left as it is where it is n8n’s: %p',
		(error) => {
			expect(toExpected(node, error)).toBe(error);
		},
	);

	test.each([
		[new TypeError('x is not a function'), 'x is not a function'],
		['a text', 'a text'],
		[undefined, 'undefined'],
		[null, 'null'],
	])('is no fault of the user’s otherwise: %p', (error, said) => {
		const expected = toExpected(node, error);
		expect(expected).toBeInstanceOf(NodeOperationError);
		expect(shown(expected)).toMatchObject({
			message: `The node ended unexpectedly: ${said}`,
			description: advice,
			failure: { cause: 'node-defect' },
		});
		const { message, advice: told } = toInvalid(error);
		expect([message, told]).toEqual([`The node can't deal with this item: ${said}`, advice]);
	});

	test('is what the user entered where it says so', () => {
		const expected = toExpected(node, invalid.invalid);
		expect(expected).toBeInstanceOf(NodeOperationError);
		expect(shown(expected)).toMatchObject({ message: 'Title is missing', itemIndex: 0 });
		expect(toInvalid(invalid.invalid)).toBe(invalid.invalid);
	});
});

describe('the error item', () => {
	const validation = {
		message: 'Title is missing',
		description: 'Give a title.',
		type: 'validation',
	};
	const failure = { message: problem.message, description: 'Check Base URL.', type: 'bad_request' };

	test.each([
		['send', invalid, { ...validation, outcome: 'notSent' }],
		['read', invalid, validation],
		['send', refused, { ...failure, httpCode: '400', outcome: 'notSent' }],
		['send', lost, { ...failure, outcome: 'unknown' }],
		['read', refused, { ...failure, httpCode: '400' }],
		['read', lost, failure],
	] as const)('of a %s: %j', (kind, failed, error) => {
		// Strictly: n8n routes by which fields are there.
		expect(toErrorJson(failed, kind)).toStrictEqual({ error });
	});

	test.each([
		['read', 'unknown', {}],
		['send', 'unknown', { outcome: 'unknown' }],
		[undefined, 'notDone', { outcome: 'notSent' }],
	] as const)('of a run that ended before its items: %s, %s', (kind, outcome, more) => {
		const error = { ...validation, ...more };
		const fault = toOperationError(node, invalid.invalid);
		expect(faultJson(fault, outcome, kind)).toStrictEqual({ error });
	});
});
