import { WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	Workflow,
	type INodeExecutionData,
	type IRun,
	type IRunExecutionData,
} from 'n8n-workflow';
import { additionalDataOf } from './additionalData';
import { CredentialsOfTest, type CredentialData } from './credentials';
import { nodeTypes } from './nodeTypes';
import type { WorkflowJson } from './workflow';

/** What a test gives the engine beside the workflow. */
export interface Surroundings {
	/** The decrypted credential. */
	credentials: { pushCampaignApi: CredentialData };
}

export interface RunOptions extends Surroundings {
	/** What the start node hands on; one empty item when left out. */
	input?: INodeExecutionData[];
}

export interface StartedRun {
	/** Resolves when the execution has ended, in whatever way; the outcome is in its `status`. */
	finished: Promise<IRun>;
	/** Stops the execution as a user does from the editor. */
	cancel(): void;
}

let executions = 0;

/** A workflow object as the server builds it from what is saved: more than once, each time from what it left before. */
export function loadWorkflow(json: WorkflowJson, active: boolean, id = 'engine-test'): Workflow {
	const build = () => new Workflow({ ...json, id, name: 'Workflow', active, nodeTypes });
	build();
	return build();
}

export const credentialsOf = ({ credentials }: Surroundings) =>
	new CredentialsOfTest(credentials.pushCampaignApi);

const freshStart = (workflow: Workflow, input: INodeExecutionData[]): IRunExecutionData => {
	const node = workflow.getStartNode();
	if (node === undefined) throw new Error('The workflow has no node to start from');
	return createRunExecutionData({
		executionData: { nodeExecutionStack: [{ node, data: { main: [input] }, source: null }] },
	});
};

/**
 * Starts a production run of a workflow in n8n's engine, over real HTTP.
 * @throws WorkflowHasIssuesError when n8n itself refuses to start it, such as for an empty required parameter
 */
export const startWorkflow = (json: WorkflowJson, options: RunOptions): StartedRun => {
	const workflow = loadWorkflow(json, true);
	const data = freshStart(workflow, options.input ?? [{ json: {} }]);
	executions += 1;
	const id = String(executions);
	const additionalData = additionalDataOf(json, 'trigger', id, credentialsOf(options));
	const run = new WorkflowExecute(additionalData, 'trigger', data).processRunExecutionData(
		workflow,
	);
	return { finished: Promise.resolve(run), cancel: () => run.cancel() };
};

/** Runs a workflow to its end; see {@link startWorkflow}. */
export const runWorkflow = async (json: WorkflowJson, options: RunOptions): Promise<IRun> =>
	await startWorkflow(json, options).finished;

/**
 * The items that a node returned.
 * @param output 0 is the first output
 * @param runIndex which of the node's runs, the last one when left out
 */
export const itemsOf = (
	run: IRun,
	nodeName: string,
	output = 0,
	runIndex = -1,
): INodeExecutionData[] =>
	run.data.resultData.runData[nodeName]?.at(runIndex)?.data?.['main']?.[output] ?? [];
