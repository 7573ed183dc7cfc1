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

const summarySchema = z
	.object({
		id: z.coerce.string(),
		status: z.string(),
		mode: z.string(),
		workflowId: z.string().optional(),
		startedAt: z.string().nullish(),
	})
	.passthrough();

/** An execution as the executions list shows it. */
export type ExecutionSummary = z.infer<typeof summarySchema>;

const executionSchema = summarySchema.extend({
	data: z.object({
		resultData: z.object({
			runData: z.record(z.array(runSchema)).default({}),
			error: errorSchema.optional(),
		}),
		/** What it began with: all that there is of one that was killed before its first node. */
		executionData: z
			.object({ contextData: z.record(z.unknown()).default({}) })
			.passthrough()
			.optional(),
	}),
});

/** An execution with everything that n8n saved of it. */
export type Execution = z.infer<typeof executionSchema>;

/** Reads an execution from n8n's answer; fails as long as it is not saved whole. */
async function decode(answer: unknown) {
	// Its types are those of an ES module.
	const { parse } = await import('flatted');
	const { data, ...summary } = z.object({ data: z.unknown() }).passthrough().parse(answer);
	const decoded: unknown = typeof data === 'string' ? parse(data) : data;
	return executionSchema.safeParse({ ...summary, data: decoded });
}

const finalStatuses = ['success', 'error', 'canceled', 'crashed'];

/** How long an execution may take, in milliseconds: longer than any does, on any machine. */
const patienceMs = 300_000;

/** The items that a node returned by one of its outputs in its last run; none if it did not. */
export function outputOf(execution: Execution, nodeName: string, output = 0): SavedItem[] {
	const { main } = execution.data.resultData.runData[nodeName]?.at(-1)?.data ?? {};
	return main?.[output] ?? [];
}

export interface ExecutionsFilter {
	workflowId?: string;
	status?: string[];
	/** How they began, such as `retry`. */
	mode?: string;
	/** ISO 8601: only those that began before. */
	startedBefore?: string;
}

export interface WaitOptions extends ExecutionsFilter {
	/** How many executions must have ended. Default 1. */
	count?: number;
}

/** What the executions list of the editor can do. */
export class N8nExecutions extends N8nSession {
	/** The executions list, the newest first; at most the latest hundred. */
	async executions(filter: ExecutionsFilter = {}): Promise<ExecutionSummary[]> {
		const query = new URLSearchParams({ filter: JSON.stringify(filter), limit: '100' });
		const answer = await this.request('GET', `executions?${query.toString()}`);
		const { results } = z.object({ results: z.array(summarySchema) }).parse(answer);
		// n8n asks for running and ended ones by two queries: one that ends just then is in both answers
		// (n8n 2.41.1: executions/execution-list-v1.service.js).
		return [...new Map(results.map((each) => [each.id, each])).values()];
	}

	/** One execution with its data. It must have ended: `waitForExecution` waits for that. */
	async execution(id: string): Promise<Execution> {
		const { data, error } = await decode(await this.request('GET', `executions/${id}`));
		if (data === undefined) throw error;
		return data;
	}

	/**
	 * Waits until so many executions have ended.
	 *
	 * @returns all that have, the newest first
	 */
	async waitForExecutions({ count = 1, ...filter }: WaitOptions): Promise<ExecutionSummary[]> {
		const ended = (all: ExecutionSummary[]) =>
			all.filter(({ status }) => finalStatuses.includes(status));
		const seen = await until(
			() => this.executions(filter),
			(all) => ended(all).length >= count,
			{
				within: patienceMs,
				every: 250,
				late: (all) => `${ended(all).length} of ${count} have ended: ${JSON.stringify(all)}`,
			},
		);
		return ended(seen);
	}

	/** Waits until an execution has ended and is saved. */
	async waitForExecution(id: string): Promise<Execution> {
		const read = async () => {
			const path = `executions/${id}`;
			const { status } = summarySchema.parse(await this.request('GET', path));
			if (!finalStatuses.includes(status)) return undefined;
			// n8n 1 saves the data after the status: what came with the status may be older.
			return (await decode(await this.request('GET', path))).data;
		};
		const late = () => `Execution ${id} has not ended, or is not saved`;
		const saved = await until(read, (seen) => seen !== undefined, { within: patienceMs, late });
		if (saved === undefined) throw new Error(late());
		return saved;
	}

	/**
	 * 'Retry' from the executions list; waits for the new execution to end.
	 *
	 * @param options `loadWorkflow`: with the currently saved workflow, and not with the original one
	 */
	async retryExecution(id: string, options = { loadWorkflow: false }): Promise<Execution> {
		const answer = await this.request('POST', `executions/${id}/retry`, options);
		return await this.waitForExecution(z.object({ id: z.coerce.string() }).parse(answer).id);
	}

	/** Stops a running execution, as a user does. */
	async stopExecution(id: string): Promise<void> {
		await this.request('POST', `executions/${id}/stop`, {});
	}
}
