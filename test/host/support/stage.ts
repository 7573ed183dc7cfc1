import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import {
	packPackage,
	startStage as startHostStage,
	webhookWorkflow,
	type Execution,
	type Major,
	type Stage as HostStage,
	type StartOptions,
	type WebhookAnswer,
} from '../../../host';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../simulator';

/** The key and token of every stage's push service: no error, log or output may hold them. */
export const secrets = { apiKey: 'key-5f1c9be2a7', authToken: 'token-93d07ac41e' };

/** The variable that names the packed package for the suites. */
export const tarballVariable = 'PUSH_CAMPAIGN_TARBALL';

/** The variable that names the folder with the prepared n8n of each version. */
export const preparedVariable = 'PUSH_CAMPAIGN_PREPARED';

/** The user folder of a version's n8n that has set up its database and has stopped, in the folder of all. */
export const preparedFolder = (folder: string, major: Major): string =>
	join(folder, `n8n-${major}`);

/** Such a folder, if the runner has made it, and if n8n is to use the database in it. */
function preparedFor(major: Major, env: Record<string, string> = {}): { prepared?: string } {
	const folder = process.env[preparedVariable];
	if (folder === undefined || env['DB_TYPE'] !== undefined) return {};
	return { prepared: preparedFolder(folder, major) };
}

/** The path of the packed package; packs it where no runner has. */
export async function tarball(): Promise<string> {
	return process.env[tarballVariable] ?? (await packPackage()).tarball;
}

export interface StageOptions extends Partial<Pick<StartOptions, 'env'>> {
	/** Default `2`. */
	major?: Major;
	simulator?: SimulatorOptions;
	access?: typeof secrets;
	/** The path of a packed package; left out: this one. */
	packed?: string;
	/** Whether n8n shows its editor: to prepare it takes a third of a start. Default false. */
	editor?: boolean;
}

/** A server with the package in it, its owner logged in, and a push service with a credential for it. */
export type Stage = HostStage<Simulator>;

/** Starts a stage; its campaigns' counters stand still unless a test moves them. Close it in any case. */
export async function startStage({
	major = '2',
	simulator,
	access = secrets,
	packed,
	editor = false,
	env,
}: StageOptions = {}): Promise<Stage> {
	return await startHostStage({
		env: { ...(editor ? {} : { N8N_DISABLE_UI: 'true' }), ...env },
		major,
		...preparedFor(major, env),
		access,
		tarball: packed ?? (await tarball()),
		startService: () =>
			startSimulator({
				serviceKey: access.apiKey,
				authToken: access.authToken,
				lifeSpeed: 0,
				...simulator,
			}),
	});
}

/**
 * A stage for the tests of the surrounding `describe` (or file): started before the first, closed
 * after the last, its push service reset before each.
 *
 * @returns a function that gives the stage to a test
 */
export function useStage(options: StageOptions): () => Stage {
	return shareStage(options)();
}

/**
 * One stage for several `describe`s of a file: started before the first of them, closed after the last test of the
 * file, its push service reset before each test. A server takes longer to start than most tests take.
 *
 * @returns what each of them calls instead of `useStage`
 */
export function shareStage(options: StageOptions): () => () => Stage {
	let stage: Stage | undefined;
	afterAll(async () => {
		await stage?.close();
	}, 120_000);
	return () => {
		beforeAll(async () => {
			stage ??= await startStage(options);
		}, 400_000);
		beforeEach(() => stage?.simulator.reset());
		return () => {
			if (stage === undefined) throw new Error('The stage is there only while a test runs');
			return stage;
		};
	};
}

/** Runs `nodes`, one after another, once as a production execution on `items`. */
export async function runNodes(
	{ client }: Pick<Stage, 'client'>,
	nodes: INode[],
	items: Array<Record<string, unknown>> = [{}],
): Promise<{ execution: Execution; answer: WebhookAnswer }> {
	const path = randomUUID();
	const { id } = await client.createWorkflow(webhookWorkflow(path, nodes));
	await client.activate(id);
	const answer = await client.runWebhook(path, { items });
	const [summary] = await client.waitForExecutions({ workflowId: id });
	const execution = await client.waitForExecution(summary?.id ?? '');
	await client.deactivate(id);
	return { execution, answer };
}
