import { readIds } from './ids';
import type { SendOperation } from './operation';
import { sendProperties, toolNotice } from './sendFields';
import { fieldOf, textProperty } from './values';

const segmentIds = textProperty('Segment IDs', 'segmentIds', {
	required: true,
	placeholder: 'e.g. 12, 34',
	description: 'IDs from the dashboard of the push service, separated by commas',
});

/** Specification, POST send/segment. */
export const sendToSegments: SendOperation = {
	resource: 'campaign',
	audience: 'segments',
	option: {
		name: 'Send to Segments',
		value: 'sendToSegments',
		action: 'Send campaign to segments',
		description: 'Send a notification to the subscribers of segments',
	},
	properties: [
		toolNotice('every subscriber of these segments'),
		segmentIds,
		...sendProperties('segments'),
	],
	select: (item) => ({ segment: readIds(item, fieldOf(segmentIds)) }),
};
