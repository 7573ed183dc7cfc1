import type { IExecuteFunctions, WorkflowExecuteMode } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import { isTool } from '../n8n/parameters';
import type { SendOperation } from '../operations/operation';
import { isDryRun, isDryRunFixed } from '../operations/options';
import { hasTestSubscriber } from '../operations/send';
import type { SendMemory } from '../send/open';
import { InvalidInput } from '../service/thrown';

// How the execution was started, what a run of the node does in it, and what n8n offers after it fails.

/** One run of the node that sends. */
export interface Run {
	readonly context: IExecuteFunctions;
	readonly operation: SendOperation;
	readonly memory: SendMemory;
	readonly kind: RunKind;
}

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

/** A test goes to the test subscriber alone. */
export type RunKind = 'send' | 'dryRun' | 'test';

/** A person tries the workflow: in the editor, or by an evaluation. */
const trials: readonly WorkflowExecuteMode[] = ['manual', 'evaluation'];
/** n8n tells a node in these neither that a person tries the workflow nor that nobody does. */
const untold: readonly WorkflowExecuteMode[] = ['integrated', 'internal', 'retry'];
/** Nobody looks at what a dry run shows in these. */
const unattended: readonly WorkflowExecuteMode[] = ['trigger', 'webhook', 'error', 'cli'];

/** Whether a person tries the workflow. */
export const isTriedOut = (context: IExecuteFunctions): boolean =>
	trials.includes(startOf(context));

const mixed = new InvalidInput(
	"'Dry Run' is on for some of the items, and off for others",
	"Correct the expression in 'Dry Run'.",
);

const takeOut = (option: string) => `Take ${option} out of the options.`;

/** n8n counts such a Retry as the one that worked. */
const notInRetry = (option: string) =>
	new InvalidInput(
		`${option} does not work in a Retry, because n8n would offer no other one after it`,
		takeOut(option),
	);

const dryRunLeftIn = new InvalidInput(
	"'Dry Run' is on, so nothing was sent. Outside of the editor it is refused: it would send nothing, green.",
	takeOut("'Dry Run'"),
);

const testUntold = new InvalidInput(
	"'Test Subscriber ID' does not work here: n8n does not tell the node whether somebody is trying the workflow",
	takeOut("'Test Subscriber ID'"),
);

/** What a run does with all of its items, or why it does nothing. */
export function kindOfRun(
	context: IExecuteFunctions,
	items: readonly ItemParameters[],
): RunKind | InvalidInput {
	const start = startOf(context);
	const isTrial = isTriedOut(context);
	const shown = items.filter(isDryRun);
	const [first] = shown;
	if (first !== undefined) {
		if (shown.length < items.length) return mixed;
		if (isRetry(context)) return notInRetry("'Dry Run'");
		return unattended.includes(start) && isDryRunFixed(first) ? dryRunLeftIn : 'dryRun';
	}
	if (!items.some(hasTestSubscriber)) return 'send';
	if (untold.includes(start)) return testUntold;
	if (isRetry(context) && isTrial) return notInRetry("'Test Subscriber ID'");
	return isTrial ? 'test' : 'send';
}
