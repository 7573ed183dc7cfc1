import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { updateDisplayOptions } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import { readIds, requireCampaignId } from '../operations/ids';
import { fieldOf, invalid, readChoice, readRequired, readWholeNumber } from '../operations/values';
import { campaignCounters, siteCounters } from '../service/rules';
import { capitalize, quote } from '../service/text';
import type { Rule } from './compare';
import type { Subject } from './fetch';
import { fetchCampaign, fetchSite, siteId } from './fetch';

type Choices = ReadonlyArray<{ readonly name: string; readonly displayName: string }>;

const namesOf = (choices: Choices) => choices.map(({ name }) => name);

/** In the order of their names, as n8n wants them. */
const choicesOf = (choices: Choices) =>
	choices
		.map(({ name, displayName }) => ({ name: displayName, value: name }))
		.sort((one, other) => one.name.localeCompare(other.name));

const status = { name: 'status', displayName: 'Status' };

const campaignIds: INodeProperties = {
	displayName: 'Campaign IDs',
	name: 'campaignIds',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. 1001, 1002',
	description: 'The campaigns to watch, separated by commas',
};

const watchCampaign: INodeProperties = {
	displayName: 'Watch',
	name: 'watch',
	type: 'multiOptions',
	required: true,
	default: [...namesOf(campaignCounters)],
	description: 'What to watch of each campaign',
	hint: 'The first poll reports the numbers as they are then',
	options: choicesOf([...campaignCounters, status]),
};

const watchSite: INodeProperties = {
	...watchCampaign,
	default: [...namesOf(siteCounters)],
	description: 'Which counts to watch',
	options: choicesOf(siteCounters),
};

const minimumChange: INodeProperties = {
	displayName: 'Minimum Change',
	name: 'minimumChange',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 1,
	description: 'By how much a number has to change before the workflow starts',
};

const options: INodeProperties = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: [minimumChange],
};

const counter = {
	displayName: 'Counter',
	name: 'counter',
	type: 'options',
	default: 'clicked',
	description: 'Which counter has to reach the number',
	options: choicesOf(campaignCounters),
} satisfies INodeProperties;

const count = {
	...counter,
	displayName: 'Count',
	name: 'count',
	default: 'activeSubscribers',
	description: 'Which count has to reach the number',
	options: choicesOf(siteCounters),
} satisfies INodeProperties;

const number: INodeProperties = {
	displayName: 'Number',
	name: 'number',
	type: 'number',
	required: true,
	typeOptions: { minValue: 1, numberPrecision: 0 },
	// No number is right for everyone: one has to be entered.
	default: '',
	placeholder: 'e.g. 100',
	description: 'The number to reach',
};

/** Each once. */
function readCampaignIds(parameters: ItemParameters): string[] {
	const field = fieldOf(campaignIds);
	if (String(parameters.written(field.path)).includes('$json')) {
		throw invalid(field, 'reads $json, but a trigger has no input', 'Enter the IDs themselves.');
	}
	const ids = readIds(parameters, field).map((id) => requireCampaignId(field, String(id)));
	return [...new Set(ids)];
}

const everyName = namesOf([...campaignCounters, ...siteCounters, status]);

function readChanged(parameters: ItemParameters, choices: Choices, initial: Choices): Rule {
	const field = fieldOf(watchCampaign);
	const value = readRequired(parameters, field);
	const chosen: unknown[] = Array.isArray(value) ? value : [value];
	if (!chosen.every((name) => everyName.some((each) => each === name))) {
		throw invalid(field, `is not a selection from the list: ${quote(value)}`);
	}
	if (chosen.length === 0) throw invalid(field, 'is empty', 'Choose at least one.');
	// The editor keeps what was chosen for another event: it counts as not chosen.
	const own = namesOf(choices).filter((name) => chosen.includes(name));
	const watched = own.length > 0 ? own : namesOf(initial);

	const minimum = fieldOf(minimumChange, options.name);
	const isAdded = parameters.get(minimum) !== undefined;
	return {
		startsOn: 'change',
		watched,
		minimumChange: isAdded ? readWholeNumber(parameters, minimum, 1) : 1,
	};
}

function readReached(parameters: ItemParameters, choice: typeof counter): Rule {
	return {
		startsOn: 'reach',
		counter: readChoice(parameters, fieldOf(choice), choice),
		number: readWholeNumber(parameters, fieldOf(number), 1),
	};
}

interface TriggerEvent {
	/** The event's entry in the list that users choose from. */
	readonly option: INodePropertyOptions & { readonly value: string };
	/** What the panel shows for it. */
	readonly properties: INodeProperties[];
	readonly subject: Subject;
	/** @throws InvalidInput naming the field */
	readonly readRule: (parameters: ItemParameters) => Rule;
}

const optionOf = (name: string, value: string, description: string) => ({
	name,
	value,
	action: capitalize(name.toLowerCase()),
	description,
});

/** Every event, in the order in which users see them. */
const events: readonly TriggerEvent[] = [
	{
		option: optionOf(
			'Campaign Numbers Change',
			'campaignChanged',
			'When a counter or the status that you watch changes',
		),
		properties: [campaignIds, watchCampaign, options],
		subject: fetchCampaign,
		readRule: (parameters) =>
			readChanged(parameters, [status, ...campaignCounters], campaignCounters),
	},
	{
		option: optionOf(
			'Campaign Reaches a Number',
			'campaignReached',
			'Once, when a counter of a campaign reaches a number',
		),
		properties: [campaignIds, counter, number],
		subject: fetchCampaign,
		readRule: (parameters) => readReached(parameters, counter),
	},
	{
		option: optionOf(
			'Subscriber Count Changes',
			'subscribersChanged',
			'When the site gains or loses subscribers',
		),
		properties: [watchSite, options],
		subject: fetchSite,
		readRule: (parameters) => readChanged(parameters, siteCounters, siteCounters),
	},
	{
		option: optionOf(
			'Subscriber Count Reaches a Number',
			'subscribersReached',
			'Once, when the subscriber count of the site reaches a number',
		),
		properties: [count, number],
		subject: fetchSite,
		readRule: (parameters) => readReached(parameters, count),
	},
];

const event = {
	displayName: 'Trigger On',
	name: 'event',
	type: 'options',
	noDataExpression: true,
	default: 'campaignChanged',
	options: events.map(({ option }) => option),
} satisfies INodeProperties;

/** The panel: each field is shown for its event alone. */
export const triggerProperties: INodeProperties[] = [
	event,
	...events.flatMap(({ option, properties }) =>
		updateDisplayOptions({ show: { event: [option.value] } }, properties),
	),
];

const eventNames = Object.fromEntries(events.map(({ option }) => [option.value, option.name]));

/** What the canvas shows below the node: the name of its event. */
export const triggerSubtitle = `={{ ${JSON.stringify(eventNames)}[$parameter["event"]] }}`;

/**
 * Reads what a trigger watches, and what starts the workflow.
 * @throws InvalidInput naming the field
 */
export function readWatched(parameters: ItemParameters) {
	const chosen = readRequired(parameters, fieldOf(event));
	const known = events.find(({ option }) => option.value === chosen);
	if (known === undefined) throw invalid(fieldOf(event), `is no event: ${quote(chosen)}`);
	const { subject, readRule } = known;
	const ids = subject === fetchSite ? [siteId] : readCampaignIds(parameters);
	return { subject, ids, rule: readRule(parameters) };
}
