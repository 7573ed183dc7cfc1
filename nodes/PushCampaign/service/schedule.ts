import { DateTime, FixedOffsetZone } from 'luxon';

import { InvalidInput } from './invalidInput';
import { minimumLeadMinutes } from './rules';

/** No place on earth is further from UTC. */
const widestOffsetMinutes = 14 * 60;
const ADVICE =
	'Choose a date, or enter one such as 2030-05-17T09:30:00+02:00. Without an offset it is read in Send At Timezone, or else in the time zone of the workflow.';

/** A date as text: a calendar day, then perhaps a time, then perhaps an offset. */
const DATE_TEXT =
	/^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?) ?(?:(Z)|([+-])(\d{1,2})(?::?([0-5]\d))?)?)?$/i;

function fromText(text: string, zone: string): DateTime {
	const match = DATE_TEXT.exec(text.trim());
	if (!match) return DateTime.invalid('unreadable');
	const [, day, time = '00:00', utc = '', sign, hours, minutes = '00'] = match;
	const offset =
		sign === undefined ? utc.toUpperCase() : `${sign}${hours?.padStart(2, '0')}:${minutes}`;
	const date = DateTime.fromISO(`${day}T${time}${offset}`, { zone, setZone: true });
	// Of an hour that comes twice the first one; Luxon alone would choose by the season it is now.
	return date.getPossibleOffsets()[0] ?? date;
}

function toDateTime(value: unknown, zone: string): DateTime {
	if (typeof value === 'string') return fromText(value, zone);
	// Also one of another realm, such as that in which n8n evaluates expressions.
	const isDate = Object.prototype.toString.call(value) === '[object Date]';
	if (typeof value === 'number' || isDate) return DateTime.fromMillis(Number(value), { zone });
	if (!DateTime.isDateTime(value)) return DateTime.invalid('unreadable');
	// One of the host's copy of Luxon, which is another than this package's: read by what both have.
	return DateTime.fromMillis(value.toMillis(), { zone: FixedOffsetZone.instance(value.offset) });
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

/**
 * Reads a date in any of the forms that a workflow holds. The service knows no seconds: they are rounded up,
 * never down.
 * @param value ISO text, Luxon DateTime, JavaScript Date or milliseconds since 1970
 * @param timezone IANA name; where a value has no offset of its own it is read in this time zone
 * @throws InvalidInput when the value can't be read as a date
 */
export function parseSchedule(value: unknown, timezone: string): Schedule {
	const date = toDateTime(value, timezone);
	if (date.invalidReason === 'unsupported zone') {
		throw new InvalidInput(
			`Send At can't be read in the time zone of the workflow, "${timezone}"`,
			"Choose another time zone in the workflow's settings, or add Send At Timezone.",
		);
	}
	const rounded = date.plus(59_999).startOf('minute');
	const hasFourDigits = rounded.year >= 0 && rounded.year <= 9999;
	if (!rounded.isValid || !hasFourDigits || Math.abs(rounded.offset) > widestOffsetMinutes) {
		throw new InvalidInput("Send At can't be read as a date", ADVICE);
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
