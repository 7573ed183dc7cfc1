import type { Outcome } from '../delivery/outcome';
import { isRateLimit } from '../delivery/retry';
import type { Job, RunOptions } from '../delivery/runJobs';
import { runJobs } from '../delivery/runJobs';
import { campaignStatus } from '../service/answers';
import type { Client } from '../service/client';
import type { Problem } from '../service/failures';
import { campaignStatusPath } from '../service/rules';
import type { Observation } from './compare';

const rateLimitRetries = 5;
const transientRetries = 2;

/** What a poll found out about the campaigns it watches. */
export interface Readings {
	readonly observations: readonly Observation[];
	readonly failures: ReadonlyMap<string, Problem>;
	/** To be read first the next time: not reached in time, or refused for too many requests. */
	readonly unread: readonly string[];
}

export interface ReadOptions {
	readonly campaignIds: readonly string[];
	/** Those that are read before the others. */
	readonly first: readonly string[];
	/** How long one request may take, in milliseconds. */
	readonly timeoutMs: number;
}

/**
 * Reads the status records of campaigns in parallel. Comes back when the run's signal ends, as the
 * client's has to, with what was read until then, in the order of the list.
 */
export async function readCampaigns(
	{ campaignIds, first, timeoutMs }: ReadOptions,
	client: Client,
	options: RunOptions & { readonly signal: AbortSignal },
): Promise<Readings> {
	function jobOf(campaignId: string): Job<Observation> {
		const request = { kind: 'read', path: campaignStatusPath(campaignId), campaignId } as const;
		/** A campaign that hangs holds back the events of all others: once in a poll, not once more. */
		let slow: Outcome<Observation> | undefined;

		async function attempt(): Promise<Outcome<Observation>> {
			if (slow !== undefined) return slow;

			const startedAt = performance.now();
			const result = await client.request(request, campaignStatus, timeoutMs);
			if (result.kind === 'failed') {
				if (options.signal.aborted) return { kind: 'notStarted' };
				const isSlow = performance.now() - startedAt > timeoutMs / 2;
				if (isSlow && !isRateLimit(result.problem)) slow = result;
				return result;
			}
			const { notification_status: status, count: counters } = result.value;
			return { kind: 'done', value: { campaignId, status, counters, observedAt: Date.now() } };
		}

		return { rateLimitRetries, transientRetries, attempt };
	}

	const rank = (id: string) => (first.includes(id) ? 0 : 1);
	const ordered = [...campaignIds].sort((one, other) => rank(one) - rank(other));
	const outcomes = await runJobs(ordered.map(jobOf), options);
	const observations: Observation[] = [];
	const failures = new Map<string, Problem>();
	const unread: string[] = [];
	for (const campaignId of campaignIds) {
		const outcome = outcomes[ordered.indexOf(campaignId)];
		if (outcome?.kind === 'done') observations.push(outcome.value);
		if (outcome?.kind === 'failed') failures.set(campaignId, outcome.problem);
		const isRefused = outcome?.kind === 'failed' && isRateLimit(outcome.problem);
		if (outcome?.kind === 'notStarted' || isRefused) unread.push(campaignId);
	}
	return { observations, failures, unread };
}
