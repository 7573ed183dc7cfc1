import { IANAZone } from 'luxon';
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import type { Schedule } from '../service/schedule';
import { checkLead, parseSchedule } from '../service/schedule';
import { trimBlanks } from '../service/text';
import { InvalidInput } from '../service/thrown';
import type { QuietHours } from './quietHours';
import { afterQuietHours, quietHours, readQuietHours } from './quietHours';
import {
	additionalField,
	fieldIn,
	groupIn,
	invalid,
	isBlank,
	isThere,
	readChoice,
	readRequired,
	readWholeNumber,
	toText,
} from './values';

export const sendAt = {
	displayName: 'Send At',
	name: 'sendAt',
	type: 'dateTime',
	default: '',
	description: 'When to send, at least 5 minutes ahead, or the word now to send right away',
} satisfies INodeProperties;

// Apart from the name: n8n's linter would have it end in 'Name or ID', and here the name is the value.
const timezoneList = {
	type: 'options',
	typeOptions: { loadOptionsMethod: 'getTimezones' },
	// Else n8n's editor shows the field in red as long as nothing is chosen. What is chosen is checked here.
	allowArbitraryValues: true,
} as const;

export const sendAtTimezone = {
	displayName: 'Timezone',
	name: 'sendAtTimezone',
	...timezoneList,
	default: '',
	description: "Timezone of Send At and Quiet Hours, instead of the workflow's",
} satisfies INodeProperties;

const amount = {
	displayName: 'Amount',
	name: 'amount',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	// 4 weeks: what the service does by itself.
	default: 28,
} satisfies INodeProperties;

const unit = {
	displayName: 'Unit',
	name: 'unit',
	type: 'options',
	default: 'd',
	options: [
		{ name: 'Days', value: 'd' },
		{ name: 'Hours', value: 'h' },
		{ name: 'Minutes', value: 'm' },
	],
} satisfies INodeProperties;

export const expireAfter = {
	displayName: 'Expire After',
	name: 'expireAfter',
	type: 'fixedCollection',
	placeholder: 'Add Duration',
	// n8n's editor drops an empty one as soon as another field is added.
	default: { duration: { amount: amount.default, unit: unit.default } },
	description: 'How long to keep trying while a subscriber is offline',
	options: [{ displayName: 'Duration', name: 'duration', values: [amount, unit] }],
} satisfies INodeProperties;

/** Names that people search for and that `Intl` does not list, or only by an older name. */
const notListed =
	'UTC America/Nuuk Asia/Ho_Chi_Minh Asia/Kathmandu Asia/Kolkata Asia/Yangon Atlantic/Faroe Europe/Kyiv Pacific/Kanton';

/** The list of Timezone: IANA names, in their order. */
export function timezones(): INodePropertyOptions[] {
	const names = new Set([...notListed.split(' '), ...Intl.supportedValuesOf('timeZone')]);
	return [...names].sort().map((name) => ({ name, value: name }));
}

/** When an item is sent, decided when it is read. */
export interface Timing {
	/** IANA name. */
	readonly timezone: string;
	/** Send At; missing if it is sent right away. */
	readonly entered?: Schedule | undefined;
	/** As it is sent, after quiet hours; missing if it is sent right away. */
	readonly effective?: Schedule | undefined;
	/** Whether quiet hours changed the time. */
	readonly isMoved: boolean;
	readonly quietHours?: QuietHours | undefined;
}

const hasRegion = /^(?!etc\/)[a-z]+\//i;
const isUtc = /^(?:etc\/)?utc$/i;

/** Reads the timezone of an item that has a time; that of the workflow if none was entered. */
function readTimezone(item: ItemParameters, field: Field): string {
	const given = toText(field, item.get(field));
	const name = isBlank(given) ? item.timezone : given;
	// What has no region knows no summer time. What n8n gives the workflow is taken as it is.
	const isTaken = isBlank(given) || hasRegion.test(name) || isUtc.test(name);
	if (isTaken && IANAZone.isValidZone(name)) return name;
	const advice = 'Choose one from the list, such as Europe/Berlin.';
	throw invalid(field, `is not a timezone of a region: "${name}"`, advice);
}

/** Reads Send At, if there is a time: an agent or an expression may say `now` instead. */
function readSendAt(item: ItemParameters, field: Field): unknown {
	if (!isThere(item, field)) return undefined;
	const value = readRequired(item, field);
	const isNow = typeof value === 'string' && trimBlanks(value).toLowerCase() === 'now';
	return isNow ? undefined : value;
}

/**
 * Reads when an item is sent. Whether that is far enough ahead is another question: the item may wait.
 * @throws InvalidInput naming the field
 */
export function readTiming(item: ItemParameters, now = Date.now()): Timing {
	const time = readSendAt(item, additionalField(sendAt));
	const hoursField = additionalField(quietHours);
	const hasHours = isThere(item, hoursField);
	if (time === undefined && !hasHours) return { timezone: item.timezone, isMoved: false };
	const timezone = readTimezone(item, additionalField(sendAtTimezone));
	const entered = time === undefined ? undefined : parseSchedule(time, timezone);
	if (!hasHours) return { timezone, entered, effective: entered, isMoved: false };
	const hours = readQuietHours(item, hoursField, timezone);
	const effective = afterQuietHours(hours, entered, now);
	return { timezone, entered, effective, isMoved: effective !== entered, quietHours: hours };
}

/**
 * Why it is too late for the time of an item, if it is.
 * @param now milliseconds since 1970
 */
export function lateness({ effective, isMoved }: Timing, now: number): Problem | undefined {
	const late = effective && checkLead(effective, now);
	if (late === undefined) return undefined;
	if (!isMoved) return validationProblem(late);
	return validationProblem(
		new InvalidInput(
			"The end of 'Quiet Hours' is less than 5 minutes ahead by now, which is too late for the push service",
			'The next try chooses a later time.',
		),
	);
}

/** Reads how long delivery is tried: `7d`. */
export function readExpiry(item: ItemParameters, field: Field): string {
	const group = groupIn(field, 'duration');
	const number = readWholeNumber(item, fieldIn(amount, group), 1);
	return `${number}${readChoice(item, fieldIn(unit, group), ['m', 'h', 'd'], 'd')}`;
}
