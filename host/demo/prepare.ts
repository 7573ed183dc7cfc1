import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { N8nClient } from '../n8n/client';
import { createDataTable, type Row } from '../n8n/dataTables';
import { N8nRefused, type Owner } from '../n8n/rest';
import { credentialSchema, credentialType, type WorkflowDraft } from '../n8n/workflows';
import {
	chooseCredential,
	createdTables,
	exampleFile,
	exampleNames,
	parseWorkflow,
} from './examples';
import { fillIn } from './samples';

/** The login of the demo's server. */
export const demoOwner: Owner = {
	email: 'demo@example.com',
	firstName: 'Demo',
	lastName: 'Owner',
	password: 'Push-campaign-1',
};

/** The key and token of the demo's push service. */
export const access = { apiKey: 'demo-key', authToken: 'demo-token' };

/** The workflow to begin with, and the one that runs by itself. */
export const demoWorkflows = { first: 'send-wait-read', watching: 'report-changes' };

/** What one start of the demo leaves for the next. */
export const demoStateSchema = z.object({
	/** When the demo was started first, in milliseconds since 1970. */
	since: z.number(),
	ports: z.object({ n8n: z.number(), service: z.number() }),
	credential: credentialSchema.extend({ baseUrl: z.string() }).optional(),
	/** The IDs of the workflows that were created, by the names of their files. */
	workflows: z.record(z.string()),
});

export type DemoState = z.infer<typeof demoStateSchema>;

/** A workflow of the demo: what to create, and whether it is to be active. */
export interface Example {
	name: string;
	active: boolean;
	draft: WorkflowDraft;
}

/** The address of the simulator's page as it stands in the demo's own workflow. */
const writtenPage = 'http://127.0.0.1:8787';

/** The demo's own workflow, which is active, and all of `examples/`, which are not; the one to begin with first. */
export async function readExamples(page = writtenPage): Promise<Example[]> {
	const { first, watching } = demoWorkflows;
	const names = (await exampleNames()).filter((name) => name !== first);
	const read = async (name: string): Promise<Example> => {
		const file = name === watching ? join(__dirname, `${name}.json`) : exampleFile(name);
		const text = (await readFile(file, 'utf8')).replaceAll(writtenPage, page);
		return { name, ...parseWorkflow(fillIn(text)) };
	};
	return await Promise.all([first, watching, ...names].map(read));
}

/**
 * Creates the owner, the credential, and the workflows with their data tables, if this demo has not created
 * them before. What its user changed or deleted since stays as it is; only the credential gets the service's
 * address when it moved.
 *
 * @param baseUrl the service's address
 * @param rows to fill the tables with, by the tables' names
 * @returns the state to keep, and whether the login is no longer the demo's, so that nothing was done
 */
export async function prepareDemo(
	client: N8nClient,
	state: DemoState,
	baseUrl: string,
	rows: Record<string, Row[]>,
): Promise<{ state: DemoState; isLoginChanged: boolean }> {
	await client.setupOwner(demoOwner);
	try {
		await client.login(demoOwner);
	} catch (error) {
		if (error instanceof N8nRefused) return { state, isLoginChanged: true };
		throw error;
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
	const workflows = { ...state.workflows };
	// n8n lists the newest first: the one to begin with is created last.
	for (const { name, active, draft } of (await readExamples(baseUrl)).reverse()) {
		if (workflows[name] !== undefined) continue;
		for (const table of createdTables(draft)) {
			await createDataTable(client, { ...table, rows: rows[table.name] ?? [] });
		}
		const chosen = chooseCredential(draft, 'n8n-nodes-push-campaign.', credential);
		const { id } = await client.createWorkflow(chosen);
		if (active) await client.activate(id);
		workflows[name] = id;
	}
	return { state: { ...state, credential, workflows }, isLoginChanged: false };
}
