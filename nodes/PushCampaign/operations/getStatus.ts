import type { INodeProperties } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import { campaignStatusOf, toRates } from '../service/answers';
import { campaignStatusPath } from '../service/rules';
import type { ReadOperation } from './operation';
import { prepareRead, readProperties } from './readFields';
import { asEntered, fieldOf, invalid, isBlank, readId } from './values';

const campaign: INodeProperties = {
	displayName: 'Campaign ID',
	name: 'campaignId',
	type: 'string',
	// A send returns it, so Send, Wait, Get Status needs no typing.
	default: '={{ $json.campaignId }}',
	required: true,
	placeholder: 'e.g. 1001',
	description: 'ID of the campaign, as its send returns it',
};
const field = fieldOf(campaign);

/** Why an item that comes from a send of this node has no campaign ID; undefined if it comes from elsewhere. */
function whyMissing({ status, audience }: ItemParameters['input']): string | undefined {
	if (audience === 'subscriber') return 'a send to one subscriber has none';
	if (status === 'alreadySent') return 'it is in the output of the execution that sent it';
	return status === 'notSent' || status === 'unknown' ? 'this item was not sent' : undefined;
}

function readCampaignId(item: ItemParameters): string {
	const why = isBlank(item.get(field)) ? whyMissing(item.input) : undefined;
	if (why !== undefined) {
		const advice = 'Put an If node in front that lets through only items with a campaignId.';
		throw invalid(field, `is empty: ${why}`, advice);
	}
	const id = readId(item, field);
	// Dots alone walk up the path.
	if (/^\.+$/.test(id)) throw invalid(field, `is not a campaign's ID: "${id}"`);
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
	properties: [campaign, ...readProperties],
	prepare(item) {
		const id = readCampaignId(item);
		const about = { of: 'campaign', displayName: field.displayName, id } as const;
		return prepareRead(
			item,
			{ path: campaignStatusPath(id), about },
			campaignStatusOf(id),
			({ campaignId, status, counters }) => ({
				campaignId,
				status,
				...counters,
				...toRates(counters),
			}),
		);
	},
	toInvalidRow(item) {
		const campaignId = asEntered(item, field);
		return campaignId === undefined ? {} : { campaignId };
	},
};
