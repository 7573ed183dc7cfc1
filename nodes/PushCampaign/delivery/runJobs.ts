import type { Problem } from '../service/failures';
import { notRequestedProblem } from '../service/failures';
import type { InvalidInput } from '../service/invalidInput';
import type { Limiter } from './limiter';
import type { Failures, RetryPolicy } from './retry';
import {
	backoffMs,
	isRateLimit,
	isTransient,
	refusalBackoffMs,
	shouldGiveUp,
	shouldRetry,
} from './retry';

/** How an item ended. Only what is `notStarted` has no reason of its own. */
export type Outcome<Value> =
	| {
			readonly kind: 'done';
			readonly value: Value;
			/** False where the service was not asked: such an answer says nothing of its pace. */
			readonly wasRequested?: boolean;
	  }
	| {
			readonly kind: 'failed';
			readonly problem: Problem;
			/** False where the service was not asked here: it says nothing of its pace, and stops nothing. */
			readonly wasRequested?: boolean;
	  }
	| { readonly kind: 'invalid'; readonly invalid: InvalidInput }
	| { readonly kind: 'notStarted' };

/** A request that is to be made. */
interface RequestJob<Value> extends RetryPolicy {
	readonly known?: undefined;
	/** Makes the request once. Never throws. */
	readonly attempt: () => Promise<Outcome<Value>>;
	/** Jobs of the same key are run once and share the outcome. */
	readonly shareKey?: string;
}

/** What is to be done for an item: a request, or nothing where its outcome is known already. */
export type Job<Value> = RequestJob<Value> | { readonly known: Outcome<Value> };

export interface RunOptions {
	readonly limiter: Limiter;
	/** Whether a first failure keeps everything that has not started from starting. */
	readonly stopOnFailure: boolean;
	/**
	 * Whether an item that is refused again and again waits for itself, longer and longer, so that it holds
	 * up no other. Not where there is no time for that.
	 */
	readonly waitsAlone?: boolean;
	/** Waits the given milliseconds; rejects when the signal ends. */
	readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
	/** A number from 0 up to, but not including, 1. */
	readonly random: () => number;
	/** Ends when the user stops the execution. */
	readonly signal?: AbortSignal | undefined;
}

/**
 * After so many starts Node.js gets to write them out: until then none leaves, as long as others are
 * being prepared. Measured in n8n, in milliseconds:
 *
 * | starts at once | poll of 200, 50 ms | 500 sends, 50 ms | 500 sends, 5 ms |
 * |---|---|---|---|
 * | 5 | 190 | 425 | 225 |
 * | 10 | 169 | 443 | 203 |
 * | 25 | 170 | 503 | 170 |
 * | all | 203 | 671 | 333 |
 */
const startsAtOnce = 10;

/**
 * An item that is refused more often than this, with others accepted in between, waits for itself from then
 * on and holds up no other: under a limit for all an item is hardly ever refused so often.
 */
const generalRefusals = 2;

/** Jobs of the same key are run once; a job that is known has none. */
const shareKeyOf = (job: Job<unknown>) => (job.known === undefined ? job.shareKey : undefined);

/** Whether the service dealt with the request, so that it may well be asked faster. */
function isWell<Value>(outcome: Outcome<Value>): boolean {
	if (outcome.kind === 'done') return outcome.wasRequested !== false;
	if (outcome.kind !== 'failed' || outcome.wasRequested === false) return false;
	return !isRateLimit(outcome.problem) && !isTransient(outcome.problem);
}

/** Whether an outcome is news that keeps all else from starting where a run stops at its first failure. */
function stops<Value>(outcome: Outcome<Value>): boolean {
	if (outcome.kind === 'failed') return outcome.wasRequested !== false;
	return outcome.kind !== 'done';
}

/** What the jobs of one run know of each other. */
interface Run extends RunOptions {
	/** How many requests the service has dealt with. */
	accepted: number;
	/** How often jobs were refused that don't wait for themselves. */
	refusals: number;
	/** Jobs without an outcome that don't wait for themselves. */
	readonly inLine: Set<unknown>;
	/** Why nothing further is requested of a service that refuses everything. */
	givenUp?: Problem;
}

/** How far a job has come. */
interface Progress {
	readonly failures: Failures;
	/** How many the service had accepted when it refused this one last. */
	acceptedBefore: number;
	/** Whether it is this job alone that the service does not take, so that it waits for itself. */
	waitsAlone: boolean;
}

/**
 * Runs all jobs through the limiter. Outcomes come in the order of the jobs; every job gets one. Never
 * throws.
 *
 * When the service refuses for too many requests so often in a row that a job's retries are used up,
 * or asks for more than ten minutes, nothing further is requested: what is left failed as that did.
 */
export async function runJobs<Value>(
	jobs: ReadonlyArray<Job<Value>>,
	options: RunOptions,
): Promise<Array<Outcome<Value>>> {
	const { limiter, stopOnFailure, sleep, signal } = options;
	const inLine = new Set<unknown>(jobs);
	const run: Run = { ...options, accepted: 0, refusals: 0, inLine };
	const outcomes: Array<Outcome<Value> | undefined> = jobs.map(({ known }) => known);
	const shared = new Map<string, number>();
	const underWay = new Set<Promise<void>>();

	const stopAfter = (outcome: Outcome<Value> | undefined) => {
		if (stopOnFailure && outcome !== undefined && stops(outcome)) limiter.close();
	};
	// What failed in an earlier try of the execution was told then, and holds up nothing now.
	outcomes.filter((outcome) => outcome?.kind === 'invalid').forEach(stopAfter);
	const close = () => limiter.close();
	signal?.addEventListener('abort', close);
	if (signal?.aborted) close();

	let started = 0;
	for (const [index, job] of jobs.entries()) {
		const shareKey = shareKeyOf(job);
		if (job.known !== undefined || (shareKey !== undefined && shared.has(shareKey))) {
			inLine.delete(job);
			continue;
		}
		if (shareKey !== undefined) shared.set(shareKey, index);
		if (!(await limiter.acquire())) break;
		const request = runJob(job, run).then((outcome) => {
			outcomes[index] = outcome;
			stopAfter(outcome);
			underWay.delete(request);
		});
		underWay.add(request);
		started += 1;
		if (started % startsAtOnce === 0) await sleep(0);
	}
	await Promise.all(underWay);
	signal?.removeEventListener('abort', close);

	const left: Outcome<Value> =
		run.givenUp === undefined || stopOnFailure
			? { kind: 'notStarted' }
			: { kind: 'failed', problem: notRequestedProblem(run.givenUp) };
	return jobs.map((job, index) => {
		const shareKey = shareKeyOf(job);
		const source = shareKey === undefined ? undefined : shared.get(shareKey);
		return outcomes[index] ?? outcomes[source ?? index] ?? left;
	});
}

/** Holds a place in the limiter until the job's outcome is final. */
async function runJob<Value>(job: RequestJob<Value>, run: Run): Promise<Outcome<Value>> {
	const { limiter, stopOnFailure } = run;
	const progress: Progress = {
		failures: { rateLimit: 0, transient: 0 },
		acceptedBefore: run.accepted,
		waitsAlone: false,
	};
	for (;;) {
		const outcome = await job.attempt();
		if (outcome.kind === 'failed' && outcome.wasRequested === false) {
			// It was told by somebody else, and is nothing to try again.
		} else if (outcome.kind === 'failed' && isRateLimit(outcome.problem)) {
			if (refused(outcome.problem, job, progress, run)) {
				if (await takeTurnAgain(outcome.problem, progress, run)) continue;
				// Where another job's failure closed the limiter, that one is the news.
				return stopOnFailure ? { kind: 'notStarted' } : outcome;
			}
		} else if (outcome.kind === 'failed') {
			progress.failures.transient += 1;
			const isRetried = shouldRetry(outcome.problem, job, progress.failures);
			if (isRetried && (await pauseBeforeRetry(progress, run))) continue;
		}
		// Closed before the place is free: whoever waits for it must not start any more.
		if (stopOnFailure && stops(outcome)) limiter.close();
		if (isWell(outcome)) run.accepted += 1;
		run.inLine.delete(job);
		limiter.release(isWell(outcome));
		return outcome;
	}
}

/**
 * Takes in a refusal for too many requests: slows all others down where it concerns them, and ends the run
 * where everything is refused.
 * @returns whether the job is tried again
 */
function refused(problem: Problem, job: RetryPolicy, progress: Progress, run: Run): boolean {
	const { limiter, accepted } = run;
	const { failures, waitsAlone } = progress;
	failures.rateLimit += 1;
	// Others were accepted since: it is this job alone that the service does not take. Or none is left that
	// could be, and its pauses would hold up only those that wait for themselves.
	const isAlone =
		run.waitsAlone !== false &&
		failures.rateLimit > generalRefusals &&
		(accepted > progress.acceptedBefore || run.inLine.size === 1) &&
		problem.retryAfterMs === undefined &&
		!limiter.isSingle;
	progress.acceptedBefore = accepted;
	progress.waitsAlone ||= isAlone;
	if (!progress.waitsAlone) {
		run.refusals += 1;
		limiter.slowDown(problem.retryAfterMs);
	} else if (!waitsAlone) {
		run.inLine.delete(job);
		run.refusals -= failures.rateLimit - 1;
		if (run.refusals === 0) limiter.speedUp();
	}
	const refusalsInARow = progress.waitsAlone ? 0 : limiter.refusalsInARow;
	if (shouldGiveUp(problem, job, refusalsInARow)) {
		run.givenUp ??= problem;
		limiter.close();
		return false;
	}
	return shouldRetry(problem, job, failures);
}

/** Gives the place back and waits for another one; false where nothing may start any more. */
async function takeTurnAgain(
	{ retryAfterMs }: Problem,
	{ failures, waitsAlone }: Progress,
	run: Run,
): Promise<boolean> {
	const { limiter } = run;
	if (!waitsAlone) return await limiter.requeue();
	limiter.release(false);
	await pause(retryAfterMs ?? refusalBackoffMs(failures.rateLimit, run.random()), run);
	return await limiter.reacquire();
}

/** Waits in its place; false where nothing may start any more. */
async function pauseBeforeRetry({ failures }: Progress, run: Run): Promise<boolean> {
	await pause(backoffMs(failures.transient, run.random()), run);
	return !run.limiter.isClosed;
}

/** Waits the given milliseconds, or until nothing may start any more. */
async function pause(milliseconds: number, { sleep, limiter }: Run): Promise<void> {
	// A signal for each: Node.js warns of a leak where one has many listeners.
	const end = new AbortController();
	void limiter.whenClosed.then(() => end.abort());
	await sleep(milliseconds, end.signal).catch(() => undefined);
}
