import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeError, NodeOperationError } from 'n8n-workflow';

import type { Outcome } from '../delivery/outcome';
import type { ItemFailure } from '../operations/operation';
import type { Problem } from '../service/failures';
import { InvalidInput, messageOf, Unavailable } from '../service/invalidInput';
import type { Kind } from '../service/kinds';
import { kinds } from '../service/kinds';
import { capitalize, ordinal } from '../service/text';
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
	// n8n counts items from 0, people from 1.
	const first = `item ${itemIndex} (the ${ordinal(itemIndex + 1)} of ${items})`;
	const tally = `${capitalize(change.done)}: ${counts.done}, ${earlier}${change.notDone}: ${notDone}, unknown: ${unknown}.`;
	const isNothingDone = done + unknown === 0;
	return [
		...(isNothingDone ? [`Nothing was ${change.done}: ${first} failed first.`] : []),
		...(done === 0 ? [] : [`${done} of ${items} ${done === 1 ? 'was' : 'were'} ${change.done}.`]),
		tally,
		...(isNothingDone ? [] : [`First to fail: ${first}.`]),
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
	const isOfService = type !== 'validation' && cause !== 'node-defect';
	if (!isOfService) return new NodeOperationError(node, message, options);
	const code = httpCode === undefined ? {} : { httpCode };
	return new NodeApiError(node, { type }, { message, ...options, ...code });
}

/** What a failed item reports if the node continues. */
export function toFailure(problem: Problem, kind: Kind): ItemFailure {
	const { message, description, type, httpCode, outcome } = problem;
	const { change } = kinds[kind];
	const status = change && (outcome === 'notDone' ? change.notDoneOutcome : outcome);
	return {
		status,
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
 * @param mayHaveLeft whether a request may have left before
 */
export function toProblem(error: unknown, mayHaveLeft: boolean): Problem {
	const message = messageOf(error);
	if (error instanceof InvalidInput) {
		return { ...notValid, outcome: 'notDone', message, description: error.advice };
	}
	if (error instanceof Unavailable) {
		return { ...notAvailable, outcome: 'notDone', message, description: error.advice };
	}
	const outcome = mayHaveLeft ? 'unknown' : 'notDone';
	return {
		...defect,
		outcome,
		message: `This node has a defect: ${message}`,
		description: defectAdvice,
	};
}

/** Why an item failed, if it did. */
export function findProblem(outcome: Outcome<unknown>): Problem | undefined {
	if (outcome.kind === 'failed') return outcome.problem;
	return outcome.kind === 'invalid' ? toProblem(outcome.invalid, false) : undefined;
}

/**
 * Turns whatever was thrown into n8n's error.
 * @param itemIndex the item that is to blame for invalid input, if any
 */
export function toExpected(node: INode, error: unknown, itemIndex?: number): NodeError {
	if (error instanceof NodeError) return error;
	const problem = toProblem(error, true);
	return toApiError(node, problem, problem.cause === 'node-defect' ? undefined : itemIndex);
}
