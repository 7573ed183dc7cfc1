import type { INode, NodeError } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import {
	failuresOf,
	toN8nError,
	toError,
	asN8nError,
	toItemFailure,
	toRunError,
	toProblem,
} from '../../../nodes/PushCampaign/execution/errors';
import type { RunEnd } from '../../../nodes/PushCampaign/execution/tally';
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
	outcome: 'notSent',
	message: 'The push service could not read the request',
	description: 'Check Base URL.',
	cause: 'configuration-invalid',
};
const refused = { ...unanswered, httpCode: '400' };
const lost: Problem = { ...unanswered, outcome: 'unknown' };
const input = new InvalidInput('Title is missing', 'Give a title.');
const invalid: Problem = {
	type: 'validation',
	outcome: 'notSent',
	message: 'Title is missing',
	description: 'Give a title.',
	cause: 'configuration-invalid',
};

const textLike = (pattern: string | RegExp): unknown => expect.stringMatching(pattern);

/** What n8n shows and hands on of an error. */
const shown = (error: NodeError) => ({
	message: error.message,
	description: error.description,
	httpCode: 'httpCode' in error ? error.httpCode : undefined,
	itemIndex: error.context['itemIndex'],
	failure: error.failure,
});

test('items that failed are known by their index, with why', () => {
	const outcomes = [
		{ kind: 'done', value: 1 },
		{ kind: 'failed', problem: lost },
		{ kind: 'notStarted' },
		{ kind: 'invalid', invalid: input },
	] as const;
	expect(failuresOf(outcomes)).toEqual([
		{ itemIndex: 1, problem: lost },
		{ itemIndex: 3, problem: invalid },
	]);
});

describe('the error that stops a run', () => {
	const counts = { sent: 3, scheduled: 0, sentEarlier: 2, dryRun: 0 };
	const runOf = (problem: Problem, more: Partial<RunEnd> = {}): RunEnd => ({
		kind: 'send',
		items: 14,
		failures: [{ itemIndex: 6, problem }],
		counts,
		...more,
	});
	const errorOf = (run: RunEnd, of = node) => {
		const [first] = run.failures;
		if (first === undefined) throw new TypeError('Nothing failed');
		return toRunError(of, run, first);
	};
	const retry = "To send only what was not sent, use 'Retry' in the list of executions.";

	test.each([
		{ name: 'a refusal', problem: refused, httpCode: '400', ended: '9 not sent' },
		{ name: 'a lost answer', problem: lost, httpCode: null, ended: '8 not sent' },
	])('says after $name how all ended, then what to do', ({ problem, httpCode, ended }) => {
		const error = errorOf(runOf(problem));
		expect(error).toBeInstanceOf(NodeApiError);
		expect(shown(error)).toMatchObject({
			message: problem.message,
			description: textLike(`^3 sent, 2 sent earlier, ${ended} `),
			httpCode,
			itemIndex: 6,
			failure: { cause: 'configuration-invalid' },
		});
		expect(error.description).toContain(
			`. ${problem.description} ${retry} Executing the workflow again sends all 14 again.`,
		);
	});

	test('says how many items are not valid, why the first is not, and which others are not', () => {
		const failures = Array.from({ length: 13 }, (_, index) => ({
			itemIndex: index,
			problem: index === 1 ? refused : invalid,
		}));
		const error = errorOf(runOf(invalid, { failures }));
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.message).toBe(
			'12 of 14 items are not valid: Title is missing (item 0; also items 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …)',
		);
		const one = errorOf(runOf(invalid, { kind: 'read', counts: undefined }));
		expect(one.message).toBe('1 of 14 items is not valid: Title is missing (item 6)');
		expect(one.description).toBe('Give a title.');
	});

	test.each(['read', 'send'] as const)(
		'tells an agent in its message how a %s failed and what to do, and counts nothing for one item',
		(kind) => {
			const tool = { ...node, type: `${node.type}Tool` };
			const run = runOf(invalid, {
				kind,
				items: 1,
				failures: [{ itemIndex: 0, problem: invalid }],
			});
			const { message, description } = errorOf(run, tool);
			expect([message, description]).toEqual(['Title is missing. Give a title.', 'Give a title.']);
		},
	);

	test('advises no Retry if nothing was sent', () => {
		const nothing = { sent: 0, scheduled: 0, sentEarlier: 0, dryRun: 0 };
		expect(errorOf(runOf(refused, { items: 7, counts: nothing })).description).toBe(
			'0 sent, 7 not sent (item 6: The push service could not read the request; 6 not started). Check Base URL.',
		);
	});

	test('advises a Retry if nothing is known to be sent, but something may be', () => {
		const nothing = { sent: 0, scheduled: 0, sentEarlier: 0, dryRun: 0 };
		const { description } = errorOf(runOf(lost, { counts: nothing }));
		expect(description).toContain(retry);
		expect(errorOf(runOf(refused, { counts: nothing })).description).not.toContain(retry);
	});

	test('says that running again sends nothing twice if all that was sent has a key', () => {
		expect(errorOf(runOf(refused, { hasKeys: true })).description).toMatch(
			/ To send the rest, run the workflow again, .* What was sent is not sent again, because it has an idempotency key\.$/,
		);
	});
});

describe('n8n’s error', () => {
	test('keeps the type of the failure, and names no item where none is to blame', () => {
		const error = toN8nError(node, refused);
		expect(error).toMatchObject({ messages: [], errorResponse: { type: 'bad_request' } });
		expect(shown(error).itemIndex).toBeUndefined();
	});

	test.each([refused, invalid])(
		'of type $type is no canceled execution for n8n, whatever it quotes',
		(problem) => {
			const message = 'Title is too long: "Your order was canceled"';
			const error = toN8nError(node, { ...problem, message });
			expect(error.message).not.toContain('canceled');
			expect(error.message.replaceAll('\u2060', '')).toBe(message);
		},
	);

	test.each([
		{ cause: 'rate-limited', retryAfterMs: 2000, told: 2000 },
		{ cause: 'rate-limited', retryAfterMs: undefined, told: undefined },
		{ cause: 'temporarily-unavailable', retryAfterMs: 2000, told: 2000 },
		{ cause: 'credential-invalid', retryAfterMs: 2000, told: undefined },
	] as const)(
		'tells n8n its cause, $cause, and to wait for $told of $retryAfterMs ms',
		({ cause, retryAfterMs, told }) => {
			expect(toN8nError(node, { ...refused, retryAfterMs, cause }).failure).toStrictEqual({
				cause,
				...(told !== undefined && { retryAfterMs: told }),
			});
		},
	);
});

describe('what is thrown', () => {
	test('is left as it is if it is an error of n8n', () => {
		const error = toN8nError(node, refused);
		expect(asN8nError(node, error, 0)).toBe(error);
	});

	test('is about what the user entered if it says so, and nothing was sent', () => {
		expect(toProblem(input, true)).toEqual(invalid);
		const expected = asN8nError(node, input, 3);
		expect(expected).toBeInstanceOf(NodeOperationError);
		expect(shown(expected)).toMatchObject({ message: 'Title is missing', itemIndex: 3 });
	});

	test('is temporary if n8n does not give what the node needs, and nothing was sent', () => {
		const unavailable = new Unavailable('n8n could not open it', 'Try again.');
		expect(toProblem(unavailable, true)).toEqual({
			type: 'network',
			outcome: 'notSent',
			message: 'n8n could not open it',
			description: 'Try again.',
			cause: 'temporarily-unavailable',
		});
		const expected = asN8nError(node, unavailable);
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
		const message = `This is a bug in the Push Campaign node: ${said}`;
		const problem = { type: 'unspecified', cause: 'node-defect', message, description };
		expect(toProblem(thrown, true)).toEqual({ ...problem, outcome: 'unknown' });
		expect(toProblem(thrown, false)).toEqual({ ...problem, outcome: 'notSent' });
		expect(toError(thrown).message).toBe(said);
		const expected = asN8nError(node, thrown, 3);
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
		const { error, status, ...reason } = toItemFailure(problem, kind);
		// Strictly: n8n routes by which fields are there.
		expect(error).toStrictEqual({ message, description, ...facts });
		expect(status).toBe('outcome' in facts ? facts.outcome : undefined);
		expect(reason).toStrictEqual('outcome' in facts ? { description: message } : {});
	},
);
