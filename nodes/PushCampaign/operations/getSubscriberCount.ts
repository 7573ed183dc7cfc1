import { subscriberCount } from '../service/answers';
import { subscriberCountPath } from '../service/rules';
import type { ReadOperation } from './operation';
import { prepareRead, readProperties } from './readFields';

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
		prepareRead(item, { path: subscriberCountPath }, subscriberCount, (counts) => ({ ...counts })),
	toFailedRow: () => ({}),
};
