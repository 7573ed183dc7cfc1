import { randomUUID } from 'crypto';

import type { IDataObject } from 'n8n-workflow';

import { Ledger } from './ledger';
import { savedLedger } from './savedLedger';

const stateKey = 'pushCampaignLedger';

/** Ledgers by what n8n holds of them: it hands out the same object as long as an execution lasts. */
const held = new WeakMap<object, Ledger>();

/**
 * The ledgers of executions that were retried, by ID, the one used longest ago first. 'Retry' starts from the ledger as
 * it was saved when the execution ended. If another Retry has sent more since, this process's copy adds it. Bounded,
 * because a ledger never expires; other executions take no memory.
 */
const retried = new Map<string, Ledger>();
/** About 40 MB. A ledger counts as one send more. */
const mostSends = 100_000;

/** Keeps the ledger of an execution for its Retries. */
export function keepForRetry(ledger: Ledger): void {
	retried.delete(ledger.saved.id);
	retried.set(ledger.saved.id, ledger);
	let sends = 0;
	for (const each of [...retried.values()].reverse()) {
		sends += 1 + Object.keys(each.saved.sends).length;
		const mayGo = each !== ledger && each.inFlight.size === 0;
		if (sends > mostSends && mayGo) retried.delete(each.saved.id);
	}
}

/**
 * The ledger of an execution. It lives in n8n's context of the node, which n8n keeps between the tries of
 * 'Retry On Fail' and saves with the execution, where 'Retry' finds it again.
 * @param context n8n's context of the node; changed in place
 * @param newId the ID of a ledger that n8n holds nothing of
 */
export function openLedger(context: IDataObject, newId: string = randomUUID()): Ledger {
	const state: unknown = context[stateKey];
	const own = typeof state === 'object' && state !== null ? held.get(state) : undefined;
	if (own !== undefined) return own;
	const copy = savedLedger.safeParse(state).data;
	const id = copy?.id ?? newId;
	const ledger = retried.get(id) ?? new Ledger({ id, sends: {} });
	context[stateKey] = ledger.saved;
	held.set(ledger.saved, ledger);
	if (copy === undefined) return ledger;
	ledger.adopt(copy);
	keepForRetry(ledger);
	return ledger;
}
