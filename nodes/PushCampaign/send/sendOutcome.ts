import type { Attempt, Outcome } from '../delivery/outcome';
import type { SendReceipt } from '../service/answers';

/** `alreadySent` by another execution or item, or by an execution that was cut off: then its receipt is lost. */
type Sent = SendReceipt | 'alreadySent';

/** How a send ended. */
export type SendOutcome = Outcome<Sent>;

/** What one try of a send gave. */
export type SendAttempt = Attempt<Sent>;

export const alreadySent = { kind: 'done', value: 'alreadySent', wasRequested: false } as const;

/** Whether nobody knows if it was sent. */
export const isUnknown = (attempt: SendAttempt) =>
	attempt.kind === 'failed' && attempt.problem.outcome === 'unknown';

/** The same outcome, returned without asking the service. */
export const notRequested = (outcome: SendOutcome): SendOutcome => ({
	...outcome,
	wasRequested: false,
});
