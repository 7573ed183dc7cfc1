import { readSubscriberId } from './options';
import type { SendOperation } from './send';
import { subscriberId } from './send';
import { sendProperties } from './sendFields';
import { fieldOf } from './values';

const subscriber = fieldOf(subscriberId);

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
	subscriber,
	select: (item) => ({ sid: readSubscriberId(item, subscriber) }),
};
