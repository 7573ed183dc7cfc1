import * as fc from 'fast-check';
import { DateTime } from 'luxon';
import {
	afterQuietHours,
	isQuiet,
	quietHoursSchema,
	type QuietHours,
} from '../../../nodes/PushCampaign/operations/quietHours';
import { toSchedule } from '../../../nodes/PushCampaign/service/schedule';

const minute = 60_000;
const day = 24 * 60 * minute;

const hoursOf = (from: string, to: string, timezone = 'Europe/Berlin'): QuietHours => ({
	from,
	to,
	timezone,
});
const night = hoursOf('21:00', '08:00');
const at = (text: string) => DateTime.fromISO(text, { zone: 'Europe/Berlin' }).toMillis();

test.each([
	{ name: 'are two times', hours: { from: '22:30', to: '07:05' }, from: '22:30', to: '07:05' },
	{ name: 'may have an hour of one digit', hours: { to: ' 7:05\n' }, from: '21:00', to: '07:05' },
	{ name: 'are 21:00 to 08:00 if nothing else is there', hours: {}, from: '21:00', to: '08:00' },
])('quiet hours $name', ({ hours, from, to }) => {
	expect(quietHoursSchema.parse({ hours })).toEqual({ from, to });
});

describe('a send that would go out right away', () => {
	test.each([
		{ name: 'goes out before quiet hours begin', now: '2030-01-15T20:59:59.999' },
		{ name: 'goes out when they end', now: '2030-01-15T08:00' },
		{ name: 'goes out at noon', now: '2030-01-15T12:00' },
	])('$name', ({ now }) => {
		expect(afterQuietHours(night, undefined, at(now))).toBeUndefined();
	});

	test.each([
		{
			name: 'waits from the first moment of quiet hours',
			now: '2030-01-15T21:00',
			text: '2030-01-16 08:00 +01:00',
		},
		{ name: 'waits across midnight', now: '2030-12-31T23:59:59', text: '2031-01-01 08:00 +01:00' },
		{ name: 'waits in the morning', now: '2030-01-15T03:00', text: '2030-01-15 08:00 +01:00' },
		{ name: 'waits exactly 5 minutes', now: '2030-01-15T07:55', text: '2030-01-15 08:00 +01:00' },
		{
			name: 'waits 5 minutes if that is later than their end',
			now: '2030-01-15T07:57',
			text: '2030-01-15 08:02 +01:00',
		},
		{ name: 'rounds 5 minutes up', now: '2030-01-15T07:57:20', text: '2030-01-15 08:03 +01:00' },
		{
			name: 'spares seconds for the way to the service',
			now: '2030-01-15T07:57:58',
			text: '2030-01-15 08:04 +01:00',
		},
	])('$name', ({ now, text }) => {
		expect(afterQuietHours(night, undefined, at(now))).toEqual({ text, at: Date.parse(text) });
	});

	test('waits at noon if quiet hours are in the day', () => {
		const lunch = hoursOf('12:00', '13:30');
		expect(afterQuietHours(lunch, undefined, at('2030-01-15T12:00'))?.text).toBe(
			'2030-01-15 13:30 +01:00',
		);
		expect(afterQuietHours(lunch, undefined, at('2030-01-15T13:30'))).toBeUndefined();
	});

	test('waits a day if 5 minutes ahead is in quiet hours again', () => {
		const nearlyAlways = hoursOf('08:02', '08:00');
		expect(afterQuietHours(nearlyAlways, undefined, at('2030-01-15T07:58'))?.text).toBe(
			'2030-01-16 08:00 +01:00',
		);
	});
});

describe('a send with Send At', () => {
	const now = at('2030-01-15T12:00');
	const asked = (text: string) => toSchedule(at(text), 'Europe/Berlin');

	test('keeps a time outside quiet hours', () => {
		const other = { text: '2030-01-15 12:30 +05:30', at: Date.parse('2030-01-15T12:30+05:30') };
		expect(afterQuietHours(night, other, now)).toBeUndefined();
	});

	test('keeps a time outside quiet hours that the service will refuse', () => {
		const past = asked('2030-01-15T11:59');
		expect(afterQuietHours(night, past, now)).toBeUndefined();
	});

	test('moves to the end of the quiet hours that it is in, even days ahead', () => {
		expect(afterQuietHours(night, asked('2030-02-01T22:00'), now)?.text).toBe(
			'2030-02-02 08:00 +01:00',
		);
	});
});

describe('when clocks change', () => {
	test.each([
		{
			name: 'ends at 08:00 of the new time in spring',
			...night,
			now: '2030-03-30T22:00',
			text: '2030-03-31 08:00 +02:00',
		},
		{
			name: 'ends at 08:00 of the new time in fall',
			...night,
			now: '2030-10-26T22:00',
			text: '2030-10-27 08:00 +01:00',
		},
		// 02:30 is skipped on that day: the clock goes from 02:00 to 03:00.
		{
			name: 'ends an hour later if its end is skipped',
			...hoursOf('21:00', '02:30'),
			now: '2030-03-30T22:00',
			text: '2030-03-31 03:30 +02:00',
		},
		{
			name: 'ends at the first of two equal times',
			...hoursOf('21:00', '02:30'),
			now: '2030-10-26T22:00',
			text: '2030-10-27 02:30 +02:00',
		},
		{
			name: 'begins although its beginning is skipped',
			...hoursOf('02:30', '08:00'),
			now: '2030-03-31T03:00',
			text: '2030-03-31 08:00 +02:00',
		},
	])('$name', ({ from, to, now, text }) => {
		expect(afterQuietHours(hoursOf(from, to), undefined, at(now))?.text).toBe(text);
	});

	test('a time that comes twice is quiet both times', () => {
		const hours = hoursOf('21:00', '02:30');
		const first = Date.parse('2030-10-27T02:15+02:00');
		const second = Date.parse('2030-10-27T02:15+01:00');
		expect([isQuiet(hours, first), isQuiet(hours, second)]).toEqual([true, true]);
		expect(afterQuietHours(hours, undefined, second)?.text).toBe('2030-10-27 02:30 +01:00');
	});
});

describe('whatever the hours, the time zone and the moment', () => {
	const zones = [
		'UTC',
		'Europe/Berlin',
		'America/St_Johns',
		'Asia/Kathmandu',
		'Australia/Lord_Howe',
		'Pacific/Kiritimati',
		'America/Santiago',
	];
	const timeOfDay = fc.integer({ min: 0, max: 1439 }).map((minutes) => {
		const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
		return `${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
	});
	const anyHours = fc
		.record({ from: timeOfDay, to: timeOfDay, timezone: fc.constantFrom(...zones) })
		.filter(({ from, to }) => from !== to);
	// Nights in which clocks change come up often enough.
	const anyNow = fc.oneof(
		fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2035, 0) }),
		fc
			.tuple(
				fc.constantFrom(Date.UTC(2030, 2, 31), Date.UTC(2030, 9, 27), Date.UTC(2030, 3, 6, 15)),
				fc.integer({ min: -36 * 60 * minute, max: 36 * 60 * minute }),
			)
			.map(([change, distance]) => change + distance),
	);
	const anyAhead = fc.option(fc.integer({ min: 0, max: 3 * 24 * 60 }), { nil: undefined });

	/** What a clock on the wall shows, without the code under test. */
	const wallClock = (moment: number, timezone: string) =>
		DateTime.fromMillis(moment, { zone: timezone }).toFormat('HH:mm');
	const isQuietByClock = ({ from, to, timezone }: QuietHours, moment: number) => {
		const time = wallClock(moment, timezone);
		return from < to ? from <= time && time < to : from <= time || time < to;
	};
	const forAny = (
		check: (
			hours: QuietHours,
			asked: { text: string; at: number } | undefined,
			now: number,
		) => void,
	) =>
		fc.assert(
			fc.property(anyHours, anyNow, anyAhead, (hours, now, ahead) => {
				const asked =
					ahead === undefined
						? undefined
						: toSchedule((Math.ceil(now / minute) + ahead) * minute, hours.timezone);
				check(hours, asked, now);
			}),
		);

	test('what is outside quiet hours stays as it was asked for', () => {
		forAny((hours, asked, now) => {
			if (isQuietByClock(hours, asked?.at ?? now)) return;
			expect(afterQuietHours(hours, asked, now)).toBeUndefined();
		});
	});

	test('what is inside goes out at a whole minute outside, at least 5 minutes ahead', () => {
		forAny((hours, asked, now) => {
			if (!isQuietByClock(hours, asked?.at ?? now)) return;
			const moved = afterQuietHours(hours, asked, now);
			if (moved === undefined) throw new TypeError('It would go out right away');
			expect(isQuietByClock(hours, moved.at)).toBe(false);
			expect(moved.at).toBeGreaterThanOrEqual(asked?.at ?? now);
			expect(moved.at - now).toBeGreaterThanOrEqual(5 * minute);
			expect(moved.at % minute).toBe(0);
			expect(Date.parse(moved.text)).toBe(moved.at);
		});
	});

	test('what is inside goes out at their end, unless that is less than 6 minutes ahead', () => {
		forAny((hours, asked, now) => {
			const start = asked?.at ?? now;
			const { timezone, to } = hours;
			const offsetAt = (at: number) => DateTime.fromMillis(at, { zone: timezone }).offset;
			const [before, after] = [start - day, start + 2 * day].map(offsetAt);
			// Where clocks change, an end may come twice, or be skipped.
			if (!isQuietByClock(hours, start) || before !== after) return;
			const moved = afterQuietHours(hours, asked, now);
			if (moved === undefined) throw new TypeError('It would go out right away');
			expect(moved.at - start).toBeLessThanOrEqual(day);
			if (moved.at - now < 7 * minute) return;
			expect(wallClock(moved.at, timezone)).toBe(to);
		});
	});
});
