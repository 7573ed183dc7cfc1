import type { SendOperation } from './operation';
import { sendProperties, toolNotice } from './sendFields';

/** Specification, POST send/all. */
export const sendToAll: SendOperation = {
	resource: 'campaign',
	audience: 'all',
	option: {
		name: 'Send to All',
		value: 'sendToAll',
		action: 'Send campaign to all subscribers',
		description: 'Send a notification to every subscriber of the site',
	},
	properties: [toolNotice('every subscriber'), ...sendProperties('all')],
	select: () => ({}),
};
