import { isRateLimit } from '../delivery/retry';
import type { RunOptions, Outcome } from '../delivery/runJobs';
import { runJobs } from '../delivery/runJobs';
import { campaignStatus } from '../service/answers';
import type { Client } from '../service/client';
import type { Problem } from '../service/failures';
import { campaignStatusPath } from '../service/rules';
import type { Observation } from './compare';

const requestTimeoutMs = 30_000;
const rateLimitRetries = 5;
const transientRetries = 2;

/** What a poll found out about the campaigns it watches. */
export interface Readings {
	readonly observations: readonly Observation[];
	readonly failures: ReadonlyMap<string, Problem>;
	/** Of the failures, those under a rate limit that let through the others, as another time it may these. */
	readonly crowdedOut: ReadonlySet<string>;
	/** Not reached in time. */
	readonly unread: readonly string[];
	/** When the reading ended, in milliseconds since 1970. */
	readonly endedAt: number;
}

/** How long reading may take. */
export interface ReadingTime {
	/** In milliseconds. */
	readonly budgetMs: number;
	/** Ends when the budget is used up. */
	readonly signal: AbortSignal;
}

/**
 * Reads the status records of campaigns in parallel, in the given order. Comes back when the time is
 * over, whatever hangs, with what was read until then.
 */
export async function readCampaigns(
	campaignIds: readonly string[],
	client: Client,
	{ budgetMs, signal }: ReadingTime,
	options: RunOptions,
): Promise<Readings> {
	const timeoutMs = Math.max(1, Math.min(requestTimeoutMs, Math.floor(budgetMs / 2)));
	let endWaits = () => {};
	const timeIsOver = new Promise<undefined>((resolve) => (endWaits = () => resolve(undefined)));
	signal.addEventListener('abort', endWaits);
	/** Why the last request for a campaign gave nothing. */
	const problems = new Map<string, Problem>();
	/** A campaign that hangs holds back the events of all others: once in a poll, not once more. */
	const slow = new Set<string>();

	async function attempt(campaignId: string): Promise<Outcome<Observation>> {
		const before = problems.get(campaignId);
		// What was asked for in vain can't be read, what was cut short was not reached.
		const givenUp: Outcome<Observation> =
			before === undefined ? { kind: 'notStarted' } : { kind: 'failed', problem: before };
		if (signal.aborted || slow.has(campaignId)) return givenUp;

		const startedAt = performance.now();
		const readAt = Date.now();
		const request = {
			kind: 'read',
			path: campaignStatusPath(campaignId),
			campaignId,
		} as const;
		const answer = client.request(request, campaignStatus, timeoutMs);
		const result = await Promise.race([answer, timeIsOver]);
		if (result === undefined) return givenUp;
		if (result.kind === 'failed') {
			problems.set(campaignId, result.problem);
			const isSlow = performance.now() - startedAt > timeoutMs / 2;
			if (isSlow && !isRateLimit(result.problem)) slow.add(campaignId);
			return { kind: 'failed', problem: result.problem };
		}
		return {
			kind: 'done',
			value: {
				campaignId,
				status: result.value.notification_status,
				counters: result.value.count,
				readAt,
				observedAt: Date.now(),
			},
		};
	}

	const outcomes = await runJobs(
		campaignIds.map((campaignId) => ({
			rateLimitRetries,
			transientRetries,
			attempt: async () => await attempt(campaignId),
		})),
		options,
	);
	signal.removeEventListener('abort', endWaits);
	/** Not where the service let nothing through any more, or said for how long, and the time was over. */
	const isCrowdedOut = (problem: Problem) =>
		isRateLimit(problem) &&
		(!options.limiter.isClosed || (signal.aborted && problem.retryAfterMs === undefined));

	const observations: Observation[] = [];
	const failures = new Map<string, Problem>();
	const crowdedOut = new Set<string>();
	const unread: string[] = [];
	outcomes.forEach((outcome, index) => {
		const campaignId = campaignIds[index];
		if (campaignId === undefined) return;
		if (outcome.kind === 'done') observations.push(outcome.value);
		else if (outcome.kind === 'failed') {
			failures.set(campaignId, outcome.problem);
			if (isCrowdedOut(outcome.problem)) crowdedOut.add(campaignId);
		} else unread.push(campaignId);
	});
	return { observations, failures, crowdedOut, unread, endedAt: Date.now() };
}
