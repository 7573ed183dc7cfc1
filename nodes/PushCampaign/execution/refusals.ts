import type { WorkflowExecuteMode } from 'n8n-workflow';

import type { Ending } from '../operations/operation';
import type { Problem } from '../service/problems';
import { unknownProblem } from '../service/problems';
import { clip } from '../service/text';
import { InvalidInput } from '../service/thrown';

// Why an item is not sent that could be: by what its execution is, or because it was sent.

/** A person tries the workflow: in the editor, or by an evaluation. */
const trials: readonly WorkflowExecuteMode[] = ['manual', 'evaluation'];
export const isTrial = (start: WorkflowExecuteMode): boolean => trials.includes(start);

/** n8n tells a node in these neither that a person tries the workflow nor that nobody does. */
const untold: readonly WorkflowExecuteMode[] = ['integrated', 'internal', 'retry'];
/** Nobody looks at what a dry run shows in these. */
const unattended: readonly WorkflowExecuteMode[] = ['trigger', 'webhook', 'error', 'cli'];

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

/** Why a dry run is refused in this execution, if it is. */
export function dryRunRefusal(
	start: WorkflowExecuteMode,
	isInRetry: boolean,
	isFixed: boolean,
): InvalidInput | undefined {
	if (isInRetry) return notInRetry("'Dry Run'");
	return unattended.includes(start) && isFixed ? dryRunLeftIn : undefined;
}

/** Why Test Subscriber ID is refused in this execution, if it is. */
export function testRefusal(
	start: WorkflowExecuteMode,
	isInRetry: boolean,
): InvalidInput | undefined {
	if (untold.includes(start)) return testUntold;
	return isInRetry && isTrial(start) ? notInRetry("'Test Subscriber ID'") : undefined;
}

/** An item that an error output hands on, as one that is wired back into the node does. */
export const comesBackUnknown: Problem = {
	...unknownProblem('what came in is marked as unknown by another send', { isSend: true }),
	fix: "To send something else for it, leave out its field 'error', for example with the node Edit Fields.",
};

/** Whether an item comes from a send whose outcome is unknown. */
export function saysUnknown({ error }: Readonly<Record<string, unknown>>): boolean {
	return (
		typeof error === 'object' && error !== null && 'outcome' in error && error.outcome === 'unknown'
	);
}

const nothingSent = (why: string): Ending => ({
	status: 'alreadySent',
	description: `Nothing was sent for this item: ${why}`,
});

export const alreadySentUnderKey = nothingSent('its ID was sent earlier');

export const sentByItem = (index: number): Ending =>
	nothingSent(`the same was sent by item ${index} of this run`);

/** The ending of an item whose ID an earlier execution has told as unknown. */
export const alreadyUnknown = (id: string): Ending => ({
	status: 'unknown',
	description: `Nothing was sent for this item: it is unknown whether its ID '${clip(id)}' was sent earlier`,
});
