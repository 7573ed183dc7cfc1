import { DateTime, FixedOffsetZone } from 'luxon';

import { InvalidInput } from './invalidInput';
import { minimumLeadMinutes } from './rules';
import { quote } from './text';

/** No place on earth is further from UTC. */
const widestOffsetMinutes = 14 * 60;

/** How messages write a date. */
export const exampleDate = '2030-05-17 09:30';

/** A date as text: a calendar day, then perhaps a time, then perhaps an offset. */
const dateText =
	/^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:T| +)(\d{1,2})(:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?) ?(?:(Z)|([+-])(\d{1,2})(?::?([0-5]\d))?)?)?$/i;

/** A time with an offset behind it. */
const isoOffset = /T\d.*(?:Z|[+-]\d{2}(?::?[0-5]\d)?)$/i;

/** Milliseconds as text, from 2001 to 2286. */
const millisecondsText = /^\d{13}$/;

const twoDigits = (digits: string) => digits.padStart(2, '0');

function fromText(text: string, zone: string): DateTime {
	if (millisecondsText.test(text)) return DateTime.fromMillis(Number(text), { zone });
	const match = dateText.exec(text);
	// Any other form of ISO 8601, if its offset says that it is meant as such: `20300517T093000Z`.
	if (!match) {
		return isoOffset.test(text)
			? DateTime.fromISO(text, { setZone: true })
			: DateTime.invalid('unreadable');
	}
	const [, year, month = '', day = '', hour = '0', minutes = ':00', utc = '', ...rest] = match;
	const [sign = '', offsetHours = '', offsetMinutes = '00'] = rest;
	const offset =
		sign === '' ? utc.toUpperCase() : `${sign}${twoDigits(offsetHours)}:${offsetMinutes}`;
	const date = [year, twoDigits(month), twoDigits(day)].join('-');
	const iso = `${date}T${twoDigits(hour)}${minutes}${offset}`;
	const read = DateTime.fromISO(iso, { zone, setZone: true });
	// Of an hour that comes twice the first one; Luxon alone would choose by the season it is now.
	return read.getPossibleOffsets()[0] ?? read;
}

function toDateTime(value: unknown, zone: string): DateTime {
	if (typeof value === 'string') return fromText(value.trim(), zone);
	// Also one of another realm, such as that in which n8n evaluates expressions.
	const isDate = Object.prototype.toString.call(value) === '[object Date]';
	if (typeof value === 'number' || isDate) return DateTime.fromMillis(Number(value), { zone });
	if (!DateTime.isDateTime(value)) return DateTime.invalid('unreadable');
	// One of the host's copy of Luxon, which is another than this package's: read by what both have.
	return DateTime.fromMillis(value.toMillis(), { zone: FixedOffsetZone.instance(value.offset) });
}

/** Whether a number, or text of digits, counts seconds from 2001 to 2286: in milliseconds, that is early in 1970. */
function isSeconds(value: unknown): boolean {
	if (typeof value === 'number') return value >= 1e9 && value < 1e10;
	return typeof value === 'string' && /^\s*[1-9]\d{9}\s*$/.test(value);
}

/** A scheduled time: the text that is sent, and the moment that it names (milliseconds since 1970). */
export interface Schedule {
	readonly text: string;
	readonly at: number;
}

/** Writes a whole minute as the service wants it. Specification, Notification / campaign, `send_at`. */
function write(date: DateTime): Schedule {
	const format = { locale: 'en-US', numberingSystem: 'latn' } as const;
	return { text: date.toFormat('yyyy-MM-dd HH:mm ZZ', format), at: date.toMillis() };
}

/**
 * Makes a schedule of a moment.
 * @param at a whole minute, in milliseconds since 1970
 * @param timezone IANA name; decides the offset in which the moment is written
 */
export const toSchedule = (at: number, timezone: string): Schedule =>
	write(DateTime.fromMillis(at, { zone: timezone }));

/** Whether a user asks for no time: the word `now`, which an agent or an expression gives. */
export const isNow = (value: unknown) =>
	typeof value === 'string' && value.trim().toLowerCase() === 'now';

/**
 * Reads a date in any of the forms that a workflow holds. The service knows no seconds: they are rounded up,
 * never down.
 * @param value ISO text, one-digit months, days and hours too; Luxon DateTime; JavaScript Date; milliseconds since
 * 1970, as text too
 * @param timezone a valid IANA name; if a value has no offset of its own it is read in this time zone
 * @throws InvalidInput when the value can't be read as a date
 */
export function parseSchedule(value: unknown, timezone: string): Schedule {
	if (isSeconds(value)) {
		throw new InvalidInput(
			`Send At is ${quote(value)}, which looks like seconds`,
			`A number is read as milliseconds: multiply it by 1000, or enter a date such as ${exampleDate}.`,
		);
	}
	const rounded = toDateTime(value, timezone).plus(59_999).startOf('minute');
	const hasFourDigits = rounded.year >= 0 && rounded.year <= 9999;
	if (!rounded.isValid || !hasFourDigits || Math.abs(rounded.offset) > widestOffsetMinutes) {
		throw new InvalidInput(
			`Send At can't be read as a date: ${quote(value)}`,
			`Choose a date, or enter one such as ${exampleDate}. It is read in Send At Timezone, or else in the time zone of the workflow. A date with an offset, such as ${exampleDate} +02:00, keeps it.`,
		);
	}
	return write(rounded);
}

/**
 * Says why the service would refuse a schedule, if it would. Specification, Errors: `invalid_value`, and
 * Limits: `send_at` minimum lead.
 * @param now milliseconds since 1970
 * @returns nothing when the time is at least five minutes ahead of `now`
 */
export function checkLead(schedule: Schedule, now: number): InvalidInput | undefined {
	if (schedule.at - now >= minimumLeadMinutes * 60_000) return undefined;
	return new InvalidInput(
		`Send At is ${schedule.text}, which is ${schedule.at <= now ? 'in the past' : `less than ${minimumLeadMinutes} minutes ahead`}`,
		`The service needs at least ${minimumLeadMinutes} minutes' notice. Choose a later time, or remove Send At to send right away.`,
	);
}
