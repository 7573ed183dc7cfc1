import type { IDataObject, INode } from 'n8n-workflow';
import { NodeApiError, NodeError, NodeOperationError } from 'n8n-workflow';

import type { Outcome } from '../delivery/outcome';
import type { Problem } from '../service/failures';
import { InvalidInput, messageOf } from '../service/invalidInput';
import type { Kind } from '../service/kinds';
import { kinds } from '../service/kinds';
import { capitalize } from '../service/text';
import type { Tally } from './itemJob';
import { isTool } from './itemJob';

/**
 * Says how the items ended, then what is to be said of the first that failed, then how to go on without doing
 * anything twice; of a run of one item no more than that.
 */
function describe(advice: string, itemIndex: number, kind: Kind, counts?: Tally): string {
	const { change } = kinds[kind];
	if (counts === undefined || change === undefined) return advice;
	const { items, doneEarlier, notDone, unknown } = counts;
	if (items === 1) return advice;
	const done = counts.done + doneEarlier;
	const earlier =
		doneEarlier === 0 ? '' : `${change.done} earlier under their keys: ${doneEarlier}, `;
	return [
		...(done === 0 ? [] : [`${done} of ${items} ${done === 1 ? 'was' : 'were'} ${change.done}.`]),
		`${capitalize(change.done)}: ${counts.done}, ${earlier}${change.notDone}: ${notDone}, unknown: ${unknown}.`,
		`First to fail: item ${itemIndex}.`,
		advice,
		...(done + unknown === 0 ? [] : [change.afterPart(items)]),
	].join(' ');
}

/**
 * Turns why the first failed item of a run failed into n8n's error, which stops the run.
 * @param counts missing where nothing was to change
 */
export function toNodeError(
	node: INode,
	problem: Problem,
	itemIndex: number,
	kind: Kind,
	counts?: Tally,
): NodeError {
	const description = describe(problem.description, itemIndex, kind, counts);
	// An agent tells its model the message alone.
	const message = isTool(node) ? `${problem.message}. ${problem.description}` : problem.message;
	return toApiError(node, { ...problem, message, description }, itemIndex);
}

/** Turns why something failed, here, at the service or on the way, into n8n's error. */
export function toApiError(node: INode, problem: Problem, itemIndex?: number): NodeError {
	const { type, message, description, httpCode, cause, retryAfterMs } = problem;
	const isTimed = cause === 'rate-limited' || cause === 'temporarily-unavailable';
	const options = {
		description,
		...(itemIndex === undefined ? {} : { itemIndex }),
		failure: isTimed && retryAfterMs !== undefined ? { cause, retryAfterMs } : { cause },
	};
	if (type === 'validation') return new NodeOperationError(node, message, options);
	const code = httpCode === undefined ? {} : { httpCode };
	return new NodeApiError(node, { type }, { message, ...options, ...code });
}

/** What a failed item holds when the node continues on fail. */
export function toErrorJson(problem: Problem, kind: Kind): IDataObject {
	const { message, description, type, httpCode, outcome } = problem;
	const { change } = kinds[kind];
	return {
		error: {
			message,
			description,
			type,
			...(httpCode === undefined ? {} : { httpCode }),
			...(change && { outcome: outcome === 'notDone' ? change.notDoneOutcome : outcome }),
		},
	};
}

const unexpectedAdvice =
	'This is not about what you entered. Report it to the maintainers of this node, with the workflow and the input item.';

/** Takes what was thrown for invalid input; where it is something else it is no fault of the user's. */
export function toInvalid(error: unknown): InvalidInput {
	if (error instanceof InvalidInput) return error;
	return new InvalidInput(`Unexpected error: ${messageOf(error)}`, unexpectedAdvice);
}

/**
 * Tells what was thrown as any other reason is. Unless it is about what the user entered, a request may have
 * left.
 */
export function toProblem(error: unknown): Problem {
	const { message, advice } = toInvalid(error);
	return {
		type: 'validation',
		outcome: error instanceof InvalidInput ? 'notDone' : 'unknown',
		message,
		description: advice,
		cause: 'configuration-invalid',
	};
}

/** Why an item failed, if it did. */
export function findProblem(outcome: Outcome<unknown>): Problem | undefined {
	if (outcome.kind === 'failed') return outcome.problem;
	return outcome.kind === 'invalid' ? toProblem(outcome.invalid) : undefined;
}

/**
 * Gives n8n's error for whatever was thrown.
 * @param itemIndex the item that is to blame for invalid input, if any
 */
export function toExpected(node: INode, error: unknown, itemIndex?: number): NodeError {
	if (error instanceof NodeError) return error;
	const problem = toProblem(error);
	if (error instanceof InvalidInput) return toApiError(node, problem, itemIndex);
	const { message, description } = problem;
	return new NodeOperationError(node, message, { description, failure: { cause: 'node-defect' } });
}
