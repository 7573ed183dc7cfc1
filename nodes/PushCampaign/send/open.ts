import type { IExecuteFunctions } from 'n8n-workflow';

import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import { InvalidInput, Unavailable } from '../service/thrown';
import { Keys } from './keys';
import { openLedger } from './ledger';
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

/** n8n's database did not answer. @throws anything else */
export function toUnavailable(error: unknown): Problem {
	if (!(error instanceof Unavailable)) throw error;
	return validationProblem(error);
}

/**
 * What n8n saved for this Retry is what somebody else began with: another Retry, or one that was stopped or crashed. So
 * nobody knows what of it was sent.
 */
export const begunBefore: Problem = {
	...validationProblem(
		new InvalidInput(
			'An earlier run of this execution has begun to send. This one sent nothing.',
			'If that one failed, retry it. If it was stopped, or n8n ended, nobody knows what it has sent: look in the dashboard of your push service.',
		),
	),
	outcome: 'unknown',
};

/**
 * What is known of what was sent: by this execution, and under keys.
 * @param execution names the node and its first execution
 * @param isRemembered a dry run and a test are no sends: nothing remembers them
 */
export function openMemory(context: IExecuteFunctions, execution: string, isRemembered: boolean) {
	const rows = new Rows(context);
	const ledger = openLedger(isRemembered ? contextOf(context) : {}, execution);
	// Where n8n gives no rows, nothing is claimed.
	const insert = async (name: string) => !(await rows.areUsable()) || (await rows.insert(name));
	const isMissing = async (name: string) => !(await rows.isThere(name));
	return {
		ledger,
		keys: new Keys(rows),
		/** Tells n8n's log what could not be saved. */
		warn: (message: string) => context.logger.warn(message),
		/** @throws InvalidInput, Unavailable if Send Only Once can't be used here */
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
		/**
		 * Claims what this execution has left to send. A first one goes on whatever the answer, as behind a pause that n8n has
		 * saved. Where all items have IDs nothing is claimed: keys know what was sent under them, also after a crash. A Retry
		 * looks all the same: its execution may have sent before the IDs were added.
		 * @returns why nothing may leave
		 */
		async claim(isRetry: boolean, hasIds: boolean): Promise<Problem | undefined> {
			if (hasIds && !isRetry) return undefined;
			try {
				const maySend = await ledger.claim(isRetry, hasIds ? isMissing : insert);
				return maySend ? undefined : begunBefore;
			} catch (error) {
				const problem = toUnavailable(error);
				return isRetry ? problem : undefined;
			}
		},
	};
}

export type SendMemory = ReturnType<typeof openMemory>;
