import type { IExecuteFunctions } from 'n8n-workflow';

import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import { InvalidInput, Unavailable } from '../service/thrown';
import { Keys } from './keys';
import { openLedger } from './ledger';
import type { SendMemory } from './once';
import { Rows } from './rows';

/**
 * n8n's context of the node. n8n's own Agents run a tool in an execution without data, where nothing is kept from call to
 * call (n8n 2.41.1: `ephemeral-node-executor.js`); n8n-core throws there.
 */
function contextOf(context: IExecuteFunctions): object {
	try {
		return context.getContext('node');
	} catch {
		return {};
	}
}

/** In another process: what n8n saved for this one is what the other one began with. */
export const secondRetry = validationProblem(
	new InvalidInput(
		'Another Retry of this execution has begun to send. This one sent nothing.',
		'If that one failed, retry it. If it was stopped, or n8n ended, nobody knows what it has sent: look in the dashboard of your push service.',
	),
);

/** The memory of a run. */
export interface OpenMemory extends SendMemory {
	/** @throws InvalidInput, Unavailable if Send Only Once can't be used here */
	readonly requireKeys: () => Promise<void>;
	/**
	 * Before a Retry sends: claims what the execution that it retries has left.
	 * @returns why it must not send, if it must not
	 */
	readonly takeOver: () => Promise<Problem | undefined>;
}

/** @param retryOf of a Retry: what names the execution that it retries; an agent's tool has none */
export function openMemory(context: IExecuteFunctions, retryOf: string | undefined): OpenMemory {
	const rows = new Rows(context);
	const ledger = openLedger(contextOf(context), retryOf);
	return {
		ledger,
		keys: new Keys(rows),
		warn: (message) => context.logger.warn(message),
		async requireKeys() {
			if (!context.getWorkflow().id) {
				throw new InvalidInput(
					"'Send Only Once' does not work here: this agent runs the node outside of a workflow, where n8n keeps nothing",
					"Take 'Send Only Once' out of the options, or let the agent call a workflow that sends.",
				);
			}
			if (await rows.areUsable()) return;
			throw new InvalidInput(
				"'Send Only Once' does not work with this version of n8n, which stores processed data differently",
				"Update Push Campaign, or take 'Send Only Once' out of the options: a later execution can send the same again then.",
			);
		},
		async takeOver() {
			if (retryOf === undefined) return undefined;
			// Where n8n gives no rows, what this process remembers holds alone.
			const insert = async (name: string) => !(await rows.areUsable()) || (await rows.insert(name));
			const isOurs = await ledger.takeOver(insert).catch((error: unknown) => {
				if (!(error instanceof Unavailable)) throw error;
				return validationProblem(error);
			});
			if (typeof isOurs === 'object') return isOurs;
			return isOurs ? undefined : secondRetry;
		},
	};
}
