import type { IBuilderHint, INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { Watched } from '../watch/watched';
import { keptAsWritten } from './asWritten';
import { invalid } from './parameters';
import { triggerEvents } from './triggerEvents';
import type { TriggerParameters } from './triggerFields';
import { campaignIds, noSelection, readRequired } from './triggerFields';

const eventOptions = triggerEvents.map(({ option }) => option);

const eventProperty = {
	displayName: 'Trigger On',
	name: 'event',
	type: 'options',
	noDataExpression: true,
	default: 'campaignChanged',
	description: 'What starts the workflow',
	options: eventOptions,
} satisfies INodeProperties;

/** The panel: each field is shown for its event only. */
export const triggerProperties: INodeProperties[] = [
	eventProperty,
	...triggerEvents.flatMap(({ option, properties }) =>
		properties
			.map((property) => ({ ...property, displayOptions: { show: { event: [option.value] } } }))
			.flatMap(keptAsWritten),
	),
];

/**
 * Reads what a trigger watches.
 * @throws InvalidInput naming the parameter
 */
export function readWatched(parameters: TriggerParameters): Watched {
	const chosen = readRequired(parameters, eventProperty, z.unknown());
	const event = triggerEvents.find(({ option }) => option.value === chosen);
	if (event === undefined) throw invalid(eventProperty.displayName, noSelection);
	return event.read(parameters);
}

const eventTitles = Object.fromEntries(eventOptions.map(({ value, name }) => [value, name]));
const campaignEvents = triggerEvents
	.filter(({ properties }) => properties.includes(campaignIds.property))
	.map(({ option }) => option.value);

/** What the canvas shows below the node's name: the event, and the campaigns if they are plain text. */
export const triggerSubtitle = `={{ (${JSON.stringify(eventTitles)})[$parameter["event"]] + (${JSON.stringify(campaignEvents)}.includes($parameter["event"]) ? ": " + $parameter["campaignIds"] : "") }}`;

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
