import type { IDataObject } from 'n8n-workflow';

import { failedAttempt } from '../delivery/attempts';
import type { Attempt } from '../delivery/queue';
import type { Receipt } from '../service/answers';
import type { Result } from '../service/client';
import type { Problem, UnknownOutcome } from '../service/problems';
import { unknownProblem, validationProblem } from '../service/problems';
import { messageOf, Unavailable } from '../service/thrown';
import type { ClaimEnd, Keys } from './keys';
import type { Ledger, Recalled } from './ledger';

/** One item's send. */
export interface Send {
	/** Its position in the execution, which no other send has. */
	readonly position: string;
	/** The name of its key's rows, if it has Send Only Once. */
	readonly key?: string | undefined;
	/** When running the workflow again would send it again. */
	readonly repeats: 'always' | 'ifChanged' | 'never';
	readonly unknownOutcome: UnknownOutcome;
	/** How long its request may take, in milliseconds. */
	readonly timeoutMs: number;
	/** Why it is too late for its time now. */
	readonly checkTime: () => Problem | undefined;
	/** Makes the request. */
	readonly request: () => Promise<Result<Receipt>>;
	/** The item that it gives. */
	readonly toRow: (receipt: Receipt) => IDataObject;
	/** The item that it gives if its user found it in the dashboard. */
	readonly countedRow: IDataObject;
}

/** How a send ended. */
export type SendOutcome =
	/** It was sent now. */
	| { readonly ended: 'sent'; readonly row: IDataObject }
	/** This execution sent it in an earlier try, or it counts as sent, and gave this item. */
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
	if (outcome.ended === 'failed') return failedAttempt(outcome, outcome.problem);
	return { then: 'end', outcome, isAccepted: true };
}

const claimedElsewhere = unknownProblem(
	'another execution began to send it, and its outcome is not known',
	{ isSend: true },
);

const claimEnds: Readonly<Record<Problem['outcome'], ClaimEnd>> = {
	notSent: 'free',
	unknown: 'lost',
};

interface Notes {
	/** Tells n8n's log what could not be saved. */
	readonly warn: (message: string) => void;
	/** Notes for the execution that something was sent, or may have been. */
	readonly noteSent: (repeats: Send['repeats']) => void;
}

/** Makes each send of a run once. It asks the ledger, the key and the clock, in this order. */
export class SendsOnce {
	/** Whether no earlier try of this execution has sent anything, or left anything unknown. */
	readonly isFirstTry: boolean;

	constructor(
		private readonly ledger: Ledger,
		private readonly keys: Keys,
		private readonly executionId: string,
		private readonly notes: Notes,
	) {
		this.isFirstTry = ledger.isEmpty;
	}

	/** How a send stands for this execution. */
	recall({ position, unknownOutcome }: Pick<Send, 'position' | 'unknownOutcome'>): Recalled {
		return this.ledger.recall(position, this.executionId, unknownOutcome);
	}

	/**
	 * Whether a send is nobody else's, and was not sent: then a late one is refused.
	 * @throws Unavailable
	 */
	async isFree(send: Send): Promise<boolean> {
		if (this.recall(send).says !== 'new') return false;
		if (send.key === undefined) return true;
		const state = await this.keys.look({ ...send, key: send.key }, false);
		return state.is === 'free';
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
		const recalled = this.recall(send);
		switch (recalled.says) {
			case 'sent':
				return end({ ended: 'sentBefore', row: recalled.row });
			case 'unknown':
				return end({ ended: 'failed', problem: recalled.problem });
			case 'countAsSent':
				return end(await this.countAsSent(send));
			case 'new':
				return await this.tryNew(send);
		}
	}

	private async countAsSent({ key, position, countedRow }: Send): Promise<SendOutcome> {
		if (key !== undefined) await this.keys.countAsSent(key);
		this.ledger.keepSent(position, countedRow, key !== undefined);
		return { ended: 'sentBefore', row: countedRow };
	}

	private async tryNew(send: Send): Promise<SendAttempt> {
		const late = send.checkTime();
		const { key } = send;
		if (key === undefined)
			return late === undefined ? toAttempt(await this.leave(send)) : stop(late);

		// A key that was sent is not judged by its time any more.
		const state = await this.keys.look({ ...send, key }, late === undefined);
		if (state.is === 'sent') return end({ ended: 'alreadySent' });
		if (state.is === 'unknown') return end({ ended: 'failed', problem: claimedElsewhere });
		if (state.is === 'held') return { then: 'held' };
		if (late !== undefined) return stop(late);
		const claim = await this.keys.claim(key, state.lastClaim);
		if (claim === 0) return { then: 'held' };
		return toAttempt(await this.leaveUnder(key, claim, send));
	}

	private async leaveUnder(key: string, claim: number, send: Send): Promise<SendOutcome> {
		const outcome = await this.leave(send);
		const how = outcome.ended === 'failed' ? claimEnds[outcome.problem.outcome] : 'sent';
		try {
			await this.keys.end(key, claim, how);
		} catch (error) {
			this.notes.warn(`n8n could not save how a send ended (${how}): ${messageOf(error)}`);
		}
		return outcome;
	}

	private async leave({ position, key, repeats, request, toRow }: Send): Promise<SendOutcome> {
		const hasKey = key !== undefined;
		this.ledger.begin(position, this.executionId, hasKey);
		const result = await request();
		if (result.answered) {
			const row = toRow(result.value);
			this.ledger.keepSent(position, row, hasKey);
			this.notes.noteSent(repeats);
			return { ended: 'sent', row };
		}
		if (result.problem.outcome === 'unknown') this.notes.noteSent(repeats);
		this.ledger.keepFailed(position, this.executionId, result.problem, hasKey);
		return { ended: 'failed', problem: result.problem };
	}
}
