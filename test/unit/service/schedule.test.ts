import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { DateTime, FixedOffsetZone, Settings } from 'luxon';
import { checkLead, parseSchedule } from '../../../nodes/PushCampaign/service/schedule';
import { refusal } from './support';

// Specification, Notification / campaign, send_at.

const otherRealm: unknown = runInNewContext("new Date('2030-05-17T07:30Z')");
const otherLuxon = {
	isLuxonDateTime: true,
	toMillis: () => Date.UTC(2030, 4, 17, 7, 30),
	offset: -210,
};

test.each([
	// The workflow's timezone, where the text has no offset.
	['2030-01-17 09:30', 'Europe/Berlin', '2030-01-17 09:30 +01:00'],
	['2030-05-17', 'Asia/Kathmandu', '2030-05-17 00:00 +05:45'],
	['2030-05-17T24:00', 'UTC', '2030-05-18 00:00 +00:00'],
	[' 2028-02-29T10:00\n', 'UTC', '2028-02-29 10:00 +00:00'],
	// The text's own offset.
	['2030-05-17t09:30z', 'Europe/Berlin', '2030-05-17 09:30 +00:00'],
	['2030-05-17T10:00Z', 'Mars/Base', '2030-05-17 10:00 +00:00'],
	['2030-05-17 09:30 +5:30', 'UTC', '2030-05-17 09:30 +05:30'],
	['2030-05-17 09:30 -3', 'UTC', '2030-05-17 09:30 -03:00'],
	['2030-05-17 09:30+0530', 'UTC', '2030-05-17 09:30 +05:30'],
	['2030-05-17 09:30+530', 'UTC', '2030-05-17 09:30 +05:30'],
	['2030-05-17T09:30-00:30', 'UTC', '2030-05-17 09:30 -00:30'],
	['2030-05-17T09:30+14:00', 'UTC', '2030-05-17 09:30 +14:00'],
	['2030-05-17T09:30-14:00', 'UTC', '2030-05-17 09:30 -14:00'],
	// Seconds are rounded up.
	['2030-05-17T09:30:00.001', 'UTC', '2030-05-17 09:31 +00:00'],
	['2030-05-17T09:30:00,5', 'UTC', '2030-05-17 09:31 +00:00'],
	['2030-12-31T23:59:01', 'UTC', '2031-01-01 00:00 +00:00'],
	['9999-12-31T23:59:00', 'UTC', '9999-12-31 23:59 +00:00'],
	// Dates of another realm are read in the timezone, DateTimes of another Luxon keep their offset.
	[otherRealm, 'Europe/Berlin', '2030-05-17 09:30 +02:00'],
	[otherLuxon, 'UTC', '2030-05-17 04:00 -03:30'],
])('%p in %s is sent as %s', (value, timezone, text) => {
	const schedule = parseSchedule(value, timezone);
	expect(schedule.text).toBe(text);
	expect(schedule.at).toBe(DateTime.fromFormat(text, 'yyyy-MM-dd HH:mm ZZ').toMillis());
});

describe.each([
	['in summer', Date.UTC(2029, 6, 1)],
	['in winter', Date.UTC(2029, 11, 1)],
])('daylight saving time, read %s', (_season, now) => {
	const { now: clock } = Settings;
	beforeAll(() => (Settings.now = () => now));
	afterAll(() => (Settings.now = clock));

	test.each([
		// The hour that does not exist is the one an hour later, on the clock as in time.
		['2030-03-31T02:30', '2030-03-31 03:30 +02:00'],
		['2030-03-31T01:59:30', '2030-03-31 03:00 +02:00'],
		// Of the hour that comes twice it is the first one.
		['2030-10-27T02:30', '2030-10-27 02:30 +02:00'],
		['2030-10-27T02:59:30+02:00', '2030-10-27 03:00 +02:00'],
		[Date.UTC(2030, 9, 27, 0, 59, 30), '2030-10-27 02:00 +01:00'],
	])('%p in Berlin is sent as %s', (value, text) => {
		expect(parseSchedule(value, 'Europe/Berlin').text).toBe(text);
	});
});

test.each([
	'2030-05',
	'17.05.2030 09:30',
	'2030-5-17 09:30',
	'2030-05-17T09',
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
	'1893456000000',
	Number.POSITIVE_INFINITY,
	8.64e15,
	new Date(Number.NaN),
	new Date(Date.UTC(-1, 11, 31, 23, 58)),
	null,
	{},
	DateTime.utc(2030).setZone(FixedOffsetZone.instance(15 * 60)),
	DateTime.invalid('broken'),
])("%p can't be read", (value) => {
	const { message, advice } = refusal(() => parseSchedule(value, 'UTC'));
	expect(message).toBe("Send At can't be read as a date");
	expect(advice).toMatch(/^Choose a date/);
});

test('a timezone that nobody knows makes no date of a text without an offset', () => {
	expect(() => parseSchedule('2030-05-17T10:00', 'Mars/Base')).toThrow('Send At ');
});

test.each(['ar-EG', 'ar-EG-u-nu-arab'])('wherever the server stands: %s', (locale) => {
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
});

describe('properties', () => {
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

	test('rounds up to the minute, never down, and prints the offset that is in force', () => {
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

	test('a text with an offset keeps its offset, and is read as the same again', () => {
		fc.assert(
			fc.property(moment, fc.integer({ min: -840, max: 840 }), zone, (at, offset, timezone) => {
				const local = DateTime.fromMillis(at, { zone: FixedOffsetZone.instance(offset) });
				const schedule = parseSchedule(local.toISO(), timezone);
				expect(schedule.text.slice(-6)).toBe(local.toFormat('ZZ'));
				expect(parseSchedule(schedule.text, timezone)).toEqual(schedule);
			}),
		);
	});

	test('whatever it is given, it answers a date or refuses it', () => {
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
test.each([
	[5 * 60_000, undefined],
	[Date.UTC(2030, 4, 17), undefined],
	[5 * 60_000 - 1, 'less than 5 minutes ahead'],
	[1, 'less than 5 minutes ahead'],
	[0, 'in the past'],
	[-1e9, 'in the past'],
])('%d milliseconds ahead: %s', (lead, which) => {
	const at = Date.UTC(2030, 4, 17, 9, 30);
	const refused = checkLead({ text: '2030-05-17 09:30 +00:00', at }, at - lead);
	if (which === undefined) return expect(refused).toBeUndefined();
	expect(refused?.message).toBe(`Send At is 2030-05-17 09:30 +00:00, which is ${which}`);
	expect(refused?.advice).toBe(
		"The service needs at least 5 minutes' notice. Choose a later time, or remove Send At to send right away.",
	);
});
