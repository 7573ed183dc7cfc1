import type { IDataObject, INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Outcome } from '../delivery/runJobs';
import type { FailedOutcome, Problem } from '../service/failures';
import { InvalidInput, messageOf } from '../service/invalidInput';
import type { Kind } from '../service/kinds';
import { kinds } from '../service/kinds';
import { capitalize } from '../service/text';

export { messageOf };

type NodeError = NodeApiError | NodeOperationError;

export type Failed = Extract<Outcome<never>, { kind: 'failed' | 'invalid' }>;

export const isFailed = <Value>(outcome: Outcome<Value>): outcome is Failed =>
	outcome.kind === 'failed' || outcome.kind === 'invalid';

/** How the items of a run ended that was to change something, for the error that stops it. */
export interface Tally {
	/** Now, or in an earlier try of this execution. */
	readonly done: number;
	/** By others, under their idempotency keys. */
	readonly doneEarlier: number;
	readonly notDone: number;
	readonly unknown: number;
	readonly firstFailed: number;
}

/** Counts how the items of a run ended; what never started was not done. */
export function tally(
	ends: ReadonlyArray<Exclude<keyof Tally, 'firstFailed'>>,
	firstFailed: number,
): Tally {
	const counts = { done: 0, doneEarlier: 0, notDone: 0, unknown: 0 };
	for (const end of ends) counts[end] += 1;
	return { ...counts, firstFailed };
}

/** What n8n's error says besides what ended the item. */
export interface ErrorOptions {
	readonly kind?: Kind;
	/** How all items ended. */
	readonly counts?: Tally | undefined;
	/** An agent tells its model the message alone. */
	readonly isTool?: boolean;
}

/**
 * Says how the items ended, then what is to be said of one of them, then how to go on without doing anything
 * twice; of a run of one item no more than that.
 */
function describe(advice: string, { kind = 'read', counts }: ErrorOptions): string {
	const { change } = kinds[kind];
	if (counts === undefined || change === undefined) return advice;
	const { doneEarlier, notDone, unknown, firstFailed } = counts;
	const done = counts.done + doneEarlier;
	const all = done + notDone + unknown;
	if (all === 1) return advice;
	const earlier =
		doneEarlier === 0 ? '' : `${change.done} earlier under their keys: ${doneEarlier}, `;
	return [
		...(done === 0 ? [] : [`${done} of ${all} ${done === 1 ? 'was' : 'were'} ${change.done}.`]),
		`${capitalize(change.done)}: ${counts.done}, ${earlier}${change.notDone}: ${notDone}, unknown: ${unknown}.`,
		`First to fail: item ${firstFailed}.`,
		advice,
		...(done + unknown === 0 ? [] : [change.afterPart(all)]),
	].join(' ');
}

type Words = Pick<InvalidInput, 'message' | 'advice'>;

/** Input that can't be sent, told as any other reason is. */
const toProblem = ({ message, advice }: Words): Problem => ({
	type: 'validation',
	outcome: 'notDone',
	message,
	description: advice,
	cause: 'configuration-invalid',
});

const problemOf = (failed: Failed): Problem =>
	failed.kind === 'failed' ? failed.problem : toProblem(failed.invalid);

/** Turns what ended an item into n8n's error. */
export function toNodeError(
	node: INode,
	failed: Failed,
	itemIndex: number,
	options: ErrorOptions = {},
): NodeError {
	const problem = problemOf(failed);
	const { message, description } = problem;
	const told = {
		message: options.isTool ? `${message}. ${description}` : message,
		description: describe(description, options),
	};
	return toApiError(node, { ...problem, ...told }, itemIndex);
}

/** Turns input that can't be sent into n8n's error. */
export const toOperationError = (node: INode, invalid: Words, itemIndex?: number): NodeError =>
	toApiError(node, toProblem(invalid), itemIndex);

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

/** @param kind where it is not known, it may be a send: then the item says its outcome */
function errorJson(problem: Problem, kind: Kind = 'send'): IDataObject {
	const { message, description, type, httpCode, outcome } = problem;
	const { change } = kinds[kind];
	const told = outcome === 'notDone' ? change?.notDoneOutcome : outcome;
	return {
		error: {
			message,
			description,
			type,
			...(httpCode === undefined ? {} : { httpCode }),
			...(change === undefined ? {} : { outcome: told }),
		},
	};
}

/** What a failed item holds when the node continues on fail. */
export const toErrorJson = (failed: Failed, kind: Kind): IDataObject =>
	errorJson(problemOf(failed), kind);

/** What each item holds when a run that continues on fail ended before its items had an outcome. */
export function faultJson(
	{ message, description }: NodeError,
	outcome: FailedOutcome,
	kind?: Kind,
): IDataObject {
	return errorJson({ ...toProblem({ message, advice: description ?? '' }), outcome }, kind);
}

/** For a run that a user stopped before all its items had an outcome. */
export function stoppedError(node: INode): NodeOperationError {
	return new NodeOperationError(node, 'The execution was canceled before all items were done');
}

const unexpectedAdvice =
	'This is not about what you entered. Report it to the maintainers of this node, with the workflow and the input item.';

/** Takes what was thrown for invalid input; where it is something else it is no fault of the user's. */
export function toInvalid(error: unknown): InvalidInput {
	if (error instanceof InvalidInput) return error;
	const message = `The node can't deal with this item: ${messageOf(error)}`;
	return new InvalidInput(message, unexpectedAdvice);
}

/** Gives n8n's error for whatever was thrown. */
export function toExpected(node: INode, error: unknown): NodeError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	if (error instanceof InvalidInput) return toOperationError(node, error, 0);
	return new NodeOperationError(node, `The node ended unexpectedly: ${messageOf(error)}`, {
		description: unexpectedAdvice,
		failure: { cause: 'node-defect' },
	});
}
