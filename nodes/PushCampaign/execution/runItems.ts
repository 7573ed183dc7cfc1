import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import type { Job } from '../delivery/runJobs';
import { runJobs } from '../delivery/runJobs';
import { operations } from '../operations';
import type { Operation } from '../operations/operation';
import { InvalidInput } from '../service/invalidInput';
import type { Kind } from '../service/kinds';
import { changeJobs } from './changeJobs';
import { findProblem, toErrorJson, toExpected, toFault, toInvalid, toNodeError } from './errors';
import type { ItemJob, JobFactory } from './itemJob';
import { isTool } from './itemJob';
import { ParameterReader } from './parameterReader';
import { readJobs } from './readJobs';
import { sleep } from './sleep';
import { connectItems } from './transport';

/** After so many items the rest of n8n gets its turn: reading thousands of parameters takes seconds. */
const itemsAtOnce = 200;

const toItem = (json: IDataObject, item: number): INodeExecutionData => ({
	json,
	pairedItem: { item },
});

async function createJobs<Value>(
	context: IExecuteFunctions,
	factory: JobFactory<Value>,
): Promise<{ itemJobs: Array<ItemJob<Value>>; jobs: Array<Job<Value>> }> {
	const connectionOf = connectItems(context, context.getExecutionCancelSignal());
	async function create(itemIndex: number): Promise<ItemJob<Value>> {
		try {
			return factory.create(itemIndex, await connectionOf(itemIndex));
		} catch (error) {
			const known = { kind: 'invalid', invalid: toInvalid(error) } as const;
			return { job: { known }, toJson: () => ({}) };
		}
	}

	const { length } = context.getInputData();
	const itemJobs: Array<ItemJob<Value>> = [];
	const jobs: Array<Job<Value>> = [];
	while (jobs.length < length) {
		const end = Math.min(length, jobs.length + itemsAtOnce);
		while (itemJobs.length < end) itemJobs.push(await create(itemJobs.length));
		const created = itemJobs.slice(jobs.length).map(async ({ job }) => await job);
		jobs.push(...(await Promise.all(created)));
		await sleep(0);
	}
	return { itemJobs, jobs };
}

async function runOperation<Value>(
	context: IExecuteFunctions,
	factory: JobFactory<Value>,
	kind: Kind,
): Promise<INodeExecutionData[]> {
	const node = context.getNode();
	const signal = context.getExecutionCancelSignal();
	const { itemJobs, jobs } = await createJobs(context, factory);

	const ended = await runJobs(jobs, {
		ceiling: itemJobs.find((itemJob) => itemJob.maxParallel)?.maxParallel ?? 1,
		stopOnFailure: !context.continueOnFail(),
		now: () => performance.now(),
		sleep,
		random: Math.random,
		signal,
	});
	const outcomes = (await factory.end?.(ended)) ?? ended;
	if (signal?.aborted) {
		throw new NodeOperationError(node, 'The execution was canceled before all items were done');
	}
	return outcomes.map((outcome, itemIndex) => {
		const problem = findProblem(outcome);
		if (problem !== undefined) {
			if (context.continueOnFail()) return toItem(toErrorJson(problem, kind), itemIndex);
			const counts = factory.tally?.(outcomes);
			throw toNodeError(node, problem, itemIndex, { kind, counts, isTool: isTool(node) });
		}
		const json = outcome.kind === 'done' ? itemJobs[itemIndex]?.toJson(outcome.value) : undefined;
		return toItem(json ?? {}, itemIndex);
	});
}

/** @throws InvalidInput */
function findOperation(context: IExecuteFunctions): Operation {
	const parameters = new ParameterReader(context).item(0);
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
	try {
		const operation = findOperation(context);
		({ kind } = operation);
		return operation.kind === 'read'
			? await runOperation(context, readJobs(context, operation), kind)
			: await runOperation(context, changeJobs(context, operation), kind);
	} catch (error) {
		const isStopped = context.getExecutionCancelSignal()?.aborted;
		if (!context.continueOnFail() || isStopped) throw toExpected(context.getNode(), error, 0);
		// Thrown, n8n would hand the items on unchanged, as if they had been sent.
		return items.map((_item, itemIndex) => toItem(toErrorJson(toFault(error), kind), itemIndex));
	}
}
