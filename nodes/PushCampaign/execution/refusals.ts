import type { WorkflowExecuteMode } from 'n8n-workflow';

import { unknownProblem } from '../service/problems';
import { InvalidInput } from '../service/thrown';

// Why an item is not sent that could be, by what its execution is.

/** Left in, the option would decide later; and the button beside it is 'Execute step'. */
export const nothingUnknown = new InvalidInput(
	"'Unknown Outcome' is set, and nothing here was left unknown",
	"Take 'Unknown Outcome' out of the options.",
);

/** n8n counts such a Retry as the one that worked. */
export const noDryRunInRetry = new InvalidInput(
	"'Dry Run' does not work in a Retry, because n8n would offer no other one after it",
	"Take 'Dry Run' out of the options.",
);

const trialUnknownIn: Partial<Record<WorkflowExecuteMode, string>> = {
	integrated: 'a sub-workflow',
	internal: "n8n's own Agents",
	retry: 'this Retry',
};

/** Why Test Subscriber ID can't be used, where n8n does not tell whether a person tries the workflow. */
export function trialUnknown(start: WorkflowExecuteMode): InvalidInput | undefined {
	const where = trialUnknownIn[start];
	if (where === undefined) return undefined;
	return new InvalidInput(
		`'Test Subscriber ID' does not work in ${where}: n8n does not tell the node there whether somebody is trying it`,
		start === 'retry'
			? "Take 'Test Subscriber ID' out of the options."
			: "Take 'Test Subscriber ID' out of the options. 'Dry Run' works there.",
	);
}

/** An item that an error output hands on, as one that is wired back into the node does. */
export const comesBackUnknown = {
	...unknownProblem('the item that came in says so', { isSend: true }),
	fix: "To send something else for it, leave out its field 'error', for example with the node Edit Fields.",
};

/** Whether an item comes from a send whose outcome is unknown. */
export function saysUnknown({ error }: Readonly<Record<string, unknown>>): boolean {
	return (
		typeof error === 'object' && error !== null && 'outcome' in error && error.outcome === 'unknown'
	);
}
