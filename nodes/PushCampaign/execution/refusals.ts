import type { WorkflowExecuteMode } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import type { Ending } from '../operations/operation';
import { isDryRun, isDryRunFixed } from '../operations/options';
import { hasTestSubscriber } from '../operations/send';
import { unknownProblem } from '../service/problems';
import { clip } from '../service/text';
import { InvalidInput } from '../service/thrown';

// What a run does with its items, and why an item is not sent that could be.

/** A test goes to the test subscriber alone. */
export type RunKind = 'send' | 'dryRun' | 'test';

/** A person tries the workflow: in the editor, or by an evaluation. */
const trials: readonly WorkflowExecuteMode[] = ['manual', 'evaluation'];
/** n8n tells a node in these neither that a person tries the workflow nor that nobody does. */
const untold: readonly WorkflowExecuteMode[] = ['integrated', 'internal', 'retry'];
/** Nobody looks at what a dry run shows in these. */
const unattended: readonly WorkflowExecuteMode[] = ['trigger', 'webhook', 'error', 'cli'];

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
	items: readonly ItemParameters[],
	start: WorkflowExecuteMode,
	isInRetry: boolean,
): RunKind | InvalidInput {
	const isTrial = trials.includes(start);
	const shown = items.filter(isDryRun);
	const [first] = shown;
	if (first !== undefined) {
		if (shown.length < items.length) return mixed;
		if (isInRetry) return notInRetry("'Dry Run'");
		return unattended.includes(start) && isDryRunFixed(first) ? dryRunLeftIn : 'dryRun';
	}
	if (!items.some(hasTestSubscriber)) return 'send';
	if (untold.includes(start)) return testUntold;
	if (isInRetry && isTrial) return notInRetry("'Test Subscriber ID'");
	return isTrial ? 'test' : 'send';
}

/** Whether a dry run says whom the editor would send to. */
export const wouldTest = (item: ItemParameters, start: WorkflowExecuteMode): boolean =>
	trials.includes(start) && hasTestSubscriber(item);

/** An item that an error output hands on, as one that is wired back into the node does. */
export const comesBackUnknown = unknownProblem(
	'what came in is marked as unknown by another send',
	{ isSend: true },
);

/** Whether an item comes from a send whose outcome is unknown. */
export function saysUnknown({ error }: Readonly<Record<string, unknown>>): boolean {
	return (
		typeof error === 'object' && error !== null && 'outcome' in error && error.outcome === 'unknown'
	);
}

const nothingSent = (why: string, status: 'alreadySent' | 'unknown' = 'alreadySent'): Ending => ({
	status,
	description: `Nothing was sent for this item: ${why}`,
});

export const alreadySentUnderKey = nothingSent('its ID was sent earlier');

export const sentByItem = (index: number): Ending =>
	nothingSent(`the same was sent by item ${index} of this run`);

/** The ending of an item whose ID an earlier execution has told as unknown. */
export const alreadyUnknown = (id: string): Ending =>
	nothingSent(`it is unknown whether its ID '${clip(id)}' was sent earlier`, 'unknown');
