import { subscriberCount } from '../service/answers';
import { subscriberCountPath } from '../service/rules';
import type { ReadOperation } from './readOperation';
import { prepareRead, readProperties } from './readOperation';

/** Specification, GET subscriber_count. */
export const getSubscriberCount: ReadOperation = {
	resource: 'site',
	option: {
		name: 'Get Subscriber Count',
		value: 'getSubscriberCount',
		action: 'Get subscriber count',
		description: 'Read how many subscribers the site has',
	},
	properties: readProperties,
	prepare: (item) =>
		prepareRead(item, {
			request: { path: subscriberCountPath },
			schema: subscriberCount,
			toItem: (counters) => ({ ...counters }),
		}),
};
