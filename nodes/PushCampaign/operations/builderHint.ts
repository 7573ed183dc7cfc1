import type { IBuilderHint } from 'n8n-workflow';

/** What n8n's AI workflow builder reads when it searches for a node and connects it to others. */
export const builderHint: IBuilderHint = {
	searchHint:
		'Sends web push (browser) notifications to all subscribers of a website, to segments, to subscribers with an attribute, or to one subscriber, and reads campaign status and subscriber counts. A send reaches real people and cannot be taken back: build it with the option Dry Run (options.dryRun) turned on, or put an approval step before it, and let the user turn Dry Run off. Every input item is a campaign of its own: use one item, or turn on Execute Once, to notify each subscriber once. Set options.sendOnce to "ever" (or "perDay") so that the same notification does not go out twice, or options.idempotencyKey if the event has an ID and a trigger may deliver it twice. Get Status takes the campaignId that a send returns: put it after the send with a Wait node in between, because counters start at 0 and grow for hours. Send to Subscriber returns no campaignId.',
	relatedNodes: [
		{
			nodeType: 'n8n-nodes-push-campaign.pushCampaignTrigger',
			relationHint:
				'Starts a workflow when the numbers of a campaign or the subscriber count change; use it instead of reading the status in a loop',
		},
		{
			nodeType: 'n8n-nodes-base.wait',
			relationHint: 'Between a send and Get Status: wait at least an hour for the counters to grow',
		},
		{
			nodeType: 'n8n-nodes-base.slack',
			relationHint:
				'Approval before a send: Send and Wait for Response, then an IF node on the answer',
		},
		{
			nodeType: 'n8n-nodes-base.scheduleTrigger',
			relationHint: 'Starts regular campaigns, or a daily report with Get Subscriber Count',
		},
	],
};
