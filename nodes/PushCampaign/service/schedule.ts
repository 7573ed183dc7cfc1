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

/** A day with its year at the end, in an order that differs from country to country: `24.12.2026 09:00`, `12/24/26, 9:00 AM`. */
const yearLast =
	/^\d{1,2}(?<between>[-/.])\d{1,2}\k<between>(?:\d{4}|(?<!-)\d{2})(?:,?\s+\d{1,2}(?<colon>[:.])\d{2}(?:\k<colon>\d{2})?(?:\s?(?<half>[AP]M))?)?$/i;

/** Milliseconds as text, from 2001 to 2286. */
const epochText = /^\d{13}$/;

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

/** An hour that comes twice, because the clock is set back, is the first one; luxon may take either. */
function toFirst(date: DateTime): DateTime {
	const offsetBefore = date.minus({ hours: 24 }).offset;
	const first = date.minus({ minutes: offsetBefore - date.offset });
	return first.offset === offsetBefore ? first : date;
}

function readText(text: string, zone: string): DateTime | undefined {
	if (epochText.test(text)) return DateTime.fromMillis(Number(text), { zone });
	const iso = toIso(text.toUpperCase());
	return iso === undefined ? undefined : toFirst(DateTime.fromISO(iso, { zone, setZone: true }));
}

function readDate(value: unknown, zone: string): DateTime | undefined {
	if (typeof value === 'string') return readText(value, zone);
	// Not by `instanceof`: n8n's sandbox for expressions has a `Date` of its own.
	const isDate = Object.prototype.toString.call(value) === '[object Date]';
	if (typeof value === 'number' || isDate) return DateTime.fromMillis(Number(value), { zone });
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

/** Luxon's formats that read a day with its year at the end: with the day first, and with the month first. */
export function formatsOf(text: string): string[] {
	const { groups } = yearLast.exec(text) ?? {};
	if (groups === undefined) return [];
	const { between, half } = groups;
	const time = half === undefined ? 'Hms' : 'hms';
	// With dots nobody writes the month first.
	const orders = between === '.' ? ['dMy'] : ['dMy', 'Mdy'];
	const formats = orders.map((order) => {
		const letters = [...`${order}${time}`];
		const format = text.replace(/\d+/g, ({ length }) => (letters.shift() ?? '').repeat(length));
		return format.replace(/[AP]M$/i, 'a');
	});
	return formats.filter((each) => DateTime.fromFormat(text, each, { locale: 'en-US' }).isValid);
}

/** What looks like a moment, and is none that everybody reads in the same way. */
const noMoments = [
	{
		// From 2001 to 2286. As milliseconds they are early in 1970.
		pattern: /^[1-9]\d{9}(\.\d+)?$/,
		what: 'looks like seconds',
		fix: `A number is read as milliseconds: multiply it by 1000, or enter a date such as ${exampleDate}.`,
	},
	{
		// Days since 1899, from 1927 to 2173.
		pattern: /^[1-9]\d{4}([.,]\d+)?$/,
		what: 'looks like a date of a spreadsheet',
		fix: `Format the cell as text in the sheet, such as ${exampleDate}.`,
	},
	{
		pattern: /^(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|20\d{6})$/,
		what: 'is a date without a time',
		fix: `Enter the time, too, as in ${exampleDate}.`,
	},
];

/**
 * Reads a date in any of the forms that a workflow holds.
 * @param label the field's name in messages
 * @param given text, luxon's DateTime, Date, or milliseconds since 1970, as text too
 * @param timezone IANA name; a date without an offset is read there
 * @throws InvalidInput
 */
export function parseDate(label: string, given: unknown, timezone: string): DateTime {
	const value = typeof given === 'string' ? trimBlanks(given) : given;
	const refuse = (what: string, fix: string) =>
		new InvalidInput(`${label} ${what}: ${quote(value)}`, fix);
	const text = typeof value === 'number' ? String(value) : value;
	const none = noMoments.find(({ pattern }) => typeof text === 'string' && pattern.test(text));
	if (none !== undefined) throw refuse(none.what, none.fix);
	const date = readDate(value, timezone);
	if (!date?.isValid) {
		throw refuse(
			"can't be read as a date",
			`Choose a date, or enter one such as ${exampleDate}. You may add an offset: ${exampleDate} +02:00.`,
		);
	}
	if (date <= DateTime.now().plus({ years: 10 })) return date;
	throw refuse('is more than ten years ahead', `Enter the year as in ${exampleDate}.`);
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
