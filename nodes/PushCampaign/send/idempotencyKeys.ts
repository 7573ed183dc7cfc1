import type { IExecuteFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { isRateLimit } from '../delivery/retry';
import { claimedEarlierProblem, explain } from '../service/failures';
import { messageOf } from '../service/invalidInput';
import type { ChangeKind } from '../service/kinds';
import type { Claim, OwnClaim } from './keyClaims';
import type { KeyStore } from './keyStore';
import { keyStoreOf } from './keyStore';
import type { SendOutcome } from './sendOutcome';
import { alreadySent, isUnknown, notRequested } from './sendOutcome';

/** Pauses after an outcome could not be written, in milliseconds. */
const writePausesMs = [100, 1000];

/** How many keys a run claims ahead of their sends at most. A crash leaves these unknown, though they never left. */
const mostReserved = 100;
/** So many keys are claimed ahead if sends have to wait for their claims: the more at once, the faster they go. */
const reservedFor = (waiting: number) => waiting * Math.max(2, waiting / 4);

const notStarted: SendOutcome = { kind: 'notStarted' };

/** How a send ended, and what asking for its key gave. */
interface Ended {
	readonly outcome: SendOutcome;
	readonly claim?: Claim;
	/** What the attempt threw. */
	readonly thrown?: { readonly error: unknown };
}

/**
 * The idempotency keys of one run of the node: what was sent under a key is never sent under it again by
 * this node of this workflow.
 */
export class IdempotencyKeys {
	/** Keys whose claim has not begun, in the order of their items. */
	private readonly expected = new Set<string>();
	/** Keys that are claimed ahead of their sends, or about to be. */
	private readonly reserved = new Set<string>();
	/** How many keys are claimed ahead: as few as keep sends from waiting for their claims. */
	private aheadCount = 0;
	/** How many sends wait for their claims. */
	private waiting = 0;
	private readonly settling = new Set<Promise<unknown>>();
	private readonly stopped: Promise<undefined>;

	/** @param storeFor gives the keys of the node; another process has its own */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly kind: ChangeKind,
		private readonly storeFor = keyStoreOf,
	) {
		const signal = context.getExecutionCancelSignal();
		this.stopped = new Promise((resolve) => {
			signal?.addEventListener('abort', () => resolve(undefined));
			if (signal?.aborted) resolve(undefined);
		});
	}

	/** Notes that the run is going to send under a key, after those that were noted before. */
	expect(key: string): void {
		this.expected.add(key);
	}

	/**
	 * Makes a send unless one was made under its key before. The key is claimed before the request leaves; if the
	 * claim can't be written, nothing leaves.
	 * @param resendUnknown whether to send under a key that is claimed and not known to be sent
	 * @param attempt makes the send once
	 * @throws what the attempt throws; its key stays claimed
	 */
	async once(
		key: string,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
	): Promise<SendOutcome> {
		const store = this.storeFor(this.context);
		for (;;) {
			const running = store.sending.get(key);
			if (running === undefined) break;
			const outcome = (await Promise.race([running, this.stopped])) ?? notStarted;
			if (outcome.kind === 'done') return alreadySent;
			if (isUnknown(outcome)) return notRequested(outcome);
			if (this.isStopped) return notStarted;
		}
		const ending = this.send(key, resendUnknown, attempt, store);
		const settling = this.settle(key, ending, store);
		store.sending.set(key, settling);
		this.settling.add(settling);
		const { outcome, thrown } = await ending;
		if (thrown !== undefined) throw thrown.error;
		return outcome;
	}

	/** Waits until the outcomes of all sends are written, and frees the keys that were claimed ahead and not used. */
	async written(): Promise<void> {
		await Promise.all(this.settling);
		const store = this.storeFor(this.context);
		this.expected.clear();
		await Promise.all([...this.reserved].map((key) => store.release(key, this.context)));
		this.reserved.clear();
	}

	private get isStopped(): boolean {
		return this.context.getExecutionCancelSignal()?.aborted ?? false;
	}

	/** Called when a send has to wait for its claim. */
	private claimMoreAhead(): void {
		const wanted = Math.max(this.aheadCount + 1, reservedFor(this.waiting + 1));
		this.aheadCount = Math.min(mostReserved, wanted);
	}

	/** Begins to claim keys ahead, so that the pause of a claim is paid once for many. */
	private reserveAhead(store: KeyStore): void {
		for (const key of this.expected) {
			if (this.reserved.size >= this.aheadCount || this.isStopped) return;
			this.reserve(key, store);
		}
	}

	private reserve(key: string, store: KeyStore): void {
		this.expected.delete(key);
		if (this.reserved.has(key)) return;
		this.reserved.add(key);
		store.reserve(key, this.context);
	}

	private async send(
		key: string,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
		store: KeyStore,
	): Promise<Ended> {
		if (this.isStopped) return { outcome: notStarted };
		if (!store.isClaimed(key)) this.claimMoreAhead();
		this.reserve(key, store);
		this.reserveAhead(store);
		const claiming = store.claim(key, resendUnknown, this.context);
		let claim;
		this.waiting += 1;
		try {
			claim = await Promise.race([claiming, this.stopped]);
		} catch (error) {
			this.reserved.delete(key);
			return { outcome: this.notClaimed(error) };
		} finally {
			this.waiting -= 1;
		}
		// A claim that comes too late is freed at the end of the run.
		if (claim === undefined || this.isStopped) return { outcome: notStarted };
		this.reserved.delete(key);
		this.reserveAhead(store);
		if (claim.kind === 'sent') return { outcome: alreadySent, claim };
		if (claim.kind === 'held') return { outcome: this.unknown(key), claim };
		store.start(key, claim, this.context);
		try {
			return { outcome: await attempt(), claim };
		} catch (error) {
			return { outcome: this.unknown(key), claim, thrown: { error } };
		}
	}

	/**
	 * Writes how a send ended, and lets the next one under its key start. If that can't be written, the key stays
	 * claimed. Never throws.
	 */
	private async settle(key: string, ending: Promise<Ended>, store: KeyStore): Promise<SendOutcome> {
		const { outcome, claim } = await ending;
		if (claim?.kind === 'ours') await this.write(key, claim, outcome, store);
		store.sending.delete(key);
		if (claim !== undefined && claim.kind !== 'ours') await store.release(key, this.context);
		return outcome;
	}

	private async write(
		key: string,
		claim: OwnClaim,
		outcome: SendOutcome,
		store: KeyStore,
	): Promise<void> {
		// It goes to the end of the queue, and is sent under this claim then.
		const isRefusedForNow = outcome.kind === 'failed' && isRateLimit(outcome.problem);
		if (isRefusedForNow && this.reserved.size < mostReserved) {
			this.reserved.add(key);
			store.keep(key, claim, this.context);
			return;
		}
		const change = outcome.kind === 'done' ? 'sent' : isUnknown(outcome) ? 'unknown' : 'free';
		for (const pauseMs of [...writePausesMs, undefined]) {
			try {
				await store.settle(key, claim, change, this.context);
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

	/** Somebody else claimed the key, and nobody knows whether it was sent. */
	private unknown(key: string): SendOutcome {
		const problem = claimedEarlierProblem(key, this.kind);
		return notRequested({ kind: 'failed', problem });
	}

	/** The claim could not be written: nothing left. */
	private notClaimed(error: unknown): SendOutcome {
		const reason = {
			type: 'network',
			outcome: 'notDone',
			cause: 'temporarily-unavailable',
			message: `Idempotency Key could not be saved in n8n's database: ${messageOf(error)}`,
			advice:
				'Without its key it could be sent twice. Check that n8n can write to its database, then run the workflow again.',
		} as const;
		return { kind: 'failed', problem: explain(reason, this.kind) };
	}
}
