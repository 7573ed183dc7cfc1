import type { Problem } from '../service/failures';
import { notRequestedProblem } from '../service/failures';
import type { Outcome } from './outcome';
import { Pace } from './pace';
import { isRateLimit, isTooLong, isTransient, retryPauseMs } from './retry';

/** A request that is to be made. */
interface RequestJob<Value> {
	readonly known?: undefined;
	/** Makes the request once. Never throws. */
	readonly attempt: () => Promise<Outcome<Value>>;
	/** Jobs of the same key are run once and share the outcome. */
	readonly dedupeKey?: string | undefined;
	/** How often it is tried again after a refusal for too many requests. */
	readonly rateLimitRetries: number;
	/** After an answer that may come later; 0 for all that must not happen twice. */
	readonly transientRetries: number;
}

/** What is to be done for an item: a request, or nothing where its outcome is known already. */
export type Job<Value> = RequestJob<Value> | { readonly known: Outcome<Value> };

export interface RunOptions {
	/** The most requests that are ever under way at once; with 1 they go strictly in order. */
	readonly ceiling: number;
	/** Whether a first failure keeps everything that has not started from starting. */
	readonly stopOnFailure: boolean;
	/** Milliseconds from any fixed moment. */
	readonly now: () => number;
	/** Waits the given milliseconds; rejects when the signal ends. */
	readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
	/** A number from 0 up to, but not including, 1. */
	readonly random: () => number;
	/** Ends when the user stops the execution, or the time for it is over. */
	readonly signal?: AbortSignal | undefined;
}

/**
 * After so many starts Node.js gets to write them out: until then none leaves, as long as others are
 * being prepared. Measured in n8n, 500 sends at 50 ms take 425 ms with 5, 443 with 10, 503 with 25 and 671 with
 * all at once; at 5 ms it is 225, 203, 170 and 333.
 */
const startsAtOnce = 10;

/** A job in line. */
interface Waiting<Value> {
	readonly job: RequestJob<Value>;
	/** How often it was refused for too many requests, and failed in a way that may pass. */
	refusals: number;
	transients: number;
	/** How it ended, or failed last. */
	outcome?: Outcome<Value>;
}

/**
 * Runs all jobs, as many at once and as fast as the service takes them: one line, to whose end goes what is
 * refused for too many requests. Outcomes come in the order of the jobs; every job gets one.
 *
 * When the service refuses so often in a row that a job's retries are used up, or asks for more than ten
 * minutes, nothing further is requested: what is left failed as that did.
 * @throws what an attempt threw, when nothing is under way any more: what became of it is not known
 */
export async function runJobs<Value>(
	jobs: ReadonlyArray<Job<Value>>,
	{ ceiling, stopOnFailure, now, sleep, random, signal }: RunOptions,
): Promise<Array<Outcome<Value>>> {
	const pace = new Pace(ceiling, random);
	const requests = new Map<string | number, Waiting<Value>>();
	/** For each job where its outcome is to be found: jobs of the same key share it. */
	const entries = jobs.map((job, index): Pick<Waiting<Value>, 'outcome'> => {
		if (job.known !== undefined) return { outcome: job.known };
		const key = job.dedupeKey ?? index;
		const waiting = requests.get(key) ?? { job, refusals: 0, transients: 0 };
		requests.set(key, waiting);
		return waiting;
	});
	const line = [...requests.values()];
	const closing = new AbortController();
	/** Once it ends nothing starts any more; what is under way goes on. */
	const closed = AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])]);
	const thrown: unknown[] = [];
	let givenUp: Problem | undefined;
	let underWay = 0;
	let wakeUp = () => {};

	async function pause(milliseconds: number): Promise<void> {
		// A signal for each: Node.js warns of a leak where one has many listeners.
		await sleep(milliseconds, AbortSignal.any([closed])).catch(() => undefined);
	}

	/** @returns whether the job is back in line */
	async function tryAgain(
		waiting: Waiting<Value>,
		problem: Problem,
		startedAt: number,
	): Promise<boolean> {
		const { rateLimitRetries, transientRetries } = waiting.job;
		if (isRateLimit(problem)) {
			waiting.refusals += 1;
			const isInFront = ceiling === 1 || line.length === 0;
			const inARow = pace.wasRefused(problem, now(), startedAt, isInFront ? waiting.refusals : 0);
			// Without retries a first refusal is that item's alone: the service may take the next one.
			if (isTooLong(problem) || inARow > Math.max(1, rateLimitRetries)) {
				givenUp ??= problem;
				closing.abort();
				return false;
			}
			if (waiting.refusals > rateLimitRetries) return false;
			if (isInFront) line.unshift(waiting);
			else line.push(waiting);
			return true;
		}
		if (!isTransient(problem)) {
			pace.wasAccepted(now());
			return false;
		}
		waiting.transients += 1;
		if (isTooLong(problem) || waiting.transients > transientRetries) return false;
		await pause(retryPauseMs(problem, waiting.transients, random()));
		line.unshift(waiting);
		return true;
	}

	async function start(waiting: Waiting<Value>): Promise<void> {
		const startedAt = now();
		underWay += 1;
		pace.started(startedAt);
		try {
			const outcome = await waiting.job.attempt();
			waiting.outcome = outcome;
			if (outcome.wasRequested === false) return;
			if (outcome.kind === 'done') return pace.wasAccepted(now());
			const isBack =
				outcome.kind === 'failed' && (await tryAgain(waiting, outcome.problem, startedAt));
			if (stopOnFailure && !isBack) closing.abort();
		} catch (error) {
			thrown.push(error);
			closing.abort();
		} finally {
			underWay -= 1;
			wakeUp();
		}
	}

	// What failed in an earlier try of the execution was told then, and holds up nothing now.
	if (stopOnFailure && entries.some(({ outcome }) => outcome?.kind === 'invalid')) closing.abort();
	let started = 0;
	while (underWay > 0 || (line.length > 0 && !closed.aborted)) {
		const next = !closed.aborted && pace.hasRoom(underWay) ? line[0] : undefined;
		const waitMs = pace.waitMs(now());
		if (next === undefined) await new Promise<void>((resolve) => (wakeUp = resolve));
		else if (waitMs > 0) await pause(waitMs);
		else {
			line.shift();
			void start(next);
			started += 1;
			if (started % startsAtOnce === 0) await sleep(0);
		}
	}
	if (thrown.length > 0) throw thrown[0];

	const notStarted: Outcome<Value> = { kind: 'notStarted' };
	const left: Outcome<Value> =
		givenUp === undefined ? notStarted : { kind: 'failed', problem: notRequestedProblem(givenUp) };
	// Where a first failure stops the rest, that one is the news, and not what waited to be tried again.
	for (const waiting of line)
		waiting.outcome = stopOnFailure ? notStarted : (waiting.outcome ?? left);
	return entries.map(({ outcome }) => outcome ?? notStarted);
}
