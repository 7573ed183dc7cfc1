import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

export const schemaFolder = join(__dirname, '../../../nodes/PushCampaign/__schema__/v1.0.0');

const type = z.union([z.string().transform((only) => [only]), z.array(z.string())]);
const value = z.object({ type, enum: z.array(z.string()).optional() });
const schema = z.object({ properties: z.record(z.string(), value) });

/** The fields of an output schema in their order, each with what it may be. */
export const declaredIn = (path: string) =>
	Object.entries(
		schema.parse(JSON.parse(readFileSync(join(schemaFolder, `${path}.json`), 'utf8'))).properties,
	);

/** The same with the types alone. */
export const declaredTypes = (path: string) =>
	declaredIn(path).map(([name, declared]) => [name, declared.type.sort()]);

const typeOf = (given: unknown) => (given === null ? 'null' : typeof given);

/** The fields of items in their order, each with the types of its values. */
export function typesIn(...items: IDataObject[]) {
	const types = new Map<string, Set<string>>();
	for (const [name, given] of items.flatMap((item) => Object.entries(item))) {
		types.set(name, (types.get(name) ?? new Set()).add(typeOf(given)));
	}
	return [...types].map(([name, found]) => [name, [...found].sort()]);
}
