import type { Simulator } from '../simulator';

/** The campaign that the example trigger watches. */
export const demoCampaignId = '1001';

const hour = 3_600_000;
const audience = 10_000;
/** Slow enough that something moves every minute for days. */
const pace = 24 * hour;

const saturating = (ageMs: number, paceMs: number): number => 1 - Math.exp(-ageMs / paceMs);

/**
 * The counters of the demo campaign. They depend on its age alone, so that they go on where they
 * were when the simulator, which keeps nothing, is started again.
 *
 * @param ageMs milliseconds since it went out
 */
export function demoCounters(
	ageMs: number,
): Record<
	'total_attempts' | 'successfully_sent' | 'failed_to_send' | 'delivered' | 'clicked' | 'closed',
	number
> {
	const age = Math.max(0, ageMs);
	const failed = 214;
	const sent = audience - failed;
	const delivered = Math.floor(sent * (0.2 + 0.75 * saturating(age, pace)));
	const clicked = Math.floor(delivered * 0.15 * saturating(age, pace));
	const closed = Math.floor(delivered * 0.5 * saturating(age, pace));
	return {
		total_attempts: audience,
		successfully_sent: sent,
		failed_to_send: failed,
		delivered,
		clicked,
		closed,
	};
}

/**
 * Puts the demo campaign into a simulator and lets it live.
 *
 * @param since when it went out, epoch milliseconds
 * @returns a function that ends its life
 */
export function runDemoCampaign(simulator: Simulator, since: number): () => void {
	simulator.addCampaign({
		id: demoCampaignId,
		dueAt: since,
		status: 'Sent',
		audienceSize: audience,
		body: {
			title: 'Autumn sale: 20 % off everything',
			message: 'Only this week, in the shop and online. Have a look before your size is gone.',
			target_url: 'https://example.com/sale',
			name: 'Demo campaign',
		},
		counters: demoCounters(Date.now() - since),
	});
	const living = setInterval(() => {
		// The page's reset button may have taken it away.
		if (!simulator.campaigns.has(demoCampaignId)) return;
		simulator.setCounters(demoCampaignId, demoCounters(Date.now() - since));
	}, 5_000);
	living.unref();
	return () => clearInterval(living);
}
