import type { KeyRows, KeyState } from './keyRows';

/** What a send under a key needs to know. */
export interface KeyedSend {
	readonly key: string;
	/** Whether no user entered its key, so that messages do not name it. */
	readonly isKeyMade?: boolean;
	/** Whether to send also if nobody knows whether it was sent before. */
	readonly resendUnknown: boolean;
	/** How long its request may take, in milliseconds. */
	readonly timeoutMs: number;
}

/** A request may still be answered so long after its time is over, in milliseconds. */
const graceMs = 5_000;

/** How long a claim of somebody else is waited for, in milliseconds, until it counts as unknown. */
export const waitMs = (timeoutMs: number) => timeoutMs + graceMs;

/** What asking for a key gave: the claim to send under, or why there is none. */
export type Asked =
	| { readonly kind: 'ours'; readonly number: number }
	| { readonly kind: 'sent' | 'held' | 'unknown' };

/**
 * How one run claims a key again under Resend Unknown, once its last claim counts as unknown. Of all who ask, one
 * makes the next claim, at once: so the others know whose it is. It waits as long as the request of the last claim
 * may take, and sends if that was there all the time.
 */
export class TakeOver {
	/** The claim to take over: the last one when this run asked first. */
	private readonly last: number;
	/** Whether that was known to be unknown then. If it becomes so later, another asker's send did. */
	private readonly wasAbandoned: boolean;
	/** Whether this run has made the next claim. */
	private hasNext = false;
	/** How the last claim was found, and until when it may stay so, by `performance.now()`. */
	private found: { readonly as: string; readonly until: number } | undefined;

	constructor(
		private readonly rows: KeyRows,
		private readonly timeoutMs: number,
		private readonly mark: string,
		{ claims, isAbandoned: isLeft }: KeyState,
	) {
		this.last = claims;
		this.wasAbandoned = isLeft;
	}

	/**
	 * Asks once; again after a pause if the key is held.
	 * @throws what n8n's database throws
	 */
	async ask(state: KeyState): Promise<Asked> {
		if (!this.hasNext) {
			// Somebody else made the next claim. What becomes unknown there stays so in this run.
			if (state.claims !== this.last) {
				return { kind: state.isAbandoned || this.isTooLong('other', 2) ? 'unknown' : 'held' };
			}
			this.hasNext = await this.rows.insert(this.last + 1);
			if (!this.hasNext) return { kind: 'held' };
		}
		if (await this.rows.isAbandoned(this.last)) {
			return this.wasAbandoned || this.last === 1 ? await this.start() : { kind: 'unknown' };
		}
		const last = this.last === 1 ? await this.judgeFirst() : await this.judgeLater();
		return last === 'over' ? await this.start() : { kind: last };
	}

	/** Lets others take over at once what this run does not send. */
	async giveUp(): Promise<void> {
		if (this.hasNext) await this.rows.markAbandoned(this.last + 1);
		this.hasNext = false;
	}

	/** Whether claim 1 had its time, and can't be freed any more. */
	private async judgeFirst(): Promise<'over' | 'held' | 'unknown'> {
		const watched = await this.rows.markFirstClaim(this.mark);
		// It was freed.
		if (watched === 'ours') return 'over';
		// The whole time again, if it is another claim than the one that was watched.
		if (watched === 'new') this.found = undefined;
		if (!this.isTooLong('claimed')) return 'held';
		// It is being freed at this moment; or a process has ended while it freed it.
		if (!(await this.rows.decide(1))) return 'unknown';
		if ((await this.rows.markFirstClaim(this.mark)) === 'same') return 'over';
		// It was freed, and claimed again, just before that.
		await this.rows.undecide(1);
		this.found = undefined;
		return 'held';
	}

	/** Whether a later claim had its time, and its maker does not send any more. */
	private async judgeLater(): Promise<'over' | 'held'> {
		if (await this.rows.isDecided(this.last)) return this.isTooLong('sending') ? 'over' : 'held';
		// Its maker only waits: once that is decided, it must not send.
		const isOver = this.isTooLong('waiting') && (await this.rows.decide(this.last));
		return isOver ? 'over' : 'held';
	}

	/** Whether something has been found the same as long as this many requests may take. */
	private isTooLong(as: string, requests = 1): boolean {
		const now = performance.now();
		if (this.found?.as !== as) {
			this.found = { as, until: now + requests * waitMs(this.timeoutMs) };
		}
		return now >= this.found.until;
	}

	private async start(): Promise<Asked> {
		// Whoever had the last claim may have been slow, and not dead.
		if ((await this.rows.read()).isSent) return { kind: 'sent' };
		// Somebody else may have taken it from this run if it was slow.
		this.hasNext = await this.rows.decide(this.last + 1);
		if (!this.hasNext) return { kind: 'unknown' };
		this.hasNext = false;
		return { kind: 'ours', number: this.last + 1 };
	}
}
