/** What the window needs of the world, so that tests can stand in for it. */
export interface WindowOptions {
	/** The most requests that are ever under way at once. */
	readonly ceiling: number;
	/** Milliseconds from any fixed moment. */
	readonly now: () => number;
	/** Waits the given milliseconds; rejects when the signal ends. */
	readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
	/** A number from 0 up to, but not including, 1. */
	readonly random: () => number;
	/** Ends when the user stops the execution. */
	readonly signal?: AbortSignal | undefined;
}

interface Waiting {
	readonly admit: (isAdmitted: boolean) => void;
}

const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** How many requests are under way. */
export class Window {
	private underWay = 0;
	private isClosed = false;
	private pausedUntil = 0;
	private refusalsInARow = 0;
	private wakeUp: AbortController | undefined;
	private readonly refusedQueue: Waiting[] = [];
	private readonly queue: Waiting[] = [];

	constructor(private readonly options: WindowOptions) {
		options.signal?.addEventListener('abort', () => this.close(), { once: true });
		if (options.signal?.aborted) this.isClosed = true;
	}

	/** Waits for a place. Gives false when the window was closed meanwhile: nothing may start. */
	async enter(): Promise<boolean> {
		return await this.wait(this.queue);
	}

	/** Gives the place back: an answer came that was not a refusal for too many requests. */
	leave(): void {
		this.underWay -= 1;
		this.refusalsInARow = 0;
		this.admitNext();
	}

	/**
	 * Gives the place back because the service refused for too many requests, slows everything down and
	 * waits for another turn, ahead of all that has not started yet.
	 * @param retryAfterMs what the service asked for, in milliseconds
	 */
	async refused(retryAfterMs?: number): Promise<boolean> {
		this.underWay -= 1;
		this.slowDown(retryAfterMs);
		return await this.wait(this.refusedQueue);
	}

	/** Lets nothing more in; what waits is sent away. What is under way goes on. */
	close(): void {
		this.isClosed = true;
		this.wakeUp?.abort();
		for (const { admit } of [...this.refusedQueue.splice(0), ...this.queue.splice(0)]) admit(false);
	}

	private slowDown(retryAfterMs: number | undefined): void {
		const grown = Math.min(longestPauseMs, firstPauseMs * 2 ** this.refusalsInARow);
		this.refusalsInARow += 1;
		const pause = retryAfterMs ?? grown * (0.5 + this.options.random() / 2);
		this.pausedUntil = Math.max(this.pausedUntil, this.options.now() + pause);
	}

	private async wait(queue: Waiting[]): Promise<boolean> {
		return await new Promise<boolean>((resolve) => {
			if (this.isClosed) {
				resolve(false);
				return;
			}
			queue.push({ admit: resolve });
			this.admitNext();
		});
	}

	private admitNext(): void {
		while (this.underWay < this.options.ceiling) {
			const pause = this.pausedUntil - this.options.now();
			if (pause > 0) {
				this.resumeIn(pause);
				return;
			}
			const next = this.refusedQueue.shift() ?? this.queue.shift();
			if (next === undefined) return;
			this.underWay += 1;
			next.admit(true);
		}
	}

	private resumeIn(milliseconds: number): void {
		if (this.wakeUp !== undefined) return;
		const wakeUp = new AbortController();
		this.wakeUp = wakeUp;
		const resume = () => {
			this.wakeUp = undefined;
			if (!this.isClosed) this.admitNext();
		};
		this.options.sleep(milliseconds, wakeUp.signal).then(resume, resume);
	}
}
