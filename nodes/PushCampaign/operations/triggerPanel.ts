import type { IBuilderHint, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { keptAsWritten } from './asWritten';
import { optionsProperty } from './options';
import { textProperty } from './parameters';

/** What starts the workflow. */
export const eventNames = [
	'campaignChanged',
	'campaignReached',
	'subscribersChanged',
	'subscribersReached',
] as const;
export type EventName = (typeof eventNames)[number];

/** Shows a parameter for these events, and for no other. */
const showFor = (...event: EventName[]) => ({ displayOptions: { show: { event } } });

/** What a parameter lets users choose from. */
export type Choices = ReadonlyArray<{ readonly name: string; readonly value: string }>;
export const valuesOf = (choices: Choices) => choices.map(({ value }) => value);
const byName = (choices: Choices) =>
	[...choices].sort((one, other) => one.name.localeCompare(other.name));

export const counterOptions = [
	{ name: 'Clicked', value: 'clicked' },
	{ name: 'Closed', value: 'closed' },
	{ name: 'Delivered', value: 'delivered' },
	{ name: 'Failed to Send', value: 'failedToSend' },
	{ name: 'Successfully Sent', value: 'successfullySent' },
	{ name: 'Total Attempts', value: 'totalAttempts' },
];
export const statusOption = { name: 'Status', value: 'status' };
export const countOptions = [
	{ name: 'Active Subscribers', value: 'activeSubscribers' },
	{ name: 'Total Lifetime Subscribers', value: 'totalLifetimeSubscribers' },
];

export const event = {
	displayName: 'Trigger On',
	name: 'event',
	type: 'options',
	noDataExpression: true,
	default: 'campaignChanged',
	description: 'What starts the workflow',
	options: [
		{
			name: 'Campaign Numbers Change',
			action: 'Campaign numbers change',
			value: 'campaignChanged',
			description: 'When the counters or the status of a campaign change',
		},
		{
			name: 'Campaign Reaches a Number',
			action: 'Campaign reaches a number',
			value: 'campaignReached',
			description: 'Once, when a counter of a campaign reaches a number',
		},
		{
			name: 'Subscriber Count Changes',
			action: 'Subscriber count changes',
			value: 'subscribersChanged',
			description: 'When the site gains or loses subscribers',
		},
		{
			name: 'Subscriber Count Reaches a Number',
			action: 'Subscriber count reaches a number',
			value: 'subscribersReached',
			description: 'Once, when the subscriber count of the site reaches a number',
		},
	] satisfies Array<INodePropertyOptions & { value: EventName }>,
} satisfies INodeProperties;

export const campaignIds = textProperty({
	displayName: 'Campaign IDs',
	name: 'campaignIds',
	required: true,
	placeholder: 'e.g. 1001, 1002',
	...showFor('campaignChanged', 'campaignReached'),
	description:
		'The campaigns to watch, separated by commas, semicolons or line breaks. Push Campaign returns the ID of each campaign that it sends, as campaignId. An expression can return an array, but it has no input item to read from.',
});

export const watchCampaign = {
	displayName: 'Watch',
	name: 'watch',
	type: 'multiOptions',
	required: true,
	default: ['clicked', 'closed', 'delivered', 'failedToSend', 'successfullySent', 'totalAttempts'],
	...showFor('campaignChanged'),
	description:
		'What to watch of each campaign, at least one. The status shows when a scheduled campaign has gone out.',
	options: byName([...counterOptions, statusOption]),
} satisfies INodeProperties;

export const watchSite = {
	displayName: 'Watch',
	name: 'watch',
	type: 'multiOptions',
	required: true,
	default: ['activeSubscribers', 'totalLifetimeSubscribers'],
	...showFor('subscribersChanged'),
	description: 'Which of the two counts to watch, at least one',
	options: countOptions,
} satisfies INodeProperties;

export const counter = {
	displayName: 'Counter',
	name: 'counter',
	type: 'options',
	default: 'clicked',
	...showFor('campaignReached'),
	description: 'Which counter has to reach the number',
	options: counterOptions,
} satisfies INodeProperties;

export const count = {
	displayName: 'Count',
	name: 'count',
	type: 'options',
	default: 'activeSubscribers',
	...showFor('subscribersReached'),
	description: 'Which count has to reach the number',
	options: countOptions,
} satisfies INodeProperties;

export const number = {
	displayName: 'Number',
	name: 'number',
	type: 'number',
	required: true,
	typeOptions: { minValue: 1, numberPrecision: 0 },
	// No number is right for everyone: one has to be entered.
	default: '',
	...showFor('campaignReached', 'subscribersReached'),
	description:
		'The number to reach, from 1. It starts the workflow once, even if the number falls and rises again.',
} satisfies INodeProperties;

export const options = {
	...optionsProperty([
		{
			displayName: 'Minimum Change',
			name: 'minimumChange',
			type: 'number',
			typeOptions: { minValue: 1, numberPrecision: 0 },
			default: 1,
			description:
				'How far a number has to move before the workflow starts. Smaller moves are not lost: they are part of the next event. A change of the status always starts the workflow.',
		},
	]),
	...showFor('campaignChanged', 'subscribersChanged'),
} satisfies INodeProperties;

export const triggerProperties: INodeProperties[] = [
	event,
	campaignIds,
	watchCampaign,
	watchSite,
	counter,
	count,
	number,
	...keptAsWritten(options),
];

const eventTitles = Object.fromEntries(event.options.map(({ value, name }) => [value, name]));

/** What the canvas shows below the node's name: the event, and the campaigns if they are plain text. */
export const triggerSubtitle = `={{ (${JSON.stringify(eventTitles)})[$parameter["event"]] + (["campaignChanged", "campaignReached"].includes($parameter["event"]) ? ": " + $parameter["campaignIds"] : "") }}`;

/** What n8n's AI workflow builder reads. */
export const triggerBuilderHint: IBuilderHint = {
	searchHint:
		'Starts a workflow when the numbers or the status of web push campaigns change, or the subscriber count of the site. campaignIds must be known in advance: the trigger has no input item. To follow campaigns that the same workflow sends, use Push Campaign with Wait and Get Status instead.',
	relatedNodes: [
		{
			nodeType: 'n8n-nodes-push-campaign.pushCampaign',
			relationHint: 'Sends campaigns and returns the campaignId to watch',
		},
	],
};
