import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import type { QueueOptions } from '../delivery/queue';
import type { Problem } from '../service/problems';

/** How the queue of a run works. */
export const queueOptions = (context: IExecuteFunctions): QueueOptions => ({
	stopOnFailure: !context.continueOnFail(),
	signal: context.getExecutionCancelSignal(),
	sleep: async (milliseconds) => await sleep(milliseconds),
});

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

/** What an item gives, and its error if it failed. */
export interface Result {
	readonly row: IDataObject;
	readonly isFailed: boolean;
}

export const isErrorOutput = (context: IExecuteFunctions): boolean =>
	context.getNode().onError === 'continueErrorOutput';

/**
 * The node's output. Every version of n8n routes an item with `error` alone to the error output, and adds the fields of
 * the input there.
 */
export function toOutput(
	context: IExecuteFunctions,
	results: readonly Result[],
): INodeExecutionData[] {
	const isErrorAlone = isErrorOutput(context);
	return results.map(({ row, isFailed }, item) => ({
		json: isFailed && isErrorAlone ? { error: row['error'] } : row,
		pairedItem: { item },
	}));
}
