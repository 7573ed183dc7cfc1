import { WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	migrateRunExecutionData,
	Workflow,
	type ICredentialType,
	type INodeExecutionData,
	type IRun,
	type IRunExecutionData,
	type IRunExecutionDataAll,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { additionalDataOf } from './additionalData';
import { CredentialsOfTest, type CredentialData } from './credentials';
import { provideDeduplication } from './deduplication';
import { doubles } from './doubles';
import { TableOfNodeTypes, type NodeTypeTable } from './nodeTypes';
import { packageCredentialTypes, packageNodeTypes } from './packageTypes';
import { readWorkflow, type WorkflowJson } from './workflow';

/** What a test gives the engine beside the workflow. */
export interface Surroundings {
	/** Decrypted credentials by type name. */
	credentials: Readonly<Record<string, CredentialData>>;
	/** Node types beside the package's own and the doubles. */
	nodeTypes?: NodeTypeTable;
	/** Credential types beside the package's own. */
	credentialTypes?: readonly ICredentialType[];
}

export interface RunOptions extends Surroundings {
	/** `manual` is a test run in the editor, `trigger` (the default) a production run. */
	mode?: Extract<WorkflowExecuteMode, 'manual' | 'trigger' | 'webhook'>;
	/** What the start node hands on; one empty item when left out. */
	input?: INodeExecutionData[];
	/** A failed run that is tried again, as 'Retry' in the list of executions does; replaces `mode` and `input`. */
	retryOf?: IRun;
}

export interface StartedRun {
	/** Resolves when the execution has ended, in whatever way; the outcome is in its `status`. */
	finished: Promise<IRun>;
	/** Stops the execution as a user does from the editor. */
	cancel(): void;
}

let executions = 0;

/** A workflow object as the server builds it from what is saved. */
export const loadWorkflow = (
	json: WorkflowJson,
	surroundings: Surroundings,
	active: boolean,
): Workflow =>
	new Workflow({
		id: 'engine-test',
		name: json.name ?? 'Workflow',
		nodes: json.nodes,
		connections: json.connections,
		active,
		settings: json.settings ?? {},
		nodeTypes: new TableOfNodeTypes({
			...doubles,
			...packageNodeTypes,
			...surroundings.nodeTypes,
		}),
	});

export const credentialsOf = ({ credentials, credentialTypes = [] }: Surroundings) =>
	new CredentialsOfTest([...packageCredentialTypes, ...credentialTypes], credentials);

const freshStart = (workflow: Workflow, input: INodeExecutionData[]): IRunExecutionData => {
	const node = workflow.getStartNode();
	if (node === undefined) throw new Error('The workflow has no node to start from');
	return createRunExecutionData({
		executionData: { nodeExecutionStack: [{ node, data: { main: [input] }, source: null }] },
	});
};

const isExecutionData = (value: unknown): value is IRunExecutionDataAll =>
	typeof value === 'object' && value !== null && 'resultData' in value;

/** What n8n reads back from its database of an execution that it saved. */
export const savedAndLoaded = async (run: IRun): Promise<IRunExecutionData> => {
	const { parse, stringify } = await import('flatted');
	const loaded: unknown = parse(stringify(run.data));
	if (!isExecutionData(loaded)) throw new Error('The saved execution cannot be read');
	return migrateRunExecutionData(loaded);
};

// Follows n8n's ExecutionService.retry with `loadWorkflow`.
const secondStart = async (workflow: Workflow, failed: IRun): Promise<IRunExecutionData> => {
	if (failed.finished === true) throw new Error('A run that succeeded cannot be retried');
	const data = await savedAndLoaded(failed);
	if (data.executionData === undefined) throw new Error('The run kept nothing to go on from');
	const { lastNodeExecuted, runData } = data.resultData;
	if (lastNodeExecuted !== undefined) {
		delete data.resultData.error;
		const runsOfLast = runData[lastNodeExecuted];
		if (runsOfLast?.at(-1)?.error !== undefined) runsOfLast.pop();
	}
	for (const waiting of data.executionData.nodeExecutionStack) {
		const node = workflow.getNode(waiting.node.name);
		if (node === null) throw new Error(`The workflow has no node ${waiting.node.name} any more`);
		waiting.node = node;
	}
	return data;
};

/**
 * Starts a workflow in n8n's engine, over real HTTP.
 * @param workflow the workflow, or the path of a file that n8n exported
 * @throws WorkflowHasIssuesError when n8n itself refuses to start it, such as for an empty required parameter
 */
export const startWorkflow = async (
	workflow: WorkflowJson | string,
	options: RunOptions,
): Promise<StartedRun> => {
	const json = typeof workflow === 'string' ? readWorkflow(workflow) : workflow;
	const mode = options.retryOf === undefined ? (options.mode ?? 'trigger') : 'retry';
	const loaded = loadWorkflow(json, options, mode === 'trigger' || mode === 'webhook');
	const data =
		options.retryOf === undefined
			? freshStart(loaded, options.input ?? [{ json: {} }])
			: await secondStart(loaded, options.retryOf);
	executions += 1;
	await provideDeduplication();
	const additionalData = additionalDataOf(json, mode, String(executions), credentialsOf(options));
	const run = new WorkflowExecute(additionalData, mode, data).processRunExecutionData(loaded);
	return { finished: Promise.resolve(run), cancel: () => run.cancel() };
};

/** Runs a workflow to its end; see {@link startWorkflow}. */
export const runWorkflow = async (
	workflow: WorkflowJson | string,
	options: RunOptions,
): Promise<IRun> => await (await startWorkflow(workflow, options)).finished;

/**
 * The items that a node put out.
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

/** What made the run fail, if it did. */
export const errorOf = (run: IRun) => run.data.resultData.error;
