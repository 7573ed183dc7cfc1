import type { IDataObject } from 'n8n-workflow';

import { failedAttempt } from '../delivery/attempts';
import type { Attempt } from '../delivery/queue';
import type { Receipt } from '../service/answers';
import type { Result } from '../service/client';
import type { Problem } from '../service/problems';
import { unknownProblem, validationProblem } from '../service/problems';
import type { InvalidInput } from '../service/thrown';
import { messageOf, Unavailable } from '../service/thrown';
import type { ClaimEnd, Keys, UnknownOutcome } from './keys';
import type { Ledger, Recalled } from './ledger';

/** One item's send. */
export interface Send {
	/** Its position in the execution, which no other send has. */
	readonly position: string;
	/** The name of its key's rows, if it has Send Only Once. */
	readonly key?: string | undefined;
	readonly unknownOutcome: UnknownOutcome;
	/** How long its request may take, in milliseconds. */
	readonly timeoutMs: number;
	/** Why it was too late for its time when it was read. It stays so, whatever the clock does. */
	readonly late?: InvalidInput | undefined;
	/** Why it is too late for its time now. */
	readonly checkTime: () => InvalidInput | undefined;
	/** Makes the request. */
	readonly request: () => Promise<Result<Receipt>>;
	/** The item that it gives. */
	readonly toRow: (receipt: Receipt) => IDataObject;
}

/** How a send ended. */
export type SendOutcome =
	/** It was sent now. */
	| { readonly ended: 'sent'; readonly row: IDataObject }
	/** This execution sent it in an earlier try, and it gave this item then. */
	| { readonly ended: 'sentBefore'; readonly row: IDataObject }
	/** It was sent earlier under its key, or counts as sent. */
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

/** Makes each send of a run once. It asks the ledger, the key and the clock, in this order. */
export class SendsOnce {
	/** @param warn tells n8n's log what could not be noted */
	constructor(
		private readonly ledger: Ledger,
		private readonly keys: Keys,
		private readonly executionId: string,
		private readonly warn: (message: string) => void,
	) {}

	/** Whether an earlier try of this execution sent an item, or may have. */
	knows(position: string): boolean {
		return this.ledger.has(position);
	}

	/** How such an item stands. */
	recall({ position, unknownOutcome }: Pick<Send, 'position' | 'unknownOutcome'>): Recalled {
		return this.ledger.recall(position, this.executionId, unknownOutcome);
	}

	/**
	 * Whether a send is nobody else's, and was not sent: then a late one is refused.
	 * @throws Unavailable
	 */
	async isFree(send: Send): Promise<boolean> {
		if (send.key === undefined) return true;
		try {
			const state = await this.keys.look({ ...send, key: send.key }, false);
			return state.is === 'free';
		} catch (error) {
			throw noDatabase(error);
		}
	}

	/** Makes one try of a send. Never throws. */
	async try(send: Send): Promise<SendAttempt> {
		const recalled = this.recall(send);
		if (recalled.says === 'sent') return end({ ended: 'sentBefore', row: recalled.row });
		if (recalled.says === 'unknown') return end({ ended: 'failed', problem: recalled.problem });

		const isCounted = recalled.says === 'countAsSent';
		const { key } = send;
		if (key !== undefined) return await this.tryUnder(key, send, isCounted);
		if (isCounted) return end({ ended: 'alreadySent' });
		const late = send.late ?? send.checkTime();
		return late === undefined ? toAttempt(await this.leave(send)) : stop(validationProblem(late));
	}

	private async tryUnder(key: string, send: Send, isCounted: boolean): Promise<SendAttempt> {
		let claim: number;
		try {
			if (isCounted) await this.keys.countAsSent(key);
			const late = send.late ?? send.checkTime();
			const state = await this.keys.look({ ...send, key }, late === undefined);
			const claimed = { ended: 'failed', problem: claimedElsewhere } as const;
			if (state.is === 'sent') return end({ ended: 'alreadySent' });
			if (state.is === 'unknown') return end(claimed);
			if (state.is === 'held') return { then: 'held' };
			if (late !== undefined) return stop(validationProblem(late));
			claim = await this.keys.claim(key, state.lastClaim);
			if (claim === 0) return { then: 'held' };
		} catch (error) {
			return stop(validationProblem(noDatabase(error)));
		}
		return toAttempt(await this.leaveUnder(key, claim, send));
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
		const { position, request, toRow } = send;
		this.ledger.begin(position, this.executionId);
		const result = await request();
		if (result.answered) {
			const row = toRow(result.value);
			this.ledger.keepSent(position, row);
			return { ended: 'sent', row };
		}
		this.ledger.keepFailed(position, this.executionId, result.problem);
		return { ended: 'failed', problem: result.problem };
	}
}

const noDatabase = (error: unknown) =>
	new Unavailable(
		`n8n's database did not answer, so 'Send Only Once' can't be kept: ${messageOf(error)}`,
		'Check that n8n can reach its database.',
	);
