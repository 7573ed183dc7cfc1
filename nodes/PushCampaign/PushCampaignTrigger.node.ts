import type {
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IPollFunctions,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { triggerProperties, triggerSubtitle } from './trigger/events';
import { poll } from './trigger/poll';

export class PushCampaignTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Push Campaign Trigger',
		name: 'pushCampaignTrigger',
		icon: { light: 'file:pushCampaign.svg', dark: 'file:pushCampaign.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: triggerSubtitle,
		builderHint: {
			searchHint:
				'Starts a workflow when the numbers of web push campaigns or the subscriber count of the site change. The trigger has no input item, so to follow a campaign that the same workflow sends, use Push Campaign with Wait and Get Status.',
		},
		// n8n's list shows this for the action node, too.
		description:
			'Send web push notifications, or start a workflow when a campaign or the subscriber count changes',
		defaults: { name: 'Push Campaign Trigger' },
		polling: true,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'pushCampaignApi', required: true }],
		properties: triggerProperties,
	};

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await poll(this);
	}
}
