import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { minimumLeadMinutes } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { toSchedule } from '../service/schedule';
import { quote } from '../service/text';
import { check, invalid, textProperty, toGroup } from './parameters';

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

/** A time of a day as `HH:MM`; `8:00` counts as `08:00`. */
const timeOfDay = z.unknown().transform((given, context): string => {
	const match = typeof given === 'string' ? /^\s*(\d{1,2}):([0-5]\d)\s*$/.exec(given) : null;
	const [, hour = '', minutes = ''] = match ?? [];
	if (match !== null && Number(hour) < 24) return `${hour.padStart(2, '0')}:${minutes}`;
	context.addIssue({ code: 'custom', message: `is not a time such as 21:00: ${quote(given)}` });
	return z.NEVER;
});

/**
 * Reads Quiet Hours. Empty ones are refused: what must not go out at night would.
 * @param timezone a valid IANA name
 * @throws InvalidInput naming the field
 */
export function readQuietHours(given: unknown, timezone: string): QuietHours {
	const { displayName } = quietHours;
	const fields = toGroup(given, 'hours', displayName);
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
	return { ...times, timezone };
}

const minute = 60_000;
const minutesOfDay = 24 * 60;

/** Clocks are changed on a quarter of an hour: in every time zone, from 2023 on. */
const quarter = 15;

/** A time that is only seconds further ahead than the service asks for may come too late. */
const spare = 5_000;

/** `08:30` as minutes since midnight. */
function toMinutes(time: string): number {
	const [hours, minutes] = time.split(':').map(Number);
	return (hours ?? 0) * 60 + (minutes ?? 0);
}

/** Minutes from one time of day until it is another. */
const minutesUntil = (time: number, since: number) => (time - since + minutesOfDay) % minutesOfDay;

/** What a clock in this time zone shows, as minutes since midnight. */
function clockAt(at: number, timezone: string): number {
	const clock = DateTime.fromMillis(at, { zone: timezone });
	return clock.hour * 60 + clock.minute;
}

/** Whether a moment is in quiet hours: what the clock on the wall shows then decides, also if it shows it twice. */
export function isQuiet({ from, to, timezone }: QuietHours, at: number): boolean {
	const start = toMinutes(from);
	return minutesUntil(clockAt(at, timezone), start) < minutesUntil(toMinutes(to), start);
}

/** The first minute from a moment on that is not in quiet hours. */
function endOfQuiet(hours: QuietHours, at: number): number {
	const end = toMinutes(hours.to);
	let moment = Math.floor(at / minute) * minute;
	while (isQuiet(hours, moment)) {
		const untilEnd = minutesUntil(end, clockAt(moment, hours.timezone));
		// Where the clock may be changed, it is read again: it may reach `to` earlier or later, or skip it.
		const untilQuarter = quarter - ((moment / minute) % quarter);
		moment += Math.min(untilEnd, untilQuarter) * minute;
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
