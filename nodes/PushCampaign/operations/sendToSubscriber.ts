import { subscriberId } from '../service/schemas';
import { fieldOf } from './judgeText';
import { check, textProperty } from './parameters';
import { sendOperation } from './send';

const subscriber = textProperty({
	displayName: 'Subscriber ID',
	name: 'subscriberId',
	required: true,
	placeholder: 'e.g. 5001',
	description:
		"The subscriber's ID: digits only, such as 5001. Enter a long one as text, so that no digit is lost.",
});

/** Specification, POST send/sid. */
export const sendToSubscriber = sendOperation({
	audience: 'subscriber',
	option: {
		name: 'Send to Subscriber',
		value: 'sendToSubscriber',
		action: 'Send campaign to one subscriber',
		description: 'Send a notification to one subscriber',
	},
	properties: [subscriber],
	subscriber,
	select(item, judge) {
		const given = judge(item.get(subscriber), fieldOf(subscriber));
		return { sid: check(subscriberId, given, subscriber.displayName) };
	},
});
