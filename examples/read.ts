import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IConnections, INode, IWorkflowSettings } from 'n8n-workflow';
import { z } from 'zod';
import type { Credential, WorkflowDraft } from '../host';

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
	/** Whether it is meant to run by itself as soon as it is there. */
	active: z.boolean().default(false),
	nodes: z.array(like<INode>(nodeSchema)),
	connections: like<IConnections>(connectionsSchema),
	settings: like<IWorkflowSettings>(z.record(z.unknown())),
});

/** The names of the example workflows, which are their files' names without `.json`. */
export async function exampleNames(): Promise<string[]> {
	const files = await readdir(__dirname);
	return files
		.filter((file) => file.endsWith('.json'))
		.map((file) => file.slice(0, -'.json'.length))
		.sort();
}

/** A workflow as n8n exports it, and whether it is to be active. Throws where the text is none. */
export function parseWorkflow(text: string): { draft: WorkflowDraft; active: boolean } {
	const { active, ...draft } = workflowSchema.parse(JSON.parse(text));
	return { draft, active };
}

/** The file of an example workflow, by its name as `exampleNames` gives it. */
export const exampleFile = (name: string) => join(__dirname, `${name}.json`);

/** Reads an example workflow. Throws where the file is none, or holds no workflow. */
export async function readExample(name: string): Promise<WorkflowDraft> {
	return parseWorkflow(await readFile(exampleFile(name), 'utf8')).draft;
}

/** What a user does after the import: changes one node; throws where the workflow has none of that name. */
export function changeNode(
	draft: WorkflowDraft,
	name: string,
	change: Partial<Pick<INode, 'parameters' | 'credentials'>>,
): WorkflowDraft {
	if (!draft.nodes.some((node) => node.name === name)) throw new Error(`No node is named ${name}`);
	const nodes = draft.nodes.map((node) =>
		node.name === name
			? { ...node, ...change, parameters: { ...node.parameters, ...change.parameters } }
			: node,
	);
	return { ...draft, nodes };
}

const fieldsSchema = z.object({
	assignments: z.object({
		assignments: z.array(z.record(z.union([z.string(), z.number(), z.boolean()]))),
	}),
});

/** What a user does after the import: gives a field of an Edit Fields node another value. */
export function changeField(draft: WorkflowDraft, field: string, value: number): WorkflowDraft {
	const nodes = draft.nodes.map((node) => {
		const fields = fieldsSchema.safeParse(node.parameters);
		if (!fields.success) return node;
		const assignments = fields.data.assignments.assignments.map((each) =>
			each['name'] === field ? { ...each, value } : each,
		);
		return { ...node, parameters: { ...node.parameters, assignments: { assignments } } };
	});
	return { ...draft, nodes };
}

/** What a user does after the import: chooses the credential of every node of this type's prefix. */
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
