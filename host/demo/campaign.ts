import type { Simulator } from '../../simulator';

/** The campaign that the example trigger watches. */
export const demoCampaignId = '1001';

export const demoTitle = 'Autumn sale: 20% off everything';

/** It began to go out that long before the first start, so that there are numbers to see at once. */
const headStartMs = 6 * 3_600_000;

/** Slow enough that something moves nearly every minute for days. */
const speed = 1 / 2000;

/**
 * Puts the demo campaign into a simulator that has none.
 *
 * @param since the demo's first start, epoch milliseconds
 */
export function addDemoCampaign(simulator: Simulator, since: number): void {
	if (simulator.campaigns.has(demoCampaignId)) return;
	simulator.addCampaign({
		id: demoCampaignId,
		dueAt: since - headStartMs,
		speed,
		body: {
			title: demoTitle,
			message: 'Only this week, in the shop and online. Have a look before your size is gone.',
			target_url: 'https://example.com/sale',
			name: 'Demo campaign',
		},
	});
}
