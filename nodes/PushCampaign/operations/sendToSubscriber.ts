import type { SendOperation } from './operation';
import { sendProperties } from './sendFields';
import { readSubscriberId, subscriberField, subscriberId } from './subscriber';

/** Specification, POST send/sid. */
export const sendToSubscriber: SendOperation = {
	resource: 'campaign',
	audience: 'subscriber',
	option: {
		name: 'Send to Subscriber',
		value: 'sendToSubscriber',
		action: 'Send notification to one subscriber',
		description: 'Send a notification to one subscriber',
	},
	properties: [subscriberId, ...sendProperties('subscriber')],
	subscriber: subscriberField,
	select: (item) => ({ sid: readSubscriberId(item, subscriberField) }),
};
