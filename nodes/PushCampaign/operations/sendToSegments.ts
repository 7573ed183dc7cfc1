import { segments } from '../service/schemas';
import { fieldOf } from './judgeText';
import { check, textProperty, toIdList } from './parameters';
import { sendOperation, toolNotice } from './send';

const segmentIds = textProperty({
	displayName: 'Segment IDs',
	name: 'segmentIds',
	required: true,
	placeholder: 'e.g. 12, 34',
	description:
		"Whom to send to: segment IDs from your push service's dashboard, separated by commas, or an expression that returns an array",
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
	select(item, judge) {
		const field = fieldOf(segmentIds);
		const given = judge(item.get(segmentIds), field);
		const segment = check(segments, toIdList(given), field.displayName);
		return { segment: segment.map((id) => judge(id, field)) };
	},
});
