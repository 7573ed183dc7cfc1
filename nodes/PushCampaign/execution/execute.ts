import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeError } from 'n8n-workflow';

import { toN8nError, toProblem } from '../n8n/errors';
import { itemParameters } from '../n8n/parameters';
import { reads, sends } from '../operations';
import type { Ending } from '../operations/operation';
import { toInvalidRow } from '../operations/send';
import type { Problem } from '../service/problems';
import { InvalidInput } from '../service/thrown';
import { describeItem } from './failureTexts';
import { toItemError, toOutput } from './results';
import { describeRead, runReads, showFailures } from './runReads';
import { runSends } from './runSends';

/**
 * Runs the node: one request for each item.
 * @throws NodeOperationError, NodeApiError
 */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	if (context.getInputData().length === 0) return [];
	const name = context.getNodeParameter('operation', 0);
	const send = sends.find(({ option }) => option.value === name);
	const read = reads.find(({ option }) => option.value === name);
	const run = async () => {
		if (send !== undefined) return await runSends(context, send);
		if (read !== undefined) return await runReads(context, read);
		throw new InvalidInput('Operation is not known', 'Choose a resource and an operation.');
	};
	return await run().catch((error: unknown) => {
		// It says already how the run ended; or the user has stopped it.
		if (error instanceof NodeError) throw error;
		const toRow = (index: number, ending: Ending) => {
			const item = itemParameters(context)(index);
			if (send !== undefined) return toInvalidRow(item, send, ending);
			return { ...read?.toInvalidRow(item), error: ending.error };
		};
		return failAll(context, toProblem(error), read === undefined, toRow);
	});
}

/** The credential, a vault or a database can't be had, or the node has a defect: it fails once, for all items. */
function failAll(
	context: IExecuteFunctions,
	problem: Problem,
	isSend: boolean,
	toRow: (index: number, ending: Ending) => IDataObject,
): INodeExecutionData[] {
	const { message, outcome: status } = problem;
	const isContinuing = context.continueOnFail();
	const circumstances = { isContinuing, isAnySent: true, isSubWorkflow: false, areUnknown: false };
	const description = isSend
		? describeItem(problem, { ...circumstances, hasKeys: false, isToOne: false })
		: describeRead(problem);
	if (!isContinuing) throw toN8nError(context.getNode(), problem, { message, description });
	const ending = { status, description: message, error: toItemError(problem, description, isSend) };
	const items = context.getInputData();
	showFailures(context, items.length, items.length);
	return toOutput(
		context,
		items.map((_item, index) => ({ row: toRow(index, ending), isFailed: true })),
	);
}
