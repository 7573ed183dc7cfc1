import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

import { digest } from '../send/digest';
import { Journal } from '../send/ledger/journal';
import type { Ledger } from '../send/ledger/ledger';
import { keepForRetry, openLedger } from '../send/ledger/ledgers';
import { Rows } from '../send/rows';
import { parseUrl } from '../service/address';
import { messageOf } from '../service/invalidInput';
import { isTool } from './itemJob';

/**
 * A token that an execution has in common with its Retries alone. n8n 2 makes it with the execution's data, saves
 * it before the first node runs, and adds it to the address that resumes a wait (n8n-workflow 2.41.0:
 * `run-execution-data-factory.js`; n8n-core 2.41.1: `get-additional-keys.js`).
 * @returns `undefined` if there is none, as in n8n 1
 */
function resumeTokenOf(context: IExecuteFunctions): string | undefined {
	const address = context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
	if (typeof address !== 'string') return undefined;
	return parseUrl(address)?.searchParams.get('signature') ?? undefined;
}

/**
 * What n8n calls when an execution has ended or begins to wait, after it has saved it (n8n 2.41.1:
 * `execution-lifecycle-hooks.js`, the hooks that save come first). `onExecutionFinish` leaves out executions that
 * wait, and nothing would take their journals away. So this is n8n's own object, and may be gone in another version.
 */
const contextWithHooks = z.object({
	additionalData: z.object({
		hooks: z.object({ handlers: z.object({ workflowExecuteAfter: z.unknown() }) }),
	}),
});
const endedRun = z.object({ status: z.string() });

/**
 * Calls a handler when n8n has saved an execution.
 * @returns whether this version of n8n can
 */
function onceSaved(context: IExecuteFunctions, handler: (run?: unknown) => Promise<void>): boolean {
	const { data } = contextWithHooks.safeParse(context);
	const handlers = data?.additionalData.hooks.handlers.workflowExecuteAfter;
	if (Array.isArray(handlers)) handlers.push(handler);
	else context.onExecutionFinish?.(async () => await handler());
	return Array.isArray(handlers) || context.onExecutionFinish !== undefined;
}

/** Whether a further Retry needs the journal of an execution that has ended. */
function isNeeded(context: IExecuteFunctions, status: string | undefined): boolean {
	// n8n saves nothing of what a stopped execution did.
	if (status === 'canceled' || context.getExecutionCancelSignal()?.aborted) return true;
	// A Retry that failed is followed by another Retry of the first execution, which holds nothing of this one.
	return context.getMode() === 'retry' && status !== 'success';
}

async function createJournal(
	context: IExecuteFunctions,
	name: string,
): Promise<Journal | undefined> {
	const rows = new Rows(context);
	if (!(await rows.areUsable())) return undefined;
	const journal = new Journal(rows, name);
	const canDelete = onceSaved(context, async (run) => {
		if (isNeeded(context, endedRun.safeParse(run).data?.status)) return;
		await journal.delete().catch((error: unknown) => {
			context.logger.warn(`The journal of an execution could not be deleted: ${messageOf(error)}`);
		});
	});
	return canDelete ? journal : undefined;
}

/** The journals of executions that run, by what n8n holds for the node in them. */
const journals = new WeakMap<object, Promise<Journal | undefined>>();

/** Opens the ledger of the execution that runs. */
export function ledgerOf(context: IExecuteFunctions): Ledger {
	const token = resumeTokenOf(context);
	const id = token === undefined ? undefined : idOf(context, token);
	const ledger = openLedger(context.getContext('node'), id);
	if (context.getMode() === 'retry') keepForRetry(ledger);
	return ledger;
}

/**
 * Opens the journal of the execution that runs.
 * @returns `undefined` if no Retry can come that knows the execution: there is no token, as in n8n 1, or it runs
 * in the editor or as an agent's tool
 * @throws what n8n's database throws
 */
export async function journalOf(context: IExecuteFunctions): Promise<Journal | undefined> {
	const token = resumeTokenOf(context);
	if (token === undefined || context.getMode() === 'manual' || isTool(context.getNode())) {
		return undefined;
	}
	const held = context.getContext('node');
	const journal = journals.get(held) ?? createJournal(context, idOf(context, token));
	journals.set(held, journal);
	journal.catch(() => journals.delete(held));
	return await journal;
}

const idOf = (context: IExecuteFunctions, token: string) => digest([token, context.getNode().id]);
