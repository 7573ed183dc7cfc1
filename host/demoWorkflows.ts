import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseCredential, exampleNames, readExample, readWorkflow } from '../examples/read';
import type { N8nClient, Owner } from './client';
import { N8nRefused } from './client';
import { DataTables, type DataTable } from './dataTables';
import type { DemoState } from './demoState';
import { credentialType, type Credential, type WorkflowDraft } from './workflows';

/** The login of the demo's server. */
export const demoOwner: Owner = {
	email: 'demo@example.com',
	firstName: 'Demo',
	lastName: 'Owner',
	password: 'Push-campaign-1',
};

/** The workflow to begin with, and the one that runs by itself: their files' names. */
export const demoFiles = {
	first: '1-send-to-all-then-read-its-status.json',
	watching: '2-report-counter-changes.json',
} as const;

const credentialName = 'Push Campaign demo';
const demoFolder = join(__dirname, 'demo');

/** An example workflow: what to create, and whether it is to be active. */
export interface Example {
	/** What the demo remembers it by. */
	file: string;
	active: boolean;
	draft: WorkflowDraft;
}

/**
 * The workflows of the demo: its own, in the order of their file names, then all of `examples`. None
 * of these is active: most of them need a service beside the push service.
 */
export async function readExamples(): Promise<Example[]> {
	const files = (await readdir(demoFolder)).filter((name) => name.endsWith('.json')).sort();
	const own = files.map(async (file) => ({
		file,
		...(await readWorkflow(join(demoFolder, file))),
	}));
	const published = (await exampleNames()).map(async (name) => ({
		file: `examples/${name}.json`,
		active: false,
		draft: await readExample(name),
	}));
	return await Promise.all([...own, ...published]);
}

/** What was found out while the demo was prepared that its user should know. */
export type Notice =
	| { kind: 'login-changed' }
	| { kind: 'not-activated'; workflow: string; reason: string };

/** What the demo's user needs and has. */
export interface Demo {
	service: { baseUrl: string; apiKey: string; authToken: string };
	tables: readonly DataTable[];
}

/**
 * Creates the owner, the credential, the data tables and the example workflows where this demo has
 * not created them before. What its user changed or deleted since stays as it is; only the service's
 * address is brought up to date when it moved.
 *
 * @returns the state to keep, and notices
 */
export async function prepareDemo(
	client: N8nClient,
	state: DemoState,
	{ service, tables }: Demo,
): Promise<{ state: DemoState; notices: Notice[] }> {
	await client.setupOwner(demoOwner);
	try {
		await client.login(demoOwner);
	} catch (error) {
		if (!(error instanceof N8nRefused)) throw error;
		return { state, notices: [{ kind: 'login-changed' }] };
	}
	const credential = await prepareCredential(client, state.credential, service);
	await prepareTables(client, state.tables, tables);
	const workflows = { ...state.workflows };
	const notices: Notice[] = [];
	// n8n lists the newest first: the one to begin with is created last.
	for (const { file, active, draft } of (await readExamples()).reverse()) {
		if (workflows[file] !== undefined) continue;
		const { id } = await client.createWorkflow(
			chooseCredential(draft, 'n8n-nodes-push-campaign.', credential),
		);
		workflows[file] = id;
		if (!active) continue;
		try {
			await client.activate(id);
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			notices.push({ kind: 'not-activated', workflow: draft.name, reason });
		}
	}
	const known = [...new Set([...state.tables, ...tables.map(({ name }) => name)])];
	return { state: { ...state, credential, workflows, tables: known }, notices };
}

async function prepareTables(
	client: N8nClient,
	known: readonly string[],
	tables: readonly DataTable[],
): Promise<void> {
	const existing = await DataTables.of(client);
	for (const table of tables) {
		if (known.includes(table.name) || (await existing.find(table.name)) !== undefined) continue;
		await existing.create(table);
	}
}

type KnownCredential = Credential & { baseUrl: string };

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
