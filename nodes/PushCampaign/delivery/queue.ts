/**
 * How hard a run presses on the service. Nobody knows the service's limit. So each good answer allows one more request in
 * flight (their number doubles with each round trip), and a refusal for too many requests pauses the whole run and leaves
 * one. test/unit/delivery/queue.test.ts has what that takes with many kinds of limits.
 */
export const policy = {
	firstConcurrency: 20,
	maxConcurrency: 100,
	/** The pause after a refusal, in milliseconds. Each further one in a row is twice as long. */
	firstPauseMs: 62.5,
	/** So many refusals in a row end the run. The pauses before the last one take 128 s, and outlast a limit per minute. */
	mostRefusalsInARow: 12,
	/** The longest pause that the service may ask for, in milliseconds. */
	longestRetryAfterMs: 10 * 60_000,
	/** The pauses before a job is tried again that may succeed now, in milliseconds. */
	repeatPausesMs: [250, 500],
	/** The first pause before a job is asked again that somebody else holds, in milliseconds. It doubles up to the longest. */
	firstHeldPauseMs: 100,
	longestHeldPauseMs: 2_000,
	/** After so many starts Node.js gets to write the requests out: while it prepares others, none leaves. */
	startsAtOnce: 10,
} as const;

/** What one try of a job gave, and what follows. */
export type Attempt<Outcome> =
	/**
	 * The job has ended. If the run stops at its first failure, `stop` keeps everything further from starting.
	 * `isAccepted` says whether the service dealt with a request: that ends a row of refusals.
	 */
	| { readonly then: 'end' | 'stop'; readonly outcome: Outcome; readonly isAccepted: boolean }
	/** Too many requests: the whole run pauses, and the job goes to the end of the queue. */
	| {
			readonly then: 'refused';
			/** How everything that is left ends, if the run gives up. */
			readonly outcome: Outcome;
			/** How long the service asks to wait, in milliseconds. */
			readonly retryAfterMs: number;
	  }
	/** Somebody else may be doing the same: the job is asked again after a pause, and holds up no other. */
	| { readonly then: 'held' }
	/** It may succeed now: the job is tried again, twice at most, and then ends like this. */
	| { readonly then: 'again'; readonly outcome: Outcome };

/** Makes one try. What it throws ends the run. */
export type Job<Outcome> = () => Promise<Attempt<Outcome>>;

export interface QueueOptions {
	/** Whether nothing starts any more after the first failure. */
	readonly stopOnFailure: boolean;
	/** When it ends, nothing starts any more; what is in flight is waited for. */
	readonly signal?: AbortSignal | undefined;
	/** Waits the given milliseconds, or until the signal ends. */
	readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
	/** Milliseconds from any fixed moment. */
	readonly now?: () => number;
}

interface Entry<Outcome> {
	readonly job: Job<Outcome>;
	/** Once it has ended. */
	outcome?: Outcome;
	repeats: number;
	heldPauseMs: number;
}

/** A run through one queue: a job is in the queue, in flight, resting until it is tried again, or done. */
class Run<Outcome> {
	private readonly queue: Array<Entry<Outcome>>;
	private concurrency: number = policy.firstConcurrency;
	private inFlight = 0;
	private resting = 0;
	private pausedUntil = 0;
	/** How many pauses there were. A refusal of a request that left before the last pause says nothing new. */
	private pauses = 0;
	/** How many pauses there were since anything was accepted. */
	private refusalsInARow = 0;
	/** Once it is closed, nothing starts any more; what is in flight is waited for, what rests is not. */
	private isClosed = false;
	/** The pause after a refusal may take minutes: its timer ends with the run. */
	private readonly timer = new AbortController();
	private wakeUp = () => {};
	/** How everything that is left ends, if the run gave up. */
	refusal: Outcome | undefined;
	private thrown: { readonly error: unknown } | undefined;

	constructor(
		entries: ReadonlyArray<Entry<Outcome>>,
		private readonly options: QueueOptions & Required<Pick<QueueOptions, 'now'>>,
	) {
		this.queue = [...entries];
	}

	close(): void {
		this.isClosed = true;
		this.timer.abort();
		this.wakeUp();
	}

	/**
	 * Starts what may start, until everything has ended.
	 * @throws what a job throws, once those in flight have ended
	 */
	async run(): Promise<void> {
		let starts = 0;
		const { now, sleep } = this.options;
		while (this.inFlight > 0 || (!this.isClosed && this.resting + this.queue.length > 0)) {
			const mayStart = !this.isClosed && this.inFlight < this.concurrency;
			const next = mayStart ? this.queue[0] : undefined;
			const pauseMs = this.pausedUntil - now();
			if (next === undefined) {
				await this.nextChange();
			} else if (pauseMs > 0) {
				await this.pause(pauseMs);
			} else {
				this.queue.shift();
				void this.start(next);
				starts += 1;
				if (starts % policy.startsAtOnce === 0) await sleep(0);
			}
		}
		if (this.thrown !== undefined) throw this.thrown.error;
	}

	private async start(entry: Entry<Outcome>): Promise<void> {
		const { pauses } = this;
		this.inFlight += 1;
		try {
			this.follow(entry, await entry.job(), pauses);
		} catch (error) {
			this.thrown = { error };
			this.close();
		}
		this.inFlight -= 1;
		this.wakeUp();
	}

	/** @param pauses how many pauses there were when the try began */
	private follow(entry: Entry<Outcome>, attempt: Attempt<Outcome>, pauses: number): void {
		switch (attempt.then) {
			case 'end':
			case 'stop':
				if (attempt.isAccepted) this.speedUp();
				this.end(entry, attempt.outcome, attempt.then === 'stop');
				return;
			case 'refused':
				this.queue.push(entry);
				this.slowDown(attempt.outcome, attempt.retryAfterMs, pauses === this.pauses);
				return;
			case 'held':
				void this.askAgain(entry, entry.heldPauseMs);
				entry.heldPauseMs = Math.min(policy.longestHeldPauseMs, 2 * entry.heldPauseMs);
				return;
			case 'again': {
				const pauseMs = policy.repeatPausesMs[entry.repeats];
				entry.repeats += 1;
				if (pauseMs === undefined) this.end(entry, attempt.outcome, true);
				else void this.askAgain(entry, pauseMs);
			}
		}
	}

	private end(entry: Entry<Outcome>, outcome: Outcome, isFailure: boolean): void {
		entry.outcome = outcome;
		if (isFailure && this.options.stopOnFailure) this.close();
	}

	private speedUp(): void {
		this.refusalsInARow = 0;
		this.concurrency = Math.min(policy.maxConcurrency, this.concurrency + 1);
	}

	private slowDown(outcome: Outcome, retryAfterMs: number, isNews: boolean): void {
		let pauseMs = retryAfterMs;
		if (isNews) {
			this.pauses += 1;
			this.refusalsInARow += 1;
			this.concurrency = 1;
			pauseMs = Math.max(pauseMs, policy.firstPauseMs * 2 ** (this.refusalsInARow - 1));
		}
		const isRowFull = this.refusalsInARow === policy.mostRefusalsInARow;
		if (isRowFull || retryAfterMs > policy.longestRetryAfterMs) {
			this.refusal ??= outcome;
			this.close();
			return;
		}
		this.pausedUntil = Math.max(this.pausedUntil, this.options.now() + pauseMs);
	}

	private async askAgain(entry: Entry<Outcome>, milliseconds: number): Promise<void> {
		this.resting += 1;
		await this.options.sleep(milliseconds);
		this.resting -= 1;
		this.queue.push(entry);
		this.wakeUp();
	}

	private async pause(milliseconds: number): Promise<void> {
		const { signal } = this.timer;
		await this.options.sleep(milliseconds, signal).catch((error: unknown) => {
			if (!signal.aborted) throw error;
		});
	}

	private async nextChange(): Promise<void> {
		await new Promise<void>((resolve) => {
			this.wakeUp = resolve;
		});
	}
}

/**
 * Runs all jobs, as many at once as the service takes. After twelve refusals in a row, or if the service asks for more than
 * ten minutes, nothing further is requested: all that is left was refused.
 * @returns how the jobs ended, in their order; `undefined` for one that never started, or only waited
 * @throws what a job throws
 */
export async function runQueue<Outcome>(
	jobs: ReadonlyArray<Job<Outcome>>,
	options: QueueOptions,
): Promise<Array<Outcome | undefined>> {
	const entries = jobs.map((job): Entry<Outcome> => ({
		job,
		repeats: 0,
		heldPauseMs: policy.firstHeldPauseMs,
	}));
	const run = new Run(entries, { now: () => performance.now(), ...options });
	const close = () => run.close();
	options.signal?.addEventListener('abort', close);
	if (options.signal?.aborted) close();
	try {
		await run.run();
	} finally {
		close();
		options.signal?.removeEventListener('abort', close);
	}
	return entries.map(({ outcome }) => outcome ?? run.refusal);
}
