import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { execute } from './execution/execute';
import { builderHint, operationProperties, queries, sends } from './operations';
import { timezones } from './operations/timing';

/** The operations of a resource, to choose from. */
const operationOf = (resource: 'campaign' | 'site', initial: string): INodeProperties => ({
	displayName: 'Operation',
	name: 'operation',
	type: 'options',
	noDataExpression: true,
	default: initial,
	displayOptions: { show: { resource: [resource] } },
	options: [...sends, ...queries]
		.filter((operation) => operation.resource === resource)
		.map(({ option }) => option),
});

export class PushCampaign implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Push Campaign',
		name: 'pushCampaign',
		icon: { light: 'file:pushCampaign.svg', dark: 'file:pushCampaign.dark.svg' },
		group: ['output'],
		version: 1,
		subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
		builderHint,
		description: 'Send web push notifications and see how they did',
		defaults: { name: 'Push Campaign' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'pushCampaignApi', required: true }],
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
			operationOf('campaign', 'sendToAll'),
			operationOf('site', 'getSubscriberCount'),
			...operationProperties,
		],
	};

	methods = { loadOptions: { getTimezones: async () => timezones() } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [await execute(this)];
	}
}
