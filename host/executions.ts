import { z } from 'zod';

const itemSchema = z
	.object({
		json: z.record(z.unknown()),
		error: z.unknown().optional(),
		pairedItem: z.unknown().optional(),
	})
	.passthrough();

/** One item as a saved execution holds it. */
export type SavedItem = z.infer<typeof itemSchema>;

const errorSchema = z
	.object({
		message: z.string(),
		description: z.string().nullish(),
		httpCode: z.string().nullish(),
		name: z.string().optional(),
		context: z.record(z.unknown()).optional(),
	})
	.passthrough();

const runSchema = z
	.object({
		executionStatus: z.string().optional(),
		/** By connection type; an output that got nothing is null. */
		data: z.record(z.array(z.array(itemSchema).nullable())).optional(),
		error: errorSchema.optional(),
		inputOverride: z.unknown().optional(),
	})
	.passthrough();

const runDataSchema = z
	.object({
		resultData: z
			.object({
				runData: z.record(z.array(runSchema)).default({}),
				error: errorSchema.optional(),
				lastNodeExecuted: z.string().optional(),
			})
			.passthrough(),
		executionData: z
			.object({ contextData: z.record(z.unknown()).default({}) })
			.passthrough()
			.optional(),
	})
	.passthrough();

export const executionSummarySchema = z
	.object({
		id: z.coerce.string(),
		status: z.string(),
		mode: z.string(),
		workflowId: z.string().optional(),
		retryOf: z.coerce.string().nullish(),
		startedAt: z.string().nullish(),
		stoppedAt: z.string().nullish(),
	})
	.passthrough();

/** An execution as the executions list shows it. */
export type ExecutionSummary = z.infer<typeof executionSummarySchema>;

const executionSchema = executionSummarySchema.extend({ data: runDataSchema });

/** An execution with everything that n8n saved of it, decoded. */
export type Execution = z.infer<typeof executionSchema>;

/** Reads an execution as n8n's REST interface answers it. Throws a ZodError where it is none. */
export async function readExecution(answer: unknown): Promise<Execution> {
	const { parse } = await import('flatted');
	const { data, ...summary } = z.object({ data: z.unknown() }).passthrough().parse(answer);
	const decoded: unknown = typeof data === 'string' ? parse(data) : data;
	return executionSchema.parse({ ...summary, data: decoded });
}

export const finalStatuses = ['success', 'error', 'canceled', 'crashed'];

export interface OutputOptions {
	/** Which of the node's outputs; 1 is the error output of a node with one output. Default 0. */
	output?: number;
	/** Which of the node's runs; negative counts from the last. Default -1. */
	run?: number;
}

/** The items that a node put out; none where it did not run or put nothing out there. */
export function outputOf(
	execution: Execution,
	nodeName: string,
	{ output = 0, run = -1 }: OutputOptions = {},
): SavedItem[] {
	const { main } = execution.data.resultData.runData[nodeName]?.at(run)?.data ?? {};
	return main?.[output] ?? [];
}
