import type { INodeProperties } from 'n8n-workflow';

import { campaignStatus, toRates } from '../service/answers';
import { campaignStatusPath } from '../service/rules';
import { campaignId } from '../service/schemas';
import type { ReadOperation } from './operation';
import { readOptions } from './options';
import { check } from './parameters';
import { prepareRead, simplifyProperty } from './read';

const displayOptions = { show: { resource: ['campaign'], operation: ['getStatus'] } };

const campaign = {
	displayName: 'Campaign ID',
	name: 'campaignId',
	type: 'string',
	// What a send puts out: Send, Wait, Get Status needs no typing.
	default: '={{ $json.campaignId }}',
	required: true,
	placeholder: 'e.g. 1001',
	displayOptions,
	description: 'ID of the campaign to read, as the node put it out when it was sent',
} satisfies INodeProperties;

/** Specification, GET status. */
export const getStatus: ReadOperation = {
	kind: 'read',
	resource: 'campaign',
	option: {
		name: 'Get Status',
		value: 'getStatus',
		action: 'Get campaign status',
		description: 'Read the status of a campaign and its delivery and click counters',
	},
	properties: [campaign, simplifyProperty(displayOptions), readOptions(displayOptions)],
	prepare(item) {
		const id = check(campaignId, item.get(campaign), campaign.displayName);
		return prepareRead(item, {
			request: {
				kind: 'read',
				path: campaignStatusPath(id),
				campaignId: id,
				subject: id,
			},
			schema: campaignStatus,
			simplify: ({ notification_id, notification_status, count }) => ({
				campaignId: notification_id,
				status: notification_status,
				...count,
				...toRates(count),
			}),
		});
	},
};
