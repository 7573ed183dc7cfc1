import type { IDataObject } from 'n8n-workflow';

import { failedAttempt } from '../delivery/attempts';
import type { Attempt } from '../delivery/queue';
import type { Receipt } from '../service/answers';
import type { Result } from '../service/client';
import type { Problem, UnknownOutcome } from '../service/problems';
import { unknownProblem, validationProblem } from '../service/problems';
import { messageOf, Unavailable } from '../service/thrown';
import type { ClaimEnd, KeyedSend, Keys, KeyState } from './keys';
import type { Ledger, LedgerSend, Recalled } from './ledger';

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
	| { readonly ended: 'sentBefore'; readonly row: IDataObject }
	/** It was sent earlier under its key. */
	| { readonly ended: 'alreadySent' }
	| { readonly ended: 'failed'; readonly problem: Problem };

type SendAttempt = Attempt<SendOutcome>;

/** Nothing was requested, and nothing else stops. */
const end = (outcome: SendOutcome): SendAttempt => ({ outcome, then: 'end', isAccepted: false });

/** Nothing was requested: n8n did not give what was needed, or it is too late. */
const stop = (problem: Problem): SendAttempt =>
	failedAttempt<SendOutcome>({ ended: 'failed', problem }, problem);

/** What the answer of a request means for the queue. */
function toAttempt(outcome: SendOutcome): SendAttempt {
	if (outcome.ended !== 'failed') return { then: 'end', outcome, isAccepted: true };
	// It is about one subscriber alone: people unsubscribe every week.
	if (outcome.problem.type === 'invalid_sid') return { then: 'end', outcome, isAccepted: true };
	return failedAttempt(outcome, outcome.problem);
}

export const claimedElsewhere = unknownProblem(
	'another execution began to send it, and its outcome is not known',
	{ isSend: true },
);

const claimEnds: Readonly<Record<Problem['outcome'], ClaimEnd>> = {
	notSent: 'free',
	unknown: 'lost',
};

/** Makes each send of a run once. It asks the ledger, the key and the clock, in this order. */
export class SendsOnce {
	constructor(
		private readonly ledger: Ledger,
		private readonly keys: Keys,
		private readonly executionId: string,
		/** Tells n8n's log what could not be saved. */
		private readonly warn: (message: string) => void,
	) {}

	/** Whether this execution is the Retry of one that left something unknown. */
	get hasFoundUnknown(): boolean {
		return this.ledger.hasFoundUnknown(this.executionId);
	}

	/** Whether this execution has sent anything, or left anything unknown. */
	get hasSent(): boolean {
		return this.ledger.hasEntries;
	}

	/** Whether this execution itself has left something unknown, in an earlier run of the node. */
	get hasLeftUnknown(): boolean {
		return this.ledger.hasLeftUnknown(this.executionId);
	}

	/** How a send stands for this execution. */
	recall(position: string): Recalled {
		return this.ledger.recall(position, this.executionId);
	}

	/** Whether this execution has shown the same to the same subscribers, or may have. */
	hasShown(send: LedgerSend): boolean {
		return this.ledger.hasShown(send);
	}

	/**
	 * How a key stands. Only reads.
	 * @throws Unavailable
	 */
	async look(send: Omit<KeyedSend, 'unknownOutcome'>): Promise<KeyState> {
		return await this.keys.look({ ...send, unknownOutcome: 'report' }, false);
	}

	/**
	 * Notes that a send counts as sent, because its user found it in the dashboard. Its key is sent from then on.
	 * @throws Unavailable
	 */
	async countAsSent(position: string, key: string | undefined, row: IDataObject): Promise<void> {
		if (key !== undefined) await this.keys.countAsSent(key);
		this.ledger.countAsSent(position, row);
	}

	/**
	 * Makes one try of a send.
	 * @throws nothing but what is a defect of this node
	 */
	async try(send: Send): Promise<SendAttempt> {
		return await this.tryUnlessSent(send).catch((error: unknown) => {
			if (!(error instanceof Unavailable)) throw error;
			return stop(validationProblem(error));
		});
	}

	private async tryUnlessSent(send: Send): Promise<SendAttempt> {
		const { position, unknownOutcome, key } = send;
		const recalled = this.recall(position);
		if (recalled.says === 'sent') return end({ ended: 'sentBefore', row: recalled.row });
		// Another Retry, or another call of a tool, is sending it at this moment.
		if (recalled.says === 'inFlight') return { then: 'held' };
		const isUnknown = recalled.says === 'unknown';
		if (isUnknown && !(unknownOutcome === 'resend' && recalled.isOfEarlier)) {
			return end({ ended: 'failed', problem: recalled.problem });
		}
		const refusal = send.refusal();
		if (key !== undefined) return await this.tryKeyed(send, key, refusal);
		return refusal === undefined ? toAttempt(await this.leave(send)) : stop(refusal);
	}

	private async tryKeyed(
		send: Send,
		key: string,
		refusal: Problem | undefined,
	): Promise<SendAttempt> {
		// A key that was sent is not judged any more.
		const state = await this.keys.look({ ...send, key }, refusal === undefined);
		if (state.is === 'sent') return end({ ended: 'alreadySent' });
		if (state.is === 'unknown') return end({ ended: 'failed', problem: claimedElsewhere });
		if (state.is === 'held') return { then: 'held' };
		if (refusal !== undefined) return stop(refusal);
		const claim = await this.keys.claim(key, state.lastClaim);
		if (claim === 0) return { then: 'held' };
		// Another call of a tool may have begun the same while the database was waited for.
		const isTaken = this.recall(send.position).says === 'inFlight' || send.refusal() !== undefined;
		if (!isTaken) return toAttempt(await this.leaveUnder(key, claim, send));
		await this.keys.end(key, claim, 'free');
		return { then: 'held' };
	}

	private async leaveUnder(key: string, claim: number, send: Send): Promise<SendOutcome> {
		const outcome = await this.leave(send);
		const how = outcome.ended === 'failed' ? claimEnds[outcome.problem.outcome] : 'sent';
		try {
			await this.keys.end(key, claim, how);
		} catch (error) {
			this.warn(`n8n could not save how a send ended (${how}): ${messageOf(error)}`);
		}
		return outcome;
	}

	private async leave(send: Send): Promise<SendOutcome> {
		this.ledger.begin(send, this.executionId);
		try {
			const result = await send.request();
			if (!result.answered) {
				this.ledger.keepFailed(send, this.executionId, result.problem);
				return { ended: 'failed', problem: result.problem };
			}
			const row = send.toRow(result.value);
			this.ledger.keepSent(send, row);
			return { ended: 'sent', row };
		} finally {
			this.ledger.end(send);
		}
	}
}
