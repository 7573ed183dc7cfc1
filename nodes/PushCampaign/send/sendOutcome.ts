import type { Outcome } from '../delivery/outcome';
import type { SendReceipt } from '../service/answers';

/** How a send ended; `alreadySent` under its idempotency key, by another execution or item. */
export type SendOutcome = Outcome<SendReceipt | 'alreadySent'>;

export const alreadySent = { kind: 'done', value: 'alreadySent', wasRequested: false } as const;

/** Whether nobody knows if it was sent. */
export const isUnknown = (outcome: SendOutcome) =>
	outcome.kind === 'failed' && outcome.problem.outcome === 'unknown';

/** The same outcome, returned without asking the service. */
export const notRequested = (outcome: SendOutcome): SendOutcome => ({
	...outcome,
	wasRequested: false,
});
