import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeError, NodeOperationError } from 'n8n-workflow';

import type { Outcome } from '../delivery/outcome';
import type { ItemFailure } from '../operations/operation';
import type { Problem } from '../service/failures';
import { isTemporary } from '../service/failureWords';
import { InvalidInput, messageOf, Unavailable } from '../service/invalidInput';
import type { Kind } from '../service/kinds';
import { isSend } from '../service/kinds';
import { isTool } from './itemJob';
import { nameItems } from './itemNumbers';
import type { Failure, RunEnd } from './tally';
import { describeEnd, mayHaveSent } from './tally';

/** How many items are not valid, the first one's reason, and which others are not; of one item no more than its reason. */
function messageOfRun({ items, failures }: RunEnd, { itemIndex, problem }: Failure): string {
	if (items === 1 || problem.type !== 'validation') return problem.message;
	const notValid = failures.filter((failure) => failure.problem.type === 'validation');
	const others = notValid.slice(1).map((failure) => failure.itemIndex);
	const are = notValid.length === 1 ? 'is' : 'are';
	const also = others.length === 0 ? '' : `; also ${nameItems(others)}`;
	const which = `item ${itemIndex}${also}`;
	return `${notValid.length} of ${items} items ${are} not valid: ${problem.message} (${which})`;
}

/** How to go on if only some items were sent. */
const sendTheRest = ({ items, hasKeys = false }: RunEnd) =>
	hasKeys
		? "To send the rest, run the workflow again, or use 'Retry' in the list of executions. What was sent is not sent again, because it has an idempotency key."
		: `To send only what was not sent, use 'Retry' in the list of executions. Executing the workflow again sends all ${items} again.`;

/** How all items ended, then how to go on without doing anything twice; of one item no more than how to go on. */
function descriptionOfRun(run: RunEnd, { problem }: Failure): string {
	if (run.items === 1 || !isSend(run.kind)) return problem.description;
	const sentences = [`${describeEnd(run)}.`, problem.description];
	if (mayHaveSent(run)) sentences.push(sendTheRest(run));
	return sentences.join(' ');
}

/** Turns why the first failed item of a run failed into n8n's error, which stops the run. */
export function toRunError(node: INode, run: RunEnd, failure: Failure): NodeError {
	const { problem, itemIndex } = failure;
	const message = messageOfRun(run, failure);
	return toN8nError(
		node,
		{
			...problem,
			// An agent tells its model the message alone.
			message: isTool(node) ? `${message}. ${problem.description}` : message,
			description: descriptionOfRun(run, failure),
		},
		itemIndex,
	);
}

/**
 * n8n takes an execution whose error message has this word for canceled (n8n-core 2.41.1: `workflow-execute.js`,
 * `processSuccessExecution`): no error workflow starts, and in queue mode its Retry never ends. A message may quote a
 * title with it, so a character that nobody sees stands in the word.
 */
const withoutCanceled = (message: string) => message.replaceAll('canceled', 'cancel\u2060ed');

/** Turns why something failed, here, at the service or on the way, into n8n's error. */
export function toN8nError(node: INode, problem: Problem, itemIndex?: number): NodeError {
	const { type, message, description, httpCode, cause, retryAfterMs } = problem;
	const options = {
		description,
		...(itemIndex === undefined ? {} : { itemIndex }),
		failure: isTemporary(cause) && retryAfterMs !== undefined ? { cause, retryAfterMs } : { cause },
	};
	const isOfService = type !== 'validation' && cause !== 'node-defect';
	const shown = withoutCanceled(message);
	if (!isOfService) return new NodeOperationError(node, shown, options);
	const code = httpCode === undefined ? {} : { httpCode };
	return new NodeApiError(node, { type }, { message: shown, ...options, ...code });
}

/** What a failed item reports if the node continues. */
export function toItemFailure(problem: Problem, kind: Kind): ItemFailure {
	const { message, description, type, httpCode, outcome } = problem;
	const status = isSend(kind) ? outcome : undefined;
	return {
		status,
		...(status === undefined ? {} : { description: message }),
		error: {
			message,
			description,
			type,
			...(httpCode === undefined ? {} : { httpCode }),
			...(status === undefined ? {} : { outcome: status }),
		},
	};
}

const notValid = { type: 'validation', cause: 'configuration-invalid' } as const;
const notAvailable = { type: 'network', cause: 'temporarily-unavailable' } as const;
const defect = { type: 'unspecified', cause: 'node-defect' } as const;
const defectAdvice =
	'This is not about what you entered. Report it to the maintainers of this node, with the workflow and the input item.';

/** What was thrown, as an error. What evaluates expressions has an `Error` of its own. */
export const toError = (thrown: unknown): Error =>
	thrown instanceof Error ? thrown : new Error(messageOf(thrown));

/**
 * Why something failed that was thrown.
 * @param mayBeRequested whether a request may have left before
 */
export function toProblem(error: unknown, mayBeRequested: boolean): Problem {
	const message = messageOf(error);
	if (error instanceof InvalidInput) {
		return { ...notValid, outcome: 'notSent', message, description: error.advice };
	}
	if (error instanceof Unavailable) {
		return { ...notAvailable, outcome: 'notSent', message, description: error.advice };
	}
	const outcome = mayBeRequested ? 'unknown' : 'notSent';
	return {
		...defect,
		outcome,
		message: `This is a bug in the Push Campaign node: ${message}`,
		description: defectAdvice,
	};
}

/** Why an item failed, if it did. */
function findProblem(outcome: Outcome<unknown>): Problem | undefined {
	if (outcome.kind === 'failed') return outcome.problem;
	return outcome.kind === 'invalid' ? toProblem(outcome.invalid, false) : undefined;
}

/** The items that failed, in their order. */
export function failuresOf(outcomes: ReadonlyArray<Outcome<unknown>>): Failure[] {
	return outcomes.flatMap((outcome, itemIndex) => {
		const problem = findProblem(outcome);
		return problem === undefined ? [] : [{ itemIndex, problem }];
	});
}

/**
 * Turns whatever was thrown into n8n's error.
 * @param itemIndex the item that is to blame for invalid input, if any
 */
export function asN8nError(node: INode, error: unknown, itemIndex?: number): NodeError {
	if (error instanceof NodeError) return error;
	const problem = toProblem(error, true);
	return toN8nError(node, problem, problem.cause === 'node-defect' ? undefined : itemIndex);
}
