import type { IExecuteFunctions } from 'n8n-workflow';

import { InvalidInput } from '../service/thrown';
import { Keys } from './keys';
import { openLedger } from './ledger';
import { SendsOnce } from './once';
import { Rows } from './rows';

/**
 * n8n's context of the node, or of the whole execution. n8n's own Agents run a tool in an execution without data, where
 * nothing is kept from call to call (n8n 2.41.1: `ephemeral-node-executor.js`); n8n-core throws there.
 */
function contextOf(context: IExecuteFunctions, type: 'node' | 'flow'): object {
	try {
		return context.getContext(type);
	} catch {
		return {};
	}
}

/** What Push Campaign nodes of this execution have sent, or may have. Running the workflow again would send it again. */
export type SentInExecution = 'nothing' | 'withKeys' | 'withoutKeys';

const sentKey = 'pushCampaignSent';

function sentIn(execution: object): SentInExecution {
	const sent: unknown = Reflect.get(execution, sentKey);
	return sent === 'withKeys' || sent === 'withoutKeys' ? sent : 'nothing';
}

/**
 * What makes each send of a run once, a function that throws if Send Only Once can't be used here, and what was sent before
 * this run of the node.
 */
export function openSends(context: IExecuteFunctions) {
	const rows = new Rows(context);
	const warn = (message: string) => context.logger.warn(message);
	const executionId = String(context.getExecutionId());
	const execution = contextOf(context, 'flow');
	const sentBefore = sentIn(execution);
	const noteSent = (hasKey: boolean) => {
		const areKeyed = hasKey && sentIn(execution) !== 'withoutKeys';
		Reflect.set(execution, sentKey, areKeyed ? 'withKeys' : 'withoutKeys');
	};
	const ledger = openLedger(contextOf(context, 'node'));
	const once = new SendsOnce(ledger, new Keys(rows), executionId, { warn, noteSent });

	async function requireKeys(): Promise<void> {
		if (!context.getWorkflow().id) {
			throw new InvalidInput(
				"'Send Only Once' does not work here: this agent runs the node outside of a workflow, where n8n keeps nothing",
				"Take 'Send Only Once' out of the options, or let the agent call a workflow that sends.",
				true,
			);
		}
		if (await rows.areUsable()) return;
		throw new InvalidInput(
			"'Send Only Once' does not work with this version of n8n, which stores processed data differently",
			"Update Push Campaign, or take 'Send Only Once' out of the options: a later execution can send the same again then.",
			true,
		);
	}
	return { once, requireKeys, sentBefore };
}
