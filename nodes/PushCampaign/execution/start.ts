import type { IExecuteFunctions, WorkflowExecuteMode } from 'n8n-workflow';

import { digest } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import { isTool } from '../n8n/parameters';
import { isDryRun, isDryRunFixed, isKeyFixed } from '../operations/options';
import { hasTestSubscriber } from '../operations/send';
import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import { InvalidInput } from '../service/thrown';

// How the execution was started, and what a run of the node does in it.

/** What a run does with all of its items. */
export interface Decision {
	/** A test goes to the test subscriber alone. */
	readonly kind: 'send' | 'dryRun' | 'test';
	/** Why nothing new is sent. */
	readonly refusal?: Problem | undefined;
}

/**
 * How the execution was started. A Retry has the mode `retry`, and still the first one's context (n8n 2.41.1 and 1.123:
 * n8n-core, `execution-context.js`); after a crash, n8n 1 does not know any more.
 */
function startOf(context: IExecuteFunctions): WorkflowExecuteMode {
	const mode = context.getMode();
	return mode === 'retry' ? (context.getExecutionContext?.()?.source ?? mode) : mode;
}

export const isRetry = (context: IExecuteFunctions): boolean => context.getMode() === 'retry';

/**
 * Names the node and the first of an execution and its Retries: by the node's name, as n8n finds it in a Retry, and by when
 * the first began. That is the same in all of them, also after a crash (n8n 2.41.1: `workflow-runner.js`,
 * `establishContextForPersistence`; not in a sub-workflow, and not in n8n 1). Executions of one workflow that began in the
 * same millisecond share it.
 */
export function nameExecution(context: IExecuteFunctions): string {
	const began = context.getExecutionContext?.()?.establishedAt ?? context.getExecutionId();
	return `${digest(context.getNode().name)}:${began}`;
}

/** Whether the user, or its time limit, has ended the execution. */
export const isStopped = (context: IExecuteFunctions): boolean =>
	context.getExecutionCancelSignal()?.aborted === true;

/** Whether a model reads what happened: as the tool of an agent, or in n8n's own Agents. */
export const isForModel = (context: IExecuteFunctions): boolean =>
	isTool(context.getNode()) || context.getMode() === 'internal';

/** Whether somebody who tries the workflow in the editor sees how it ended. */
export const isInEditor = (context: IExecuteFunctions): boolean => context.getMode() === 'manual';

/** A person tries the workflow: in the editor, or by an evaluation. */
const trials: readonly WorkflowExecuteMode[] = ['manual', 'evaluation'];
/** n8n tells a node in these neither that a person tries the workflow nor that nobody does. */
const untold: readonly WorkflowExecuteMode[] = ['integrated', 'internal', 'retry'];
/** Nobody looks at what comes out in these. */
const unattended: readonly WorkflowExecuteMode[] = ['trigger', 'webhook', 'error', 'cli'];

/** Whether a person tries the workflow. */
export const isTriedOut = (context: IExecuteFunctions): boolean =>
	trials.includes(startOf(context));

const refuse = (refusal: Problem): Decision => ({ kind: 'send', refusal });

const invalid = (message: string, advice: string) =>
	validationProblem(new InvalidInput(message, advice));

/** n8n counts such a Retry as the one that worked. */
const inRetry = (option: string) =>
	invalid(
		`${option} does not work in a Retry, because n8n would offer no other one after it`,
		`Take ${option} out of the options.`,
	);

export const dryRunLeftIn = invalid(
	"'Dry Run' is on, so nothing was sent. Outside of the editor it is refused: it would send nothing, green.",
	"Take 'Dry Run' out of the options.",
);

export const fixedKey = invalid(
	"'Send Only Once' is typed on Fixed: the same for every run, so it would send once, ever.",
	'Switch it to Expression, and enter an ID of what the notification is about, such as {{ $json.guid }}.',
);

/** What a run does with all of its items, or why it sends nothing new. */
export function decide(context: IExecuteFunctions, items: readonly ItemParameters[]): Decision {
	const start = startOf(context);
	const isTrial = isTriedOut(context);
	const isUnattended = unattended.includes(start);
	const shown = items.filter(isDryRun);
	const [first] = shown;
	if (first !== undefined) {
		if (shown.length < items.length) {
			return refuse(
				invalid(
					"'Dry Run' is on for some of the items, and off for others",
					"Correct the expression in 'Dry Run'.",
				),
			);
		}
		if (isRetry(context)) return refuse(inRetry("'Dry Run'"));
		if (isUnattended && isDryRunFixed(first)) return refuse(dryRunLeftIn);
		return { kind: 'dryRun' };
	}
	if (isUnattended && items.some(isKeyFixed)) return refuse(fixedKey);
	if (!items.some(hasTestSubscriber)) return { kind: 'send' };
	if (untold.includes(start)) {
		return refuse(
			invalid(
				"'Test Subscriber ID' does not work here: n8n does not tell the node whether somebody is trying the workflow",
				"Take 'Test Subscriber ID' out of the options.",
			),
		);
	}
	if (isRetry(context) && isTrial) return refuse(inRetry("'Test Subscriber ID'"));
	return { kind: isTrial ? 'test' : 'send' };
}
