import { z } from 'zod/v3';

import { toPlainId } from '../service/answers';
import { campaignId, idList } from '../service/schemas';
import { refusal, saying } from '../service/textSchemas';
import { wholeNumber } from '../service/wholeNumber';
import type { ItemParameters, Parameter } from './parameters';
import { check, invalid, isBlank, readCollection, toIdList } from './parameters';
import type { Choices, EventName } from './triggerPanel';
import {
	campaignIds,
	count,
	counter,
	counterOptions,
	countOptions,
	event,
	eventNames,
	number,
	options,
	statusOption,
	valuesOf,
	watchCampaign,
	watchSite,
} from './triggerPanel';

/** The parameters of a trigger, which has no item. */
type TriggerParameters = Pick<ItemParameters, 'get'>;

/** What a trigger watches, and what starts the workflow. */
export interface Watched {
	readonly subject: 'campaign' | 'site';
	readonly ids: readonly string[];
	readonly rule:
		| {
				readonly kind: 'changed';
				readonly numbers: readonly string[];
				readonly isStatusWatched: boolean;
				readonly minimumChange: number;
		  }
		| { readonly kind: 'reached'; readonly number: string; readonly target: number };
}

const noSelection = 'is not a selection from the list';

/** Each ID once, without leading zeros, so that `01` and `1` are one campaign. */
const watchedIds = idList
	.pipe(z.array(campaignId.transform(toPlainId)))
	.transform((ids) => [...new Set(ids)])
	.refine(
		(ids) => ids.length > 0,
		refusal(
			'is missing',
			'Enter at least one campaign ID: Push Campaign returns it as campaignId.',
		),
	)
	// A JavaScript object can hold no baseline under this name.
	.refine((ids) => !ids.includes('__proto__'), refusal('contains __proto__', 'Remove __proto__.'));

/**
 * Returns a value that must be there. n8n fills in the default of a field that nobody changed, so one that is empty
 * was emptied, or its expression gave nothing: it must not count as the default.
 */
function requireValue(parameters: TriggerParameters, parameter: Parameter): unknown {
	const value = parameters.get(parameter);
	if (!isBlank(value)) return value;
	const { displayName } = parameter;
	throw invalid(
		displayName,
		'is empty',
		`Fill in ${displayName}. An expression in it has no input item to read from.`,
	);
}

function readCampaignIds(parameters: TriggerParameters): string[] {
	const ids = toIdList(parameters.get(campaignIds) ?? '');
	return check(watchedIds, ids, campaignIds.displayName);
}

/** One of the choices of a parameter. */
function readChoice(
	parameters: TriggerParameters,
	parameter: Parameter & { readonly options: Choices },
): string {
	const values = valuesOf(parameter.options);
	const choice = z.string().refine((value) => values.includes(value), noSelection);
	return check(choice, requireValue(parameters, parameter), parameter.displayName);
}

const everyWatch = valuesOf([...counterOptions, statusOption, ...countOptions]);

/** Some of the choices of a parameter. */
function readChoices(
	parameters: TriggerParameters,
	parameter: Parameter & { readonly default: string[]; readonly options: Choices },
): string[] {
	const values = valuesOf(parameter.options);
	const choices = z
		.array(z.string())
		.refine((chosen) => chosen.length > 0, refusal('is empty', 'Choose at least one.'))
		.refine((chosen) => chosen.every((value) => everyWatch.includes(value)), noSelection);
	const chosen = check(choices, requireValue(parameters, parameter), parameter.displayName);
	const own = chosen.filter((value) => values.includes(value));
	// The editor keeps what was chosen for another event. It counts as not chosen.
	return own.length > 0 ? own : parameter.default;
}

const target = wholeNumber(1);
const optionsSchema = z.object({ minimumChange: wholeNumber(1).default(1) });

const readNumber = (parameters: TriggerParameters) =>
	check(target, requireValue(parameters, number), number.displayName);

const readMinimumChange = (parameters: TriggerParameters) =>
	readCollection(parameters, options, optionsSchema).minimumChange;

/** The site has one ID, which no campaign has: `idList` refuses a blank. */
const siteIds = ['the site'];

const readers: Readonly<Record<EventName, (parameters: TriggerParameters) => Watched>> = {
	campaignChanged(parameters) {
		const ids = readCampaignIds(parameters);
		const chosen = readChoices(parameters, watchCampaign);
		const numbers = chosen.filter((value) => value !== statusOption.value);
		const isStatusWatched = chosen.includes(statusOption.value);
		const minimumChange = readMinimumChange(parameters);
		return {
			subject: 'campaign',
			ids,
			rule: { kind: 'changed', numbers, isStatusWatched, minimumChange },
		};
	},
	campaignReached: (parameters) => ({
		subject: 'campaign',
		ids: readCampaignIds(parameters),
		rule: {
			kind: 'reached',
			number: readChoice(parameters, counter),
			target: readNumber(parameters),
		},
	}),
	subscribersChanged: (parameters) => ({
		subject: 'site',
		ids: siteIds,
		rule: {
			kind: 'changed',
			numbers: readChoices(parameters, watchSite),
			isStatusWatched: false,
			minimumChange: readMinimumChange(parameters),
		},
	}),
	subscribersReached: (parameters) => ({
		subject: 'site',
		ids: siteIds,
		rule: {
			kind: 'reached',
			number: readChoice(parameters, count),
			target: readNumber(parameters),
		},
	}),
};

const eventName = z.enum(eventNames, saying(noSelection));

/**
 * Reads what a trigger watches.
 * @throws InvalidInput naming the parameter
 */
export function readWatched(parameters: TriggerParameters): Watched {
	return readers[check(eventName, requireValue(parameters, event), event.displayName)](parameters);
}
