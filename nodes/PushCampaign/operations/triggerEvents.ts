import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { campaignCounters, siteCounters } from '../service/counters';
import { subjects } from '../watch/subjects';
import type { Watched } from '../watch/watched';
import type { TriggerParameters } from './triggerFields';
import {
	campaignIds,
	choicesOf,
	counterField,
	minimumChange,
	status,
	target,
	watchField,
} from './triggerFields';

/** What starts the workflow. */
export interface TriggerEvent {
	/** The event's entry in the list that users choose from. */
	readonly option: INodePropertyOptions & { readonly value: string };
	/** The fields that users see for it. */
	readonly properties: readonly INodeProperties[];
	/** @throws InvalidInput naming the parameter */
	readonly read: (parameters: TriggerParameters) => Watched;
}

const ofCampaign = choicesOf(campaignCounters);
const ofSite = choicesOf(siteCounters);

/** The site has one ID, which no campaign has: an ID with a blank is refused. */
const site = { subject: subjects.site, ids: ['the site'] };

const watchCampaign = watchField(
	choicesOf([...campaignCounters, status]),
	ofCampaign,
	'What to watch of each campaign, at least one. The status shows when a scheduled campaign has gone out.',
);

const campaignChanged: TriggerEvent = {
	option: {
		name: 'Campaign Numbers Change',
		action: 'Campaign numbers change',
		value: 'campaignChanged',
		description: 'When the counters or the status of a campaign change',
	},
	properties: [campaignIds.property, watchCampaign.property, minimumChange.property],
	read(parameters) {
		const ids = campaignIds.read(parameters);
		const watched = watchCampaign.read(parameters);
		return {
			subject: subjects.campaign,
			ids,
			rule: {
				startsOn: 'change',
				counters: watched.filter((name) => name !== status.name),
				isStatusWatched: watched.includes(status.name),
				minimumChange: minimumChange.read(parameters),
			},
		};
	},
};

const campaignCounter = counterField(
	{
		displayName: 'Counter',
		name: 'counter',
		default: 'clicked',
		description: 'Which counter has to reach the number',
	},
	ofCampaign,
);

const campaignReached: TriggerEvent = {
	option: {
		name: 'Campaign Reaches a Number',
		action: 'Campaign reaches a number',
		value: 'campaignReached',
		description: 'Once, when a counter of a campaign reaches a number',
	},
	properties: [campaignIds.property, campaignCounter.property, target.property],
	read: (parameters) => ({
		subject: subjects.campaign,
		ids: campaignIds.read(parameters),
		rule: {
			startsOn: 'reach',
			counter: campaignCounter.read(parameters),
			target: target.read(parameters),
		},
	}),
};

const watchSite = watchField(ofSite, ofSite, 'Which of the two counts to watch, at least one');

const subscribersChanged: TriggerEvent = {
	option: {
		name: 'Subscriber Count Changes',
		action: 'Subscriber count changes',
		value: 'subscribersChanged',
		description: 'When the site gains or loses subscribers',
	},
	properties: [watchSite.property, minimumChange.property],
	read: (parameters) => ({
		...site,
		rule: {
			startsOn: 'change',
			counters: watchSite.read(parameters),
			isStatusWatched: false,
			minimumChange: minimumChange.read(parameters),
		},
	}),
};

const siteCounter = counterField(
	{
		displayName: 'Count',
		name: 'count',
		default: 'activeSubscribers',
		description: 'Which count has to reach the number',
	},
	ofSite,
);

const subscribersReached: TriggerEvent = {
	option: {
		name: 'Subscriber Count Reaches a Number',
		action: 'Subscriber count reaches a number',
		value: 'subscribersReached',
		description: 'Once, when the subscriber count of the site reaches a number',
	},
	properties: [siteCounter.property, target.property],
	read: (parameters) => ({
		...site,
		rule: {
			startsOn: 'reach',
			counter: siteCounter.read(parameters),
			target: target.read(parameters),
		},
	}),
};

/** Every event of the trigger, in the order in which users see them. */
export const triggerEvents: readonly TriggerEvent[] = [
	campaignChanged,
	campaignReached,
	subscribersChanged,
	subscribersReached,
];
