import { sleep } from 'n8n-workflow';

import { claimedEarlierProblem } from '../service/failures';
import { InvalidInput, messageOf } from '../service/invalidInput';
import type { ChangeKind } from '../service/kinds';
import { kinds } from '../service/kinds';
import type { Known, KeysContext } from './keyStore';
import { keyStoreOf } from './keyStore';
import type { SendOutcome } from './outcome';
import { alreadySent, isUnknown, mayBeSent, notRequested } from './outcome';

/** Pauses before a write is tried again that only makes a claim's end known, in milliseconds. */
const writePausesMs = [100, 1000];

/**
 * The idempotency keys of one run of the node: what was sent under a key is never sent under it again by
 * this node of this workflow. Two processes can't see each other's claims of the very same moment.
 */
export class IdempotencyKeys {
	private readonly writing = new Set<Promise<SendOutcome>>();

	/** @param signal ends when the user stops the execution */
	constructor(
		private readonly context: KeysContext,
		private readonly kind: ChangeKind,
		private readonly signal?: AbortSignal,
	) {}

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
			const running = keyStoreOf(this.context).underWay.get(key);
			if (running === undefined) return await this.make(key, resendUnknown, attempt);
			const outcome = await running;
			if (outcome.kind === 'done') return alreadySent;
			if (mayBeSent(outcome)) return notRequested(outcome);
		}
	}

	/** Waits until how all sends of this run ended is written. Their keys are looked at again after that. */
	async written(): Promise<void> {
		await Promise.all(this.writing);
		if (this.writing.size > 0) void keyStoreOf(this.context).lookAgain(this.context);
	}

	private async make(
		key: string,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
	): Promise<SendOutcome> {
		const store = keyStoreOf(this.context);
		const claim = store.write('claim', key, this.context);
		const sending = claim.then(
			async (known) => await this.sendUnder(key, known, resendUnknown, attempt),
			(error: unknown): SendOutcome => ({ kind: 'invalid', invalid: notClaimed(error, this.kind) }),
		);
		const written = sending.then(async (outcome) => {
			const known = await claim.catch(() => undefined);
			if (known !== undefined) await this.note(key, known, outcome);
			store.underWay.delete(key);
			return outcome;
		});
		store.underWay.set(key, written);
		this.writing.add(written);
		return await sending;
	}

	private async sendUnder(
		key: string,
		known: Known,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
	): Promise<SendOutcome> {
		if (known.key && !known.mark) return alreadySent;
		if (isClaimed(known) && !resendUnknown) {
			return notRequested({ kind: 'failed', problem: claimedEarlierProblem(key, this.kind) });
		}
		return this.signal?.aborted ? { kind: 'notStarted' } : await attempt();
	}

	/**
	 * Writes how a send under a key ended. Where that can't be written the key stays claimed, and so does what
	 * an earlier execution may have sent, whatever became of this try.
	 */
	private async note(key: string, known: Known, outcome: SendOutcome): Promise<void> {
		const store = keyStoreOf(this.context);
		const isSent = outcome.kind === 'done';
		if (!isSent && isClaimed(known)) return;
		if (isUnknown(outcome)) {
			store.watch(key, false);
			return;
		}
		for (const pauseMs of [...writePausesMs, undefined]) {
			try {
				await store.write(isSent ? 'sent' : 'free', key, this.context);
				if (isSent) store.watch(key, true);
				return;
			} catch (error) {
				if (pauseMs !== undefined) {
					await sleep(pauseMs);
					continue;
				}
				this.context.logger.warn(
					`The idempotency key of a send stays claimed, because its outcome could not be saved: ${messageOf(error)}`,
				);
			}
		}
	}
}

/** Whether an earlier execution claimed a key, and nobody knows whether it sent under it. */
const isClaimed = ({ key, mark }: Known) => mark || key;

function notClaimed(error: unknown, kind: ChangeKind): InvalidInput {
	const { done, notDone } = kinds[kind].change;
	return new InvalidInput(
		`Idempotency Key could not be saved in n8n's database: ${messageOf(error)}`,
		`It was ${notDone}, because it could be ${done} twice otherwise. Save the workflow, check that n8n can write to its database, then run the workflow again.`,
	);
}
