import { randomUUID } from 'crypto';

import type { IDataObject } from 'n8n-workflow';

import { Ledger } from './ledger';
import { savedLedger } from './savedLedger';

const stateKey = 'pushCampaignLedger';

/** Ledgers by what n8n holds of them: it hands out the same object as long as an execution lasts. */
const held = new WeakMap<object, Ledger>();

/**
 * The ledgers that n8n brought back, by ID, the one used longest ago first. 'Retry' hands the node the ledger
 * as the retried execution left it, also where another Retry of it has sent more since: what this process knows
 * brings it up to date. Bounded, because a ledger is never known to be of no more use; an execution that is
 * never retried takes no room.
 */
const retried = new Map<string, Ledger>();
const mostLedgers = 5000;
/** About 40 MB. */
const mostSends = 100_000;

function remember(ledger: Ledger): void {
	retried.delete(ledger.saved.id);
	retried.set(ledger.saved.id, ledger);
	let sends = 0;
	for (const [place, each] of [...retried.values()].reverse().entries()) {
		sends += Object.keys(each.saved.sends).length;
		const isTooMuch = place >= mostLedgers || sends > mostSends;
		if (isTooMuch && each !== ledger && each.underWay.size === 0) retried.delete(each.saved.id);
	}
}

/**
 * The ledger of an execution. It lives in n8n's context of the node, which n8n keeps between the tries of
 * 'Retry On Fail' and saves with the execution, where 'Retry' finds it again.
 * @param context n8n's context of the node; changed in place
 */
export function openLedger(context: IDataObject): Ledger {
	const state: unknown = context[stateKey];
	const own = typeof state === 'object' && state !== null ? held.get(state) : undefined;
	if (own !== undefined) return own;
	const copy = savedLedger.safeParse(state).data;
	const id = copy?.id ?? randomUUID();
	const ledger = retried.get(id) ?? new Ledger({ id, sends: {} });
	context[stateKey] = ledger.saved;
	held.set(ledger.saved, ledger);
	if (copy === undefined) return ledger;
	ledger.adopt(copy);
	remember(ledger);
	return ledger;
}
