import { subscriberCount } from '../service/answers';
import { subscriberCountPath } from '../service/rules';
import type { ReadOperation } from './operation';
import { readOptions } from './options';
import { prepareRead, simplifyProperty } from './read';

const displayOptions = { show: { resource: ['site'], operation: ['getSubscriberCount'] } };

/** Specification, GET subscriber_count. */
export const getSubscriberCount: ReadOperation = {
	kind: 'read',
	resource: 'site',
	option: {
		name: 'Get Subscriber Count',
		value: 'getSubscriberCount',
		action: 'Get subscriber count',
		description: 'Read how many subscribers the site has, in total and active',
	},
	properties: [simplifyProperty(displayOptions), readOptions(displayOptions)],
	prepare: (item) =>
		prepareRead(item, {
			request: { kind: 'read', path: subscriberCountPath },
			schema: subscriberCount,
			simplify: (record) => ({
				totalLifetimeSubscribers: record.total_life_time_subscribers,
				activeSubscribers: record.active_subscribers,
			}),
		}),
};
