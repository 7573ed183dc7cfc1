import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import type { Job, Outcome } from '../delivery/runJobs';
import { runJobs } from '../delivery/runJobs';
import { operations } from '../operations';
import type { Operation } from '../operations/operation';
import type { Kind } from '../service/kinds';
import { changeJobs } from './changeJobs';
import {
	faultJson,
	isFailed,
	stoppedError,
	toErrorJson,
	toExpected,
	toInvalid,
	toNodeError,
} from './errors';
import type { ItemJob, JobFactory } from './itemJob';
import { isTool } from './itemJob';
import { ParameterReader } from './parameterReader';
import { readJobs } from './readJobs';
import { sleep } from './sleep';
import type { Connection } from './transport';
import { connectItems } from './transport';

/** After so many items the rest of n8n gets its turn: reading thousands of parameters takes seconds. */
const itemsAtOnce = 200;

async function createJobs<Value>(
	items: readonly INodeExecutionData[],
	factory: JobFactory<Value>,
	connectionOf: (itemIndex: number) => Promise<Connection>,
): Promise<{ itemJobs: Array<ItemJob<Value>>; jobs: Array<Job<Value>> }> {
	const itemJobs: Array<ItemJob<Value>> = [];
	const jobs: Array<Job<Value>> = [];
	for (const itemIndex of items.keys()) {
		try {
			itemJobs.push(factory.create(itemIndex, await connectionOf(itemIndex)));
		} catch (error) {
			const known = { kind: 'invalid', invalid: toInvalid(error) } as const;
			itemJobs.push({ job: { known }, toJson: () => ({}) });
		}
		const isLast = itemIndex === items.length - 1;
		if (itemJobs.length % itemsAtOnce !== 0 && !isLast) continue;
		const created = itemJobs.slice(jobs.length);
		jobs.push(...(await Promise.all(created.map(async ({ job }) => await job))));
		if (!isLast) await sleep(0);
	}
	return { itemJobs, jobs };
}

/** Throws n8n's error for the first item that failed, if any; sends say how all ended. */
function throwFirstFailure<Value>(
	node: INode,
	outcomes: ReadonlyArray<Outcome<Value>>,
	{ tally }: JobFactory<Value>,
	kind: Kind,
): void {
	const itemIndex = outcomes.findIndex(isFailed);
	const first = outcomes[itemIndex];
	if (first === undefined || !isFailed(first)) return;
	const counts = tally?.(outcomes);
	throw toNodeError(node, first, itemIndex, { kind, counts, isTool: isTool(node) });
}

/** How far a run has come, should it end unexpectedly. */
interface Progress {
	/** Whether a request may have left. */
	hasStarted: boolean;
	/** Missing as long as the operation is not known. */
	kind?: Kind;
}

async function runOperation<Value>(
	context: IExecuteFunctions,
	factory: JobFactory<Value>,
	kind: Kind,
	progress: Progress,
): Promise<INodeExecutionData[]> {
	const signal = context.getExecutionCancelSignal();
	const connectionOf = connectItems(context, signal);
	const { itemJobs, jobs } = await createJobs(context.getInputData(), factory, connectionOf);

	const maxParallel = itemJobs.find((itemJob) => itemJob.maxParallel)?.maxParallel ?? 1;
	progress.hasStarted = true;
	const ended = await runJobs(jobs, {
		ceiling: maxParallel,
		stopOnFailure: !context.continueOnFail(),
		now: () => performance.now(),
		sleep,
		random: Math.random,
		signal,
	});
	const outcomes = (await factory.end?.(ended)) ?? ended;
	if (signal?.aborted) throw stoppedError(context.getNode());
	if (!context.continueOnFail()) throwFirstFailure(context.getNode(), outcomes, factory, kind);
	return outcomes.map((outcome, itemIndex) => {
		if (isFailed(outcome)) return toItem(toErrorJson(outcome, kind), itemIndex);
		const json = outcome.kind === 'done' ? itemJobs[itemIndex]?.toJson(outcome.value) : undefined;
		return toItem(json ?? {}, itemIndex);
	});
}

const toItem = (json: IDataObject, item: number): INodeExecutionData => ({
	json,
	pairedItem: { item },
});

function findOperation(context: IExecuteFunctions): Operation {
	const parameters = new ParameterReader(context).item(0);
	const value = parameters.get({ name: 'operation', displayName: 'Operation' });
	const resource = parameters.get({ name: 'resource', displayName: 'Resource' }) ?? 'campaign';
	const operation = operations.find(({ option }) => option.value === value);
	if (operation !== undefined && operation.resource === resource) return operation;
	const name =
		typeof value === 'string' && value !== '' ? `The operation "${value}"` : 'The operation';
	throw new NodeOperationError(context.getNode(), `${name} is not known`, {
		description: 'Choose a resource and an operation from the lists.',
		itemIndex: 0,
		failure: { cause: 'configuration-invalid' },
	});
}

async function run(context: IExecuteFunctions, progress: Progress): Promise<INodeExecutionData[]> {
	const operation = findOperation(context);
	progress.kind = operation.kind;
	return operation.kind === 'read'
		? await runOperation(context, readJobs(context, operation), operation.kind, progress)
		: await runOperation(context, changeJobs(context, operation), operation.kind, progress);
}

/**
 * Runs the node: one request for each item. Unless the node continues on fail, all items are checked before
 * the first is sent, and a first failure keeps the rest from starting.
 * @throws NodeOperationError, NodeApiError
 */
export async function runItems(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const items = context.getInputData();
	if (items.length === 0) return [];
	const progress: Progress = { hasStarted: false };
	try {
		return await run(context, progress);
	} catch (error) {
		const fault = toExpected(context.getNode(), error);
		if (!context.continueOnFail() || context.getExecutionCancelSignal()?.aborted) throw fault;
		// Thrown, n8n would hand the items on unchanged, as if they had been sent.
		const outcome = progress.hasStarted ? 'unknown' : 'notDone';
		const json = faultJson(fault, outcome, progress.kind);
		return items.map((_item, itemIndex) => toItem(structuredClone(json), itemIndex));
	}
}
