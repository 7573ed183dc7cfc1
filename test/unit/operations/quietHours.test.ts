import * as fc from 'fast-check';
import { DateTime } from 'luxon';

import type { QuietHours } from '../../../nodes/PushCampaign/operations/quietHours';
import { afterQuietHours } from '../../../nodes/PushCampaign/operations/quietHours';
import { toSchedule } from '../../../nodes/PushCampaign/service/schedule';
import { prepare, refusalOf } from './support';

const minute = 60_000;
const day = 24 * 60 * minute;

const hoursOf = (from: string, to: string, timezone = 'Europe/Berlin'): QuietHours => ({
	from,
	to,
	timezone,
});
const night = hoursOf('21:00', '08:00');
const early = hoursOf('21:00', '02:30');
const late = hoursOf('02:30', '08:00');
const at = (text: string) => DateTime.fromISO(text, { zone: 'Europe/Berlin' }).toMillis();
const asked = (text: string) => toSchedule(at(text), 'Europe/Berlin');

describe('a send that would go out at once', () => {
	test.each([
		['goes out at noon', '2030-01-15T12:00', undefined],
		['goes out before quiet hours begin', '2030-01-15T20:59:59.999', undefined],
		['goes out when they end', '2030-01-15T08:00', undefined],
		['waits from their first moment', '2030-01-15T21:00', '2030-01-16 08:00 +01:00'],
		['waits across midnight', '2030-12-31T23:59:59', '2031-01-01 08:00 +01:00'],
		['waits in the morning', '2030-01-15T03:00', '2030-01-15 08:00 +01:00'],
		['waits five minutes if that is later', '2030-01-15T07:57:20', '2030-01-15 08:03 +01:00'],
		['waits more than that, at a whole minute too', '2030-01-15T07:55', '2030-01-15 08:01 +01:00'],
		['spares seconds for its way', '2030-01-15T07:57:58', '2030-01-15 08:04 +01:00'],
	])('with quiet hours from 21:00 to 08:00 %s', (_name, now, text) => {
		expect(afterQuietHours(night, undefined, at(now))?.text).toBe(text);
	});

	test('waits in hours that are within a day, and at none of their ends', () => {
		const lunch = hoursOf('12:00', '13:30');
		expect(afterQuietHours(lunch, undefined, at('2030-01-15T12:00'))?.text).toBe(
			'2030-01-15 13:30 +01:00',
		);
		expect(afterQuietHours(lunch, undefined, at('2030-01-15T13:30'))).toBeUndefined();
		expect(afterQuietHours(lunch, undefined, at('2030-01-15T11:59'))).toBeUndefined();
	});

	test('waits a day if five minutes ahead is in quiet hours again', () => {
		const nearlyAlways = hoursOf('08:02', '08:00');
		expect(afterQuietHours(nearlyAlways, undefined, at('2030-01-15T07:58'))?.text).toBe(
			'2030-01-16 08:00 +01:00',
		);
	});
});

describe('a send with Send At', () => {
	const now = at('2030-01-15T22:00');
	test.each([
		['keeps a time outside quiet hours', '2030-01-16T12:00', '2030-01-16 12:00 +01:00'],
		['is moved to their end, even days ahead', '2030-02-01T22:00', '2030-02-02 08:00 +01:00'],
		['is moved if its time is just over', '2030-01-15T21:30', '2030-01-16 08:00 +01:00'],
		['keeps a time that was over when they began', '2030-01-15T20:59', '2030-01-15 20:59 +01:00'],
		['keeps a time of the night before', '2030-01-14T22:00', '2030-01-14 22:00 +01:00'],
	])('and quiet hours from 21:00 to 08:00 %s', (_name, time, text) => {
		expect(afterQuietHours(night, asked(time), now)?.text).toBe(text);
	});

	test.each([
		['2030-01-16T12:00', undefined],
		['2030-01-16T08:00', undefined],
		['2030-01-16T07:59:30', '2030-01-16 08:05 +01:00'],
	])('whose quiet hours are over keeps its time, to be refused as past: at %s', (later, moved) => {
		const entered = asked('2030-01-15T22:00');
		expect(afterQuietHours(night, entered, at(later))?.text).toBe(moved ?? entered.text);
	});
});

test.each([
	['end at 08:00 of the new time in spring', night, '2030-03-30T22:00', '2030-03-31 08:00 +02:00'],
	['end at 08:00 of the new time in fall', night, '2030-10-26T22:00', '2030-10-27 08:00 +01:00'],
	['end later if their end is skipped', early, '2030-03-30T22:00', '2030-03-31 03:30 +02:00'],
	['end at the first of two equal times', early, '2030-10-26T22:00', '2030-10-27 02:30 +02:00'],
	[
		'end a day later if what takes the place of their end is quiet',
		hoursOf('03:00', '02:30'),
		'2030-03-30T22:00',
		'2030-04-01 02:30 +02:00',
	],
	['begin if that is skipped', late, '2030-03-31T03:00', '2030-03-31 08:00 +02:00'],
])('when clocks change, quiet hours %s', (_name, hours, now, text) => {
	expect(afterQuietHours(hours, undefined, at(now))?.text).toBe(text);
});

test('their end is looked for twice at most, also in a timezone that is none', () => {
	for (const hours of [hoursOf('21:00', '08:00', 'Mars/Base'), hoursOf('8:00', '21:00', '')]) {
		expect(afterQuietHours(hours, undefined, at('2030-01-15T22:00'))?.at).not.toBeGreaterThan(0);
	}
});

describe('in ten timezones', () => {
	const zones = [
		...['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe'],
		...['Pacific/Kiritimati', 'America/Santiago', 'Africa/Casablanca', 'Pacific/Apia'],
		'America/New_York',
	];
	const timeOfDay = fc
		.integer({ min: 0, max: 1439 })
		.map((minutes) => DateTime.fromMillis(minutes * minute, { zone: 'UTC' }).toFormat('HH:mm'));
	const anyHours = fc
		.record({ from: timeOfDay, to: timeOfDay, timezone: fc.constantFrom(...zones) })
		.filter(({ from, to }) => from !== to);
	// Nights in which clocks change come up often enough.
	const anyNow = fc.oneof(
		fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2035, 0) }),
		fc
			.tuple(
				fc.constantFrom(Date.UTC(2030, 2, 31), Date.UTC(2030, 9, 27), Date.UTC(2030, 3, 6, 15)),
				fc.integer({ min: -1.5 * day, max: 1.5 * day }),
			)
			.map(([change, distance]) => change + distance),
	);
	const anyAhead = fc.option(fc.integer({ min: -2 * 24 * 60, max: 3 * 24 * 60 }), {
		nil: undefined,
	});

	const clocks = new Map(
		zones.map((timeZone) => [
			timeZone,
			new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }),
		]),
	);
	// Clocks change at a quarter of an hour, if they do.
	const quarters = new Map<string, string>();
	function clock(moment: number, timezone: string): string {
		const quarter = Math.floor(moment / (15 * minute));
		const key = `${timezone} ${quarter}`;
		const shown = quarters.get(key) ?? clocks.get(timezone)?.format(quarter * 15 * minute) ?? '';
		quarters.set(key, shown);
		const minutes = Number(shown.slice(3)) + (Math.floor(moment / minute) % 15);
		return `${shown.slice(0, 3)}${String(minutes).padStart(2, '0')}`;
	}
	function isQuiet({ from, to, timezone }: QuietHours, moment: number): boolean {
		const time = clock(moment, timezone);
		return from < to ? from <= time && time < to : from <= time || time < to;
	}
	/** Looks at a clock minute by minute. */
	function firstMinuteOutside(hours: QuietHours, from: number): number {
		let moment = Math.ceil(from / minute) * minute;
		while (isQuiet(hours, moment)) moment += minute;
		return moment;
	}

	test('a send goes out when a clock that is looked at each minute shows the end', () => {
		fc.assert(
			fc.property(anyHours, anyNow, anyAhead, (hours, now, ahead) => {
				const entered =
					ahead === undefined
						? undefined
						: toSchedule((Math.ceil(now / minute) + ahead) * minute, hours.timezone);
				const start = entered?.at ?? now;
				const moved = afterQuietHours(hours, entered, now);
				if (!isQuiet(hours, start)) return expect(moved).toBe(entered);
				const isOver = firstMinuteOutside(hours, start) <= now;
				if (moved === entered) return expect(isOver).toBe(true);
				const earliest = Math.ceil((now + 5 * minute + 5000) / minute) * minute;
				const end = Math.max(firstMinuteOutside(hours, start), earliest);
				const expected = firstMinuteOutside(hours, end);
				// An end that a change of the clock skips comes as much later.
				const late = (moved?.at ?? 0) - expected;
				const isSkipped = moved !== undefined && clock(moved.at - 1, hours.timezone) > hours.to;
				expect(isSkipped ? late <= 60 * minute && late >= 0 : late === 0 && !isOver).toBe(true);
			}),
			{ numRuns: 400 },
		);
	});
});

describe('Quiet Hours', () => {
	const read = (hours: object, sendAt?: string) =>
		prepare({ additionalFields: { ...(sendAt && { sendAt }), quietHours: { hours } } });

	test.each([
		{ hours: { from: '23:30', to: '07:05' }, at: '23:30', until: '07:05' },
		// As a sheet has times.
		{ hours: { from: '21:00:00', to: ' 8:05:00\n' }, at: '21:00', until: '08:05' },
		{ hours: { from: '9:00', to: ' 7:05\u00A0\n' }, at: '09:00', until: '07:05' },
	])('are read from $hours', ({ hours, at, until }) => {
		const { body } = read(hours, `2030-05-17 ${at}`);
		expect(body.send_at).toBe(`2030-05-18 ${until} +00:00`);
	});

	test.each(['24:00', '21:60', '021:00', '21:000', '21:00:30', '8'])(
		'are refused if they begin at no time: %s',
		(from) => {
			const refusal = `'From' in 'Quiet Hours' is not a time such as 21:00: "${from}"`;
			expect(refusalOf(() => read({ from, to: '08:00' }))).toBe(refusal);
		},
	);

	test.each([
		[{ from: 21, to: '08:00' }, "'From' in 'Quiet Hours' is not a time such as 21:00: 21"],
		[{ from: '21:00', to: '8' }, `'To' in 'Quiet Hours' is not a time such as 21:00: "8"`],
		[{ from: '8:00', to: '08:00' }, "'Quiet Hours' has 08:00 both as From and as To"],
		[{ from: '', to: '08:00' }, "'From' in 'Quiet Hours' is missing"],
		[{ from: '21:00' }, "'To' in 'Quiet Hours' is missing"],
	])('are refused: %j', (hours, refusal) => {
		expect(refusalOf(() => read(hours))).toBe(refusal);
	});
});
