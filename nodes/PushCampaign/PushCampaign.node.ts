import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { credentialTest } from './execution/credentialTest';
import { runItems } from './execution/runItems';
import { nodeHints, operationProperties, operations } from './operations';
import { timezones } from './operations/timing';

const optionsOf = (resource: string) =>
	operations.filter((operation) => operation.resource === resource).map(({ option }) => option);

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
		hints: nodeHints,
		description: 'Send web push notifications and see how they did',
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
			...operationProperties,
		],
	};

	methods = { credentialTest, loadOptions: { getTimezones: async () => timezones() } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [await runItems(this)];
	}
}
