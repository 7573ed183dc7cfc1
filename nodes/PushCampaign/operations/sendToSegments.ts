import { segments } from '../service/schemas';
import { clip } from '../service/text';
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
	select(item) {
		const ids = toIdList(item.get(segmentIds));
		// An ID that is not one is named in the message.
		const nameOf = ([index]: ReadonlyArray<string | number>) => {
			const id: unknown = Array.isArray(ids) ? ids[Number(index)] : undefined;
			return typeof id === 'string' ? `“${clip(id)}”` : undefined;
		};
		return { segment: check(segments, ids, segmentIds.displayName, nameOf) };
	},
});
