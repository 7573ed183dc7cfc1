import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseCredential, exampleFile, exampleNames, parseWorkflow } from '../examples/read';
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

/** The addresses that stand in the files, of the simulator's page and of a chat's webhook. */
const writtenPage = 'http://127.0.0.1:8787';
const writtenChat = 'https://chat.example.com/hooks/your-webhook';

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
 *
 * @param page the address of the simulator's page, below which the chat is
 */
export async function readExamples(page = writtenPage): Promise<Example[]> {
	const own = (await readdir(demoFolder)).filter((name) => name.endsWith('.json')).sort();
	const files: Array<[name: string, path: string]> = [
		...own.map((name): [string, string] => [name, join(demoFolder, name)]),
		...(await exampleNames()).map((name): [string, string] => [
			`examples/${name}.json`,
			exampleFile(name),
		]),
	];
	return await Promise.all(
		files.map(async ([file, path]) => {
			const text = await readFile(path, 'utf8');
			const here = text.replaceAll(writtenChat, `${page}/chat`).replaceAll(writtenPage, page);
			return { file, ...parseWorkflow(here) };
		}),
	);
}

/** What was found out while the demo was prepared that its user should know. */
export type Notice =
	| { kind: 'login-changed' }
	| { kind: 'not-activated'; workflow: string; reason: string }
	| { kind: 'campaigns-lost'; file: string };

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
	const before = state.credential?.baseUrl ?? service.baseUrl;
	if (before !== service.baseUrl) {
		await followService(client, Object.values(state.workflows), before, service.baseUrl);
	}
	await prepareTables(client, state.tables, tables);
	const workflows = { ...state.workflows };
	const notices: Notice[] = [];
	// n8n lists the newest first: the one to begin with is created last.
	for (const { file, active, draft } of (await readExamples(service.baseUrl)).reverse()) {
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

/** Brings the service's address up to date where workflows name it: in a note, as the chat's address. */
async function followService(
	client: N8nClient,
	ids: readonly string[],
	before: string,
	now: string,
): Promise<void> {
	for (const id of ids) {
		try {
			const text = JSON.stringify(await client.workflow(id));
			if (!text.includes(before)) continue;
			const { draft, active } = parseWorkflow(text.replaceAll(before, now));
			await client.updateWorkflow(id, { nodes: draft.nodes });
			if (active) await client.activate(id);
		} catch (error) {
			// Its user has deleted it.
			if (!(error instanceof N8nRefused)) throw error;
		}
	}
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
