interface Deadline {
	readonly at: number;
	readonly expire: () => void;
}

/** Where n8n can't end a sleep before its time, an answered request leaves one of this length behind. */
const longestNapMs = 1000;

/**
 * Watches when requests have to be answered, with one timer for all of them: a timer each would cost
 * more than the rest of a request.
 */
export class Deadlines {
	private readonly pending = new Set<Deadline>();
	private nap: AbortController | undefined;

	/**
	 * @param sleep waits the given milliseconds; rejects when the signal ends
	 * @param now milliseconds from any fixed moment
	 */
	constructor(
		private readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>,
		private readonly now: () => number,
	) {}

	/** Gives what the promise gives, or `undefined` when it takes longer than `timeoutMs`. */
	async race<Value>(promise: Promise<Value>, timeoutMs: number): Promise<Value | undefined> {
		let expire = () => {};
		const expired = new Promise<undefined>((resolve) => {
			expire = () => resolve(undefined);
		});
		const deadline = { at: this.now() + timeoutMs, expire };
		this.pending.add(deadline);
		void this.watch();
		try {
			return await Promise.race([promise, expired]);
		} finally {
			this.pending.delete(deadline);
			if (this.pending.size === 0) this.nap?.abort();
		}
	}

	private async watch(): Promise<void> {
		if (this.nap !== undefined) return;
		while (this.pending.size > 0) {
			const next = Math.min(...Array.from(this.pending, ({ at }) => at)) - this.now();
			this.nap = new AbortController();
			await this.sleep(Math.min(longestNapMs, Math.max(1, next)), this.nap.signal).catch(
				() => undefined,
			);
			for (const deadline of [...this.pending]) {
				if (deadline.at > this.now()) continue;
				this.pending.delete(deadline);
				deadline.expire();
			}
		}
		this.nap = undefined;
	}
}
