import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { readAttempt } from '../delivery/attempts';
import type { Job } from '../delivery/queue';
import { runQueue } from '../delivery/queue';
import { connections } from '../n8n/connection';
import { toRefusal } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import { itemParameters } from '../n8n/parameters';
import type { QueryOperation } from '../operations/operation';
import type { Result } from '../service/client';
import type { Problem } from '../service/problems';
import { forEachItem, queueOptions } from './eachItem';
import { adviceOf } from './failureTexts';
import { failedHint } from './hints';
import type { Failure } from './names';
import { haveOneReason, notValid } from './names';
import { isErrorOutput, toItemError, toOutput, toRunError } from './results';
import { isStopped } from './start';

type ReadResult = Result<IDataObject>;

/** One item's read, or why it can't be made. Reads of one key give the same. */
type Plan = { readonly item: ItemParameters } & (
	| { readonly key: string; readonly job: Job<ReadResult> }
	| { readonly problem: Problem }
);

/**
 * Reads for each item; items that ask for the same share a request. Unless the node continues on fail, all items are
 * checked before the first request.
 * @throws NodeOperationError, NodeApiError
 */
export async function runReads(
	context: IExecuteFunctions,
	operation: QueryOperation,
): Promise<INodeExecutionData[]> {
	const plans = await planAll(context, operation);
	const isContinuing = context.continueOnFail();
	const mayStart = isContinuing || !plans.some((plan) => 'problem' in plan);
	const jobs = new Map(plans.flatMap((plan) => ('job' in plan ? [[plan.key, plan.job]] : [])));
	const outcomes = mayStart ? await runQueue([...jobs.values()], queueOptions(context)) : [];
	const answers = new Map([...jobs.keys()].map((key, place) => [key, outcomes[place]]));
	if (isStopped(context)) {
		throw new NodeOperationError(context.getNode(), 'The execution was canceled');
	}

	const failures: Failure[] = [];
	const results = plans.map((plan, index) => {
		const answer = 'problem' in plan ? plan : answers.get(plan.key);
		if (answer === undefined) return { row: {}, isFailed: false };
		// Items that share an answer must not share its object: a later node may change one of them.
		if ('value' in answer) return { row: structuredClone(answer.value), isFailed: false };
		const failure = { index, problem: answer.problem };
		failures.push(failure);
		const error = toItemError(answer.problem, adviceOf([failure]), false);
		return { row: { ...operation.toFailedRow(plan.item), error }, isFailed: true };
	});
	const [first] = failures;
	if (first !== undefined && !isContinuing) {
		const { type, message } = first.problem;
		const isOfAll = type !== 'validation' || haveOneReason(failures, plans.length);
		const text = isOfAll ? message : notValid(failures, plans.length, '');
		throw toRunError(context, first.problem, text, adviceOf(failures));
	}
	const hint = failedHint(failures.length, plans.length, isErrorOutput(context));
	return toOutput(context, results, [hint]);
}

async function planAll(context: IExecuteFunctions, operation: QueryOperation): Promise<Plan[]> {
	const itemAt = itemParameters(context);
	const connectionOf = connections(context);
	let unavailable: Problem | undefined;
	return await forEachItem(
		context,
		context.getInputData(),
		async (_input, index): Promise<Plan> => {
			const item = itemAt(index);
			if (unavailable !== undefined) return { item, problem: unavailable };
			try {
				const { key, perform } = operation.prepare(item);
				const { client, site } = await connectionOf(index);
				const job = async () => readAttempt(await perform(client));
				return { item, key: `${site} ${key}`, job };
			} catch (error) {
				const problem = toRefusal(error);
				if (problem.isForAll) unavailable = problem;
				return { item, problem };
			}
		},
	);
}
