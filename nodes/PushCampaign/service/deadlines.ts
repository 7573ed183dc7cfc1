interface Deadline {
	readonly at: number;
	readonly expire: () => void;
}

/** A request that is answered in time leaves a timer of at most this length behind. */
const longestNapMs = 1000;

/**
 * Watches when requests have to be answered, with one timer for all of them: a timer each would cost
 * more than the rest of a request.
 */
export class Deadlines {
	private readonly pending = new Set<Deadline>();
	private isWatching = false;

	/**
	 * @param sleep waits the given milliseconds
	 * @param now milliseconds from any fixed moment
	 */
	constructor(
		private readonly sleep: (milliseconds: number) => Promise<void>,
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
		}
	}

	private async watch(): Promise<void> {
		if (this.isWatching) return;
		this.isWatching = true;
		while (this.pending.size > 0) {
			const next = Math.min(...Array.from(this.pending, ({ at }) => at)) - this.now();
			await this.sleep(Math.min(longestNapMs, Math.max(1, next)));
			for (const deadline of [...this.pending]) {
				if (deadline.at > this.now()) continue;
				this.pending.delete(deadline);
				deadline.expire();
			}
		}
		this.isWatching = false;
	}
}
