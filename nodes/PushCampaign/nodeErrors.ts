import type { IDataObject, INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Outcome } from './delivery/deliver';
import type { Problem } from './service/failures';
import { InvalidInput } from './service/invalidInput';

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

function describeTally({ sent, notSent, unknown, firstFailed }: Tally): string {
	return `Sent: ${sent}, not sent: ${notSent}, unknown: ${unknown}. First to fail: item ${firstFailed}.`;
}

/**
 * Turns what ended an item into n8n's error.
 * @param counts how the other items ended, for sends
 */
export function toNodeError(
	node: INode,
	failed: Failed,
	itemIndex: number,
	counts?: Tally,
): NodeApiError | NodeOperationError {
	const suffix = counts === undefined ? [] : [describeTally(counts)];
	if (failed.kind === 'invalid') return toOperationError(node, failed.invalid, itemIndex, suffix);
	return toApiError(node, failed.problem, itemIndex, suffix);
}

/** Turns input that can't be sent into n8n's error. */
export function toOperationError(
	node: INode,
	invalid: InvalidInput,
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

/** What a failed item holds when the node continues on fail. */
export function toErrorJson(failed: Failed, kind: 'send' | 'read'): IDataObject {
	const isSend = kind === 'send';
	if (failed.kind === 'invalid') {
		const { message, advice } = failed.invalid;
		return {
			error: {
				message,
				description: advice,
				type: 'validation',
				...(isSend ? { outcome: 'notSent' } : {}),
			},
		};
	}
	const { message, description, type, httpCode, outcome } = failed.problem;
	return {
		error: {
			message,
			description,
			type,
			...(httpCode === undefined ? {} : { httpCode }),
			...(isSend ? { outcome } : {}),
		},
	};
}

/** For a run that a user stopped before all its items had an outcome. */
export function stoppedError(node: INode): NodeOperationError {
	return new NodeOperationError(node, 'The execution was canceled before all items were done');
}

/** What an action gives, or why its input is not valid. */
export type Caught<Value> =
	| { readonly value: Value; readonly invalid?: undefined }
	| { readonly value?: undefined; readonly invalid: InvalidInput };

/** Runs an action that throws InvalidInput. */
export function catchInvalid<Value>(action: () => Value): Caught<Value> {
	try {
		return { value: action() };
	} catch (error) {
		if (error instanceof InvalidInput) return { invalid: error };
		return { invalid: asInvalid(error, 'Parameters', 'Correct the parameters of the node.') };
	}
}

/** Turns what n8n threw while it worked out the user's input into invalid input. */
export function asInvalid(error: unknown, field: string, advice: string): InvalidInput {
	return new InvalidInput(field, error instanceof Error ? error.message : String(error), advice);
}
