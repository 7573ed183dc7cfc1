import type { INodeProperties } from 'n8n-workflow';

import { segments } from '../service/schemas';
import { parseIdList } from './idList';
import { sendOperation } from './send';
import { campaignProperties } from './sendFields';

const displayOptions = { show: { resource: ['campaign'], operation: ['sendToSegments'] } };

const segmentIds = {
	displayName: 'Segment IDs',
	name: 'segmentIds',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 12, 34',
	displayOptions,
	description:
		'Whom to send to: segment IDs from the dashboard of your push service, separated by commas. An expression may give an array.',
} satisfies INodeProperties;

/** Specification, POST send/segment. */
export const sendToSegments = sendOperation({
	resource: 'campaign',
	audience: 'segments',
	option: {
		name: 'Send to Segments',
		value: 'sendToSegments',
		action: 'Send campaign to segments',
		description: 'Send a notification to the subscribers of the given segments',
	},
	properties: campaignProperties('segments', displayOptions, [segmentIds]),
	select: (item) => ({
		segment: parseIdList(item.get(segmentIds), segmentIds.displayName, segments),
	}),
	identify: (_selection, { campaignId }) => ({ campaignId }),
});
