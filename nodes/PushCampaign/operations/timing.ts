import { IANAZone } from 'luxon';
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import type { Schedule } from '../service/schedule';
import { checkLead, minuteMs, parseDate, toSchedule } from '../service/schedule';
import { quote, trimBlanks } from '../service/text';
import { InvalidInput } from '../service/thrown';
import { afterQuietHours, readQuietHours } from './quietHours';
import {
	fieldOf,
	groupIn,
	groupOf,
	invalid,
	isBlank,
	isThere,
	readChoice,
	readAdded,
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

export const expireAt = {
	displayName: 'Expire At',
	name: 'expireAt',
	type: 'dateTime',
	default: '',
	description: 'When to stop trying while a subscriber is offline',
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
	description: "Timezone of Send At, Expire At and Quiet Hours, instead of the workflow's",
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
	placeholder: 'Add Duration',
	description: 'How long to keep trying while a subscriber is offline',
	...groupOf('Duration', 'duration', [amount, unit]),
};

/** IANA's names of today that `Intl` of Node.js 20 has by older names alone. */
const notListed = `UTC Africa/Asmara America/Argentina/Buenos_Aires America/Argentina/Catamarca America/Argentina/Cordoba
	America/Argentina/Jujuy America/Argentina/Mendoza America/Atikokan America/Indiana/Indianapolis
	America/Kentucky/Louisville America/Nuuk Asia/Ho_Chi_Minh Asia/Kathmandu Asia/Kolkata Asia/Yangon Atlantic/Faroe
	Europe/Kyiv Pacific/Chuuk Pacific/Kanton Pacific/Pohnpei`;

/** The list of Timezone: IANA names, in their order. */
export function timezones(): INodePropertyOptions[] {
	const names = new Set([...notListed.split(/\s+/), ...Intl.supportedValuesOf('timeZone')]);
	return [...names].sort().map((name) => ({ name, value: name }));
}

/** When an item is sent, decided when it is read. */
export interface Timing {
	/** IANA name. */
	readonly timezone: string;
	/** Send At, after quiet hours; missing if it is sent right away. */
	readonly effective?: Schedule | undefined;
	/** Whether quiet hours changed the time. */
	readonly isMoved: boolean;
	readonly expireAt?: Expiry | undefined;
}

/** Expire At. */
interface Expiry {
	/** Its minute, for messages. */
	readonly text: string;
	/** Milliseconds since 1970. */
	readonly at: number;
}

/** A name without a region is an offset: in summer nobody means it. */
const withRegion = /^(?!etc\/)[a-z]+\/|^(?:etc\/)?utc$/i;

/** That of the workflow if none was entered. */
function readTimezone(item: ItemParameters): string {
	const field = fieldOf(sendAtTimezone, 'additionalFields');
	const given = trimBlanks(toText(field, item.get(field)));
	if (isBlank(given)) return item.timezone;
	if (withRegion.test(given) && IANAZone.isValidZone(given)) return given;
	const fix = 'Choose one from the list, such as Europe/Berlin.';
	throw invalid(field, `is not a timezone of a region: ${quote(given)}`, fix);
}

/** Reads Send At, if there is a time: an agent or an expression may say `now` instead. */
function readSendAt(item: ItemParameters, timezone: string): Schedule | undefined {
	const field = fieldOf(sendAt, 'additionalFields');
	const value = readAdded(item, field);
	const isNow = typeof value === 'string' && trimBlanks(value).toLowerCase() === 'now';
	if (value === undefined || isNow) return undefined;
	const date = parseDate(field.label, value, timezone);
	return toSchedule(date.toMillis(), date.zone);
}

function readExpireAt(item: ItemParameters, timezone: string): Expiry | undefined {
	const field = fieldOf(expireAt, 'additionalFields');
	const value = readAdded(item, field);
	if (value === undefined) return undefined;
	const date = parseDate(field.label, value, timezone);
	const isTwice = isThere(item, fieldOf(expireAfter, 'additionalFields'));
	if (isTwice) throw invalid(field, "is there beside 'Expire After'", 'Remove one of them.');
	const { text } = toSchedule(date.startOf('minute').toMillis(), date.zone);
	return { text, at: date.toMillis() };
}

/**
 * In a workflow whose timezone is none, n8n evaluates no expression.
 * @param timezone that of the workflow's settings
 * @throws InvalidInput
 */
export function requireTimezone(timezone: string): void {
	if (IANAZone.isValidZone(timezone)) return;
	throw new InvalidInput(
		`The timezone in the workflow's settings is none: ${quote(timezone)}`,
		"Choose one under 'Timezone' in the workflow's settings.",
	);
}

/** Reads when an item is sent; {@link lateness} says whether that is far enough ahead. @throws InvalidInput */
export function readTiming(item: ItemParameters, now = Date.now()): Timing {
	const timezone = readTimezone(item);
	const entered = readSendAt(item, timezone);
	const hours = readQuietHours(item, timezone);
	const effective = hours === undefined ? entered : afterQuietHours(hours, entered, now);
	const end = readExpireAt(item, timezone);
	return { timezone, effective, isMoved: effective !== entered, expireAt: end };
}

/** When an item goes out. */
const leavesAt = ({ effective }: Timing, now: number): number => effective?.at ?? now;

/** Why it is too late for the times of an item, if it is. */
export function lateness(timing: Timing, now: number): Problem | undefined {
	const { effective, expireAt: end } = timing;
	const late = effective && checkLead(effective, now);
	if (late !== undefined) return validationProblem(late);
	if (end === undefined || end.at - leavesAt(timing, now) >= minuteMs) return undefined;
	const when = effective === undefined ? 'now' : `at ${effective.text}`;
	const what = `'Expire At' is ${end.text}, which leaves less than a minute for what goes out ${when}`;
	return validationProblem(new InvalidInput(what, 'Choose a later time.'));
}

/** How long delivery is tried until Expire At, for a request that is made now: `90m`; undefined without it. */
export function expiryOf(timing: Timing, now: number): string | undefined {
	if (timing.expireAt === undefined) return undefined;
	const minutes = Math.floor((timing.expireAt.at - leavesAt(timing, now)) / minuteMs);
	return `${Math.max(minutes, 1)}m`;
}

/** Reads how long delivery is tried: `7d`. */
export function readExpireAfter(item: ItemParameters, field: Field): string {
	const entered = groupIn(field, 'duration');
	const number = readWholeNumber(item, fieldOf(amount, entered), 1);
	return `${number}${readChoice(item, fieldOf(unit, entered), unit)}`;
}
