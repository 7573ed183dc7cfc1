import { segments } from '../service/schemas';
import { check, textProperty, toIdList } from './parameters';
import { sendOperation, toolNotice } from './send';

const segmentIds = textProperty({
	displayName: 'Segment IDs',
	name: 'segmentIds',
	required: true,
	placeholder: 'e.g. 12, 34',
	description:
		'Whom to send to: segment IDs from the dashboard of your push service, separated by commas. An expression may give an array.',
});

/** Specification, POST send/segment. */
export const sendToSegments = sendOperation({
	audience: 'segments',
	option: {
		name: 'Send to Segments',
		value: 'sendToSegments',
		action: 'Send campaign to segments',
		description: 'Send a notification to the subscribers of the given segments',
	},
	properties: [toolNotice('every subscriber of these segments'), segmentIds],
	select: (item) => ({
		segment: check(segments, toIdList(item.get(segmentIds)), segmentIds.displayName),
	}),
});
