import { sendOperation, toolNotice } from './send';

/** Specification, POST send/all. */
export const sendToAll = sendOperation({
	audience: 'all',
	option: {
		name: 'Send to All',
		value: 'sendToAll',
		action: 'Send campaign to all subscribers',
		description: 'Send a notification to every subscriber of the site',
	},
	properties: [toolNotice('every subscriber')],
	select: () => ({}),
});
