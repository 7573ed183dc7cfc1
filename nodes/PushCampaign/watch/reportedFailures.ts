import type { Problem } from '../service/failures';

/** Campaigns that could not be read for the same reason. */
export interface FailureGroup {
	readonly problem: Problem;
	readonly campaignIds: readonly string[];
}

const signature = ({ type, message }: Problem) => `${type}: ${message}`;

/** By campaign, the reason that was reported, or that is put off. */
export type Reported = Readonly<Record<string, string>>;

/** Stands before a reason that was not reported for this campaign, because it was for another one. */
const putOff = 'put off: ';

/**
 * Whether a failure waits for the next poll, because the service failed in the same way before. Under
 * many requests it fails for some now and for others then: only what stays is the campaign's. A rate limit
 * never is.
 */
function isPutOff(campaignId: string, problem: Problem, reported: Reported): boolean {
	const { cause } = problem;
	const reason = signature(problem);
	if (cause === 'configuration-invalid' || reported[campaignId] === reason) return false;
	const waiting = putOff + reason;
	if (!Object.values(reported).some((each) => each === reason || each === waiting)) return false;
	return cause === 'rate-limited' || reported[campaignId] !== waiting;
}

/** What was reported once the failures that are due are reported now. */
export function toReported(
	failures: ReadonlyMap<string, Problem>,
	reported: Reported,
): Record<string, string> {
	return Object.fromEntries(
		Array.from(failures, ([campaignId, problem]) => [
			campaignId,
			(isPutOff(campaignId, problem, reported) ? putOff : '') + signature(problem),
		]),
	);
}

/**
 * The failures that were not reported yet, grouped by reason. What concerns a campaign is reported at once;
 * what may be the service's, and was reported for another campaign, when it is there the next time too.
 */
export function findUnreported(
	failures: ReadonlyMap<string, Problem>,
	reported: Reported,
): FailureGroup[] {
	const groups = new Map<string, { problem: Problem; campaignIds: string[] }>();
	for (const [campaignId, problem] of failures) {
		const reason = signature(problem);
		if (reported[campaignId] === reason || isPutOff(campaignId, problem, reported)) continue;
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
