import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { readAttempt } from '../delivery/attempts';
import type { Job } from '../delivery/queue';
import { runQueue } from '../delivery/queue';
import { connections } from '../n8n/connection';
import { toN8nError, toRefusal } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import { itemParameters } from '../n8n/parameters';
import type { PreparedQuery, QueryOperation } from '../operations/operation';
import type { Client, Result } from '../service/client';
import type { Problem } from '../service/problems';
import { readAgain } from './failureTexts';
import type { Refused } from './names';
import { haveOneReason, notValid } from './names';
import { isErrorOutput, planEach, queueOptions, toItemError, toOutput } from './results';
import { isForModel, isInEditor, retryOffer } from './start';

type ReadResult = Result<IDataObject>;

/** One item's read: what it asks for, or why it can't. */
type Plan = { readonly item: ItemParameters } & (
	| { readonly key: string; readonly read: PreparedQuery; readonly client: Client }
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
	const answers = mayStart ? await readAll(context, plans) : new Map<string, undefined>();
	if (context.getExecutionCancelSignal()?.aborted) {
		throw new NodeOperationError(context.getNode(), 'The execution was canceled');
	}

	const offer = isInEditor(context) ? 'none' : retryOffer(context);
	const describe = ({ said, fix }: Problem) =>
		[said, fix, readAgain[offer]].filter((sentence) => sentence).join(' ');
	const failures: Refused[] = [];
	const results = plans.map((plan, index) => {
		const answer = 'problem' in plan ? plan : answers.get(plan.key);
		if (answer === undefined) return { row: {}, isFailed: false };
		// Items that share an answer must not share its object: a later node may change one of them.
		if ('value' in answer) return { row: structuredClone(answer.value), isFailed: false };
		const { problem } = answer;
		failures.push({ index, problem });
		const error = toItemError(problem, describe(problem), false);
		return { row: { ...operation.toFailedRow(plan.item), error }, isFailed: true };
	});
	const [first] = failures;
	if (first !== undefined && !isContinuing) {
		const { index: itemIndex, problem } = first;
		const isOfAll = problem.type !== 'validation' || haveOneReason(failures, plans.length);
		const message = isOfAll ? problem.message : notValid(failures, plans.length, '');
		const description = describe(problem);
		// It tells its model the message alone.
		const shown = isForModel(context) ? `${message}. ${description}` : message;
		throw toN8nError(context.getNode(), problem, { message: shown, description, itemIndex });
	}
	if (first !== undefined) showFailures(context, failures.length, plans.length);
	return toOutput(context, results);
}

async function planAll(context: IExecuteFunctions, operation: QueryOperation): Promise<Plan[]> {
	const itemAt = itemParameters(context);
	const connectionOf = connections(context);
	let unavailable: Problem | undefined;
	return await planEach(context, async (index): Promise<Plan> => {
		const item = itemAt(index);
		if (unavailable !== undefined) return { item, problem: unavailable };
		try {
			const read = operation.prepare(item);
			const { client, site } = await connectionOf(index);
			return { item, key: `${site} ${read.key}`, read, client };
		} catch (error) {
			const { problem, isForAll } = toRefusal(error);
			if (isForAll) unavailable = problem;
			return { item, problem };
		}
	});
}

/** Reads what the items ask for, each once. */
async function readAll(
	context: IExecuteFunctions,
	plans: readonly Plan[],
): Promise<Map<string, ReadResult | undefined>> {
	const jobs = new Map<string, Job<ReadResult>>();
	for (const plan of plans) {
		if ('problem' in plan) continue;
		const { key, read, client } = plan;
		jobs.set(key, async () => readAttempt(await read.perform(client)));
	}
	const outcomes = await runQueue([...jobs.values()], queueOptions(context));
	return new Map([...jobs.keys()].map((key, position) => [key, outcomes[position]]));
}

/** Tells how many items failed, and where to look. */
function showFailures(context: IExecuteFunctions, failed: number, items: number): void {
	const where = isErrorOutput(context) ? 'the Error output' : 'the error column';
	const message = `${failed} of ${items} ${items === 1 ? 'item' : 'items'} failed: see ${where}.`;
	context.addExecutionHints?.({ message, type: 'warning', location: 'outputPane' });
}
