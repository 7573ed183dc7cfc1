import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { minimumLeadMinutes } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { toSchedule } from '../service/schedule';
import { quote } from '../service/text';
import { issueWith } from '../service/textSchemas';
import { nonBlank, groupOf, textProperty } from './parameters';

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
		"When nothing may go out. A send that falls into these hours, right away or by its Send At, is scheduled for their end instead. The times are read in Send At Timezone, or else in the workflow's time zone.",
	options: [{ displayName: 'Hours', name: 'hours', values: [from, to] }],
} satisfies INodeProperties;

/** When nothing may go out: times of a day, `HH:MM`, in a time zone. */
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

/** Quiet Hours as they are entered. */
export const quietHoursSchema = groupOf(
	quietHours.displayName,
	'hours',
	z
		.object({
			from: nonBlank(timeOfDay).default(from.default),
			to: nonBlank(timeOfDay).default(to.default),
		})
		.refine(
			(hours) => hours.from !== hours.to,
			(hours) =>
				issueWith(
					`has ${hours.from} both as From and as To`,
					'Enter when quiet hours begin and when they end, such as 21:00 and 08:00, or remove Quiet Hours from the additional fields.',
				),
		),
);

const minute = 60_000;

/** A time that is only seconds further ahead than the service asks for may come too late. */
const spare = 5_000;

const clockIn = (timezone: string, at: number) =>
	DateTime.fromMillis(at, { zone: timezone, locale: 'en-US', numberingSystem: 'latn' });

/** Whether a moment is in quiet hours, by what a clock on the wall shows then. */
export function isQuiet({ from, to, timezone }: QuietHours, at: number): boolean {
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
	let moment = at;
	while (isQuiet(hours, moment)) moment = nextEnd(hours, moment);
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
 * @returns `undefined` if quiet hours do not hold it back; else their end, or the first minute outside of them that the
 * service accepts
 */
export function afterQuietHours(
	hours: QuietHours,
	asked: Schedule | undefined,
	now: number,
): Schedule | undefined {
	const at = asked?.at ?? now;
	if (!isQuiet(hours, at)) return undefined;
	const earliest = Math.max(endOfQuiet(hours, at), earliestSchedule(now));
	return toSchedule(endOfQuiet(hours, earliest), hours.timezone);
}
