import { readSubscriberId } from './ids';
import type { SendOperation } from './operation';
import { sendProperties } from './sendFields';
import { fieldOf, textProperty } from './values';

const subscriberId = textProperty('Subscriber ID', 'subscriberId', {
	required: true,
	placeholder: 'e.g. 5001',
	description: 'Digits only; enter a long one as text',
});
export const subscriberField = fieldOf(subscriberId);

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
