import type { IExecuteFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { claimedEarlierProblem } from '../service/failures';
import { InvalidInput, messageOf } from '../service/invalidInput';
import type { ChangeKind } from '../service/kinds';
import { kinds } from '../service/kinds';
import type { Change, KeyStore } from './keyStore';
import { keyStoreOf } from './keyStore';
import type { SendOutcome } from './sendOutcome';
import { alreadySent, isUnknown, notRequested } from './sendOutcome';

/** Pauses after a write has failed that only makes a claim's end known, in milliseconds. */
const writePausesMs = [100, 1000];

/**
 * The idempotency keys of one run of the node: what was sent under a key is never sent under it again by
 * this node of this workflow. Two processes can't see each other's claims of the very same moment.
 */
export class IdempotencyKeys {
	private readonly store: KeyStore;
	private readonly writing = new Set<Promise<SendOutcome>>();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly kind: ChangeKind,
	) {
		this.store = keyStoreOf(context);
	}

	/**
	 * Makes a send unless one was made under its key before. Its key is claimed before the request leaves;
	 * a claim that can't be written means that nothing leaves.
	 * @param resendUnknown whether to send under a key that is claimed and not known to be sent
	 * @param attempt makes the send once; never throws
	 */
	async once(
		key: string,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
	): Promise<SendOutcome> {
		for (;;) {
			const running = this.store.underWay.get(key);
			if (running === undefined) break;
			const outcome = await running;
			if (outcome.kind === 'done') return alreadySent;
			if (isUnknown(outcome)) return notRequested(outcome);
		}
		const making = this.make(key, resendUnknown, attempt);
		const written = making.then(async ({ outcome, change }) => {
			if (change !== undefined) await this.write(change, key);
			this.store.underWay.delete(key);
			return outcome;
		});
		this.store.underWay.set(key, written);
		this.writing.add(written);
		return (await making).outcome;
	}

	/** Waits until how all sends of this run ended is written. Their keys are looked at again after that. */
	async written(): Promise<void> {
		await Promise.all(this.writing);
		void this.store.lookAgain(this.context);
	}

	/** @returns also what is to be written of the key; nothing where that stays as it was */
	private async make(
		key: string,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
	): Promise<{ readonly outcome: SendOutcome; readonly change?: Change }> {
		const known = await this.store
			.write('claim', key, this.context)
			.catch((error: unknown) => notClaimed(error, this.kind));
		if (known instanceof InvalidInput) return { outcome: { kind: 'invalid', invalid: known } };
		if (known.key && !known.mark) return { outcome: alreadySent, change: 'sent' };
		// An earlier execution claimed it, and nobody knows whether it sent under it.
		const isClaimed = known.key || known.mark;
		if (isClaimed && !resendUnknown) {
			const problem = claimedEarlierProblem(key, this.kind);
			return { outcome: notRequested({ kind: 'failed', problem }) };
		}
		const isStopped = this.context.getExecutionCancelSignal()?.aborted;
		const outcome: SendOutcome = isStopped ? { kind: 'notStarted' } : await attempt();
		if (outcome.kind === 'done') return { outcome, change: 'sent' };
		if (isClaimed) return { outcome };
		return { outcome, change: isUnknown(outcome) ? 'claim' : 'free' };
	}

	/** Where it can't be written the key stays claimed. */
	private async write(change: Change, key: string): Promise<void> {
		// Before it is written: a look at an older change would be written over it.
		this.store.watch(key, change);
		for (const pauseMs of [...writePausesMs, undefined]) {
			try {
				await this.store.write(change, key, this.context);
				return;
			} catch (error) {
				if (pauseMs !== undefined) await sleep(pauseMs);
				else {
					this.context.logger.warn(
						`The idempotency key of a send in workflow ${this.context.getWorkflow().id} stays claimed, because its outcome could not be saved: ${messageOf(error)}`,
					);
				}
			}
		}
	}
}

function notClaimed(error: unknown, kind: ChangeKind): InvalidInput {
	const { done, notDone } = kinds[kind].change;
	return new InvalidInput(
		`Idempotency Key could not be saved in n8n's database: ${messageOf(error)}`,
		`It was ${notDone}, because it could be ${done} twice otherwise. Save the workflow, check that n8n can write to its database, then run the workflow again.`,
	);
}
