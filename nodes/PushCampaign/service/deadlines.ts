interface Deadline {
	readonly at: number;
	readonly giveUp: () => void;
}

/** How an action ended: with its value, or with what it threw (`undefined` where it hangs on). */
export type Ending<Value> =
	| { readonly kind: 'settled'; readonly value: Value }
	/** `isLate`: it was given up before. */
	| { readonly kind: 'failed'; readonly error: unknown; readonly isLate: boolean };

/** Time for an action that is given up to say how far it had come. */
const lastWordsMs = 1;

/** Where n8n can't end a sleep before its time, an answered request leaves one of this length behind. */
const longestNapMs = 1000;

export interface DeadlinesOptions {
	/** Waits the given milliseconds; rejects when the signal ends. */
	readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
	/** Milliseconds from any fixed moment, by a clock that nobody sets. */
	readonly clock: () => number;
	/** Gives up all requests under way when it ends. */
	readonly signal?: AbortSignal | undefined;
}

/**
 * Ends requests that take too long, with one timer and one listener for all of them. A timer and a
 * combined signal each (`AbortSignal.timeout`, `AbortSignal.any`) cost ten times as much, and on Node.js
 * 20 leave an entry in the execution's signal for every request.
 */
export class Deadlines {
	private readonly pending = new Set<Deadline>();
	private nap: { readonly until: number; readonly controller: AbortController } | undefined;
	private isWatching = false;

	private readonly giveUpAll = () => [...this.pending].forEach(({ giveUp }) => giveUp());

	constructor(private readonly options: DeadlinesOptions) {}

	/**
	 * Runs an action until it ends, takes longer than `timeoutMs`, or the signal of all ends. The action's
	 * own signal ends in the last two cases, and in no other. Never throws.
	 */
	async run<Value>(
		action: (signal: AbortSignal) => Promise<Value>,
		timeoutMs: number,
	): Promise<Ending<Value>> {
		const { clock, sleep, signal } = this.options;
		const controller = new AbortController();
		let endLate = () => {};
		const late = new Promise<Ending<Value>>((resolve) => {
			endLate = () => resolve({ kind: 'failed', error: undefined, isLate: true });
		});
		const deadline: Deadline = {
			at: clock() + timeoutMs,
			giveUp: () => {
				this.pending.delete(deadline);
				controller.abort();
				void sleep(lastWordsMs, new AbortController().signal).then(endLate, endLate);
			},
		};
		if (this.pending.size === 0) signal?.addEventListener('abort', this.giveUpAll);
		this.pending.add(deadline);
		void this.watch(deadline.at);
		try {
			const settled = async (): Promise<Ending<Value>> => ({
				kind: 'settled',
				value: await action(controller.signal),
			});
			return await Promise.race([settled(), late]);
		} catch (error) {
			return { kind: 'failed', error, isLate: controller.signal.aborted };
		} finally {
			this.pending.delete(deadline);
			if (this.pending.size === 0) {
				signal?.removeEventListener('abort', this.giveUpAll);
				this.nap?.controller.abort();
			}
		}
	}

	/** @param at a deadline that came just now */
	private async watch(at: number): Promise<void> {
		if (this.nap !== undefined && at < this.nap.until) this.nap.controller.abort();
		if (this.isWatching) return;
		this.isWatching = true;
		const { clock, sleep } = this.options;
		while (this.pending.size > 0) {
			const next = Math.min(...Array.from(this.pending, (deadline) => deadline.at)) - clock();
			const length = Math.min(longestNapMs, Math.max(1, next));
			const controller = new AbortController();
			this.nap = { until: clock() + length, controller };
			await sleep(length, controller.signal).catch(() => undefined);
			for (const deadline of [...this.pending]) {
				if (deadline.at <= clock()) deadline.giveUp();
			}
		}
		this.nap = undefined;
		this.isWatching = false;
	}
}
