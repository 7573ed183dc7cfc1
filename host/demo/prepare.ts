import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
	changeField,
	chooseCredential,
	exampleFile,
	exampleNames,
	parseWorkflow,
} from '../../examples/read';
import type { N8nClient } from '../n8n/client';
import { DataTables, type DataTable } from '../n8n/dataTables';
import { N8nRefused, type Owner } from '../n8n/rest';
import { credentialSchema, credentialType, type WorkflowDraft } from '../n8n/workflows';

/** The login of the demo's server. */
export const demoOwner: Owner = {
	email: 'demo@example.com',
	firstName: 'Demo',
	lastName: 'Owner',
	password: 'Push-campaign-1',
};

/** The key and token of the demo's push service. */
export const access = { apiKey: 'demo-key', authToken: 'demo-token' };

/** The workflow to begin with, and the one that runs by itself: their files' names. */
export const demoFiles = {
	first: '1-send-to-all-then-read-its-status.json',
	watching: '2-report-counter-changes.json',
} as const;

/** What one start of the demo leaves for the next. */
export const demoStateSchema = z.object({
	/** When the demo was started first, epoch milliseconds. */
	campaignSince: z.number(),
	ports: z.object({ n8n: z.number(), service: z.number() }),
	credential: credentialSchema.extend({ baseUrl: z.string() }).optional(),
	/** The example workflows that were created, by the name of their file. */
	workflows: z.record(z.string()),
	/** The data tables that were created, by their names. */
	tables: z.array(z.string()),
});

export type DemoState = z.infer<typeof demoStateSchema>;

/** The addresses that stand in the files, of the simulator's page and of a chat's webhook. */
const writtenPage = 'http://127.0.0.1:8787';
const writtenChat = 'https://chat.example.com/hooks/your-webhook';

const ownFolder = join(__dirname, 'workflows');

/** An example workflow: what to create, and whether it is to be active. */
export interface Example {
	/** What the demo remembers it by. */
	file: string;
	active: boolean;
	draft: WorkflowDraft;
}

/**
 * The workflows of the demo: its own, in the order of their file names, then all of `examples`, with
 * waits of one minute. None of these is active: most of them need a service beside the push service.
 *
 * @param page the address of the simulator's page, below which the chat is
 */
export async function readExamples(page = writtenPage): Promise<Example[]> {
	const read = async (file: string, path: string): Promise<Example> => {
		const text = await readFile(path, 'utf8');
		const here = text.replaceAll(writtenChat, `${page}/chat`).replaceAll(writtenPage, page);
		const { active, draft } = parseWorkflow(here);
		return { file, active, draft: changeField(draft, 'waitMinutes', 1) };
	};
	const own = (await readdir(ownFolder)).sort().map((file) => read(file, join(ownFolder, file)));
	const published = (await exampleNames()).map((name) =>
		read(`examples/${name}.json`, exampleFile(name)),
	);
	return await Promise.all([...own, ...published]);
}

/**
 * Creates the owner, the credential, the data tables and the example workflows where this demo has
 * not created them before. What its user changed or deleted since stays as it is; only the credential
 * gets the service's address when it moved.
 *
 * @param baseUrl the service's address
 * @returns the state to keep, and whether the login is no longer the demo's, so that nothing was done
 */
export async function prepareDemo(
	client: N8nClient,
	state: DemoState,
	baseUrl: string,
	tables: readonly DataTable[],
): Promise<{ state: DemoState; isLoginChanged: boolean }> {
	await client.setupOwner(demoOwner);
	try {
		await client.login(demoOwner);
	} catch (error) {
		if (!(error instanceof N8nRefused)) throw error;
		return { state, isLoginChanged: true };
	}
	const data = { ...access, baseUrl };
	let { credential } = state;
	if (credential === undefined) {
		const created = await client.createCredential('Push Campaign demo', credentialType, data);
		credential = { ...created, baseUrl };
	} else if (credential.baseUrl !== baseUrl) {
		await client.updateCredential(credential, data).catch((error: unknown) => {
			// Its user may have deleted it.
			if (!(error instanceof N8nRefused && [403, 404].includes(error.status))) throw error;
		});
		credential = { ...credential, baseUrl };
	}

	const existing = await DataTables.of(client);
	const newTables = tables.filter(({ name }) => !state.tables.includes(name));
	await Promise.all(
		newTables.map(async (table) => {
			if ((await existing.find(table.name)) === undefined) await existing.create(table);
		}),
	);

	const workflows = { ...state.workflows };
	const activations: Array<Promise<void>> = [];
	// n8n lists the newest first: the one to begin with is created last.
	for (const { file, active, draft } of (await readExamples(baseUrl)).reverse()) {
		if (workflows[file] !== undefined) continue;
		const chosen = chooseCredential(draft, 'n8n-nodes-push-campaign.', credential);
		const { id } = await client.createWorkflow(chosen);
		workflows[file] = id;
		// n8n takes seconds to start a trigger, in which the other workflows are created.
		if (active) activations.push(client.activate(id));
	}
	await Promise.all(activations);
	const made = { credential, workflows, tables: tables.map(({ name }) => name) };
	return { state: { ...state, ...made }, isLoginChanged: false };
}
