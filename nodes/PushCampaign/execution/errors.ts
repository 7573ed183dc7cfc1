import type { IDataObject, INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Outcome } from '../delivery/runJobs';
import type { FailedOutcome, Problem } from '../service/failures';
import { InvalidInput } from '../service/invalidInput';

export type Failed = Extract<Outcome<never>, { kind: 'failed' | 'invalid' }>;

export const isFailed = <Value>(outcome: Outcome<Value>): outcome is Failed =>
	outcome.kind === 'failed' || outcome.kind === 'invalid';

/** How the items of a run ended, for the error that stops it. */
export interface Tally {
	readonly sent: number;
	readonly notSent: number;
	readonly unknown: number;
	readonly firstFailed: number;
}

/** Counts how the sends of a run ended; what never started was not sent. */
export function tally<Value>(outcomes: ReadonlyArray<Outcome<Value>>): Tally {
	const sent = outcomes.filter(({ kind }) => kind === 'done').length;
	const unknown = outcomes.filter(
		(outcome) => outcome.kind === 'failed' && outcome.problem.outcome === 'unknown',
	).length;
	return {
		sent,
		unknown,
		notSent: outcomes.length - sent - unknown,
		firstFailed: outcomes.findIndex(isFailed),
	};
}

/** Says how the items ended and how to go on without sending any of them twice; nothing for a single one. */
function describeTally({ sent, notSent, unknown, firstFailed }: Tally): string[] {
	const all = sent + notSent + unknown;
	if (all === 1) return [];
	const counts = `Sent: ${sent}, not sent: ${notSent}, unknown: ${unknown}. First to fail: item ${firstFailed}.`;
	if (sent + unknown === 0) return [counts];
	return [
		`'Retry' in the list of executions sends only what was not sent; executing the workflow again sends all ${all} again, but for those with an idempotency key.`,
		counts,
	];
}

/** What n8n's error says besides what ended the item. */
export interface ErrorOptions {
	/** How the other items ended, for sends. */
	readonly counts?: Tally;
	/** An agent tells its model the message alone. */
	readonly isTool?: boolean;
}

/** Turns what ended an item into n8n's error. */
export function toNodeError(
	node: INode,
	failed: Failed,
	itemIndex: number,
	{ counts, isTool = false }: ErrorOptions = {},
): NodeApiError | NodeOperationError {
	const suffix = counts === undefined ? [] : describeTally(counts);
	if (failed.kind === 'invalid') {
		const { message, advice } = failed.invalid;
		const told = isTool ? `${message}. ${advice}` : message;
		return toOperationError(node, { message: told, advice }, itemIndex, suffix);
	}
	const { message, description } = failed.problem;
	const told = isTool ? `${message}. ${description}` : message;
	return toApiError(node, { ...failed.problem, message: told }, itemIndex, suffix);
}

/** Turns input that can't be sent into n8n's error. */
export function toOperationError(
	node: INode,
	invalid: Pick<InvalidInput, 'message' | 'advice'>,
	itemIndex?: number,
	suffix: readonly string[] = [],
): NodeOperationError {
	return new NodeOperationError(node, invalid.message, {
		...(itemIndex === undefined ? {} : { itemIndex }),
		description: [invalid.advice, ...suffix].join(' '),
		failure: { cause: 'configuration-invalid' },
	});
}

/** Turns a failure of the service or the network into n8n's error. */
export function toApiError(
	node: INode,
	problem: Problem,
	itemIndex?: number,
	suffix: readonly string[] = [],
): NodeApiError {
	const { type, message, description, httpCode, cause, retryAfterMs } = problem;
	const isTimed = cause === 'rate-limited' || cause === 'temporarily-unavailable';
	return new NodeApiError(
		node,
		{ type },
		{
			message,
			description: [description, ...suffix].join(' '),
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
	/** Missing for reads. */
	readonly outcome?: FailedOutcome | undefined;
}

function errorJson({ httpCode, outcome, ...error }: ErrorFacts): IDataObject {
	return {
		error: {
			...error,
			...(httpCode === undefined ? {} : { httpCode }),
			...(outcome === undefined ? {} : { outcome }),
		},
	};
}

/** What a failed item holds when the node continues on fail. */
export function toErrorJson(failed: Failed, kind: 'send' | 'read'): IDataObject {
	const isSend = kind === 'send';
	if (failed.kind === 'invalid') {
		const { message, advice: description } = failed.invalid;
		const outcome = isSend ? 'notSent' : undefined;
		return errorJson({ message, description, type: 'validation', outcome });
	}
	const { message, description, type, httpCode, outcome } = failed.problem;
	return errorJson({ message, description, type, httpCode, ...(isSend ? { outcome } : {}) });
}

/** For a run that a user stopped before all its items had an outcome. */
export function stoppedError(node: INode): NodeOperationError {
	return new NodeOperationError(node, 'The execution was canceled before all items were done');
}

const unexpectedAdvice =
	'This is not about what you entered. Report it to the maintainers of this node, with the workflow and the input item.';

/** What was thrown, in its own words. */
export function messageOf(error: unknown): string {
	// Not by `instanceof`: what evaluates expressions apart from the server has an `Error` of its own.
	const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
	return String(hasMessage ? error.message : error);
}

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
	outcome?: FailedOutcome,
): IDataObject {
	return errorJson({ message, description: description ?? '', type: 'validation', outcome });
}
