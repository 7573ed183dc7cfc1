import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { Failed } from '../../../nodes/PushCampaign/execution/errors';
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
	outcome: 'notSent',
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
const done = { kind: 'done', value: 1 } as const;
const notStarted = { kind: 'notStarted' } as const;

test.each([
	[done, false],
	[notStarted, false],
	[refused, true],
	[lost, true],
	[invalid, true],
])('%j has failed: %p', (outcome, expected) => {
	expect(isFailed(outcome)).toBe(expected);
});

describe('the tally', () => {
	test('counts each outcome once, and what never started as not sent', () => {
		expect(tally([done, notStarted, lost, refused, invalid, done, lost])).toEqual({
			sent: 2,
			unknown: 2,
			notSent: 3,
			firstFailed: 2,
		});
	});

	test('of what went well has no first failure', () => {
		expect(tally([done, notStarted])).toEqual({ sent: 1, unknown: 0, notSent: 1, firstFailed: -1 });
		expect(tally([])).toEqual({ sent: 0, unknown: 0, notSent: 0, firstFailed: -1 });
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
	const counts = { sent: 3, notSent: 4, unknown: 5, firstFailed: 6 };
	const tallied =
		"'Retry' in the list of executions sends only what was not sent; executing the workflow again sends all 12 again, but for those with an idempotency key. Sent: 3, not sent: 4, unknown: 5. First to fail: item 6.";

	test('names item, field, advice and how the others ended', () => {
		const error = toNodeError(node, invalid, 6, { counts });
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(shown(error)).toEqual({
			message: 'Title is missing',
			description: `Give a title. ${tallied}`,
			httpCode: undefined,
			itemIndex: 6,
			failure: { cause: 'configuration-invalid' },
		});
	});

	test('names item, answer, advice and how the others ended', () => {
		const error = toNodeError(node, refused, 0, { counts });
		expect(error).toBeInstanceOf(NodeApiError);
		expect(shown(error)).toEqual({
			message: 'The push service could not read the request',
			description: `Check Base URL. ${tallied}`,
			httpCode: '400',
			itemIndex: 0,
			failure: { cause: 'configuration-invalid' },
		});
		expect(error).toMatchObject({ messages: [], errorResponse: { type: 'bad_request' } });
	});

	test.each([
		[{ sent: 0, notSent: 1, unknown: 0, firstFailed: 0 }, ''],
		[{ sent: 0, notSent: 0, unknown: 1, firstFailed: 0 }, ''],
		[
			{ sent: 0, notSent: 2, unknown: 0, firstFailed: 1 },
			' Sent: 0, not sent: 2, unknown: 0. First to fail: item 1.',
		],
	])('tells a single item, and where nothing was sent, no more than that: %j', (few, told) => {
		expect(toNodeError(node, invalid, 0, { counts: few }).description).toBe(`Give a title.${told}`);
	});

	test.each([
		[{ sent: 1, notSent: 1, unknown: 0, firstFailed: 1 }],
		[{ sent: 0, notSent: 1, unknown: 1, firstFailed: 1 }],
		[{ sent: 1, notSent: 0, unknown: 1, firstFailed: 1 }],
	])('says how to go on without sending twice: %j', (some) => {
		expect(toNodeError(node, invalid, 0, { counts: some }).description).toMatch(
			/^Give a title\. 'Retry' in the list of executions sends only what was not sent; executing the workflow again sends all 2 again/,
		);
	});

	test.each([
		[invalid, 'Title is missing. Give a title.'],
		[refused, 'The push service could not read the request. Check Base URL.'],
	])(
		'tells an agent the advice too, which hands its model the message alone',
		(failed, message) => {
			expect(toNodeError(node, failed, 0, { isTool: true }).message).toBe(message);
			expect(toNodeError(node, failed, 0, { isTool: false }).message).not.toBe(message);
		},
	);

	test('counts nothing where nothing is sent', () => {
		expect(toNodeError(node, invalid, 0).description).toBe('Give a title.');
		expect(toNodeError(node, refused, 0).description).toBe('Check Base URL.');
	});

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
	test.each([toNodeError(node, invalid, 0), toNodeError(node, refused, 0)])(
		'is left as it is where it is n8n’s: %p',
		(error) => {
			expect(toExpected(node, error)).toBe(error);
		},
	);

	test.each([
		[new TypeError('x is not a function'), 'x is not a function'],
		['a text', 'a text'],
	])('is no fault of the user’s otherwise: %p', (error, said) => {
		const expected = toExpected(node, error);
		expect(expected).toBeInstanceOf(NodeOperationError);
		expect(shown(expected)).toMatchObject({
			message: `The node ended unexpectedly: ${said}`,
			failure: { cause: 'node-defect' },
		});
		expect(expected.description).toMatch(/^This is not about what you entered\./);
	});

	test('is what the user entered where it says so', () => {
		const expected = toExpected(node, invalid.invalid);
		expect(expected).toBeInstanceOf(NodeOperationError);
		expect(shown(expected)).toMatchObject({ message: 'Title is missing', itemIndex: 0 });
	});

	test('becomes an item without an outcome for a read', () => {
		const { error } = faultJson(toOperationError(node, invalid.invalid));
		expect(error).toEqual({
			message: 'Title is missing',
			description: 'Give a title.',
			type: 'validation',
		});
	});

	test.each(['unknown', 'notSent'] as const)('becomes an item that says %s', (outcome) => {
		expect(faultJson(toOperationError(node, invalid.invalid), outcome)).toEqual({
			error: {
				message: 'Title is missing',
				description: 'Give a title.',
				type: 'validation',
				outcome,
			},
		});
	});
});

describe('the error item', () => {
	test.each([
		['send', { outcome: 'notSent' }],
		['read', {}],
	] as const)('of a %s that is not valid', (kind, outcome) => {
		expect(toErrorJson(invalid, kind)).toEqual({
			error: {
				message: 'Title is missing',
				description: 'Give a title.',
				type: 'validation',
				...outcome,
			},
		});
	});

	test.each([
		['send', refused, { httpCode: '400', outcome: 'notSent' }],
		['send', lost, { outcome: 'unknown' }],
		['read', refused, { httpCode: '400' }],
		['read', lost, {}],
	] as const)('of a %s that failed: %j', (kind, failed, more) => {
		const json = toErrorJson(failed, kind);
		expect(json).toEqual({
			error: {
				message: 'The push service could not read the request',
				description: 'Check Base URL.',
				type: 'bad_request',
				...more,
			},
		});
		expect(Object.keys(json['error'] ?? {})).toHaveLength(3 + Object.keys(more).length);
	});
});

describe('what was thrown', () => {
	test('is the invalid input where it is one', () => {
		expect(toInvalid(invalid.invalid)).toBe(invalid.invalid);
	});

	test.each([
		[new Error('The expression is broken'), 'The expression is broken'],
		['a text', 'a text'],
		[undefined, 'undefined'],
		[null, 'null'],
	])('becomes invalid input: %p', (error, said) => {
		const { message, advice } = toInvalid(error);
		expect([message, advice]).toEqual([
			`The node can't deal with this item: ${said}`,
			'This is not about what you entered. Report it to the maintainers of this node, with the workflow and the input item.',
		]);
	});
});
