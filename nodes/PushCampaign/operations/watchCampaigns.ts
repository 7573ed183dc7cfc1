import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { CounterName } from '../service/answers';
import { counterNames, isCounterName, toPlainId } from '../service/answers';
import { campaignId, idList } from '../service/schemas';
import { refusal } from '../service/textSchemas';
import { optionsProperty } from './options';
import type { ItemParameters } from './parameters';
import { check, readCollection, textProperty, toIdList, wholeNumber } from './parameters';

const campaignIds = textProperty({
	displayName: 'Campaign IDs',
	name: 'campaignIds',
	required: true,
	placeholder: 'e.g. 1001, 1002',
	description:
		'Which campaigns to watch: IDs separated by commas, semicolons or line breaks, or an expression that gives an array. A trigger has no input item that the expression could use.',
});

const counters = {
	displayName: 'Counters',
	name: 'counters',
	type: 'multiOptions',
	default: [...counterNames],
	description: 'Which counters to watch, at least one',
	options: [
		{ name: 'Clicked', value: 'clicked' },
		{ name: 'Closed', value: 'closed' },
		{ name: 'Delivered', value: 'delivered' },
		{ name: 'Failed to Send', value: 'failedToSend' },
		{ name: 'Successfully Sent', value: 'successfullySent' },
		{ name: 'Total Attempts', value: 'totalAttempts' },
	],
} satisfies INodeProperties;

const options = optionsProperty([
	{
		displayName: 'Minimum Change',
		name: 'minimumChange',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 1,
		description:
			'How far a watched counter has to move before the workflow starts. Smaller moves are not lost: they are part of the next event.',
	},
	{
		displayName: 'When It Reaches',
		name: 'reaches',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 100,
		description:
			'Start the workflow only when a watched counter reaches this number: once for each campaign and counter. Minimum Change does not matter then.',
	},
]);

export const watchProperties: INodeProperties[] = [campaignIds, counters, options];

/** Each once, and in one way of writing, so that a change of the list is no other campaign. */
const watchedIds = idList
	.pipe(z.array(campaignId.transform(toPlainId)))
	.transform((ids) => [...new Set(ids)])
	.refine((ids) => ids.length > 0, refusal('is missing', 'Give at least one campaign ID.'))
	// An object, such as n8n's static data, holds nothing of its own under this name.
	.refine(
		(ids) => !ids.includes('__proto__'),
		'holds __proto__, which no baseline can be kept for',
	);

const advice = 'Choose at least one counter.';
const counterList = z
	.custom<CounterName[]>(
		(chosen) => Array.isArray(chosen) && chosen.every(isCounterName),
		refusal('is not a selection from the list', advice),
	)
	.refine((chosen) => chosen.length > 0, refusal('is empty', advice));

const optionsSchema = z.object({
	minimumChange: wholeNumber(1).default(1),
	// An expression that came to nothing must not let all events through.
	reaches: wholeNumber(1).optional(),
});

/**
 * Reads which campaigns a trigger watches, and how.
 * @throws InvalidInput naming the parameter
 */
export function readWatched(parameters: Pick<ItemParameters, 'get'>) {
	const ids = toIdList(parameters.get(campaignIds) ?? campaignIds.default);
	const chosen = parameters.get(counters) ?? counters.default;
	return {
		campaignIds: check(watchedIds, ids, campaignIds.displayName),
		counters: check(counterList, chosen, counters.displayName),
		...readCollection(parameters, options, optionsSchema),
	};
}
