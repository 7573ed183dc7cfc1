import type { IExecuteFunctions } from 'n8n-workflow';

import { InvalidInput } from '../service/thrown';
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

/** The memory of a run. */
export interface OpenMemory extends SendMemory {
	/** @throws InvalidInput, Unavailable if Send Only Once can't be used here */
	readonly requireKeys: () => Promise<void>;
}

export function openMemory(context: IExecuteFunctions): OpenMemory {
	const rows = new Rows(context);
	const executionId = String(context.getExecutionId());
	const isRetry = context.getMode() === 'retry';
	return {
		ledger: openLedger(contextOf(context), executionId, isRetry),
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
	};
}
