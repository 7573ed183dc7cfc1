import type { INodeProperties } from 'n8n-workflow';

import { subscriberId } from '../service/schemas';
import { check } from './parameters';
import { sendOperation } from './send';

const subscriber = {
	displayName: 'Subscriber ID',
	name: 'subscriberId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 5001',
	description:
		'ID of the subscriber: a number, such as 5001. Give a long one as text, so that no digit is lost.',
} satisfies INodeProperties;

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
	select: (item) => ({ sid: check(subscriberId, item.get(subscriber), subscriber.displayName) }),
});
