import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	NodeHint,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { credentialTest } from './execution/credentialTest';
import { runItems } from './execution/runItems';
import { campaignSends, operations } from './operations';

const optionsOf = (resource: string) =>
	operations.filter((operation) => operation.resource === resource).map(({ option }) => option);

const oneCampaignPerItem: NodeHint = {
	message:
		'Each input item becomes a campaign of its own. For a single campaign, turn on Execute Once in the settings of this node.',
	displayCondition: `={{ ${JSON.stringify(campaignSends)}.includes($rawParameter["operation"]) && $input.all().length > 1 }}`,
	location: 'outputPane',
};

export class PushCampaign implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Push Campaign',
		name: 'pushCampaign',
		icon: { light: 'file:pushCampaign.svg', dark: 'file:pushCampaign.dark.svg' },
		group: ['output'],
		version: 1,
		// The operation's name, made of its value. As written: an expression of an option is known only for an item.
		subtitle:
			'={{ $rawParameter["operation"].charAt(0).toUpperCase() + $rawParameter["operation"].slice(1).replace(/[A-Z]/g, " $&").replace(" To ", " to ") + ($rawParameter["options"]?.dryRun === true ? " (dry run)" : "") }}',
		hints: [oneCampaignPerItem],
		description: 'Send web push notifications and read how they did',
		defaults: { name: 'Push Campaign' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'pushCampaignApi', required: true, testedBy: 'pushCampaignApi' }],
		properties: [
			{
				displayName: 'Resource',
				name: 'resource',
				type: 'options',
				noDataExpression: true,
				default: 'campaign',
				options: [
					{ name: 'Campaign', value: 'campaign' },
					{ name: 'Site', value: 'site' },
				],
			},
			{
				displayName: 'Operation',
				name: 'operation',
				type: 'options',
				noDataExpression: true,
				default: 'sendToAll',
				displayOptions: { show: { resource: ['campaign'] } },
				options: optionsOf('campaign'),
			},
			{
				displayName: 'Operation',
				name: 'operation',
				type: 'options',
				noDataExpression: true,
				default: 'getSubscriberCount',
				displayOptions: { show: { resource: ['site'] } },
				options: optionsOf('site'),
			},
			...operations.flatMap(({ properties }) => properties),
		],
	};

	methods = { credentialTest };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [await runItems(this)];
	}
}
