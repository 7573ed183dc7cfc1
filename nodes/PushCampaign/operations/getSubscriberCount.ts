import { subscriberCount } from '../service/answers';
import { subscriberCountPath } from '../service/rules';
import { readOperation } from './read';

/** Specification, GET subscriber_count. */
export const getSubscriberCount = readOperation({
	resource: 'site',
	option: {
		name: 'Get Subscriber Count',
		value: 'getSubscriberCount',
		action: 'Get subscriber count',
		description: 'Read how many subscribers the site has, in total and active',
	},
	properties: [],
	toInvalidItem: (_item, { error }) => ({ error }),
	toRequest: () => ({ path: subscriberCountPath, schema: subscriberCount }),
	simplify: (counters) => ({ ...counters }),
});
