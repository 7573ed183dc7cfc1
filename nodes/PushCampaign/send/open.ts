import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { InvalidInput } from '../service/thrown';
import { Keys } from './keys';
import { openLedger } from './ledger';
import type { Send } from './once';
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

/** Under it, n8n's context of an execution holds which of its nodes have sent what a new run would send again. */
const sentKey = 'pushCampaignSent';
const savedNote = z.record(z.string(), z.enum(['always', 'ifChanged'])).catch({});

/** Whether anything was sent before this run of the node that running the workflow again would send again. */
export interface SentBefore {
	/** By this node, without a key: in an earlier round of a loop, or in an earlier try. */
	readonly byThisNode: boolean;
	/** By other nodes: without a key, or under one that is made of a text, which may change. */
	readonly byOthers: boolean;
}

/** What this execution has sent before this run of the node. */
export function sentBeforeIn(context: IExecuteFunctions): SentBefore {
	const { name } = context.getNode();
	const noted = savedNote.parse(Reflect.get(contextOf(context, 'flow'), sentKey));
	return {
		byThisNode: noted[name] === 'always',
		byOthers: Object.keys(noted).some((each) => each !== name),
	};
}

function noteSent(context: IExecuteFunctions, repeats: Send['repeats']): void {
	if (repeats === 'never') return;
	const { name } = context.getNode();
	const execution = contextOf(context, 'flow');
	const noted = savedNote.parse(Reflect.get(execution, sentKey));
	const worst = noted[name] === 'always' ? 'always' : repeats;
	Reflect.set(execution, sentKey, { ...noted, [name]: worst });
}

/** What makes each send of a run once, and a function that throws if Send Only Once can't be used here. */
export function openSends(context: IExecuteFunctions) {
	const rows = new Rows(context);
	const ledger = openLedger(contextOf(context, 'node'));
	const once = new SendsOnce(ledger, new Keys(rows), String(context.getExecutionId()), {
		warn: (message) => context.logger.warn(message),
		noteSent: (repeats) => noteSent(context, repeats),
	});

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
	return { once, requireKeys };
}
