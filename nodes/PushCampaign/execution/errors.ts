import type { IDataObject, INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Outcome } from '../delivery/runJobs';
import type { FailedOutcome, Problem } from '../service/failures';
import { InvalidInput, messageOf } from '../service/invalidInput';
import type { Kind } from '../service/kinds';
import { kinds } from '../service/kinds';
import { capitalize } from '../service/text';

export { messageOf };

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

/** Turns what ended an item into n8n's error. */
export function toNodeError(
	node: INode,
	failed: Failed,
	itemIndex: number,
	options: ErrorOptions = {},
): NodeApiError | NodeOperationError {
	const words = (message: string, advice: string) => ({
		message: options.isTool ? `${message}. ${advice}` : message,
		description: describe(advice, options),
	});
	if (failed.kind === 'invalid') {
		const { message, description } = words(failed.invalid.message, failed.invalid.advice);
		return toOperationError(node, { message, advice: description }, itemIndex);
	}
	const { problem } = failed;
	return toApiError(
		node,
		{ ...problem, ...words(problem.message, problem.description) },
		itemIndex,
	);
}

/** Turns input that can't be sent into n8n's error. */
export function toOperationError(
	node: INode,
	{ message, advice: description }: Pick<InvalidInput, 'message' | 'advice'>,
	itemIndex?: number,
): NodeOperationError {
	return new NodeOperationError(node, message, {
		...(itemIndex === undefined ? {} : { itemIndex }),
		description,
		failure: { cause: 'configuration-invalid' },
	});
}

/** Turns a failure of the service or the network into n8n's error. */
export function toApiError(node: INode, problem: Problem, itemIndex?: number): NodeApiError {
	const { type, message, description, httpCode, cause, retryAfterMs } = problem;
	const isTimed = cause === 'rate-limited' || cause === 'temporarily-unavailable';
	return new NodeApiError(
		node,
		{ type },
		{
			message,
			description,
			...(httpCode === undefined ? {} : { httpCode }),
			...(itemIndex === undefined ? {} : { itemIndex }),
			failure: isTimed
				? { cause, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
				: { cause },
		},
	);
}

interface ErrorFacts {
	readonly message: string;
	readonly description: string;
	readonly type: string;
	readonly httpCode?: string | undefined;
	readonly outcome: FailedOutcome;
}

/** @param kind missing where it is not known: then the item says its outcome */
function errorJson(
	{ httpCode, outcome, ...error }: ErrorFacts,
	kind: Kind | undefined,
): IDataObject {
	return {
		error: {
			...error,
			...(httpCode === undefined ? {} : { httpCode }),
			...(kind !== undefined && kinds[kind].change === undefined ? {} : { outcome }),
		},
	};
}

/** What a failed item holds when the node continues on fail. */
export function toErrorJson(failed: Failed, kind: Kind): IDataObject {
	if (failed.kind === 'invalid') {
		const { message, advice: description } = failed.invalid;
		return errorJson({ message, description, type: 'validation', outcome: 'notSent' }, kind);
	}
	const { message, description, type, httpCode, outcome } = failed.problem;
	return errorJson({ message, description, type, httpCode, outcome }, kind);
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

type NodeError = NodeApiError | NodeOperationError;

/** Gives n8n's error for whatever was thrown. */
export function toExpected(node: INode, error: unknown): NodeError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	if (error instanceof InvalidInput) return toOperationError(node, error, 0);
	return new NodeOperationError(node, `The node ended unexpectedly: ${messageOf(error)}`, {
		description: unexpectedAdvice,
		failure: { cause: 'node-defect' },
	});
}

/** What each item holds when a run that continues on fail ended before its items had an outcome. */
export function faultJson(
	{ message, description }: NodeError,
	outcome: FailedOutcome,
	kind?: Kind,
): IDataObject {
	return errorJson({ message, description: description ?? '', type: 'validation', outcome }, kind);
}
