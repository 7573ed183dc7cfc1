import type { DeliverOptions, Outcome } from '../delivery/deliver';
import { deliver } from '../delivery/deliver';
import { campaignStatus, toCounters } from '../service/answers';
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
	/** Not reached in time. */
	readonly unread: readonly string[];
}

/**
 * Reads the status records of campaigns in parallel, in the given order.
 * @param budgetMs how long it may take, in milliseconds
 */
export async function readCampaigns(
	campaignIds: readonly string[],
	client: Client,
	budgetMs: number,
	options: DeliverOptions,
): Promise<Readings> {
	const timeoutMs = Math.max(1, Math.min(requestTimeoutMs, Math.floor(budgetMs / 2)));

	async function attempt(campaignId: string): Promise<Outcome<Observation>> {
		const readAt = Date.now();
		const request = {
			endpoint: 'status',
			method: 'GET',
			path: campaignStatusPath(campaignId),
			campaignId,
		} as const;
		const result = await client.request(request, campaignStatus, timeoutMs);
		if (!result.ok) return { kind: 'failed', problem: result.problem };
		return {
			kind: 'done',
			value: {
				campaignId,
				status: result.value.notification_status,
				counters: toCounters(result.value),
				readAt,
				observedAt: Date.now(),
			},
		};
	}

	const outcomes = await deliver(
		campaignIds.map((campaignId) => ({
			rateLimitRetries,
			transientRetries,
			attempt: async () => await attempt(campaignId),
		})),
		options,
	);

	const observations: Observation[] = [];
	const failures = new Map<string, Problem>();
	const unread: string[] = [];
	outcomes.forEach((outcome, index) => {
		const campaignId = campaignIds[index];
		if (campaignId === undefined) return;
		if (outcome.kind === 'done') observations.push(outcome.value);
		else if (outcome.kind === 'failed') failures.set(campaignId, outcome.problem);
		else unread.push(campaignId);
	});
	return { observations, failures, unread };
}
