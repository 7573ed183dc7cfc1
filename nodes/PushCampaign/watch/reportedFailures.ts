import type { Problem } from '../service/failures';

/** Campaigns that could not be read for the same reason. */
export interface FailureGroup {
	readonly problem: Problem;
	readonly campaignIds: readonly string[];
}

const signature = ({ type, message }: Problem) => `${type}: ${message}`;

/** Whether it is the campaign that is at fault, and not the service or the way to it. */
const concernsCampaign = ({ cause }: Problem) => cause === 'configuration-invalid';

/** What was reported once it is reported now: by campaign, the reason. */
export function toReported(failures: ReadonlyMap<string, Problem>): Record<string, string> {
	return Object.fromEntries(
		Array.from(failures, ([campaignId, problem]) => [campaignId, signature(problem)]),
	);
}

/**
 * The failures that were not reported yet, grouped by reason. What concerns a campaign is reported once
 * for each campaign; what concerns the service once, whichever campaigns it hits: under a rate limit
 * they are others each time.
 */
export function findUnreported(
	failures: ReadonlyMap<string, Problem>,
	reported: Readonly<Record<string, string>>,
): FailureGroup[] {
	const known = new Set(Object.values(reported));
	const groups = new Map<string, { problem: Problem; campaignIds: string[] }>();
	for (const [campaignId, problem] of failures) {
		const reason = signature(problem);
		const isKnown = concernsCampaign(problem) ? reported[campaignId] === reason : known.has(reason);
		if (isKnown) continue;
		const group = groups.get(reason) ?? { problem, campaignIds: [] };
		group.campaignIds.push(campaignId);
		groups.set(reason, group);
	}
	return [...groups.values()];
}

const mostNames = 10;

/** Names campaigns in a sentence. */
function nameCampaigns(campaignIds: readonly string[]): string {
	const names = campaignIds.slice(0, mostNames).join(', ');
	const more = campaignIds.length - mostNames;
	const noun = campaignIds.length === 1 ? 'Campaign' : 'Campaigns';
	return `${noun} ${names}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The reason of a group in words that name its campaigns. */
export function describeGroup({ problem, campaignIds }: FailureGroup): Problem {
	return {
		...problem,
		message: `${nameCampaigns(campaignIds)} can't be read: ${problem.message}`,
	};
}
