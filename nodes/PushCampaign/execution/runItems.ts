import type {
	IDataObject,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	NodeExecutionHint,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { runJobs } from '../delivery/runJobs';
import { operations } from '../operations';
import type { Operation } from '../operations/operation';
import { InvalidInput, messageOf } from '../service/invalidInput';
import type { Kind } from '../service/kinds';
import { ChangeJobs } from './changeJobs';
import { findProblem, toError, toExpected, toFailure, toNodeError, toProblem } from './errors';
import { failedHint } from './hints';
import type { ItemJob, JobFactory } from './itemJob';
import { parametersOf } from './parameterReader';
import { readJobs } from './readJobs';
import { sleep } from './sleep';
import { connections } from './transport';

/** After so many items the rest of n8n gets its turn: reading thousands of parameters takes seconds. */
const itemsAtOnce = 200;

/** Whether failed items are returned by a second output. */
const hasErrorOutput = ({ onError }: INode) => onError === 'continueErrorOutput';

const toItem = (json: IDataObject, item: number): INodeExecutionData => ({
	json,
	pairedItem: { item },
});

/** An item that could not be prepared. */
const toInvalidJob = <Value>(error: unknown): ItemJob<Value> => ({
	known: { kind: 'invalid', invalid: toError(error) },
});

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
		try {
			const connection = await connectionOf(itemIndex);
			// Not awaited: a late item first asks for its key, and the next items need not wait for that.
			jobs.push(
				factory.create(itemIndex, connection).catch((error: unknown) => toInvalidJob<Value>(error)),
			);
		} catch (error) {
			jobs.push(Promise.resolve(toInvalidJob<Value>(error)));
		}
		if (jobs.length % itemsAtOnce === 0) {
			// What is late claims its key and frees it: more at a time would push out keys that are remembered.
			await Promise.all(jobs.slice(-itemsAtOnce));
			await sleep(0);
		}
	}
	return await Promise.all(jobs);
}

async function runAllJobs<Value>(
	context: IExecuteFunctions,
	factory: JobFactory<Value>,
	onRequest: () => void,
) {
	try {
		const jobs = factory.review(await createJobs(context, factory, onRequest));
		const ended = await runJobs(jobs, {
			maxConcurrency: jobs.find(({ maxParallel }) => maxParallel)?.maxParallel ?? 1,
			stopOnFailure: !context.continueOnFail(),
			now: () => performance.now(),
			sleep,
			random: Math.random,
			signal: context.getExecutionCancelSignal(),
		});
		return { jobs, ended };
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

async function runOperation<Value>(
	context: IExecuteFunctions,
	factory: JobFactory<Value>,
	kind: Kind,
	onRequest: () => void,
): Promise<INodeExecutionData[]> {
	const node = context.getNode();
	const signal = context.getExecutionCancelSignal();
	const { jobs, ended } = await runAllJobs(context, factory, onRequest);
	const { outcomes, counts, hints } = factory.end(ended);
	if (signal?.aborted) {
		throw new NodeOperationError(node, 'The execution was canceled before all items were done');
	}
	const isErrorOutput = hasErrorOutput(node);
	await showHints(context, async () => {
		const problems = outcomes.flatMap((outcome) => findProblem(outcome) ?? []);
		const run = { items: outcomes.length, kind, counts, isErrorOutput };
		return [...failedHint(problems, run), ...((await hints?.()) ?? [])];
	});
	const items: INodeExecutionData[] = [];
	for (const [itemIndex, outcome] of outcomes.entries()) {
		if (itemIndex > 0 && itemIndex % itemsAtOnce === 0) await sleep(0);
		const job = jobs[itemIndex];
		const problem = findProblem(outcome);
		if (problem === undefined) {
			const json = outcome.kind === 'done' ? job?.toJson?.(outcome.value) : undefined;
			items.push(toItem(json ?? {}, itemIndex));
			continue;
		}
		if (!context.continueOnFail()) throw toNodeError(node, problem, itemIndex, kind, counts);
		const failure = toFailure(problem, kind);
		// n8n itself adds the fields of the input at the error output.
		const json = isErrorOutput
			? { error: failure.error }
			: (job?.toFailedJson?.(failure) ?? factory.toInvalidJson(itemIndex, failure));
		items.push(toItem(json, itemIndex));
	}
	return items;
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
	const items = context.getInputData();
	if (items.length === 0) return [];
	// As long as the operation is not known, it may be one whose items tell their outcome.
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
			: await runOperation(context, new ChangeJobs(context, operation), kind, onRequest);
	} catch (thrown) {
		const isStopped = context.getExecutionCancelSignal()?.aborted;
		if (!context.continueOnFail() || isStopped) throw toExpected(context.getNode(), thrown, 0);
		// Thrown, n8n would hand the items on unchanged, as if they had been sent.
		const problem = toProblem(thrown, mayHaveLeft);
		const isErrorOutput = hasErrorOutput(context.getNode());
		const problems = items.map(() => problem);
		const run = { items: items.length, kind, isErrorOutput };
		await showHints(context, async () => failedHint(problems, run));
		const { status, error } = toFailure(problem, kind);
		const isRow = !isErrorOutput && status !== undefined;
		return items.map((_item, itemIndex) =>
			toItem({ ...(isRow && { status }), error: { ...error } }, itemIndex),
		);
	}
}
