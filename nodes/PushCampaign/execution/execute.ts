import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeError } from 'n8n-workflow';

import { toN8nError, toProblem } from '../n8n/errors';
import { reads, sends } from '../operations';
import { InvalidInput } from '../service/invalidInput';
import type { Problem } from '../service/problems';
import { describeItem } from './failureTexts';
import { toItemError, toOutput } from './results';
import { runReads } from './runReads';
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
	try {
		if (send !== undefined) return await runSends(context, send);
		if (read !== undefined) return await runReads(context, read);
		throw new InvalidInput('Operation is not known', 'Choose a resource and an operation.');
	} catch (error) {
		// It says already how the run ended; or the user has stopped it.
		if (error instanceof NodeError) throw error;
		return failAll(context, toProblem(error), read === undefined);
	}
}

/** The credential, a vault or a database can't be had, or the node has a defect: it fails once, for all items. */
function failAll(
	context: IExecuteFunctions,
	problem: Problem,
	isSend: boolean,
): INodeExecutionData[] {
	const isContinuing = context.continueOnFail();
	const description = isSend
		? describeItem(problem, { hasKeys: false, isContinuing, isToOne: false })
		: (problem.fix ?? '');
	if (!isContinuing) {
		throw toN8nError(context.getNode(), problem, { message: problem.message, description });
	}
	const error = toItemError(problem, description, isSend);
	const row = isSend ? { status: problem.outcome, description: problem.message, error } : { error };
	return toOutput(
		context,
		context.getInputData().map(() => ({ row, isFailed: true })),
	);
}
