import type { IExecuteFunctions, WorkflowExecuteMode } from 'n8n-workflow';

import { isTool } from '../n8n/parameters';

// How the execution was started, and what n8n offers after it fails.

/**
 * How the execution was started. A Retry has the mode `retry`, and still the first one's context (n8n 2.41.1 and 1.123:
 * n8n-core, `execution-context.js`); after a crash, n8n 1 does not know any more.
 */
export function startOf(context: IExecuteFunctions): WorkflowExecuteMode {
	const mode = context.getMode();
	return mode === 'retry' ? (context.getExecutionContext?.()?.source ?? mode) : mode;
}

export const isRetry = (context: IExecuteFunctions): boolean => context.getMode() === 'retry';

/**
 * Of a Retry: what names the execution that it retries, if the node had not run in it: when that began is the same in all
 * its Retries. Executions of one workflow that began in the same millisecond share it.
 */
export function retryOf(context: IExecuteFunctions): string | undefined {
	if (!isRetry(context)) return undefined;
	const began = context.getExecutionContext?.()?.establishedAt ?? context.getExecutionId();
	return `${context.getNode().id}:${began}`;
}

/** Whether a model reads what happened: as the tool of an agent, or in n8n's own Agents. */
export const isForModel = (context: IExecuteFunctions): boolean =>
	isTool(context.getNode()) || context.getMode() === 'internal';

/** Whether somebody who tries the workflow in the editor sees how it ended. */
export const isInEditor = (context: IExecuteFunctions): boolean => context.getMode() === 'manual';

/** Where n8n offers a Retry that goes on from this node: in the list of executions, or in that of the sub-workflow. */
export type RetryOffer = 'inList' | 'ofSubWorkflow' | 'none';

/** What n8n offers if this run of the node fails. It offers nothing after a run that went on or was stopped. */
export function retryOffer(context: IExecuteFunctions): RetryOffer {
	const isStopped = context.getExecutionCancelSignal()?.aborted ?? false;
	if (context.continueOnFail() || isStopped || isForModel(context)) return 'none';
	return startOf(context) === 'integrated' ? 'ofSubWorkflow' : 'inList';
}
