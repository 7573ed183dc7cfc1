import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes, updateDisplayOptions } from 'n8n-workflow';

import { execute } from './execution/execute';
import { queries, sends } from './operations';
import { timezones } from './operations/timing';

const operations = [...sends, ...queries];

const operationNames = Object.fromEntries(
	operations.map(({ option }) => [option.value, option.name]),
);

/** What the canvas shows below the node: there is room for some 25 characters, and so not for an action. */
const operationSubtitle = `={{ ${JSON.stringify(operationNames)}[$parameter["operation"]] }}`;

/** The operations of a resource, to choose from. */
const operationOf = (resource: 'campaign' | 'site', initial: string): INodeProperties => ({
	displayName: 'Operation',
	name: 'operation',
	type: 'options',
	noDataExpression: true,
	default: initial,
	displayOptions: { show: { resource: [resource] } },
	options: operations
		.filter((operation) => operation.resource === resource)
		.map(({ option }) => option),
});

/** The panels of all operations: each parameter is shown for its operation only. */
const operationProperties: INodeProperties[] = operations.flatMap(
	({ resource, option, properties }) =>
		updateDisplayOptions({ show: { resource: [resource], operation: [option.value] } }, properties),
);

const properties: INodeProperties[] = [
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
];

export class PushCampaign implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Push Campaign',
		name: 'pushCampaign',
		icon: { light: 'file:pushCampaign.svg', dark: 'file:pushCampaign.dark.svg' },
		group: ['output'],
		version: 1,
		subtitle: operationSubtitle,
		builderHint: {
			searchHint:
				'Sends web push (browser) notifications to subscribers of a website: all, segments, those with an attribute, or one; and reads campaign status and subscriber counts. A send reaches real people and cannot be taken back, so build it with Dry Run (options.dryRun), which the user removes.',
		},
		description: 'Send web push notifications and see how they did',
		defaults: { name: 'Push Campaign' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'pushCampaignApi', required: true }],
		properties,
	};

	methods = { loadOptions: { getTimezones: async () => timezones() } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [await execute(this)];
	}
}
