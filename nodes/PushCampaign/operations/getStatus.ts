import type { INodeProperties } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import { campaignStatusOf, toRates } from '../service/answers';
import { campaignStatusPath } from '../service/rules';
import type { ReadOperation } from './readOperation';
import { prepareRead, readProperties } from './readOperation';
import { fieldOf, invalid, isBlank, readId } from './values';

const campaignId: INodeProperties = {
	displayName: 'Campaign ID',
	name: 'campaignId',
	type: 'string',
	// A send returns it, so Send, Wait, Get Status needs no typing.
	default: '={{ $json.campaignId }}',
	required: true,
	placeholder: 'e.g. 1001',
	description: 'ID of the campaign, as its send returns it',
};

const field = fieldOf(campaignId);

/** Why an item that comes from a send of this node has no campaign ID; undefined if it comes from elsewhere. */
function whyMissing({ status, audience }: ItemParameters['input']): string | undefined {
	if (audience === 'subscriber') return 'a send to one subscriber has none';
	if (status === 'alreadySent') return 'it is in the output of the execution that sent it';
	return status === 'notSent' || status === 'unknown' ? 'the item was not sent' : undefined;
}

function readCampaignId(item: ItemParameters): string {
	const why = isBlank(item.get(field)) ? whyMissing(item.input) : undefined;
	if (why !== undefined) {
		const advice = 'Put an If node before this one that lets through only items with a campaignId.';
		throw invalid(field, `is empty: ${why}`, advice);
	}
	const id = readId(item, field);
	// Dots alone walk up the path.
	if (/^\.+$/.test(id)) throw invalid(field, `is not a campaign ID: "${id}"`);
	return id;
}

/** Specification, GET status. */
export const getStatus: ReadOperation = {
	resource: 'campaign',
	option: {
		name: 'Get Status',
		value: 'getStatus',
		action: 'Get campaign status',
		description: 'Read the status and the counters of a campaign',
	},
	properties: [campaignId, ...readProperties],
	campaign: field,
	prepare(item) {
		const id = readCampaignId(item);
		return prepareRead(item, {
			request: {
				path: campaignStatusPath(id),
				about: { of: 'campaign', displayName: field.displayName, id },
			},
			schema: campaignStatusOf(id),
			toItem: ({ campaignId, status, counters }) => ({
				campaignId,
				status,
				...counters,
				...toRates(counters),
			}),
		});
	},
};
