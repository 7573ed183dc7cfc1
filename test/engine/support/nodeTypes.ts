import { NodeConnectionTypes, type INodeType, type INodeTypes } from 'n8n-workflow';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';

/** Stands in for a built-in node that hands its input on. */
const passOn: INodeType = {
	description: {
		displayName: 'Pass On',
		name: 'passOn',
		group: ['trigger'],
		version: 1,
		description: 'Hands its input on',
		defaults: { name: 'Pass On' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	},
	async execute() {
		return [this.getInputData()];
	},
};

const table: Readonly<Record<string, INodeType>> = {
	'n8n-nodes-push-campaign.pushCampaign': new PushCampaign(),
	'n8n-nodes-push-campaign.pushCampaignTrigger': new PushCampaignTrigger(),
	'n8n-nodes-base.manualTrigger': passOn,
	'n8n-nodes-base.noOp': passOn,
};

const find = (name: string): INodeType => {
	const nodeType = table[name];
	if (nodeType === undefined) throw new Error(`No node type ${name} in the engine tests`);
	return nodeType;
};

/** The node types that the engine tests know, by their full name; throws on any other. */
export const nodeTypes: INodeTypes = {
	getByName: find,
	getByNameAndVersion: find,
	getKnownTypes: () => ({}),
};
