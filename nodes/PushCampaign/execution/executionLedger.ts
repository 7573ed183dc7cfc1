import type { IExecuteFunctions } from 'n8n-workflow';

import { digest } from '../send/digest';
import type { Ledger } from '../send/ledger';
import { keepForRetry, openLedger } from '../send/ledgers';
import { parseUrl } from '../service/address';

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

/** Ledgers that are kept once their execution is stopped. */
const keptOnStop = new WeakSet<Ledger>();

/**
 * Opens the ledger of the execution that runs. n8n 2 saves nothing of what a stopped execution did, and its Retry
 * starts over (2.41.1: `execution.service.js`, `stop` sets the status before the hook `hookFunctionsSave` writes,
 * with `requireNotCanceled`). So this process keeps the ledger, and the Retry finds it by the token.
 */
export function ledgerOf(context: IExecuteFunctions): Ledger {
	const token = resumeTokenOf(context);
	if (token === undefined) return openLedger(context.getContext('node'));
	const ledger = openLedger(context.getContext('node'), digest([token, context.getNode().id]));
	if (context.getMode() === 'retry') keepForRetry(ledger);
	if (!keptOnStop.has(ledger)) {
		keptOnStop.add(ledger);
		const signal = context.getExecutionCancelSignal();
		signal?.addEventListener('abort', () => keepForRetry(ledger), { once: true });
	}
	return ledger;
}
