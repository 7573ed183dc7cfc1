import type {
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IPollFunctions,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { pollCampaigns } from './execution/pollCampaigns';
import { counterNames } from './service/answers';

export class PushCampaignTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Push Campaign Trigger',
		name: 'pushCampaignTrigger',
		icon: { light: 'file:pushCampaign.svg', dark: 'file:pushCampaign.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{ "campaigns: " + $parameter["campaignIds"] }}',
		description: 'Starts the workflow when the counters of a campaign change',
		defaults: { name: 'Push Campaign Trigger' },
		polling: true,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'pushCampaignApi', required: true }],
		properties: [
			{
				displayName: 'Campaign IDs',
				name: 'campaignIds',
				type: 'string',
				default: '',
				required: true,
				placeholder: 'e.g. 1001, 1002',
				description:
					'Which campaigns to watch: IDs separated by commas, semicolons or line breaks, or an expression that gives an array. A trigger has no input item that the expression could use.',
			},
			{
				displayName: 'Counters',
				name: 'counters',
				type: 'multiOptions',
				default: [...counterNames],
				description: 'Which counters to watch, at least one',
				options: [
					{ name: 'Clicked', value: 'clicked' },
					{ name: 'Closed', value: 'closed' },
					{ name: 'Delivered', value: 'delivered' },
					{ name: 'Failed to Send', value: 'failedToSend' },
					{ name: 'Successfully Sent', value: 'successfullySent' },
					{ name: 'Total Attempts', value: 'totalAttempts' },
				],
			},
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				placeholder: 'Add option',
				default: {},
				options: [
					{
						displayName: 'Minimum Change',
						name: 'minimumChange',
						type: 'number',
						typeOptions: { minValue: 1, numberPrecision: 0 },
						default: 1,
						description:
							'How far a watched counter has to move before the workflow starts. Smaller moves are not lost: they are part of the next event.',
					},
				],
			},
		],
	};

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await pollCampaigns(this);
	}
}
