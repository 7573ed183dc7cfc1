import { campaignStatusOf, toRates } from '../service/answers';
import { campaignStatusPath } from '../service/rules';
import { clip } from '../service/text';
import { readId, requireCampaignId } from './ids';
import type { QueryOperation } from './operation';
import { prepareQuery, queryProperties } from './operation';
import { asEntered, fieldOf, textProperty } from './values';

const campaign = textProperty('Campaign ID', 'campaignId', {
	// A send returns it, so Send, Wait, Get Status needs no typing.
	default: '={{ $json.campaignId }}',
	required: true,
	placeholder: 'e.g. 1001',
	description: 'ID of the campaign, as its send returns it',
});
const field = fieldOf(campaign);

/** Specification, GET status. */
export const getStatus: QueryOperation = {
	resource: 'campaign',
	option: {
		name: 'Get Status',
		value: 'getStatus',
		action: 'Get campaign status',
		description: 'Read the status and the counters of a campaign',
	},
	properties: [campaign, ...queryProperties],
	prepare(item) {
		const id = requireCampaignId(field, readId(item, field));
		const named = { what: `campaign ${clip(id)}`, fix: `Correct ${field.label}.` };
		const request = { path: campaignStatusPath(id), named };
		const status = campaignStatusOf(id).transform(({ counters, ...known }) => ({
			...known,
			...counters,
			...toRates(counters),
		}));
		return prepareQuery(item, request, status);
	},
	toFailedRow(item) {
		const campaignId = asEntered(item, field);
		return campaignId === undefined ? {} : { campaignId };
	},
};
