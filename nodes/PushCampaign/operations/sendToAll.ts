import { sendOperation } from './send';
import { campaignProperties } from './sendFields';

const displayOptions = { show: { resource: ['campaign'], operation: ['sendToAll'] } };

/** Specification, POST send/all. */
export const sendToAll = sendOperation({
	resource: 'campaign',
	audience: 'all',
	option: {
		name: 'Send to All',
		value: 'sendToAll',
		action: 'Send campaign to all subscribers',
		description: 'Send a notification to every subscriber of the site',
	},
	properties: campaignProperties('all', displayOptions),
	select: () => ({}),
	identify: (_selection, { campaignId }) => ({ campaignId }),
});
