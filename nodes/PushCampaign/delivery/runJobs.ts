import type { Problem } from '../service/failures';
import { notRequestedProblem } from '../service/failures';
import type { Job, RequestJob, RunOptions } from './job';
import type { Held, Outcome } from './outcome';
import { Pace } from './pace';
import {
	afterRefusal,
	heldPauseMs,
	isRateLimit,
	isTransient,
	refusalPauseMs,
	retryPauseMs,
	shouldRetry,
} from './retry';

/**
 * After this many starts Node.js gets to write the requests out: while it prepares others, none leaves. Measured
 * in n8n, 500 sends at 50 ms take 425 ms with 5, 443 with 10, 503 with 25 and 671 with all at once; at 5 ms it
 * is 225, 203, 170 and 333.
 */
const startsAtOnce = 10;

/** A job in the queue or in flight. */
interface Entry<Value> {
	readonly job: RequestJob<Value>;
	/** How often the service refused it for too many requests. */
	refusals: number;
	/** How often it failed otherwise. */
	failures: number;
	/** How often somebody else held it. */
	holds: number;
	/** How it ended, or failed last. */
	outcome?: Outcome<Value>;
}

/**
 * A run through one queue of jobs. A job is in the queue, in flight, paused or done; one that is refused, or
 * that somebody else holds, goes back to the end of the queue.
 */
class Run<Value> {
	private readonly pace: Pace;
	private inFlight = 0;
	/** How many jobs pause because somebody else holds them. */
	private held = 0;
	private readonly closing = new AbortController();
	/** Once it ends, nothing starts any more; what is in flight goes on. */
	private readonly closed: AbortSignal;
	/** The refusal that made the run give up. */
	private refusal: Problem | undefined;
	private readonly thrown: unknown[] = [];
	private wakeUp = () => {};

	constructor(
		private readonly queue: Array<Entry<Value>>,
		private readonly options: RunOptions,
	) {
		const { maxConcurrency, now, signal } = options;
		this.pace = new Pace(maxConcurrency, now());
		this.closed = AbortSignal.any([this.closing.signal, ...(signal === undefined ? [] : [signal])]);
	}

	/** Lets nothing start any more. */
	close(): void {
		this.closing.abort();
	}

	/**
	 * @returns why the run gave up, if it did
	 * @throws what an attempt threw, once nothing is in flight any more
	 */
	async end(): Promise<Problem | undefined> {
		const { now, sleep } = this.options;
		let starts = 0;
		while (this.inFlight + this.held > 0 || (this.queue.length > 0 && !this.closed.aborted)) {
			const canStart = !this.closed.aborted && this.pace.canStart(this.inFlight);
			const next = canStart ? this.queue[0] : undefined;
			if (next === undefined) {
				await this.nextAnswer();
				continue;
			}
			const waitMs = this.pace.waitMs(now());
			if (waitMs > 0) {
				await this.pauseUntilAnswer(waitMs);
				continue;
			}
			this.queue.shift();
			void this.start(next);
			starts += 1;
			if (starts % startsAtOnce === 0) await sleep(0);
		}
		if (this.thrown.length > 0) throw this.thrown[0];
		return this.refusal;
	}

	private async start(entry: Entry<Value>): Promise<void> {
		const { now, stopOnFailure } = this.options;
		const startedAt = now();
		this.inFlight += 1;
		this.pace.started(startedAt);
		try {
			const outcome = await entry.job.attempt();
			if (outcome.kind === 'held') {
				void this.hold(entry, outcome);
				return;
			}
			entry.outcome = outcome;
			if (outcome.wasRequested === false) return;
			if (outcome.kind === 'done') return this.pace.wasAccepted(now());
			const isBackInQueue =
				outcome.kind === 'failed' && (await this.tryAgain(entry, outcome.problem, startedAt));
			if (stopOnFailure && !isBackInQueue) this.close();
		} catch (error) {
			this.thrown.push(error);
			this.close();
		} finally {
			this.inFlight -= 1;
			this.wakeUp();
		}
	}

	/** Puts a job back into the queue after a pause. Meanwhile it holds up no other. */
	private async hold(entry: Entry<Value>, { otherwise }: Held<Value>): Promise<void> {
		entry.outcome = otherwise;
		this.held += 1;
		entry.holds += 1;
		await this.pause(heldPauseMs(entry.holds));
		if (!this.closed.aborted) this.queue.push(entry);
		this.held -= 1;
		this.wakeUp();
	}

	/** @returns whether the job is back in the queue */
	private async tryAgain(
		entry: Entry<Value>,
		problem: Problem,
		startedAt: number,
	): Promise<boolean> {
		if (isRateLimit(problem)) return this.tryAgainLater(entry, problem, startedAt);
		const { now, random } = this.options;
		entry.failures += 1;
		if (!isTransient(problem)) this.pace.wasAccepted(now());
		if (!shouldRetry(problem, entry.failures, entry.job)) return false;
		await this.pause(retryPauseMs(problem, entry.failures, random()));
		this.queue.unshift(entry);
		return true;
	}

	/** @returns whether the refused job is back in the queue */
	private tryAgainLater(entry: Entry<Value>, problem: Problem, startedAt: number): boolean {
		const { limitTrace, maxConcurrency, now, random } = this.options;
		const hasRetryAfter = problem.retryAfterMs !== undefined;
		entry.refusals += 1;
		if (limitTrace !== undefined) limitTrace.refusals += 1;
		const refusal = {
			problem,
			ofJob: entry.refusals,
			inARow: this.pace.wasRefused(now(), startedAt, hasRetryAfter),
			isAlone: maxConcurrency === 1 || this.queue.length === 0,
		};
		this.pace.pauseUntil(now() + refusalPauseMs(refusal, entry.job, random()));
		switch (afterRefusal(refusal, entry.job)) {
			case 'giveUp':
				this.refusal ??= problem;
				this.close();
				return false;
			case 'fail':
				return false;
			case 'requeue':
				// With one request at a time, the order is kept.
				if (refusal.isAlone) this.queue.unshift(entry);
				else this.queue.push(entry);
				return true;
		}
	}

	private async nextAnswer(): Promise<void> {
		await new Promise<void>((resolve) => {
			this.wakeUp = resolve;
		});
	}

	/** An answer ends the pause: it may have changed the pace. */
	private async pauseUntilAnswer(milliseconds: number): Promise<void> {
		const answered = new AbortController();
		this.wakeUp = () => answered.abort();
		const { limitTrace, now } = this.options;
		const startedAt = now();
		await this.pause(milliseconds, answered.signal);
		if (limitTrace !== undefined) limitTrace.waitedMs += now() - startedAt;
	}

	private async pause(milliseconds: number, ...signals: AbortSignal[]): Promise<void> {
		// A signal for each pause: Node.js warns of a leak if one signal has many listeners.
		const ending = AbortSignal.any([this.closed, ...signals]);
		await this.options.sleep(milliseconds, ending).catch(() => undefined);
	}
}

/**
 * Runs all jobs, as many at once and as fast as the service takes them. Outcomes come in the order of the jobs;
 * every job gets one.
 *
 * When the service refuses so often in a row that a job's retries are used up, or asks for more than ten
 * minutes, nothing further is requested: what is left fails as that job did.
 * @throws what an attempt threw, once nothing is in flight any more: what became of its request is not known
 */
export async function runJobs<Value>(
	jobs: ReadonlyArray<Job<Value>>,
	options: RunOptions,
): Promise<Array<Outcome<Value>>> {
	const requests = new Map<string | number, Entry<Value>>();
	/** Where each job finds its outcome: jobs with the same key share an entry. */
	const entries = jobs.map((job, index): Pick<Entry<Value>, 'outcome'> => {
		if (job.known !== undefined) return { outcome: job.known };
		const key = job.dedupeKey ?? index;
		const entry = requests.get(key) ?? { job, refusals: 0, failures: 0, holds: 0 };
		requests.set(key, entry);
		return entry;
	});
	const queue = [...requests.values()];
	const run = new Run(queue, options);
	// Only items that are not valid now stop the run, not what failed in an earlier try of the execution.
	const isInvalid = entries.some(({ outcome }) => outcome?.kind === 'invalid');
	if (options.stopOnFailure && isInvalid) run.close();
	const refusal = await run.end();

	const notStarted: Outcome<Value> = { kind: 'notStarted' };
	const notRequested: Outcome<Value> =
		refusal === undefined ? notStarted : { kind: 'failed', problem: notRequestedProblem(refusal) };
	for (const entry of queue) {
		// With stopOnFailure, only the failure that stopped the run is reported.
		if (options.stopOnFailure) entry.outcome = notStarted;
		else entry.outcome ??= notRequested;
	}
	return entries.map(({ outcome }) => outcome ?? notStarted);
}
