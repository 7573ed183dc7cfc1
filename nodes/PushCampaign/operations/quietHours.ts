import type { INodeProperties } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import { minimumLeadMs } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { clockIn, minuteMs, toSchedule } from '../service/schedule';
import { quote, trimBlanks } from '../service/text';
import { fieldOf, groupIn, groupOf, invalid, isThere, readRequired } from './values';

const time = { type: 'string', placeholder: 'e.g. 21:00', description: 'As HH:MM' } as const;
const from: INodeProperties = { ...time, displayName: 'From', name: 'from', default: '21:00' };
const to: INodeProperties = { ...time, displayName: 'To', name: 'to', default: '08:00' };

export const quietHours = {
	displayName: 'Quiet Hours',
	name: 'quietHours',
	placeholder: 'Add Hours',
	description: "When nothing goes out, in the workflow's timezone unless you add Timezone",
	...groupOf('Hours', 'hours', [from, to]),
};

/** When nothing goes out: times of a day, `HH:MM`, in a timezone. */
export interface QuietHours {
	readonly from: string;
	readonly to: string;
	/** IANA name. */
	readonly timezone: string;
}

/** `8:00` counts as `08:00`, as does `08:00:00` of a sheet. */
function readTime(item: ItemParameters, field: Field): string {
	const value = readRequired(item, field);
	const text = typeof value === 'string' ? trimBlanks(value) : '';
	const pattern = /^(?<hour>[01]?\d|2[0-3]):(?<minutes>[0-5]\d)(?::00)?$/;
	const { hour, minutes } = pattern.exec(text)?.groups ?? {};
	if (hour !== undefined) return `${hour.padStart(2, '0')}:${minutes}`;
	throw invalid(field, `is not a time such as 21:00: ${quote(value)}`);
}

/** @throws InvalidInput naming what is not valid */
export function readQuietHours(item: ItemParameters, timezone: string): QuietHours | undefined {
	const field = fieldOf(quietHours, 'additionalFields');
	if (!isThere(item, field)) return undefined;
	const group = groupIn(field, 'hours');
	const [begin, end] = [readTime(item, fieldOf(from, group)), readTime(item, fieldOf(to, group))];
	if (begin !== end) return { from: begin, to: end, timezone };
	const fix = 'Enter when they begin and when they end, such as 21:00 and 08:00.';
	throw invalid(field, `has ${begin} both as From and as To`, fix);
}

/** A time that is only just far enough ahead may come too late to the service. */
const spareMs = 5_000;

/** Whether a moment is in quiet hours, by what a clock on the wall shows then. */
function isQuiet({ from, to, timezone }: QuietHours, at: number): boolean {
	const time = clockIn(timezone, at).toFormat('HH:mm');
	return from < to ? from <= time && time < to : from <= time || time < to;
}

/** When a clock on the wall shows `to` next. If a change of the clock skips it, as much later as the clock is changed. */
function nextEnd({ to, timezone }: QuietHours, at: number): number {
	const [hour, minutes] = to.split(':').map(Number);
	const time = { hour, minute: minutes, second: 0, millisecond: 0 };
	const now = clockIn(timezone, at);
	const today = now.set(time);
	if (today > now) return today.toMillis();
	return now.startOf('day').plus({ days: 1 }).set(time).toMillis();
}

/** A moment itself, or the end of the quiet hours that it is in. */
function endOfQuiet(hours: QuietHours, at: number): number {
	if (!isQuiet(hours, at)) return at;
	const end = nextEnd(hours, at);
	// Only if a change of the clock skips `to`, and not on the next day again.
	return isQuiet(hours, end) ? nextEnd(hours, end) : end;
}

/**
 * When a send goes out: at the end of the quiet hours that it falls into, or at the first minute that the service accepts
 * if that is later. A time whose quiet hours are over stays as it was entered, and is refused as past.
 */
export function afterQuietHours(
	hours: QuietHours,
	entered: Schedule | undefined,
	now: number,
): Schedule | undefined {
	const at = entered?.at ?? now;
	const end = endOfQuiet(hours, at);
	if (end === at || end <= now) return entered;
	const earliest = Math.ceil((now + minimumLeadMs + spareMs) / minuteMs) * minuteMs;
	return toSchedule(endOfQuiet(hours, Math.max(end, earliest)), hours.timezone);
}
