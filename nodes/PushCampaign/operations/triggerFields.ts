import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { toPlainId } from '../service/answers';
import type { Counter } from '../service/counters';
import { campaignCounters, siteCounters } from '../service/counters';
import { campaignId, idList } from '../service/schemas';
import { issueWith } from '../service/textSchemas';
import { wholeNumber } from '../service/wholeNumber';
import { optionsProperty } from './options';
import type { ItemParameters, Parameter } from './parameters';
import { check, invalid, isBlank, readCollection, textProperty, toIdList } from './parameters';

/** The parameters of a trigger, which has no item. */
export type TriggerParameters = Pick<ItemParameters, 'get'>;

/** A field of the trigger's panel. */
interface TriggerField<Value> {
	readonly property: INodeProperties;
	/** @throws InvalidInput naming the field */
	readonly read: (parameters: TriggerParameters) => Value;
}

/** What a field offers. */
type Choices = ReadonlyArray<{ readonly name: string; readonly value: string }>;
const valuesOf = (choices: Choices) => choices.map(({ value }) => value);

/** In the order of their names, as n8n wants them. */
export const choicesOf = (counters: ReadonlyArray<Omit<Counter, 'serviceName'>>): Choices =>
	counters
		.map(({ displayName, name }) => ({ name: displayName, value: name }))
		.sort((one, other) => one.name.localeCompare(other.name));

export const noSelection = 'is not a selection from the list';

/**
 * Reads a value that must be there. n8n fills in the default of a field that nobody changed, so one that is empty
 * was emptied, or its expression returned nothing: it must not count as the default.
 * @throws InvalidInput naming the field
 */
export function readRequired<Value>(
	parameters: TriggerParameters,
	property: Parameter,
	schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
): Value {
	const value = parameters.get(property);
	const { displayName } = property;
	if (!isBlank(value)) return check(schema, value, displayName);
	const advice = `Fill in ${displayName}. A trigger has no input item, so an expression in it can't use $json.`;
	throw invalid(displayName, 'is empty', advice);
}

/** Each ID once, without leading zeros, so that `01` and `1` are one campaign. */
const watchedIds = idList
	.pipe(z.array(campaignId.transform(toPlainId)))
	.transform((ids) => [...new Set(ids)])
	.refine(
		(ids) => ids.length > 0,
		issueWith(
			'is missing',
			'Enter at least one campaign ID: Push Campaign returns it as campaignId.',
		),
	)
	// A JavaScript object can hold no baseline under this name.
	.refine(
		(ids) => !ids.includes('__proto__'),
		issueWith('contains __proto__', 'Remove __proto__.'),
	);

export const campaignIds: TriggerField<readonly string[]> = {
	property: textProperty({
		displayName: 'Campaign IDs',
		name: 'campaignIds',
		required: true,
		placeholder: 'e.g. 1001, 1002',
		description:
			'The campaigns to watch, separated by commas, semicolons or line breaks. Push Campaign returns the ID of each campaign that it sends, as campaignId. An expression can return an array, but it has no input item to read from.',
	}),
	read(parameters) {
		const ids = toIdList(parameters.get(campaignIds.property) ?? '');
		return check(watchedIds, ids, campaignIds.property.displayName);
	},
};

/** The one thing to watch that is no counter. */
export const status = { name: 'status', displayName: 'Status' };
const everyWatch = [...campaignCounters, ...siteCounters, status].map(({ name }) => name);

/** Which of several things are watched. */
export function watchField(
	choices: Choices,
	initial: Choices,
	description: string,
): TriggerField<readonly string[]> {
	const property: INodeProperties = {
		displayName: 'Watch',
		name: 'watch',
		type: 'multiOptions',
		required: true,
		default: [...valuesOf(initial)],
		description,
		options: [...choices],
	};
	const schema = z
		.array(z.string())
		.refine((chosen) => chosen.length > 0, issueWith('is empty', 'Choose at least one.'))
		.refine((chosen) => chosen.every((value) => everyWatch.includes(value)), noSelection)
		// The editor keeps what was chosen for another event. It counts as not chosen.
		.transform((chosen) => chosen.filter((value) => valuesOf(choices).includes(value)))
		.transform((chosen) => (chosen.length > 0 ? chosen : valuesOf(initial)));
	return { property, read: (parameters) => readRequired(parameters, property, schema) };
}

/** Which counter has to reach the target. */
export function counterField(
	own: Pick<INodeProperties, 'displayName' | 'name' | 'default' | 'description'>,
	choices: Choices,
): TriggerField<string> {
	const property: INodeProperties = { ...own, type: 'options', options: [...choices] };
	const schema = z.string().refine((value) => valuesOf(choices).includes(value), noSelection);
	return { property, read: (parameters) => readRequired(parameters, property, schema) };
}

export const target: TriggerField<number> = {
	property: {
		displayName: 'Number',
		name: 'number',
		type: 'number',
		required: true,
		typeOptions: { minValue: 1, numberPrecision: 0 },
		// No number is right for everyone: one has to be entered.
		default: '',
		description:
			'The number to reach, 1 or more. It starts the workflow once, even if the number falls and rises again.',
	},
	read: (parameters) => readRequired(parameters, target.property, wholeNumber(1)),
};

const optionsSchema = z.object({ minimumChange: wholeNumber(1).default(1) });

export const minimumChange: TriggerField<number> = {
	property: optionsProperty([
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
	read: (parameters) =>
		readCollection(parameters, minimumChange.property, optionsSchema).minimumChange,
};
