import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeExecutionHint,
} from 'n8n-workflow';
import { NodeError, NodeOperationError } from 'n8n-workflow';

import type { Outcome } from '../delivery/outcome';
import { runJobs } from '../delivery/runJobs';
import { operations } from '../operations';
import type { ItemFailure, Operation } from '../operations/operation';
import type { Problem } from '../service/failures';
import { InvalidInput, messageOf } from '../service/invalidInput';
import type { Kind } from '../service/kinds';
import { isSend } from '../service/kinds';
import { failuresOf, asN8nError, toItemFailure, toRunError, toProblem } from './errors';
import { endHint, waitedHint } from './hints';
import type { ItemJob, JobFactory } from './itemJob';
import { parametersOf } from './parameterReader';
import { readJobs } from './readJobs';
import { SendJobs } from './sendJobs';
import { sleep } from './sleep';
import type { RunEnd } from './tally';
import { connections } from './transport';

/** After this many items the rest of n8n gets its turn: reading thousands of parameters takes seconds. */
const itemsAtOnce = 200;

const toItem = (json: IDataObject, item: number): INodeExecutionData => ({
	json,
	pairedItem: { item },
});

/** The same job, whose defects end its item alone: how the others ended stays known. */
function withoutThrowing<Value>(job: ItemJob<Value>): ItemJob<Value> {
	if (job.known !== undefined) return job;
	return {
		...job,
		attempt: async () => {
			try {
				return await job.attempt();
			} catch (error) {
				return { kind: 'failed', problem: toProblem(error, true) };
			}
		},
	};
}

async function createJobs<Value>(
	context: IExecuteFunctions,
	factory: JobFactory<Value>,
	onRequest: () => void,
): Promise<Array<ItemJob<Value>>> {
	const signal = context.getExecutionCancelSignal();
	const jobs: Array<Promise<ItemJob<Value>>> = [];
	const connectionOf = connections(context, signal, onRequest);
	for (const itemIndex of context.getInputData().keys()) {
		// Nothing is sent after a stop, so no further item is read: thousands take seconds.
		if (signal?.aborted) break;
		const refuse = (error: unknown) => factory.createInvalid(itemIndex, error);
		try {
			const connection = await connectionOf(itemIndex);
			// Not awaited: it may ask n8n's database, and the next items need not wait for that.
			jobs.push(factory.create(itemIndex, connection).then(withoutThrowing).catch(refuse));
		} catch (error) {
			jobs.push(Promise.resolve(refuse(error)));
		}
		if (jobs.length % itemsAtOnce === 0) {
			// No more at a time ask n8n's database.
			await Promise.all(jobs.slice(-itemsAtOnce));
			await sleep(0);
		}
	}
	return await Promise.all(jobs);
}

/** Max Parallel Requests is read for each item: the first one that makes a request decides. */
const concurrencyOf = (jobs: ReadonlyArray<Pick<ItemJob<never>, 'maxParallel'>>) =>
	jobs.find(({ maxParallel }) => maxParallel !== undefined)?.maxParallel ?? 1;

async function runAllJobs<Value>(
	context: IExecuteFunctions,
	factory: JobFactory<Value>,
	onRequest: () => void,
) {
	const limitTrace = { refusals: 0, waitedMs: 0 };
	try {
		const jobs = factory.review(await createJobs(context, factory, onRequest));
		const ended = await runJobs(jobs, {
			maxConcurrency: concurrencyOf(jobs),
			stopOnFailure: !context.continueOnFail(),
			now: () => performance.now(),
			sleep,
			random: Math.random,
			signal: context.getExecutionCancelSignal(),
			limitTrace,
		});
		return { jobs, ended, limitTrace };
	} finally {
		await factory.close();
	}
}

/** A hint that can't be shown must not hide how the items ended. */
async function showHints(
	context: IExecuteFunctions,
	hintsOf: () => Promise<NodeExecutionHint[]>,
): Promise<void> {
	try {
		const hints = await hintsOf();
		// Not every context that n8n makes can show hints.
		context.addExecutionHints?.(...hints);
	} catch (error) {
		context.logger.warn(`The hints of a run could not be shown: ${messageOf(error)}`);
	}
}

/** How a run ended, and its items. */
interface EndedRun<Value> extends RunEnd {
	/** What the editor says of the run beside how it ended. */
	readonly hints?: () => Promise<NodeExecutionHint[]>;
	readonly outcomes: ReadonlyArray<Outcome<Value>>;
	/** Missing for an item that has none, because the run failed before. */
	readonly jobs: ReadonlyArray<ItemJob<Value>>;
}

/** The item of a failure that came before anything was read of it. */
const bare = ({ status, description, error }: ItemFailure): IDataObject =>
	status === undefined ? { error } : { status, description, error };

/** @throws NodeOperationError, NodeApiError for the first item that failed, unless the node continues */
async function returnItems<Value>(
	context: IExecuteFunctions,
	run: EndedRun<Value>,
): Promise<INodeExecutionData[]> {
	const node = context.getNode();
	const isErrorOutput = node.onError === 'continueErrorOutput';
	await showHints(context, async () => [
		...endHint(run, isErrorOutput),
		...((await run.hints?.()) ?? []),
	]);
	const [first] = run.failures;
	if (first !== undefined && !context.continueOnFail()) throw toRunError(node, run, first);
	const problems = new Map(run.failures.map(({ itemIndex, problem }) => [itemIndex, problem]));
	const items: INodeExecutionData[] = [];
	for (const [itemIndex, outcome] of run.outcomes.entries()) {
		if (itemIndex > 0 && itemIndex % itemsAtOnce === 0) await sleep(0);
		const job = run.jobs[itemIndex];
		const problem = problems.get(itemIndex);
		if (problem !== undefined) {
			const failure = toItemFailure(problem, run.kind);
			// Every version of n8n routes `error` alone to the error output, and adds the fields of the input there.
			const json = isErrorOutput ? { error: failure.error } : (job?.toFailedJson ?? bare)(failure);
			items.push(toItem(json, itemIndex));
			continue;
		}
		const json = outcome.kind === 'done' ? job?.toJson?.(outcome.value) : undefined;
		items.push(toItem(json ?? {}, itemIndex));
	}
	return items;
}

async function runOperation<Value>(
	context: IExecuteFunctions,
	factory: JobFactory<Value>,
	kind: Kind,
	onRequest: () => void,
): Promise<INodeExecutionData[]> {
	const { jobs, ended, limitTrace } = await runAllJobs(context, factory, onRequest);
	if (context.getExecutionCancelSignal()?.aborted) {
		const message = 'The execution was canceled before all items were done';
		throw new NodeOperationError(context.getNode(), message);
	}
	const { outcomes, hints, ...end } = factory.end(ended);
	return await returnItems(context, {
		...end,
		kind,
		items: outcomes.length,
		failures: failuresOf(outcomes),
		hints: async () => [...((await hints?.()) ?? []), ...waitedHint(limitTrace)],
		outcomes,
		jobs,
	});
}

/** A run that failed whole: each item failed. Thrown, n8n would hand the items on as if they had been sent. */
function failedRun(items: number, kind: Kind, problem: Problem): EndedRun<never> {
	const outcomes = Array.from({ length: items }, () => ({ kind: 'failed', problem }) as const);
	const nothing = { sent: 0, scheduled: 0, sentEarlier: 0, dryRun: 0 };
	return {
		kind,
		items,
		failures: failuresOf(outcomes),
		counts: isSend(kind) ? nothing : undefined,
		outcomes,
		jobs: [],
	};
}

/** @throws InvalidInput */
function findOperation(context: IExecuteFunctions): Operation {
	const parameters = parametersOf(context)(0);
	const value = parameters.get({ name: 'operation', displayName: 'Operation' });
	const resource = parameters.get({ name: 'resource', displayName: 'Resource' }) ?? 'campaign';
	const operation = operations.find(({ option }) => option.value === value);
	if (operation !== undefined && operation.resource === resource) return operation;
	throw new InvalidInput(
		`The operation "${String(value)}" is not known`,
		'Choose a resource and an operation from the lists.',
	);
}

/**
 * Runs the node: one request for each item. Unless the node continues on fail, all items are checked before
 * the first is sent, and a first failure keeps the rest from starting.
 * @throws NodeOperationError, NodeApiError
 */
export async function runItems(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const items = context.getInputData().length;
	if (items === 0) return [];
	// As long as the operation is not known, it may be one that sends.
	let kind: Kind = 'send';
	let mayHaveLeft = false;
	const onRequest = () => {
		mayHaveLeft = true;
	};
	try {
		const operation = findOperation(context);
		({ kind } = operation);
		return operation.kind === 'read'
			? await runOperation(context, readJobs(context, operation), kind, onRequest)
			: await runOperation(context, new SendJobs(context, operation), kind, onRequest);
	} catch (thrown) {
		const isCanceled = context.getExecutionCancelSignal()?.aborted;
		// It says already how the run ended.
		const isEnd = thrown instanceof NodeError && !context.continueOnFail();
		if (isCanceled || isEnd) throw asN8nError(context.getNode(), thrown);
		return await returnItems(context, failedRun(items, kind, toProblem(thrown, mayHaveLeft)));
	}
}
