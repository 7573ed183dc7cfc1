import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeError,
	NodeExecutionHint,
} from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import type { QueueOptions } from '../delivery/queue';
import { toN8nError } from '../n8n/errors';
import type { Problem } from '../service/problems';
import type { Failure } from './names';
import { counted } from './names';
import { isForModel } from './start';

/** After this many items the rest of n8n gets its turn: reading thousands of parameters takes seconds. */
const itemsAtOnce = 200;

/** Plans the items one after another; fewer if the execution is stopped. */
export async function planEach<Item, Plan>(
	context: Pick<IExecuteFunctions, 'getExecutionCancelSignal'>,
	items: readonly Item[],
	plan: (item: Item, index: number) => Promise<Plan>,
): Promise<Plan[]> {
	const signal = context.getExecutionCancelSignal();
	const plans: Plan[] = [];
	for (const [index, item] of items.entries()) {
		if (signal?.aborted) break;
		plans.push(await plan(item, index));
		if (plans.length % itemsAtOnce === 0) await sleep(0);
	}
	return plans;
}

/** How the queue of a run works. */
export const queueOptions = (context: IExecuteFunctions): QueueOptions => ({
	stopOnFailure: !context.continueOnFail(),
	signal: context.getExecutionCancelSignal(),
	sleep,
});

/** n8n's error for a run that failed. It tells a model the message alone. */
export function toRunError(
	context: IExecuteFunctions,
	{ index: itemIndex, problem }: Failure,
	text: string,
	description: string,
): NodeError {
	const message = isForModel(context) ? `${text}. ${description}` : text;
	return toN8nError(context.getNode(), problem, { message, description, itemIndex });
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

const escaped = (text: string) =>
	text
		.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
		.replace(/\r?\n/g, '<br>');

/** What there may be to say. */
export type Hint = NodeExecutionHint | undefined;

/** The editor shows hints as HTML. */
export type Line = string | { readonly bold: string };

const toHtml = (line: Line) =>
	typeof line === 'string' ? escaped(line) : `<b>${escaped(line.bold)}</b>`;

const hint = (type: 'info' | 'warning', lines: readonly Line[]): NodeExecutionHint => ({
	message: lines.map(toHtml).join('<br>'),
	type,
	location: 'outputPane',
});
export const info = (...lines: Line[]) => hint('info', lines);
export const warning = (...lines: Line[]) => hint('warning', lines);

/**
 * How many items failed in a run that went on, and where to look.
 * @param which they are: sentences
 */
export function failedHint(
	failed: number,
	items: number,
	isToErrorOutput: boolean,
	which = '',
): Hint {
	if (failed === 0) return undefined;
	const where = isToErrorOutput ? 'the Error output' : 'the error column';
	const message = `${failed} of ${counted(items, 'item')} failed: see ${where}. ${which}`;
	return warning(message.trim());
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
