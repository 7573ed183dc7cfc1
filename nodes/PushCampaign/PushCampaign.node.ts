import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { credentialTest } from './execution/credentialTest';
import { runItems } from './execution/runItems';
import { operationProperties, operations } from './operations';
import { builderHint } from './operations/builderHint';
import { editorHints } from './operations/editorHints';
import { timezones } from './operations/timing';

/** The operations of a resource, to choose from. */
const operationOf = (resource: 'campaign' | 'site', initial: string): INodeProperties => ({
	displayName: 'Operation',
	name: 'operation',
	type: 'options',
	noDataExpression: true,
	default: initial,
	displayOptions: { show: { resource: [resource] } },
	options: operations.filter((each) => each.resource === resource).map(({ option }) => option),
});

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
		hints: editorHints,
		builderHint,
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
			operationOf('campaign', 'sendToAll'),
			operationOf('site', 'getSubscriberCount'),
			...operationProperties,
		],
	};

	methods = { credentialTest, loadOptions: { getTimezones: async () => timezones() } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [await runItems(this)];
	}
}
