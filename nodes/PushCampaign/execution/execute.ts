import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeError } from 'n8n-workflow';

import { toN8nError, toProblem } from '../n8n/errors';
import { queries, sends } from '../operations';
import type { Problem } from '../service/problems';
import { InvalidInput } from '../service/thrown';
import { toItemError, toOutput } from './results';
import { runReads } from './runReads';
import { runSends } from './runSends';

/**
 * Runs the node: one request for each item.
 * @throws NodeOperationError, NodeApiError
 */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const name = context.getNodeParameter('operation', 0);
	const send = sends.find(({ option }) => option.value === name);
	const read = queries.find(({ option }) => option.value === name);
	const run = async () => {
		if (send !== undefined) return await runSends(context, send);
		if (read !== undefined) return await runReads(context, read);
		throw new InvalidInput('Operation is not known', 'Choose a resource and an operation.');
	};
	return await run().catch((error: unknown) => {
		// It says already how the run ended; or the user has stopped it.
		if (error instanceof NodeError) throw error;
		return failAll(context, toProblem(error), send !== undefined);
	});
}

/** Nothing was sent, because of something that is about no item; or the node has a defect, and nobody knows. */
function failAll(
	context: IExecuteFunctions,
	problem: Problem,
	isSend: boolean,
): INodeExecutionData[] {
	const { message, fix = '' } = problem;
	const isUnknown = isSend && problem.outcome === 'unknown';
	const description = isUnknown
		? `It is unknown what was sent: look in the dashboard of your push service. ${fix}`
		: fix;
	const node = context.getNode();
	if (!context.continueOnFail()) throw toN8nError(node, problem, { message, description });
	// n8n would hand the input on, as if nothing had failed.
	const error = toItemError(problem, description, isSend);
	const row = isSend ? { status: problem.outcome, description: message, error } : { error };
	const failed = context.getInputData().map(() => ({ row, isFailed: true }));
	return toOutput(context, failed);
}
