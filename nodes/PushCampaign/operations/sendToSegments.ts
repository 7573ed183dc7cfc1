import { campaignProperties } from './campaignFields';
import { parseIdList } from './idList';
import type { SendOperation } from './operation';
import { invalid, isBlank } from './parameters';
import type { ItemParameters } from './parameters';

const FIELD = 'Segment IDs';
const displayOptions = { show: { resource: ['campaign'], operation: ['sendToSegments'] } };

function selectSegments(item: ItemParameters): Array<string | number> {
	const value = item.get('segmentIds', FIELD);
	const advice = 'Give at least one segment ID, from the dashboard of your push service.';
	if (isBlank(value)) throw invalid(FIELD, 'is missing', advice);
	const ids = parseIdList(value, FIELD);
	if (ids.length === 0) throw invalid(FIELD, 'is empty', advice);
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
	properties: campaignProperties('segments', displayOptions, [
		{
			displayName: FIELD,
			name: 'segmentIds',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. 12, 34',
			displayOptions,
			description:
				'Whom to send to: segment IDs from the dashboard of your push service, separated by commas, semicolons or line breaks, or an expression that gives an array',
		},
	]),
	select: (item) => ({ segment: selectSegments(item) }),
	identify: (_selection, { campaignId }) => ({ campaignId }),
};
