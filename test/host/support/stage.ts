import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import {
	startStage as startHostStage,
	webhookWorkflow,
	type Execution,
	type Major,
	type Stage as HostStage,
	type StartOptions,
	type WebhookAnswer,
	type WorkflowDraft,
} from '../../../host';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../simulator';
import { tarball } from './tarball';

/** The key and token of every stage's push service: no error, log or output may hold them. */
export const secrets = { apiKey: 'key-5f1c9be2a7', authToken: 'token-93d07ac41e' };

export interface StageOptions extends Partial<Pick<StartOptions, 'env' | 'userFolder'>> {
	/** Default `2`. */
	major?: Major;
	simulator?: SimulatorOptions;
	access?: typeof secrets;
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
	editor = false,
	env,
	...options
}: StageOptions = {}): Promise<Stage> {
	return await startHostStage({
		...options,
		env: { ...(editor ? {} : { N8N_DISABLE_UI: 'true' }), ...env },
		major,
		access,
		tarball: await tarball(),
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
	let stage: Stage | undefined;
	const current = (): Stage => {
		if (stage === undefined) throw new Error('The stage is there only while a test runs');
		return stage;
	};
	beforeAll(async () => {
		stage = await startStage(options);
	}, 400_000);
	beforeEach(() => stage?.simulator.reset());
	afterAll(async () => {
		await stage?.close();
	}, 60_000);
	return current;
}

export interface Run {
	workflowId: string;
	/** The workflow as it was created. */
	draft: WorkflowDraft;
	execution: Execution;
	/** What the webhook's caller got: the last node's items. */
	answer: WebhookAnswer;
}

/**
 * Runs `nodes`, one after another, once as a production execution on `items`.
 *
 * @param shape changes the workflow before it is created, e.g. `connect`s a second output
 */
export async function runNodes(
	{ client }: Pick<Stage, 'client'>,
	nodes: INode[],
	items: Array<Record<string, unknown>> = [{}],
	shape: (draft: WorkflowDraft) => WorkflowDraft = (draft) => draft,
): Promise<Run> {
	const path = randomUUID();
	const draft = shape(webhookWorkflow(path, nodes));
	const { id } = await client.createWorkflow(draft);
	await client.activate(id);
	const answer = await client.runWebhook(path, { items });
	const [summary] = await client.waitForExecutions({ workflowId: id });
	if (summary === undefined) throw new Error('The workflow was not executed');
	const execution = await client.execution(summary.id);
	await client.deactivate(id);
	return { workflowId: id, draft, execution, answer };
}
