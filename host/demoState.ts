import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';

const stateSchema = z.object({
	/** When the demo campaign went out, epoch milliseconds. */
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

/** The state as it was left; undefined where there is none yet. Throws where it is not readable. */
export async function readDemoState(file: string): Promise<DemoState | undefined> {
	const text = await readFile(file, 'utf8').catch(() => undefined);
	return text === undefined ? undefined : stateSchema.parse(JSON.parse(text));
}

/** Keeps the state; a crash while it is written leaves the former one. */
export async function writeDemoState(file: string, state: DemoState): Promise<void> {
	await mkdir(dirname(file), { recursive: true });
	await writeFile(`${file}.new`, JSON.stringify(state, null, '\t'));
	await rename(`${file}.new`, file);
}
