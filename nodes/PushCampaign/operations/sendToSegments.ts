import type { INodeProperties } from 'n8n-workflow';

import { parseIdList } from './idList';
import type { SendOperation } from './operation';
import type { ItemParameters } from './parameters';
import { invalid, isBlank } from './parameters';
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

function selectSegments(item: ItemParameters): Array<string | number> {
	const { displayName } = segmentIds;
	const value = item.get(segmentIds);
	const advice = 'Give at least one segment ID, from the dashboard of your push service.';
	if (isBlank(value)) throw invalid(displayName, 'is missing', advice);
	const ids = parseIdList(value, displayName);
	if (ids.length === 0) throw invalid(displayName, 'is empty', advice);
	return ids;
}

/** Specification, POST send/segment. */
export const sendToSegments: SendOperation = {
	kind: 'send',
	resource: 'campaign',
	audience: 'segments',
	option: {
		name: 'Send to Segments',
		value: 'sendToSegments',
		action: 'Send campaign to segments',
		description: 'Send a notification to the subscribers of the given segments',
	},
	properties: campaignProperties('segments', displayOptions, [segmentIds]),
	select: (item) => ({ segment: selectSegments(item) }),
	identify: (_selection, { campaignId }) => ({ campaignId }),
};
