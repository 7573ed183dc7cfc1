import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import {
	packPackage,
	startStage as startHostStage,
	webhookWorkflow,
	type Execution,
	type Major,
	type Stage as HostStage,
	type StageOptions as HostStageOptions,
	type WebhookAnswer,
} from '../../../host';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../simulator';

/** The key and token of every stage's push service: no error, log or output may hold them. */
export const secrets = { apiKey: 'key-5f1c9be2a7', authToken: 'token-93d07ac41e' };

/** What every send needs. */
export const content = {
	title: 'Autumn sale',
	message: '20 % off everything, this week only',
	targetUrl: 'https://example.com/sale',
};

/** The variable by which the runner names the packed package for the suites. */
export const tarballVariable = 'PUSH_CAMPAIGN_TARBALL';

/** The path of the packed package; packs it if no runner has. */
export async function tarball(): Promise<string> {
	return process.env[tarballVariable] ?? (await packPackage()).tarball;
}

export interface StageOptions extends Partial<Pick<HostStageOptions<Simulator>, 'env'>> {
	/** Default `2`. */
	major?: Major;
	/** Prepares the user folder, and installs the package there. Left out: it is unpacked there. */
	prepare?: (userFolder: string) => Promise<void>;
	/** Whether n8n shows its editor, which takes a third of a start. Default false. */
	editor?: boolean;
	/** Left out, the counters of campaigns stand still: only a test moves them. */
	simulator?: SimulatorOptions;
}

/** A server with the package in it, its owner logged in, and a push service with a credential for it. */
export type Stage = HostStage<Simulator>;

/** Starts a stage. Close it in any case. */
export async function startStage(options: StageOptions = {}): Promise<Stage> {
	const { major = '2', prepare, editor = false, simulator, env } = options;
	return await startHostStage({
		major,
		...(prepare === undefined ? { tarball: await tarball() } : { prepare }),
		env: { ...(editor ? {} : { N8N_DISABLE_UI: 'true' }), ...env },
		access: secrets,
		startService: () =>
			startSimulator({
				serviceKey: secrets.apiKey,
				authToken: secrets.authToken,
				lifeSpeed: 0,
				...simulator,
			}),
	});
}

/**
 * The stage of a suite: started before its first test, closed after the last, its push service reset before each.
 *
 * @returns a function that gives the stage to a test
 */
export function useStage(options: StageOptions = {}): () => Stage {
	let stage: Stage | undefined;
	beforeAll(async () => {
		stage = await startStage(options);
	});
	beforeEach(() => stage?.simulator.reset());
	afterAll(async () => {
		await stage?.close();
	});
	return () => {
		if (stage === undefined) throw new Error('The stage is there only while a test runs');
		return stage;
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
