import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { N8nClient, Owner } from './client';
import { N8nRefused } from './client';
import type { DemoState } from './demoState';
import { credentialType, type WorkflowDraft } from './workflows';

/** The login of the demo's server. */
export const demoOwner: Owner = {
	email: 'demo@example.com',
	firstName: 'Demo',
	lastName: 'Owner',
	password: 'Push-campaign-1',
};

const credentialName = 'Push Campaign demo';
const examplesFolder = join(__dirname, 'demo');

const targetSchema = z.object({ node: z.string(), type: z.string(), index: z.number() });

/** A workflow as n8n exports it. */
const exportedSchema = z.object({
	name: z.string(),
	active: z.boolean().default(false),
	nodes: z.array(
		z.object({
			id: z.string(),
			name: z.string(),
			type: z.string(),
			typeVersion: z.number(),
			position: z.tuple([z.number(), z.number()]),
			parameters: z.record(z.unknown()),
			credentials: z.record(z.object({ id: z.string(), name: z.string() })).default({}),
		}),
	),
	connections: z.record(z.record(z.array(z.array(targetSchema).nullable()))),
	settings: z.record(z.unknown()).default({}),
});

/** An example workflow: what to create, and whether it is to be active. */
export interface Example {
	file: string;
	active: boolean;
	draft: WorkflowDraft;
}

/** The example workflows under `host/demo`, in the order of their file names. */
export async function readExamples(): Promise<Example[]> {
	const files = (await readdir(examplesFolder)).filter((name) => name.endsWith('.json')).sort();
	return await Promise.all(
		files.map(async (file) => {
			const text = await readFile(join(examplesFolder, file), 'utf8');
			const { active, ...draft } = exportedSchema.parse(JSON.parse(text));
			return { file, active, draft };
		}),
	);
}

/** What was found out while the demo was prepared that its user should know. */
export type Notice =
	{ kind: 'login-changed' } | { kind: 'not-activated'; workflow: string; reason: string };

/**
 * Creates the owner, the credential and the example workflows where this demo has not created them
 * before. What its user changed or deleted since stays as it is; only the service's address is
 * brought up to date when it moved.
 *
 * @returns the state to keep, and notices
 */
export async function prepareDemo(
	client: N8nClient,
	state: DemoState,
	service: { baseUrl: string; apiKey: string; authToken: string },
): Promise<{ state: DemoState; notices: Notice[] }> {
	if (await client.needsOwner()) await client.setupOwner(demoOwner);
	try {
		await client.login(demoOwner);
	} catch (error) {
		if (!(error instanceof N8nRefused)) throw error;
		return { state, notices: [{ kind: 'login-changed' }] };
	}
	const credential = await prepareCredential(client, state.credential, service);
	const workflows = { ...state.workflows };
	const notices: Notice[] = [];
	for (const { file, active, draft } of await readExamples()) {
		if (workflows[file] !== undefined) continue;
		const { id } = await client.createWorkflow(withCredential(draft, credential));
		workflows[file] = id;
		if (!active) continue;
		try {
			await client.activate(id);
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			notices.push({ kind: 'not-activated', workflow: draft.name, reason });
		}
	}
	return { state: { ...state, credential, workflows }, notices };
}

type KnownCredential = NonNullable<DemoState['credential']>;

async function prepareCredential(
	client: N8nClient,
	known: KnownCredential | undefined,
	service: { baseUrl: string; apiKey: string; authToken: string },
): Promise<KnownCredential> {
	if (known === undefined) {
		const created = await client.createCredential(credentialName, credentialType, service);
		return { ...created, baseUrl: service.baseUrl };
	}
	if (known.baseUrl === service.baseUrl) return known;
	const current = (await client.credentials()).find(({ id }) => id === known.id);
	if (current === undefined) return known;
	await client.updateCredential(current, service);
	return { ...known, baseUrl: service.baseUrl };
}

/** The workflow with the demo's credential in the place of the one that its file names. */
export function withCredential(
	draft: WorkflowDraft,
	{ id, name }: { id: string; name: string },
): WorkflowDraft {
	const nodes = draft.nodes.map((node) => {
		if (node.credentials?.[credentialType] === undefined) return node;
		return { ...node, credentials: { ...node.credentials, [credentialType]: { id, name } } };
	});
	return { ...draft, nodes };
}
