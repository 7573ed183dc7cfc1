import type { IDataObject } from 'n8n-workflow';

import { failedAttempt } from '../delivery/attempts';
import type { Attempt } from '../delivery/queue';
import type { Receipt } from '../service/answers';
import type { Result } from '../service/client';
import type { Problem, UnknownOutcome } from '../service/problems';
import { unknownProblem, validationProblem } from '../service/problems';
import { messageOf, Unavailable } from '../service/thrown';
import type { ClaimEnd, Keys } from './keys';
import type { Ledger, LedgerSend } from './ledger';

/** One item's send. */
export interface Send extends LedgerSend {
	readonly unknownOutcome: UnknownOutcome;
	/** How long its request may take, in milliseconds. */
	readonly timeoutMs: number;
	/** Why it must not leave now, whatever its key says: its time, or what this execution has shown already. */
	readonly refusal: () => Problem | undefined;
	/** Makes the request. */
	readonly request: () => Promise<Result<Receipt>>;
	/** The item that it gives. */
	readonly toRow: (receipt: Receipt) => IDataObject;
}

/** How a send ended. */
export type SendOutcome =
	/** It was sent now. */
	| { readonly ended: 'sent'; readonly row: IDataObject }
	/** This execution sent it in an earlier try, and gave this item. */
	| { readonly ended: 'sentEarlier'; readonly row: IDataObject }
	/** It was sent earlier under its key. */
	| { readonly ended: 'alreadySent' }
	| { readonly ended: 'failed'; readonly problem: Problem };

type SendAttempt = Attempt<SendOutcome>;

/** What is known of what was sent: by this execution, and under keys. */
export interface SendMemory {
	readonly ledger: Ledger;
	readonly keys: Keys;
	/** Tells n8n's log what could not be saved. */
	readonly warn: (message: string) => void;
}

/** Nothing was requested, and nothing else stops. */
const end = (outcome: SendOutcome): SendAttempt => ({ outcome, then: 'end', isAccepted: false });

const failed = (problem: Problem): SendAttempt =>
	failedAttempt<SendOutcome>({ ended: 'failed', problem }, problem);

/** What the answer of a request means for the queue. */
function toAttempt(outcome: SendOutcome): SendAttempt {
	if (outcome.ended !== 'failed') return { outcome, then: 'end', isAccepted: true };
	// It is about one subscriber alone: people unsubscribe every week.
	if (outcome.problem.type === 'invalid_sid') return { outcome, then: 'end', isAccepted: true };
	return failed(outcome.problem);
}

export const claimedElsewhere = unknownProblem(
	'another execution began to send it, and its outcome is not known',
	{ isSend: true },
);

const claimEnds: Readonly<Record<Problem['outcome'], ClaimEnd>> = {
	notSent: 'free',
	unknown: 'lost',
};

/**
 * Makes one try of a send. It asks the ledger, the key and the clock, in this order.
 * @throws nothing but what is a defect of this node
 */
export async function trySend(memory: SendMemory, send: Send): Promise<SendAttempt> {
	return await tryUnlessSent(memory, send).catch((error: unknown) => {
		if (!(error instanceof Unavailable)) throw error;
		return failed(validationProblem(error));
	});
}

async function tryUnlessSent(memory: SendMemory, send: Send): Promise<SendAttempt> {
	const { position, unknownOutcome, key } = send;
	const recalled = memory.ledger.recall(position);
	if (recalled.says === 'sent') return end({ ended: 'sentEarlier', row: recalled.row });
	// Another Retry, or another call of a tool, is sending it at this moment.
	if (recalled.says === 'inFlight') return { then: 'held' };
	const isUnknown = recalled.says === 'unknown';
	if (isUnknown && !(unknownOutcome === 'resend' && recalled.isOfEarlier)) {
		return end({ ended: 'failed', problem: recalled.problem });
	}
	const refusal = send.refusal();
	if (key !== undefined) return await tryKeyed(memory, send, key, refusal);
	return refusal === undefined ? toAttempt(await leave(memory, send)) : failed(refusal);
}

async function tryKeyed(
	memory: SendMemory,
	send: Send,
	key: string,
	refusal: Problem | undefined,
): Promise<SendAttempt> {
	// A key that was sent is not judged any more.
	const state = await memory.keys.look({ ...send, key }, refusal === undefined);
	if (state.is === 'sent') return end({ ended: 'alreadySent' });
	if (state.is === 'unknown') return end({ ended: 'failed', problem: claimedElsewhere });
	if (state.is === 'held') return { then: 'held' };
	if (refusal !== undefined) return failed(refusal);
	const claim = await memory.keys.claim(key, state.lastClaim);
	if (claim === 0) return { then: 'held' };
	// Another call of a tool may have begun the same while the database was waited for.
	const { says } = memory.ledger.recall(send.position);
	if (says === 'inFlight' || send.refusal() !== undefined) {
		await memory.keys.end(key, claim, 'free');
		return { then: 'held' };
	}

	const outcome = await leave(memory, send);
	const how = outcome.ended === 'failed' ? claimEnds[outcome.problem.outcome] : 'sent';
	try {
		await memory.keys.end(key, claim, how);
	} catch (error) {
		memory.warn(`n8n could not save how a send ended (${how}): ${messageOf(error)}`);
	}
	return toAttempt(outcome);
}

async function leave({ ledger }: SendMemory, send: Send): Promise<SendOutcome> {
	ledger.begin(send);
	try {
		const result = await send.request();
		if (!result.answered) {
			ledger.keepFailed(send, result.problem);
			return { ended: 'failed', problem: result.problem };
		}
		const row = send.toRow(result.value);
		ledger.keepSent(send, row);
		return { ended: 'sent', row };
	} finally {
		ledger.end(send);
	}
}

/**
 * Notes that a send counts as sent, because its user found it in the dashboard. Its key is sent from then on.
 * @throws Unavailable
 */
export async function countAsSent(
	{ ledger, keys }: SendMemory,
	position: string,
	key: string | undefined,
	row: IDataObject,
): Promise<void> {
	if (key !== undefined) await keys.countAsSent(key);
	ledger.countAsSent(position, row);
}
