import type { IExecuteFunctions, WorkflowExecuteMode } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import { isTool } from '../n8n/parameters';
import type { SendOperation } from '../operations/operation';
import { isDryRun, isDryRunFixed } from '../operations/options';
import { hasTestSubscriber } from '../operations/send';
import type { SendMemory } from '../send/open';
import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import { InvalidInput } from '../service/thrown';

// How the execution was started, what a run of the node does in it, and what n8n offers after it fails.

/** What a run does with all of its items. */
interface Decision {
	/** A test goes to the test subscriber alone. */
	readonly kind: 'send' | 'dryRun' | 'test';
	/** Why nothing new is sent. */
	readonly refusal?: Problem | undefined;
}

/** One run of the node that sends. */
export interface Run extends Decision {
	readonly context: IExecuteFunctions;
	readonly operation: SendOperation;
	readonly memory: SendMemory;
}

/**
 * How the execution was started. A Retry has the mode `retry`, and still the first one's context (n8n 2.41.1 and 1.123:
 * n8n-core, `execution-context.js`); after a crash, n8n 1 does not know any more.
 */
function startOf(context: IExecuteFunctions): WorkflowExecuteMode {
	const mode = context.getMode();
	return mode === 'retry' ? (context.getExecutionContext?.()?.source ?? mode) : mode;
}

const isRetry = (context: IExecuteFunctions): boolean => context.getMode() === 'retry';

/**
 * Of a Retry: what names the execution that it retries, if the node had not run in it: when that began is the same in all
 * its Retries. Executions of one workflow that began in the same millisecond share it.
 */
export function retryOf(context: IExecuteFunctions): string | undefined {
	if (!isRetry(context)) return undefined;
	const began = context.getExecutionContext?.()?.establishedAt ?? context.getExecutionId();
	return `${context.getNode().id}:${began}`;
}

/** Whether the user, or its time limit, has ended the execution. */
export const isStopped = (context: IExecuteFunctions): boolean =>
	context.getExecutionCancelSignal()?.aborted === true;

/** Whether a model reads what happened: as the tool of an agent, or in n8n's own Agents. */
export const isForModel = (context: IExecuteFunctions): boolean =>
	isTool(context.getNode()) || context.getMode() === 'internal';

/** Whether somebody who tries the workflow in the editor sees how it ended. */
export const isInEditor = (context: IExecuteFunctions): boolean => context.getMode() === 'manual';

/** Where n8n offers a Retry that goes on from this node: in the list of executions, or in that of the sub-workflow. */
export type RetryOffer = 'inList' | 'ofSubWorkflow' | 'none';

/** What n8n offers if this run of the node fails. It offers nothing after a run that went on or was stopped. */
export function retryOffer(context: IExecuteFunctions): RetryOffer {
	if (context.continueOnFail() || isStopped(context) || isForModel(context)) return 'none';
	return startOf(context) === 'integrated' ? 'ofSubWorkflow' : 'inList';
}

/** A person tries the workflow: in the editor, or by an evaluation. */
const trials: readonly WorkflowExecuteMode[] = ['manual', 'evaluation'];
/** n8n tells a node in these neither that a person tries the workflow nor that nobody does. */
const untold: readonly WorkflowExecuteMode[] = ['integrated', 'internal', 'retry'];
/** Nobody looks at what a dry run shows in these. */
const unattended: readonly WorkflowExecuteMode[] = ['trigger', 'webhook', 'error', 'cli'];

/** Whether a person tries the workflow. */
export const isTriedOut = (context: IExecuteFunctions): boolean =>
	trials.includes(startOf(context));

/** Nothing new is sent, whichever item it is. */
const refuse = (message: string, advice: string): Decision => ({
	kind: 'send',
	refusal: validationProblem(new InvalidInput(message, advice)),
});

/** n8n counts such a Retry as the one that worked. */
const refuseInRetry = (option: string) =>
	refuse(
		`${option} does not work in a Retry, because n8n would offer no other one after it`,
		`Take ${option} out of the options.`,
	);

/** What a run does with all of its items, or why it does nothing. */
export function decide(context: IExecuteFunctions, items: readonly ItemParameters[]): Decision {
	const start = startOf(context);
	const isTrial = isTriedOut(context);
	const shown = items.filter(isDryRun);
	const [first] = shown;
	if (first !== undefined) {
		if (shown.length < items.length) {
			return refuse(
				"'Dry Run' is on for some of the items, and off for others",
				"Correct the expression in 'Dry Run'.",
			);
		}
		if (isRetry(context)) return refuseInRetry("'Dry Run'");
		if (unattended.includes(start) && isDryRunFixed(first)) {
			return refuse(
				"'Dry Run' is on, so nothing was sent. Outside of the editor it is refused: it would send nothing, green.",
				"Take 'Dry Run' out of the options.",
			);
		}
		return { kind: 'dryRun' };
	}
	if (!items.some(hasTestSubscriber)) return { kind: 'send' };
	if (untold.includes(start)) {
		return refuse(
			"'Test Subscriber ID' does not work here: n8n does not tell the node whether somebody is trying the workflow",
			"Take 'Test Subscriber ID' out of the options.",
		);
	}
	if (isRetry(context) && isTrial) return refuseInRetry("'Test Subscriber ID'");
	return { kind: isTrial ? 'test' : 'send' };
}
