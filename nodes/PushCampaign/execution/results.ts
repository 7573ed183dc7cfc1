import type { IDataObject, IExecuteFunctions, INodeExecutionData, NodeError } from 'n8n-workflow';

import { toN8nError } from '../n8n/errors';
import type { Problem } from '../service/problems';
import type { Hint } from './hintHtml';
import { isForModel } from './start';

/** n8n's error for a run that failed. It tells a model the message alone. */
export function toRunError(
	context: IExecuteFunctions,
	problem: Problem,
	text: string,
	description: string,
): NodeError {
	const message = isForModel(context) ? `${text}. ${description}` : text;
	return toN8nError(context.getNode(), problem, { message, description });
}

/** The `error` of an item that failed. A read has no outcome. */
export function toItemError(
	{ message, type, httpCode, outcome }: Problem,
	description: string,
	isSend: boolean,
): IDataObject {
	return {
		message,
		description,
		type,
		...(httpCode === undefined ? {} : { httpCode }),
		...(isSend ? { outcome } : {}),
	};
}

export const isErrorOutput = (context: IExecuteFunctions): boolean =>
	context.getNode().onError === 'continueErrorOutput';

/**
 * Shows the hints, and gives the node's output. Every version of n8n routes an item with `error` alone to the error
 * output, and adds the fields of the input there.
 */
export function toOutput(
	context: IExecuteFunctions,
	results: ReadonlyArray<{ readonly row: IDataObject; readonly isFailed: boolean }>,
	hints: readonly Hint[] = [],
): INodeExecutionData[] {
	// Not every context that n8n makes can show hints.
	context.addExecutionHints?.(...hints.filter((hint) => hint !== undefined));
	const isErrorAlone = isErrorOutput(context);
	return results.map(({ row, isFailed }, item) => ({
		json: isFailed && isErrorAlone ? { error: row['error'] } : row,
		pairedItem: { item },
	}));
}
