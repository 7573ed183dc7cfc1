import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { DateTime, FixedOffsetZone, Settings } from 'luxon';
import {
	checkLead,
	isNow,
	parseSchedule,
	toSchedule,
} from '../../../nodes/PushCampaign/service/schedule';
import { refusal } from './support';

// Specification, Notification / campaign, send_at.

const otherRealm: unknown = runInNewContext("new Date('2030-05-17T07:30Z')");
const otherLuxon = {
	isLuxonDateTime: true,
	toMillis: () => Date.UTC(2030, 4, 17, 7, 30),
	offset: -210,
};

describe('a date is written with its offset', () => {
	test.each([
		{
			name: 'in the given time zone if the text has none',
			value: '2030-01-17 09:30',
			timezone: 'Europe/Berlin',
			text: '2030-01-17 09:30 +01:00',
		},
		{
			name: 'at midnight if it is a day alone',
			value: '2030-05-17',
			timezone: 'Asia/Kathmandu',
			text: '2030-05-17 00:00 +05:45',
		},
		{
			name: 'on the next day at 24:00',
			value: '2030-05-17T24:00',
			timezone: 'UTC',
			text: '2030-05-18 00:00 +00:00',
		},
		{
			name: 'on a leap day, with blanks around it',
			value: ' 2028-02-29T10:00\n',
			timezone: 'UTC',
			text: '2028-02-29 10:00 +00:00',
		},
		{
			name: 'of its own, z in lower case',
			value: '2030-05-17t09:30z',
			timezone: 'Europe/Berlin',
			text: '2030-05-17 09:30 +00:00',
		},
		...[
			{ value: '2030-5-7', text: '2030-05-07 00:00 +02:00' },
			{ value: '2030-05-17 9:00', text: '2030-05-17 09:00 +02:00' },
			{ value: '2030-1-7T9:05:00', text: '2030-01-07 09:05 +01:00' },
			{ value: '2030-05-17  09:30 -3', text: '2030-05-17 09:30 -03:00' },
			{ value: '20300517T093000Z', text: '2030-05-17 09:30 +00:00' },
			{ value: '2030-W20-5T09:30+0530', text: '2030-05-17 09:30 +05:30' },
			{ value: '2030-137T09-03', text: '2030-05-17 09:00 -03:00' },
			{ value: '1905233400000', text: '2030-05-17 09:30 +02:00' },
			{ value: ' 1905233400001\n', text: '2030-05-17 09:31 +02:00' },
		].map(({ value, text }) => ({
			name: `as people and tables write it: ${JSON.stringify(value)}`,
			value,
			timezone: 'Europe/Berlin',
			text,
		})),
		...[
			{ written: ' +5:30', offset: '+05:30' },
			{ written: ' -3', offset: '-03:00' },
			{ written: '+0530', offset: '+05:30' },
			{ written: '+530', offset: '+05:30' },
			{ written: '-00:30', offset: '-00:30' },
			{ written: '+14:00', offset: '+14:00' },
			{ written: '-14:00', offset: '-14:00' },
		].map(({ written, offset }) => ({
			name: `of its own, written as "${written}"`,
			value: `2030-05-17 09:30${written}`,
			timezone: 'UTC',
			text: `2030-05-17 09:30 ${offset}`,
		})),
		{
			name: 'a minute later if it has milliseconds',
			value: '2030-05-17T09:30:00.001',
			timezone: 'UTC',
			text: '2030-05-17 09:31 +00:00',
		},
		{
			name: 'a minute later if it has a fraction after a comma',
			value: '2030-05-17T09:30:00,5',
			timezone: 'UTC',
			text: '2030-05-17 09:31 +00:00',
		},
		{
			name: 'in the next year if its seconds are rounded up',
			value: '2030-12-31T23:59:01',
			timezone: 'UTC',
			text: '2031-01-01 00:00 +00:00',
		},
		{
			name: 'in the last minute of all years',
			value: '9999-12-31T23:59:00',
			timezone: 'UTC',
			text: '9999-12-31 23:59 +00:00',
		},
		{
			name: 'in the time zone if it is a Date of another realm',
			value: otherRealm,
			timezone: 'Europe/Berlin',
			text: '2030-05-17 09:30 +02:00',
		},
		{
			name: 'of its own if it is a DateTime of another Luxon',
			value: otherLuxon,
			timezone: 'UTC',
			text: '2030-05-17 04:00 -03:30',
		},
	])('$name', ({ value, timezone, text }) => {
		const schedule = parseSchedule(value, timezone);
		expect(schedule.text).toBe(text);
		expect(schedule.at).toBe(DateTime.fromFormat(text, 'yyyy-MM-dd HH:mm ZZ').toMillis());
	});
});

describe.each([
	{ season: 'summer', now: Date.UTC(2029, 6, 1) },
	{ season: 'winter', now: Date.UTC(2029, 11, 1) },
])('when clocks change in Berlin, read in $season', ({ now }) => {
	const { now: clock } = Settings;
	beforeAll(() => {
		Settings.now = () => now;
	});
	afterAll(() => {
		Settings.now = clock;
	});

	test.each([
		{
			name: 'a time that is skipped is an hour later',
			value: '2030-03-31T02:30',
			text: '2030-03-31 03:30 +02:00',
		},
		{
			name: 'seconds are rounded up across the hour that is skipped',
			value: '2030-03-31T01:59:30',
			text: '2030-03-31 03:00 +02:00',
		},
		{
			name: 'of a time that comes twice it is the first',
			value: '2030-10-27T02:30',
			text: '2030-10-27 02:30 +02:00',
		},
		{
			name: 'a time with an offset keeps it after rounding',
			value: '2030-10-27T02:59:30+02:00',
			text: '2030-10-27 03:00 +02:00',
		},
		{
			name: 'milliseconds are rounded up into the hour that comes again',
			value: Date.UTC(2030, 9, 27, 0, 59, 30),
			text: '2030-10-27 02:00 +01:00',
		},
	])('$name', ({ value, text }) => {
		expect(parseSchedule(value, 'Europe/Berlin').text).toBe(text);
	});
});

const unreadable: Array<{ name: string; value: unknown; quoted: unknown }> = [
	...[
		'2030-05',
		'17.05.2030 09:30',
		'2030-05-17T09',
		'2030-05-17 9:5',
		'2030-05-017 09:30',
		'tomorrow',
		'2029-02-29T10:00',
		'2030-05-17T10:60',
		'2030-05-17T10:00:60',
		'2030-05-17T10:00:00.0000000001',
		'2030-05-17T10:00+15:00',
		'2030-05-17T10:00-14:01',
		'2030-05-17T10:00+05:60',
		'2030-05-17T10:00+123456',
		'2030-05-17T10:00 UTC',
		'+012030-05-17T10:00',
		'9999-12-31T23:59:01Z',
		'20300517',
		'18934560000000',
	].map((value) => ({ name: `the text ${value}`, value, quoted: `"${value}"` })),
	{ name: 'infinity', value: Number.POSITIVE_INFINITY, quoted: 'Infinity' },
	{ name: 'more milliseconds than a date has', value: 8.64e15, quoted: '8640000000000000' },
	{ name: 'an invalid Date', value: new Date(Number.NaN), quoted: 'Invalid Date' },
	{
		name: 'a year before 0',
		value: new Date(Date.UTC(-1, 11, 31, 23, 58)),
		quoted: expect.stringContaining('Dec 31'),
	},
	{ name: 'an object', value: { year: 2030 }, quoted: '{"year":2030}' },
	{
		name: 'an offset that no place has',
		value: DateTime.utc(2030).setZone(FixedOffsetZone.instance(15 * 60)),
		quoted: '2030-01-01T15:00:00.000+15:00',
	},
	{ name: 'an invalid DateTime', value: DateTime.invalid('broken'), quoted: 'Invalid DateTime' },
];

test.each(unreadable)('$name can’t be read as a date', ({ value, quoted }) => {
	const [what, named] = refusal(() => parseSchedule(value, 'UTC')).message.split(/: (.*)/);
	expect([what, named]).toEqual(["Send At can't be read as a date", quoted]);
});

test('says how to write a date', () => {
	expect(refusal(() => parseSchedule('soon', 'UTC')).advice).toBe(
		'Choose a date, or enter one such as 2030-05-17 09:30. It is read in Send At Timezone, or else in the time zone of the workflow. A date with an offset, such as 2030-05-17 09:30 +02:00, keeps it.',
	);
});

test.each([
	{ value: 1_893_456_000, quoted: '1893456000' },
	{ value: 1_893_456_000.5, quoted: '1893456000.5' },
	{ value: ' 1893456000 ', quoted: '"1893456000"' },
	{ value: 1e9, quoted: '1000000000' },
])('says that $value looks like seconds, and what to do', ({ value, quoted }) => {
	expect(refusal(() => parseSchedule(value, 'UTC'))).toMatchObject({
		message: `Send At is ${quoted}, which looks like seconds`,
		advice:
			'A number is read as milliseconds: multiply it by 1000, or enter a date such as 2030-05-17 09:30.',
	});
});

test.each([{ value: 1e9 - 1 }, { value: 1e10 }, { value: 0 }])(
	'reads $value as milliseconds',
	({ value }) => {
		expect(parseSchedule(value, 'UTC').text).toMatch(/^1970-/);
	},
);

test.each([
	{ value: 'now', isWord: true },
	{ value: ' NOW\n', isWord: true },
	{ value: 'nowadays', isWord: false },
	{ value: '', isWord: false },
	{ value: null, isWord: false },
])('whether $value is the word now: $isWord', ({ value, isWord }) => {
	expect(isNow(value)).toBe(isWord);
});

test('a moment is written in the time zone that is asked for', () => {
	const at = Date.UTC(2030, 4, 17, 7, 30);
	expect(toSchedule(at, 'Europe/Berlin')).toEqual({ text: '2030-05-17 09:30 +02:00', at });
});

test.each([{ locale: 'ar-EG' }, { locale: 'ar-EG-u-nu-arab' }])(
	'dates are the same on a server with the locale $locale',
	({ locale }) => {
		const { defaultLocale, defaultZone } = Settings;
		try {
			Object.assign(Settings, { defaultLocale: locale, defaultZone: 'Asia/Kathmandu' });
			expect(parseSchedule('2030-05-17T09:30Z', 'Europe/Berlin')).toEqual({
				text: '2030-05-17 09:30 +00:00',
				at: Date.UTC(2030, 4, 17, 9, 30),
			});
		} finally {
			Object.assign(Settings, { defaultLocale, defaultZone });
		}
	},
);

describe('for any moment and time zone', () => {
	const moment = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2200, 0) });
	const zone = fc.constantFrom(
		'UTC',
		'Europe/Berlin',
		'America/St_Johns',
		'Asia/Kathmandu',
		'Pacific/Kiritimati',
		'Pacific/Pago_Pago',
		'Australia/Lord_Howe',
	);
	const sent = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2} [+-]\d{2}:\d{2}$/;

	/** The moment that a sent text names, read without the code under test. */
	function momentOf(text: string): number {
		const [day, time, offset] = text.split(' ');
		return Date.parse(`${day}T${time}:00.000${offset}`);
	}

	test('a date is rounded up to the minute, never down, with the offset that is in force', () => {
		fc.assert(
			fc.property(moment, zone, (milliseconds, timezone) => {
				const local = DateTime.fromMillis(milliseconds, { zone: timezone });
				const date = new Date(milliseconds);
				for (const form of [milliseconds, date, date.toISOString(), local, local.toISO()]) {
					const { text, at } = parseSchedule(form, timezone);
					expect(text).toMatch(sent);
					expect(momentOf(text)).toBe(at);
					expect(at % 60_000).toBe(0);
					expect(at).toBeGreaterThanOrEqual(milliseconds);
					expect(at - milliseconds).toBeLessThan(60_000);
					// On the hour of a change a rounded-up minute may still carry the offset before it.
					const after = DateTime.fromMillis(at, { zone: timezone });
					const offsets = [after, local].map((time) => time.toFormat('ZZ'));
					// In UTC the text keeps its own.
					if (form !== date.toISOString()) expect(offsets).toContain(text.slice(-6));
				}
			}),
		);
	});

	test('a text with an offset keeps it, and is read as the same again', () => {
		fc.assert(
			fc.property(moment, fc.integer({ min: -840, max: 840 }), zone, (at, offset, timezone) => {
				const local = DateTime.fromMillis(at, { zone: FixedOffsetZone.instance(offset) });
				const schedule = parseSchedule(local.toISO(), timezone);
				expect(schedule.text.slice(-6)).toBe(local.toFormat('ZZ'));
				expect(parseSchedule(schedule.text, timezone)).toEqual(schedule);
			}),
		);
	});

	test('a value of any type is read as a date or refused', () => {
		fc.assert(
			fc.property(fc.oneof(fc.string(), fc.double(), fc.date(), fc.anything()), (value) => {
				try {
					expect(parseSchedule(value, 'UTC').text).toMatch(sent);
				} catch (error) {
					expect(String(error)).toMatch(/^InvalidInput: Send At /);
				}
			}),
		);
	});
});

// Specification, Limits: send_at minimum lead.
describe('a schedule', () => {
	const at = Date.UTC(2030, 4, 17, 9, 30);
	const check = (lead: number) => checkLead({ text: '2030-05-17 09:30 +00:00', at }, at - lead);

	test('is accepted from 5 minutes ahead on', () => {
		expect(check(5 * 60_000)).toBeUndefined();
		expect(check(at)).toBeUndefined();
	});

	test.each([
		{ lead: 5 * 60_000 - 1, which: 'less than 5 minutes ahead' },
		{ lead: 1, which: 'less than 5 minutes ahead' },
		{ lead: 0, which: 'in the past' },
		{ lead: -1e9, which: 'in the past' },
	])('that is $lead ms ahead is refused because it is $which', ({ lead, which }) => {
		expect(check(lead)).toMatchObject({
			message: `Send At is 2030-05-17 09:30 +00:00, which is ${which}`,
			advice:
				"The service needs at least 5 minutes' notice. Choose a later time, or remove Send At to send right away.",
		});
	});
});
