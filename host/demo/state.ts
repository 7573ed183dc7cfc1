import { z } from 'zod';
import { JsonFile } from '../../simulator';

const stateSchema = z.object({
	/** When the demo was started first, epoch milliseconds. */
	campaignSince: z.number(),
	ports: z.object({ n8n: z.number(), service: z.number() }),
	credential: z
		.object({ id: z.string(), name: z.string(), type: z.string(), baseUrl: z.string() })
		.optional(),
	/** The example workflows that were created, by the name of their file. */
	workflows: z.record(z.string()).default({}),
	/** The data tables that were created, by their names. */
	tables: z.array(z.string()).default([]),
});

/** What one start of the demo leaves for the next. */
export type DemoState = z.infer<typeof stateSchema>;

/** Where that is kept. */
export const demoStateFile = (path: string) => new JsonFile<DemoState>(path, stateSchema);
