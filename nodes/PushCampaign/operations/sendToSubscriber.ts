import type { INodeProperties } from 'n8n-workflow';

import { subscriberId } from '../service/schemas';
import { check } from './parameters';
import { sendOperation } from './send';
import { campaignProperties } from './sendFields';

const displayOptions = { show: { resource: ['campaign'], operation: ['sendToSubscriber'] } };

const subscriber = {
	displayName: 'Subscriber ID',
	name: 'subscriberId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 5001',
	displayOptions,
	description:
		'ID of the subscriber: a number, such as 5001. Give a long one as text, so that no digit is lost.',
} satisfies INodeProperties;

/** Specification, POST send/sid. */
export const sendToSubscriber = sendOperation({
	resource: 'campaign',
	audience: 'subscriber',
	option: {
		name: 'Send to Subscriber',
		value: 'sendToSubscriber',
		action: 'Send campaign to one subscriber',
		description: 'Send a notification to one subscriber',
	},
	properties: campaignProperties('subscriber', displayOptions, [subscriber]),
	select: (item) => ({ sid: check(subscriberId, item.get(subscriber), subscriber.displayName) }),
	identify: ({ sid }) => ({ subscriberId: sid }),
});
