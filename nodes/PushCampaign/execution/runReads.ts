import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { readAttempt } from '../delivery/attempts';
import type { Job } from '../delivery/queue';
import { runQueue } from '../delivery/queue';
import { connections } from '../n8n/connection';
import { toN8nError, toRefusal } from '../n8n/errors';
import { itemParameters } from '../n8n/parameters';
import type { PreparedRead, ReadOperation } from '../operations/operation';
import type { Client, Result } from '../service/client';
import type { Problem } from '../service/problems';
import { isErrorOutput, planEach, queueOptions, toItemError, toOutput } from './results';
import { notValid } from './runItem';

type ReadResult = Result<IDataObject>;

/** One item's read: what it asks for, or why it can't. */
type Plan =
	| { readonly key: string; readonly read: PreparedRead; readonly client: Client }
	| { readonly problem: Problem; readonly row: IDataObject };

/**
 * Reads for each item; items that ask for the same share a request. Unless the node continues on fail, all items are
 * checked before the first request.
 * @throws NodeOperationError, NodeApiError
 */
export async function runReads(
	context: IExecuteFunctions,
	operation: ReadOperation,
): Promise<INodeExecutionData[]> {
	const plans = await planAll(context, operation);
	const isContinuing = context.continueOnFail();
	const mayStart = isContinuing || !plans.some((plan) => 'problem' in plan);
	const answers = mayStart ? await readAll(context, plans) : new Map<string, ReadResult>();
	if (context.getExecutionCancelSignal()?.aborted) {
		throw new NodeOperationError(context.getNode(), 'The execution was canceled');
	}

	const failures = new Map<number, Problem>();
	const rows = plans.map((plan, index): IDataObject => {
		if ('problem' in plan) {
			failures.set(index, plan.problem);
			return { ...plan.row, error: toItemError(plan.problem, describeRead(plan.problem), false) };
		}
		const answer = answers.get(plan.key);
		if (answer === undefined) return {};
		// Items that share an answer must not share its object: a later node may change one of them.
		if (answer.answered) return structuredClone(answer.value);
		failures.set(index, answer.problem);
		const { campaignId } = plan.read;
		return {
			...(campaignId === undefined ? {} : { campaignId }),
			error: toItemError(answer.problem, describeRead(answer.problem), false),
		};
	});
	const [first] = failures;
	if (first !== undefined && !isContinuing) throw toRunError(context, first, failures, rows.length);
	if (first !== undefined) showFailures(context, failures.size, rows.length);
	return toOutput(
		context,
		rows.map((row, index) => ({ row, isFailed: failures.has(index) })),
	);
}

async function planAll(context: IExecuteFunctions, operation: ReadOperation): Promise<Plan[]> {
	const itemAt = itemParameters(context);
	const connectionOf = connections(context);
	let unavailable: Problem | undefined;
	return await planEach(context, async (index) => {
		const item = itemAt(index);
		const refuse = (problem: Problem): Plan => ({ problem, row: operation.toInvalidRow(item) });
		if (unavailable !== undefined) return refuse(unavailable);
		const prepare = async (): Promise<Plan> => {
			const read = operation.prepare(item);
			const { client, site } = await connectionOf(index);
			return { key: `${site} ${read.key}`, read, client };
		};
		return await prepare().catch((error: unknown) => {
			const { problem, isForAll } = toRefusal(error);
			if (isForAll) unavailable = problem;
			return refuse(problem);
		});
	});
}

/** Reads what the items ask for, each once. What never started is missing. */
async function readAll(
	context: IExecuteFunctions,
	plans: readonly Plan[],
): Promise<Map<string, ReadResult>> {
	const jobs = new Map<string, Job<ReadResult>>();
	for (const plan of plans) {
		if ('problem' in plan) continue;
		const { key, read, client } = plan;
		jobs.set(key, async () => readAttempt(await read.perform(client)));
	}
	const { outcomes, refusal } = await runQueue([...jobs.values()], queueOptions(context));
	const answers = new Map<string, ReadResult>();
	for (const [position, key] of [...jobs.keys()].entries()) {
		const answer = outcomes[position] ?? refusal;
		if (answer !== undefined) answers.set(key, answer);
	}
	return answers;
}

/** What the service says, what to mend, and how to go on. */
export function describeRead({ said, fix, remedy }: Problem): string {
	const step = remedy === 'wait' ? 'Run the workflow again later.' : undefined;
	return [said, fix, step].filter((sentence) => sentence !== undefined).join(' ');
}

function toRunError(
	context: IExecuteFunctions,
	[itemIndex, problem]: [number, Problem],
	failures: ReadonlyMap<number, Problem>,
	items: number,
) {
	const refused = [...failures]
		.map(([index, each]) => ({ index, problem: each }))
		.filter((each) => each.problem.type === 'validation');
	return toN8nError(context.getNode(), problem, {
		message: problem.type === 'validation' ? notValid(refused, items) : problem.message,
		description: describeRead(problem),
		itemIndex,
	});
}

/** Tells how many items failed, and where to look. */
export function showFailures(context: IExecuteFunctions, failed: number, items: number): void {
	const where = isErrorOutput(context) ? 'the Error output' : 'the error column';
	const message = `${failed} of ${items} ${items === 1 ? 'item' : 'items'} failed: see ${where}.`;
	context.addExecutionHints?.({ message, type: 'warning', location: 'outputPane' });
}
