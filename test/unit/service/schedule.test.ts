import * as fc from 'fast-check';
import { DateTime, Settings } from 'luxon';
import { checkLead, parseDate, toSchedule } from '../../../nodes/PushCampaign/service/schedule';
import { refusal } from './support';

function parseSchedule(value: unknown, timezone: string) {
	const date = parseDate("'Send At'", value, timezone);
	return toSchedule(date.toMillis(), date.zone);
}

// Specification, Notification / campaign, send_at.

test.each([
	{ value: '2030-01-17 09:30', text: '2030-01-17 09:30 +01:00' },
	{ value: ' 2030-5-7   9:05\n', text: '2030-05-07 09:05 +02:00' },
	{ value: '\u200B2030-05-17\u00A009:30\u200B', text: '2030-05-17 09:30 +02:00' },
	{ value: '2028-02-29T10:00', text: '2028-02-29 10:00 +01:00' },
	{ value: '2030/05/17 9:30', text: '2030-05-17 09:30 +02:00' },
	{ value: '2030.5.7 09:30', text: '2030-05-07 09:30 +02:00' },
	{ value: '2030-05-17 9:30 AM', text: '2030-05-17 09:30 +02:00' },
	{ value: '2030/5/17 9:30pm', text: '2030-05-17 21:30 +02:00' },
	{ value: '2030-05-17 09:30:00\u202Fp.m.', text: '2030-05-17 21:30 +02:00' },
	{ value: '2030-05-17 12:00 AM', text: '2030-05-17 00:00 +02:00' },
	{ value: '2030-05-17 12:30 a.m.', text: '2030-05-17 00:30 +02:00' },
	{ value: '2030-05-17 1 PM', text: '2030-05-17 13:00 +02:00' },
	{ value: '2030-05-17 9:30 PM -04:00', text: '2030-05-17 21:30 -04:00' },
	{ value: '2030-05-17t09:30z', text: '2030-05-17 09:30 +00:00' },
	{ value: '2030-05-17 09:30 +5:30', text: '2030-05-17 09:30 +05:30' },
	{ value: '2030-05-17 09:30 -3', text: '2030-05-17 09:30 -03:00' },
	{ value: '2030-05-17 09:30+530', text: '2030-05-17 09:30 +05:30' },
	{ value: '2030-05-17T09:30:00.000-14:00', text: '2030-05-17 09:30 -14:00' },
	{ value: '2030-05-17 09:30 -00:30', text: '2030-05-17 09:30 -00:30' },
	{ value: '20300517T093000Z', text: '2030-05-17 09:30 +00:00' },
	{ value: '20300517T0930', text: '2030-05-17 09:30 +02:00' },
	{ value: ' 20300517t093000 ', text: '2030-05-17 09:30 +02:00' },
	{ value: '20300517T093000,5', text: '2030-05-17 09:31 +02:00' },
	{ value: '20300517T0930+0530', text: '2030-05-17 09:30 +05:30' },
	{ value: '20300517T09:30-03', text: '2030-05-17 09:30 -03:00' },
	{ value: '20300517T2400', text: '2030-05-18 00:00 +02:00' },
	{ value: '2030-W20-5T09:30', text: '2030-05-17 09:30 +02:00' },
	{ value: '2030W205T0930', text: '2030-05-17 09:30 +02:00' },
	{ value: '2030137T093000', text: '2030-05-17 09:30 +02:00' },
	{ value: '2030-W20-5T09:30+0530', text: '2030-05-17 09:30 +05:30' },
	{ value: '2030-137T09-03', text: '2030-05-17 09:00 -03:00' },
	{ value: '2030-05-17T24:00', text: '2030-05-18 00:00 +02:00' },
	{ value: 1905233400000, text: '2030-05-17 09:30 +02:00' },
	{ value: ' 1905233400000 ', text: '2030-05-17 09:30 +02:00' },
	// The service knows no seconds: a minute later, never earlier.
	{ value: '2030-05-17T09:30:00.001', text: '2030-05-17 09:31 +02:00' },
	{ value: '2030-12-31T23:59:01Z', text: '2031-01-01 00:00 +00:00' },
	{ value: 1905233400001, text: '2030-05-17 09:31 +02:00' },
])('$value in Berlin is sent as $text', ({ value, text }) => {
	const schedule = parseSchedule(value, 'Europe/Berlin');
	expect(schedule).toEqual({
		text,
		at: DateTime.fromFormat(text, 'yyyy-MM-dd HH:mm ZZ').toMillis(),
	});
});

test('a Date of another realm is read as a Date', () => {
	const date = { [Symbol.toStringTag]: 'Date', valueOf: () => 1905233400000 };
	expect(parseSchedule(date, 'UTC').text).toBe('2030-05-17 07:30 +00:00');
});

test('a DateTime of another luxon keeps its offset', () => {
	const date = { isLuxonDateTime: true, toMillis: () => 1905233400000, offset: -210 };
	expect(parseSchedule(date, 'UTC').text).toBe('2030-05-17 04:00 -03:30');
});

// luxon guesses an offset by the season that it is now.
describe.each([
	{ season: 'summer', now: Date.UTC(2029, 6, 1) },
	{ season: 'winter', now: Date.UTC(2029, 11, 1) },
])('read in $season, when clocks change', ({ now }) => {
	const { now: clock } = Settings;
	beforeAll(() => {
		Settings.now = () => now;
	});
	afterAll(() => {
		Settings.now = clock;
	});

	test.each([
		['2030-03-31T02:30', 'Europe/Berlin', '2030-03-31 03:30 +02:00', 'is skipped'],
		['2030-03-31T01:59:30', 'Europe/Berlin', '2030-03-31 03:00 +02:00', 'is rounded up'],
		['2030-10-27T03:00', 'Europe/Berlin', '2030-10-27 03:00 +01:00', 'comes after that'],
		['2030-10-27T10:00', 'Europe/Berlin', '2030-10-27 10:00 +01:00', 'comes after that'],
		['2030-10-27T02:30+01:00', 'Europe/Berlin', '2030-10-27 02:30 +01:00', 'has its offset'],
	])('%s in %s is %s: it %s', (value, zone, text) => {
		expect(parseSchedule(value, zone).text).toBe(text);
	});
});

test.each([
	...['tomorrow', '2030-05', '17.05.2030 09:30', '2030-05-17 9', '2030-05-17 9:5', 'T09:30Z'],
	...['2030-05-17 13:00 PM', '2030-05-17 0:30 AM', '2030-05-17 9:30 XM', '2030-05/17 09:30'],
	...['17/05/2030 09:30', '5/17/2030 9:30 AM', '2030-05-17T09', '2030-05-017 09:30'],
	...['20300517T09', '20300517T2560', '20301317T0930', '20300517T093060', '2030-05T09:30Z'],
	...['2030-05-17T10:00 UTC', '2030-05-17T10:00:60', '2030-05-17T10:00-15:00'],
	...['2029-02-29T10:00', '2030-05-17T10:60', '2030-05-17T10:00+15:00', '2030-05-17T10:00+05:60'],
	...['+012030-05-17T10:00Z', '9999-12-31T23:59:01+00:00Z', '2030-05-17 09:30 +25:00', ''],
	'18934560000000',
	...[undefined, null, true, {}, Number.NaN, new Date(Number.NaN), DateTime.invalid('broken')],
	// A date without a time.
	...['2030-05-17', ' 2030-5-7\n', '2030/05/17', '20300517', 20_300_517],
	// Seconds, and the days of a sheet.
	...[1_893_456_000, ' 1893456000 ', '189345600000', 46205, 46205.39, '46205,39', 999_999_999_999],
])('%p is no date with a time that everybody reads in the same way', (value) => {
	expect(refusal(() => parseSchedule(value, 'UTC')).message).toBe(
		"'Send At' is no date with a time that everybody reads in the same way",
	);
});

test.each([
	...['2573-05-17 09:30', '9999-12-31 23:59:59', '2099-12-31T23:59Z'],
	...[8.64e15, new Date(4e12), '9999999999999', DateTime.utc(2573)],
])('%p is more than ten years ahead: refused', (value) => {
	const { message } = refusal(() => parseSchedule(value, 'UTC'));
	expect(message).toMatch(/^'Send At' is more than ten years ahead: ./);
});

test('ten years ahead is near enough', () => {
	const { at } = parseSchedule(DateTime.utc().plus({ years: 10, minutes: -2 }), 'UTC');
	expect(at).toBeGreaterThan(Date.now());
});

test('the language that luxon is set to changes nothing', () => {
	const { defaultLocale } = Settings;
	Settings.defaultLocale = 'ar-EG-u-nu-arab';
	try {
		expect(parseSchedule('2030-05-17T09:30Z', 'UTC').text).toBe('2030-05-17 09:30 +00:00');
	} finally {
		Settings.defaultLocale = defaultLocale;
	}
});

describe('for any moment and time zone', () => {
	const moment = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2035, 0) });
	const zone = fc.constantFrom(
		...['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Africa/Casablanca'],
		...['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Australia/Lord_Howe', 'America/Havana'],
	);

	test('a date is rounded up to the minute, and is the moment that its text names', () => {
		fc.assert(
			fc.property(moment, zone, (milliseconds, timezone) => {
				const local = DateTime.fromMillis(milliseconds, { zone: timezone });
				for (const form of [milliseconds, new Date(milliseconds), local, local.toISO()]) {
					const { text, at } = parseSchedule(form, timezone);
					expect(text).toMatch(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2} [+-]\d{2}:\d{2}$/);
					const [day, time, offset] = text.split(' ');
					expect(Date.parse(`${day}T${time}:00.000${offset}`)).toBe(at);
					expect(at).toBe(Math.ceil(milliseconds / 60_000) * 60_000);
				}
			}),
		);
	});

	test('what was written is read as the same again', () => {
		fc.assert(
			fc.property(moment, zone, (milliseconds, timezone) => {
				const schedule = toSchedule(Math.floor(milliseconds / 60_000) * 60_000, timezone);
				expect(parseSchedule(schedule.text, 'Asia/Tokyo')).toEqual(schedule);
			}),
		);
	});

	test('a time without an offset is a moment at which the clock there shows it', () => {
		fc.assert(
			fc.property(moment, zone, (milliseconds, timezone) => {
				const shown = DateTime.fromMillis(milliseconds, { zone: timezone }).startOf('minute');
				const wall = shown.toFormat('yyyy-MM-dd HH:mm');
				const { at } = parseSchedule(wall, timezone);
				expect(DateTime.fromMillis(at, { zone: timezone }).toFormat('yyyy-MM-dd HH:mm')).toBe(wall);
			}),
		);
	});
});

// Specification, Limits: send_at minimum lead.
describe('a schedule', () => {
	const at = Date.UTC(2030, 4, 17, 9, 30);
	const check = (lead: number) => checkLead({ text: '2030-05-17 09:30 +00:00', at }, at - lead);

	test('is accepted from 5 minutes ahead on', () => {
		expect(check(300_000)).toBeUndefined();
	});

	test.each([
		{ lead: 299_999, when: 'less than 5 minutes ahead' },
		{ lead: 1, when: 'less than 5 minutes ahead' },
		{ lead: 0, when: 'in the past' },
		{ lead: -14 * 60 * 60_000, when: 'in the past' },
	])('$lead ms ahead is refused: it is $when', ({ lead, when }) => {
		expect(check(lead)?.message).toBe(`'Send At' is 2030-05-17 09:30 +00:00, which is ${when}`);
		expect(check(lead)?.fix).toMatch(/ minutes' notice\. Choose a later time\.$/);
	});
});
