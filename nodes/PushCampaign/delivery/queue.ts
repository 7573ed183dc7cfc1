/**
 * How hard a run presses on the service. Nobody knows the service's limit. So the number of requests in flight grows
 * with good answers (it doubles with each round trip), and a refusal for too many requests halves it and pauses the
 * whole run.
 */
export const policy = {
	firstConcurrency: 20,
	maxConcurrency: 100,
	/** The pause after a refusal, in milliseconds. Each further one in a row is this many times as long. */
	firstPauseMs: 250,
	pauseFactor: 4,
	/** Pauses are shortened by up to this share, at random: runs that were refused together must not come back together. */
	jitter: 0.1,
	/** The pauses after so many refusals in a row take 85 s, the last one 64 s, and outlast a limit per minute. The next one ends the run. */
	mostRefusalsInARow: 5,
	/** The longest pause that the service may ask for, in milliseconds. */
	longestRetryAfterMs: 10 * 60_000,
	/** How often a job is tried again that may succeed now. */
	mostRepeats: 2,
	/** The first and the longest pause before a job is asked again that somebody else holds, in milliseconds. */
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
	/** A number from 0 up to, but not including, 1. */
	readonly random?: () => number;
}

interface Entry<Outcome> {
	readonly job: Job<Outcome>;
	/** Once it has ended. */
	outcome?: Outcome;
	repeats: number;
	holds: number;
}

const refusalPauseMs = (inARow: number) => policy.firstPauseMs * policy.pauseFactor ** (inARow - 1);

const heldPauseMs = (holds: number) =>
	Math.min(policy.longestHeldPauseMs, policy.firstHeldPauseMs * 1.5 ** (holds - 1));

/** A run through one queue: a job is in the queue, in flight, resting until it is tried again, or done. */
class Run<Outcome> {
	private readonly queue: Array<Entry<Outcome>>;
	private concurrency: number = policy.firstConcurrency;
	private inFlight = 0;
	private resting = 0;
	private pausedUntil = 0;
	/** How many pauses there were. A refusal of a request that left before the last pause says nothing new. */
	private pauses = 0;
	private refusalsInARow = 0;
	/** Whether anything was accepted since the last pause. */
	private hasAccepted = false;
	/** Once it is closed, nothing starts any more; what is in flight is waited for, what rests is not. */
	private isClosed = false;
	/** The pause after a refusal may take minutes: its timer ends with the run. */
	private readonly timer = new AbortController();
	private pausing: Promise<void> | undefined;
	private wakeUp = () => {};
	/** How everything that is left ends, if the run gave up. */
	refusal: Outcome | undefined;
	private thrown: { readonly error: unknown } | undefined;

	constructor(
		entries: ReadonlyArray<Entry<Outcome>>,
		private readonly options: QueueOptions & Required<Pick<QueueOptions, 'now' | 'random'>>,
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
				this.pausing ??= this.pause(pauseMs);
				await Promise.race([this.nextChange(), this.pausing]);
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
				entry.holds += 1;
				void this.askAgain(entry, heldPauseMs(entry.holds));
				return;
			case 'again':
				entry.repeats += 1;
				if (entry.repeats > policy.mostRepeats) this.end(entry, attempt.outcome, true);
				else void this.askAgain(entry, refusalPauseMs(entry.repeats));
		}
	}

	private end(entry: Entry<Outcome>, outcome: Outcome, isFailure: boolean): void {
		entry.outcome = outcome;
		if (isFailure && this.options.stopOnFailure) this.close();
	}

	private speedUp(): void {
		this.refusalsInARow = 0;
		this.hasAccepted = true;
		this.concurrency = Math.min(policy.maxConcurrency, this.concurrency + 1);
	}

	private slowDown(outcome: Outcome, retryAfterMs: number, isNews: boolean): void {
		const { now, random } = this.options;
		let pauseMs = 0;
		if (isNews) {
			this.pauses += 1;
			this.refusalsInARow += 1;
			// While nothing is accepted in between, one request at a time asks whether the service is back.
			this.concurrency = this.hasAccepted ? Math.ceil(this.concurrency / 2) : 1;
			this.hasAccepted = false;
			pauseMs = refusalPauseMs(this.refusalsInARow) * (1 - policy.jitter * random());
		}
		const isRowTooLong = this.refusalsInARow > policy.mostRefusalsInARow;
		if (isRowTooLong || retryAfterMs > policy.longestRetryAfterMs) {
			this.refusal ??= outcome;
			this.close();
			return;
		}
		this.pausedUntil = Math.max(this.pausedUntil, now() + Math.max(retryAfterMs, pauseMs));
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
		this.pausing = undefined;
	}

	private async nextChange(): Promise<void> {
		await new Promise<void>((resolve) => {
			this.wakeUp = resolve;
		});
	}
}

/**
 * Runs all jobs, as many at once as the service takes. When the service refuses once more after the pauses of five refusals
 * in a row, or asks for more than ten minutes, nothing further is requested: all that is left was refused.
 * @returns how the jobs ended, in their order; `undefined` for one that never started, or only waited
 * @throws what a job throws
 */
export async function runQueue<Outcome>(
	jobs: ReadonlyArray<Job<Outcome>>,
	options: QueueOptions,
): Promise<Array<Outcome | undefined>> {
	const entries = jobs.map((job): Entry<Outcome> => ({ job, repeats: 0, holds: 0 }));
	const run = new Run(entries, { now: () => performance.now(), random: Math.random, ...options });
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
