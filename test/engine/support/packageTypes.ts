import type { ICredentialType } from 'n8n-workflow';
import { PushCampaignApi } from '../../../credentials/PushCampaignApi.credentials';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';
import type { NodeTypeTable } from './nodeTypes';

/** This package's node types, as n8n names them. */
export const packageNodeTypes: NodeTypeTable = {
	'n8n-nodes-push-campaign.pushCampaign': new PushCampaign(),
	'n8n-nodes-push-campaign.pushCampaignTrigger': new PushCampaignTrigger(),
};

/** This package's credential types. */
export const packageCredentialTypes: readonly ICredentialType[] = [new PushCampaignApi()];
