import { campaignStatusOf, toRates } from '../service/answers';
import { campaignStatusPath } from '../service/rules';
import { campaignId } from '../service/schemas';
import { check, textProperty } from './parameters';
import { readOperation } from './read';

const campaign = textProperty({
	displayName: 'Campaign ID',
	name: 'campaignId',
	// A send returns it, so Send, Wait, Get Status needs no typing.
	default: '={{ $json.campaignId }}',
	required: true,
	placeholder: 'e.g. 1001',
	description:
		'ID of the campaign, as in the output of its send. By default it comes from the input item.',
});

/** Specification, GET status. */
export const getStatus = readOperation({
	resource: 'campaign',
	option: {
		name: 'Get Status',
		value: 'getStatus',
		action: 'Get campaign status',
		description: 'Read the status of a campaign and its delivery and click counters',
	},
	properties: [campaign],
	toRequest(item) {
		const id = check(campaignId, item.get(campaign), campaign.displayName);
		return {
			path: campaignStatusPath(id),
			requestedId: { of: 'campaign', id },
			schema: campaignStatusOf(id, `about another campaign than ${id}`),
		};
	},
	simplify: ({ notification_id, notification_status, count }) => ({
		campaignId: notification_id,
		status: notification_status,
		...count,
		...toRates(count),
	}),
});
