import { campaignStatusOf, toRates } from '../service/answers';
import { campaignStatusPath } from '../service/rules';
import { campaignId } from '../service/schemas';
import { fieldOf, judgeOf } from './judgeText';
import type { ItemParameters } from './parameters';
import { asEntered, check, invalid, isBlank, textProperty } from './parameters';
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

interface WithoutId {
	/** To follow "Campaign ID". */
	readonly why: string;
	readonly advice: string;
}

const skipIt = 'Put an If node before this one that lets through only items with a campaignId.';

/** Why an item that comes from a send of this node has no campaign ID, by its status. */
const withoutId: ReadonlyMap<unknown, WithoutId> = new Map([
	[
		'alreadySent',
		{
			why: 'is not known: the item was sent earlier, and n8n keeps no campaign ID of that',
			advice: `${skipIt} The campaign ID is in the output of the execution that sent it, and in the dashboard of your push service.`,
		},
	],
	['notSent', { why: 'is empty: the item was not sent', advice: skipIt }],
	['unknown', { why: 'is empty: it is unknown whether the item was sent', advice: skipIt }],
]);

const sentToOne: WithoutId = {
	why: 'is empty: a send to one subscriber has no campaign ID, and so no status',
	advice: `Get Status works after sends to all, to attributes and to segments. ${skipIt}`,
};

/** @throws InvalidInput */
function readCampaignId(item: ItemParameters): string {
	const given = item.get(campaign);
	const { status, audience } = item.input;
	const missing = audience === 'subscriber' ? sentToOne : withoutId.get(status);
	if (isBlank(given) && missing !== undefined) {
		throw invalid(campaign.displayName, missing.why, missing.advice);
	}
	const judged = judgeOf(item, { allowEmptyParts: false })(given, fieldOf(campaign));
	return check(campaignId, judged, campaign.displayName);
}

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
	toInvalidItem(item, { error }) {
		const id = asEntered(() => item.get(campaign));
		return { ...(id === undefined ? {} : { campaignId: id }), error };
	},
	toRequest(item) {
		const id = readCampaignId(item);
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
