import { subscriberCount } from '../service/answers';
import { subscriberCountPath } from '../service/rules';
import type { QueryOperation } from './operation';
import { prepareQuery, queryProperties } from './operation';

/** Specification, GET subscriber_count. */
export const getSubscriberCount: QueryOperation = {
	resource: 'site',
	option: {
		name: 'Get Subscriber Count',
		value: 'getSubscriberCount',
		action: 'Get subscriber count',
		description: 'Read how many subscribers the site has',
	},
	properties: queryProperties,
	prepare: (item) => prepareQuery(item, { path: subscriberCountPath }, subscriberCount),
	toFailedRow: () => ({}),
};
