import { ExecuteContext, WorkflowExecute } from 'n8n-core';
import type {
	INodeExecutionData,
	IRun,
	IRunExecutionData,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import {
	createEmptyRunExecutionData,
	createRunExecutionData,
	jsonParse,
	Workflow,
} from 'n8n-workflow';
import { additionalDataOf } from './additionalData';
import type { CredentialData } from './credentials';
import { CredentialsOfTest } from './credentials';
import { nodeTypes } from './nodeTypes';
import type { WorkflowJson } from './workflow';

/** What a test gives the engine beside the workflow. */
export interface Surroundings {
	/** The credential as it is saved; its fields may be expressions. */
	credentials: { pushCampaignApi: CredentialData };
	/** Called each time the credential is opened; may throw. */
	onOpen?: () => void;
}

export interface RunOptions extends Surroundings {
	/** What the start node hands on; one empty item when left out. */
	input?: INodeExecutionData[];
	/**
	 * `trigger` (the default) is a production execution, `manual` one from the editor, `integrated` that of a sub-workflow.
	 */
	mode?: 'trigger' | 'webhook' | 'error' | 'cli' | 'manual' | 'evaluation' | 'integrated';
}

export interface StartedRun {
	/** Resolves when the execution has ended, in whatever way; the outcome is in its `status`. */
	finished: Promise<IRun>;
	/** Stops the execution as a user does from the editor. */
	cancel(): void;
}

/** A workflow object as the server builds it from what is saved: more than once, each time from what it left before. */
export function loadWorkflow(json: WorkflowJson, active: boolean, id = 'engine-test'): Workflow {
	const build = () => new Workflow({ ...json, id, name: 'Workflow', active, nodeTypes });
	build();
	return build();
}

export const credentialsOf = ({ credentials, onOpen }: Surroundings) =>
	new CredentialsOfTest(credentials.pushCampaignApi, onOpen);

let executions = 0;

function start(
	json: WorkflowJson,
	workflow: Workflow,
	mode: WorkflowExecuteMode,
	data: IRunExecutionData,
	options: Surroundings,
): StartedRun {
	executions += 1;
	const additionalData = additionalDataOf(json, mode, String(executions), credentialsOf(options));
	const run = new WorkflowExecute(additionalData, mode, data).processRunExecutionData(workflow);
	return { finished: Promise.resolve(run), cancel: () => run.cancel() };
}

/**
 * Starts a run of a workflow in n8n's engine, over real HTTP.
 * @throws WorkflowHasIssuesError when n8n itself refuses to start it, such as for an empty required parameter
 */
export function startWorkflow(json: WorkflowJson, options: RunOptions): StartedRun {
	const { input = [{ json: {} }], mode = 'trigger' } = options;
	const workflow = loadWorkflow(json, mode === 'trigger');
	return start(json, workflow, mode, beginning(workflow, input), options);
}

/** What an execution begins with. */
function beginning(workflow: Workflow, input: INodeExecutionData[]): IRunExecutionData {
	const node = workflow.getStartNode();
	if (node === undefined) throw new Error('The workflow has no node to start from');
	return createRunExecutionData({
		executionData: { nodeExecutionStack: [{ node, data: { main: [input] }, source: null }] },
	});
}

/**
 * An execution as n8n has it after a crash: what it began with, and when that was (n8n 2.41.1: `workflow-runner.js`,
 * `establishContextForPersistence`).
 */
export function asCrashed(done: IRun, json: WorkflowJson, input: INodeExecutionData[]): IRun {
	const data = beginning(loadWorkflow(json, true), input);
	const runtimeData = done.data.executionData?.runtimeData;
	if (data.executionData === undefined || runtimeData === undefined) {
		throw new Error('The execution has no beginning');
	}
	return { ...done, data: { ...data, executionData: { ...data.executionData, runtimeData } } };
}

/** Runs a workflow to its end; see {@link startWorkflow}. */
export const runWorkflow = async (json: WorkflowJson, options: RunOptions): Promise<IRun> =>
	await startWorkflow(json, options).finished;

/**
 * 'Retry with currently saved workflow' of a failed execution: a new execution that goes on from what n8n saved of it
 * (n8n 2.41.1: `executions/execution.service.js`, `retry`).
 * @param json the workflow as it is saved by now
 */
export async function retryRun(
	failed: IRun,
	json: WorkflowJson,
	options: Surroundings,
): Promise<IRun> {
	const data = jsonParse<IRunExecutionData>(JSON.stringify(failed.data));
	const { lastNodeExecuted = '', runData } = data.resultData;
	delete data.resultData.error;
	const runs = runData[lastNodeExecuted];
	if (runs?.at(-1)?.error !== undefined) runs.pop();
	const workflow = loadWorkflow(json, false);
	for (const waiting of data.executionData?.nodeExecutionStack ?? []) {
		const node = workflow.getNode(waiting.node.name);
		if (node === null) throw new Error(`The workflow has no node ${waiting.node.name}`);
		waiting.node = node;
	}
	return await start(json, workflow, 'retry', data, options).finished;
}

// n8n-core leaves a workflow's name optional where the interface for nodes promises one.
class NamedContext extends ExecuteContext {
	override getWorkflow() {
		const { name = '', ...workflow } = super.getWorkflow();
		return { ...workflow, name };
	}
}

/**
 * What n8n's own Agents give a tool that they run: an execution without data, and a workflow without an ID (n8n 2.41.1:
 * `node-execution/ephemeral-node-executor.js`).
 */
export function ownAgentContext(
	{ nodes: [, node] }: WorkflowJson,
	options: RunOptions,
): NamedContext {
	if (node === undefined) throw new Error('The workflow has no node but the first one');
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const input = options.input ?? [{ json: {} }];
	const data = { main: [input] };
	const { executionId: _none, ...additionalData } = additionalDataOf(
		{ nodes: [node], connections: {} },
		'internal',
		'',
		credentialsOf(options),
	);
	return new NamedContext(
		workflow,
		node,
		additionalData,
		'internal',
		createEmptyRunExecutionData(),
		0,
		input,
		data,
		{ node, data, source: null },
		[],
	);
}

/** Runs a node as n8n's own Agents run a tool. */
export async function runAsOwnAgent(
	json: WorkflowJson,
	options: RunOptions,
): Promise<INodeExecutionData[] | undefined> {
	const context = ownAgentContext(json, options);
	const { type } = context.getNode();
	const output = await nodeTypes.getByNameAndVersion(type).execute?.call(context);
	return Array.isArray(output) ? output[0] : undefined;
}

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
