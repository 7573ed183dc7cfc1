import { z } from 'zod';
import { until } from '../process/until';
import { N8nSession } from './rest';

const itemSchema = z.object({ json: z.record(z.unknown()) }).passthrough();

/** One item as a saved execution holds it. */
export type SavedItem = z.infer<typeof itemSchema>;

const errorSchema = z
	.object({
		message: z.string(),
		description: z.string().nullish(),
		httpCode: z.string().nullish(),
	})
	.passthrough();

const runSchema = z
	.object({
		/** By connection type; an output that got nothing is null. */
		data: z.record(z.array(z.array(itemSchema).nullable())).optional(),
		error: errorSchema.optional(),
	})
	.passthrough();

export const executionSummarySchema = z
	.object({
		id: z.coerce.string(),
		status: z.string(),
		mode: z.string(),
		workflowId: z.string().optional(),
		startedAt: z.string().nullish(),
	})
	.passthrough();

/** An execution as the executions list shows it. */
export type ExecutionSummary = z.infer<typeof executionSummarySchema>;

const executionSchema = executionSummarySchema.extend({
	data: z.object({
		resultData: z.object({
			runData: z.record(z.array(runSchema)).default({}),
			error: errorSchema.optional(),
		}),
		// With what it began with: all that there is of one that was killed before its first node.
		executionData: z
			.object({ contextData: z.record(z.unknown()).default({}) })
			.passthrough()
			.optional(),
	}),
});

/** An execution with everything that n8n saved of it, decoded. */
export type Execution = z.infer<typeof executionSchema>;

/** Reads an execution as n8n's REST interface answers it: nothing as long as it is not saved whole. */
async function decode(answer: unknown) {
	const { parse } = await import('flatted');
	const { data, ...summary } = z.object({ data: z.unknown() }).passthrough().parse(answer);
	const decoded: unknown = typeof data === 'string' ? parse(data) : data;
	return executionSchema.safeParse({ ...summary, data: decoded });
}

const finalStatuses = ['success', 'error', 'canceled', 'crashed'];

/** How long an execution may take by default, in milliseconds. */
const patienceMs = 180_000;

/** The items that a node returned by its first output in its last run; none where it did not. */
export function outputOf(execution: Execution, nodeName: string): SavedItem[] {
	const { main } = execution.data.resultData.runData[nodeName]?.at(-1)?.data ?? {};
	return main?.[0] ?? [];
}

export interface ExecutionsFilter {
	workflowId?: string;
	status?: string[];
}

export interface WaitOptions extends ExecutionsFilter {
	/** How many executions must be there. Default 1. */
	count?: number;
	/** Whether they must have ended. Default true. */
	ended?: boolean;
	/** Milliseconds. Default three minutes. */
	timeout?: number;
}

/** What the executions list of the editor can do. */
export class N8nExecutions extends N8nSession {
	/** The executions list, the newest first; at most the latest hundred. */
	async executions(filter: ExecutionsFilter = {}): Promise<ExecutionSummary[]> {
		const query = new URLSearchParams({ filter: JSON.stringify(filter), limit: '100' });
		const answer = await this.request('GET', `executions?${query.toString()}`);
		const { results } = z.object({ results: z.array(executionSummarySchema) }).parse(answer);
		// n8n asks for those that run and those that have ended at the same time: one that ends just then is in both answers
		// (n8n 2.41.1: executions/execution-list-v1.service.js).
		return [...new Map(results.map((each) => [each.id, each])).values()];
	}

	/** One execution with its data, decoded. It must have ended (`waitForExecution` waits for that). */
	async execution(id: string): Promise<Execution> {
		const { data, error } = await decode(await this.request('GET', `executions/${id}`));
		if (data === undefined) throw error;
		return data;
	}

	/**
	 * Waits until there are `count` executions.
	 *
	 * @returns the newest first
	 * @throws when they are not there in time, naming those that are
	 */
	async waitForExecutions({
		count = 1,
		ended = true,
		timeout = patienceMs,
		...filter
	}: WaitOptions): Promise<ExecutionSummary[]> {
		const wanted = (all: ExecutionSummary[]) =>
			ended ? all.filter(({ status }) => finalStatuses.includes(status)) : all;
		const late = (all: ExecutionSummary[]) =>
			`${wanted(all).length} of ${count} executions: ${JSON.stringify(all)}`;
		const seen = await until(
			() => this.executions(filter),
			(all) => wanted(all).length >= count,
			{ within: timeout, every: 250, late },
		);
		return wanted(seen);
	}

	/**
	 * 'Retry' from the executions list; waits for the new execution to end.
	 *
	 * @param options `loadWorkflow`: with the workflow as it is now, and not as it was
	 */
	async retryExecution(id: string, options = { loadWorkflow: false }): Promise<Execution> {
		const answer = await this.request('POST', `executions/${id}/retry`, options);
		const retried = z.object({ id: z.coerce.string() }).parse(answer);
		return await this.waitForExecution(retried.id);
	}

	/** Waits until one execution has ended and is saved. */
	async waitForExecution(id: string): Promise<Execution> {
		const read = async () => {
			const path = `executions/${id}`;
			const { status } = executionSummarySchema.parse(await this.request('GET', path));
			if (!finalStatuses.includes(status)) return undefined;
			// n8n 1 saves the data after the status: what came with the status may be older.
			return (await decode(await this.request('GET', path))).data;
		};
		const late = () => `Execution ${id} has not ended, or is not saved`;
		const saved = await until(read, (seen) => seen !== undefined, { within: patienceMs, late });
		if (saved === undefined) throw new Error(late());
		return saved;
	}

	/** Stops a running execution, as a user does. */
	async stopExecution(id: string): Promise<void> {
		await this.request('POST', `executions/${id}/stop`, {});
	}
}
