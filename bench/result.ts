import { z } from 'zod';

const summarySchema = z.object({
	median: z.number(),
	lowest: z.number(),
	highest: z.number(),
	runs: z.number(),
});

/** What one case came to. Times in milliseconds. */
export const resultSchema = z.object({
	id: z.string(),
	title: z.string(),
	ours: summarySchema,
	other: summarySchema.optional(),
	/** What can be done at all, and by what that is known. */
	limit: z.object({ name: z.string(), ms: z.number() }).optional(),
	/** What is judged, in words, with its target. */
	measure: z.string(),
	value: z.string(),
	target: z.string(),
	passed: z.boolean(),
	notes: z.array(z.string()),
});
export type Result = z.infer<typeof resultSchema>;

export const reportSchema = z.object({
	machine: z.string(),
	date: z.string(),
	results: z.array(resultSchema),
});
export type Report = z.infer<typeof reportSchema>;
