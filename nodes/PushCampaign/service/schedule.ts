import type { Zone } from 'luxon';
import { DateTime, FixedOffsetZone } from 'luxon';

import { minimumLeadMs } from './rules';
import { quote, trimBlanks } from './text';
import { InvalidInput } from './thrown';

/** A scheduled time. */
export interface Schedule {
	/** As it is sent. */
	readonly text: string;
	/** Milliseconds since 1970: a whole minute. */
	readonly at: number;
}

const exampleDate = '2030-05-17 09:30';
export const minuteMs = 60_000;

/** A day and a time as people write them: `2030-5-7 9:30`, `2030/05/07 9 PM`, `2030-05-07 09:30:15 +5:30`. */
const dayAndTime = new RegExp(
	String.raw`^(?<year>\d{4})(?<between>[-/.])(?<month>\d\d?)\k<between>(?<day>\d\d?)(?:T|\s+)` +
		String.raw`(?<hour>\d\d?)(?<minutes>:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:\s*(?<half>[AP])\.?M\.?)?` +
		String.raw`\s*(?:(?<utc>Z)|(?<ahead>[+-])(?<hours>\d|0\d|1[0-4])(?::?(?<rest>[0-5]\d))?)?$`,
);

const offset = String.raw`(?:Z|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)`;
/** The other forms of ISO 8601, as calendars write them: `20300517T0930`, `2030-W20-5T09:30Z`. An hour alone has an offset. */
const otherIso = new RegExp(
	String.raw`^\d{4}-?(?:W\d\d-?\d|\d{3,4})T\d\d(?:(?::?\d\d){1,2}(?:[.,]\d+)?${offset}?|${offset})$`,
);

/** From 2001 on. A smaller number is seconds, or the days of a sheet. */
const earliestMs = 1e12;

const pad = (digits = '') => digits.padStart(2, '0');

/** The form of ISO 8601 that luxon reads; undefined if it is none. */
function toIso(text: string): string | undefined {
	const { groups } = dayAndTime.exec(text) ?? {};
	if (groups === undefined) return otherIso.test(text) ? text : undefined;
	const { year, month, day, hour = '', minutes = '', half, utc = '', ahead, hours, rest } = groups;
	if (half === undefined && minutes === '') return undefined;
	if (half !== undefined && !/^(?:0?[1-9]|1[0-2])$/.test(hour)) return undefined;
	const inDay = half === undefined ? hour : String((Number(hour) % 12) + (half === 'P' ? 12 : 0));
	const zone = ahead === undefined ? utc : `${ahead}${pad(hours)}:${pad(rest)}`;
	return `${year}-${pad(month)}-${pad(day)}T${pad(inDay)}${minutes}${zone}`;
}

function readText(text: string, zone: string): DateTime | undefined {
	if (/^[1-9]\d{12}$/.test(text)) return DateTime.fromMillis(Number(text), { zone });
	const iso = toIso(text.toUpperCase());
	return iso === undefined ? undefined : DateTime.fromISO(iso, { zone, setZone: true });
}

function readDate(value: unknown, zone: string): DateTime | undefined {
	if (typeof value === 'string') return readText(value, zone);
	// Not by `instanceof`: n8n's sandbox for expressions has a `Date` of its own.
	const isDate = Object.prototype.toString.call(value) === '[object Date]';
	const isEpoch = typeof value === 'number' && value >= earliestMs;
	if (isEpoch || isDate) return DateTime.fromMillis(Number(value), { zone });
	if (!DateTime.isDateTime(value)) return undefined;
	// One of n8n's luxon, which may be another than this package's: read by what all versions have.
	return DateTime.fromMillis(value.toMillis(), { zone: FixedOffsetZone.instance(value.offset) });
}

/** What a clock shows in a timezone, whatever language luxon is set to. */
export const clockIn = (zone: string | Zone, at: number): DateTime =>
	DateTime.fromMillis(at, { zone, locale: 'en-US', numberingSystem: 'latn' });

/**
 * Makes a schedule of a moment, rounded up: the service knows no seconds. Specification, Notification / campaign, `send_at`.
 * @param moment milliseconds since 1970
 * @param zone IANA name, or luxon's zone
 */
export function toSchedule(moment: number, zone: string | Zone): Schedule {
	const at = Math.ceil(moment / minuteMs) * minuteMs;
	return { text: clockIn(zone, at).toFormat('yyyy-MM-dd HH:mm ZZ'), at };
}

/**
 * Reads a date in any of the forms that a workflow holds.
 * @param label the field's name in messages
 * @param given text, luxon's DateTime, Date, or milliseconds since 1970, as text too
 * @param timezone IANA name; a date without an offset is read there
 * @throws InvalidInput
 */
export function parseDate(label: string, given: unknown, timezone: string): DateTime {
	const date = readDate(typeof given === 'string' ? trimBlanks(given) : given, timezone);
	if (!date?.isValid) {
		// Without the value, so that a sheet's rows have one reason.
		throw new InvalidInput(
			`${label} is no date with a time that everybody reads in the same way`,
			`Write it as ${exampleDate}, or read it, such as with {{ DateTime.fromFormat($json.when, 'd.M.yyyy H:mm') }}.`,
		);
	}
	if (date <= DateTime.now().plus({ years: 10 })) return date;
	const message = `${label} is more than ten years ahead: ${quote(given)}`;
	throw new InvalidInput(message, `Enter the year as in ${exampleDate}.`);
}

/**
 * Says why the service would refuse a schedule, if it would. Specification, Limits: `send_at` minimum lead.
 * @param now milliseconds since 1970
 */
export function checkLead(schedule: Schedule, now: number): InvalidInput | undefined {
	if (schedule.at - now >= minimumLeadMs) return undefined;
	const minutes = minimumLeadMs / minuteMs;
	const when = schedule.at <= now ? 'in the past' : `less than ${minutes} minutes ahead`;
	return new InvalidInput(
		`'Send At' is ${schedule.text}, which is ${when}`,
		`The push service needs at least ${minutes} minutes' notice. Choose a later time.`,
	);
}
