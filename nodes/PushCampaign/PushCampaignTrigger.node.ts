import type {
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IPollFunctions,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { credentialTest } from './execution/credentialTest';
import { pollCampaigns } from './execution/pollCampaigns';
import { triggerBuilderHint, triggerProperties, triggerSubtitle } from './operations/triggerPanel';

export class PushCampaignTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Push Campaign Trigger',
		name: 'pushCampaignTrigger',
		icon: { light: 'file:pushCampaign.svg', dark: 'file:pushCampaign.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: triggerSubtitle,
		builderHint: triggerBuilderHint,
		description:
			'Send web push notifications, or start a workflow when a campaign or the subscriber count changes',
		defaults: { name: 'Push Campaign Trigger' },
		polling: true,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'pushCampaignApi', required: true, testedBy: 'pushCampaignApi' }],
		properties: triggerProperties,
	};

	methods = { credentialTest };

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await pollCampaigns(this);
	}
}
