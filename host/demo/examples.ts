import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { IConnections, INode, IWorkflowSettings } from 'n8n-workflow';
import { z } from 'zod';
import { projectFolder } from '../folders';
import type { ColumnType, DataTable } from '../n8n/dataTables';
import type { Credential, WorkflowDraft } from '../n8n/workflows';

const folder = join(projectFolder, 'examples');

const nodeSchema = z.object({
	id: z.string(),
	name: z.string(),
	type: z.string(),
	typeVersion: z.number(),
	position: z.tuple([z.number(), z.number()]),
	parameters: z.record(z.unknown()),
});
const targetSchema = z.object({ node: z.string(), type: z.string(), index: z.number() });
const connectionsSchema = z.record(z.record(z.array(z.array(targetSchema).nullable())));

/** What has this shape is taken for n8n's own type, which says more than can be seen. */
const like = <T>(schema: z.ZodTypeAny) => z.custom<T>((value) => schema.safeParse(value).success);

const workflowSchema = z.object({
	name: z.string(),
	/** Whether it runs by itself as soon as it is there. */
	active: z.boolean().default(false),
	nodes: z.array(like<INode>(nodeSchema)),
	connections: like<IConnections>(connectionsSchema),
	settings: like<IWorkflowSettings>(z.record(z.unknown())),
	/** Sample items by the name of their node, for executions in the editor. */
	pinData: z.record(z.array(z.object({ json: z.record(z.unknown()) }))).default({}),
});

const createdTableSchema = z.object({
	resource: z.literal('table'),
	operation: z.literal('create'),
	tableName: z.string(),
	columns: z.object({
		column: z.array(z.object({ name: z.string(), type: z.enum(['string', 'number']) })),
	}),
});

/** The names of the example workflows: the names of their files without `.json`. */
export async function exampleNames(): Promise<string[]> {
	const files = await readdir(folder);
	return files
		.filter((file) => file.endsWith('.json'))
		.map((file) => file.slice(0, -'.json'.length))
		.sort();
}

/** The file of an example workflow, by its name as `exampleNames` gives it. */
export const exampleFile = (name: string) => join(folder, `${name}.json`);

/** Reads a workflow as n8n exports it. Throws if the text is none. */
export function parseWorkflow(text: string): { draft: WorkflowDraft; active: boolean } {
	const { active, ...draft } = workflowSchema.parse(JSON.parse(text));
	return { draft, active };
}

/** The data tables that a workflow creates if they are not there. */
export function createdTables(draft: WorkflowDraft): DataTable[] {
	return draft.nodes.flatMap(({ parameters }) => {
		const table = createdTableSchema.safeParse(parameters);
		if (!table.success) return [];
		const { tableName, columns } = table.data;
		const typed = columns.column.map(({ name, type }): [string, ColumnType] => [name, type]);
		return [{ name: tableName, columns: Object.fromEntries(typed) }];
	});
}

/** Chooses the credential of every node whose type begins like this, as its user does. */
export function chooseCredential(
	draft: WorkflowDraft,
	nodeType: string,
	{ id, name, type }: Credential,
): WorkflowDraft {
	const nodes = draft.nodes.map((node) =>
		node.type.startsWith(nodeType) ? { ...node, credentials: { [type]: { id, name } } } : node,
	);
	return { ...draft, nodes };
}
