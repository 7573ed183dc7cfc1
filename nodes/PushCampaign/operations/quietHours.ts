import { IANAZone } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { minimumLeadMinutes } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { toSchedule } from '../service/schedule';
import { saying } from '../service/textSchemas';
import { check, invalid, required, textProperty, toFields } from './parameters';

const from = textProperty({
	displayName: 'From',
	name: 'from',
	default: '21:00',
	placeholder: 'e.g. 21:00',
	description: 'When quiet hours begin, as HH:MM on a 24-hour clock',
});

const to = textProperty({
	displayName: 'To',
	name: 'to',
	default: '08:00',
	placeholder: 'e.g. 08:00',
	description: 'When quiet hours end, and what was held back is sent',
});

export const quietHours = {
	displayName: 'Quiet Hours',
	name: 'quietHours',
	type: 'fixedCollection',
	placeholder: 'Add Hours',
	// n8n's editor drops an empty one as soon as another field is added.
	default: { hours: { from: from.default, to: to.default } },
	description:
		"When nothing may go out. What would go out in these hours, right away or by its Send At, is scheduled for their end instead. The times are read in Send At Timezone, or else in the workflow's time zone.",
	options: [{ displayName: 'Hours', name: 'hours', values: [from, to] }],
} satisfies INodeProperties;

/** Times of a day as a user gave them, `HH:MM`, in a time zone. */
export interface QuietHours {
	readonly from: string;
	readonly to: string;
	/** IANA name. */
	readonly timezone: string;
}

const timeOfDay = z
	.string(saying('is not a time such as 21:00'))
	.transform((text) => text.trim())
	.refine((text) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text), 'is not a time such as 21:00');

/**
 * Reads Quiet Hours; `undefined` if there are none. Empty ones are refused: what must not go out at night would.
 * @throws InvalidInput naming the field
 */
export function readQuietHours(given: unknown, timezone: string): QuietHours | undefined {
	const { displayName } = quietHours;
	const { hours } = toFields(required(given, displayName), displayName);
	if (hours === undefined) return undefined;
	const fields = toFields(required(hours, displayName), displayName);
	const read = (field: INodeProperties) => {
		const value = field.name in fields ? fields[field.name] : field.default;
		return check(timeOfDay, value, `${field.displayName} in ${displayName}`);
	};
	const times = { from: read(from), to: read(to) };
	if (times.from === times.to) {
		throw invalid(
			displayName,
			`has ${times.from} both as From and as To`,
			'Enter when quiet hours begin and when they end, such as 21:00 and 08:00, or remove Quiet Hours from the additional fields.',
		);
	}
	if (!IANAZone.isValidZone(timezone)) {
		throw invalid(
			displayName,
			`can't be read in the time zone of the workflow, "${timezone}"`,
			"Choose another time zone in the workflow's settings, or add Send At Timezone.",
		);
	}
	return { ...times, timezone };
}

const minute = 60_000;
const minutesOfDay = 24 * 60;

/** A time that is only seconds further ahead than the service asks for may come too late. */
const spare = 5_000;

/** `08:30` as minutes since midnight. */
function toMinutes(time: string): number {
	const [hours, minutes] = time.split(':').map(Number);
	return (hours ?? 0) * 60 + (minutes ?? 0);
}

/** Minutes from one time of day until it is another. */
const minutesUntil = (time: number, since: number) => (time - since + minutesOfDay) % minutesOfDay;

/** What a clock in this zone shows, as minutes since midnight. */
function clockAt(at: number, zone: IANAZone): number {
	const minutes = Math.floor(at / minute) + zone.offset(at);
	return ((minutes % minutesOfDay) + minutesOfDay) % minutesOfDay;
}

/** The first minute after `start` at which the clock was changed, up to `end`; `undefined` if it was not. */
function clockChange(start: number, end: number, zone: IANAZone): number | undefined {
	const offset = zone.offset(start);
	if (zone.offset(end) === offset) return undefined;
	let before = start;
	let after = end;
	while (after - before > minute) {
		const middle = before + Math.floor((after - before) / 2 / minute) * minute;
		if (zone.offset(middle) === offset) before = middle;
		else after = middle;
	}
	return after;
}

/** Whether a moment is in quiet hours: what the clock on the wall shows then decides, also if it shows it twice. */
export function isQuiet({ from, to, timezone }: QuietHours, at: number): boolean {
	const start = toMinutes(from);
	const now = clockAt(at, IANAZone.create(timezone));
	return minutesUntil(now, start) < minutesUntil(toMinutes(to), start);
}

/** The first minute from a moment on that is not in quiet hours. */
function endOfQuiet(hours: QuietHours, at: number): number {
	const zone = IANAZone.create(hours.timezone);
	let moment = Math.floor(at / minute) * minute;
	while (isQuiet(hours, moment)) {
		const end = moment + minutesUntil(toMinutes(hours.to), clockAt(moment, zone)) * minute;
		// Clocks that are changed in between reach `to` earlier or later, or skip it.
		moment = clockChange(moment, end, zone) ?? end;
	}
	return moment;
}

/** The next whole minute that the service accepts as Send At. */
function earliestSchedule(now: number): number {
	const lead = now + minimumLeadMinutes * minute;
	const at = Math.ceil(lead / minute) * minute;
	return at > lead && at - lead < spare ? at + minute : at;
}

/**
 * When a send goes out that its quiet hours may hold back.
 * @param asked when it would go out without them; missing for right away
 * @param now the moment at which it leaves for the service
 * @returns what was asked for, if that is not in quiet hours; else the first minute after them that the service accepts
 */
export function afterQuietHours(
	hours: QuietHours,
	asked: Schedule | undefined,
	now: number,
): Schedule | undefined {
	const at = asked?.at ?? now;
	if (!isQuiet(hours, at)) return asked;
	const earliest = Math.max(endOfQuiet(hours, at), earliestSchedule(now));
	return toSchedule(endOfQuiet(hours, earliest), hours.timezone);
}
