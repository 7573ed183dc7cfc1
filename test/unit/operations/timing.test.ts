import {
	expiryOf,
	lateness,
	requireTimezone,
	timezones,
} from '../../../nodes/PushCampaign/operations/timing';
import { prepare, refusalOf } from './support';

beforeAll(() => jest.useFakeTimers({ now: Date.UTC(2030, 0, 1) }));
afterAll(() => jest.useRealTimers());

const read = (additionalFields: object, context?: Parameters<typeof prepare>[1]) =>
	prepare({ additionalFields }, context);

describe('Send At', () => {
	test.each([
		{
			name: "is read in the workflow's timezone",
			fields: { sendAt: '2030-05-17 09:30' },
			sendAt: '2030-05-17 09:30 +02:00',
		},
		{
			name: 'is read in Timezone',
			fields: { sendAt: '2030-05-17 09:30', sendAtTimezone: ' America/New_York ' },
			sendAt: '2030-05-17 09:30 -04:00',
		},
		{
			name: 'keeps an offset of its own',
			fields: { sendAt: '2030-05-17T09:30:00+05:30', sendAtTimezone: 'America/New_York' },
			sendAt: '2030-05-17 09:30 +05:30',
		},
		{
			name: "is read in the workflow's timezone if 'Timezone' is empty",
			fields: { sendAt: '2030-05-17 09:30', sendAtTimezone: '' },
			sendAt: '2030-05-17 09:30 +02:00',
		},
	])('Send At $name', ({ fields, sendAt }) => {
		const { body, timing } = read(fields, { timezone: 'Europe/Berlin' });
		expect(body.send_at).toBe(sendAt);
		expect(timing).toMatchObject({ effective: { text: sendAt }, isMoved: false });
	});

	test.each(['now', ' NOW ', '\u200Bnow\n'])('is no time if it is the word "%s"', (sendAt) => {
		const send = read({ sendAt });
		expect(send.timing).toEqual({ timezone: 'UTC', isMoved: false });
		expect(send.body).not.toHaveProperty('send_at');
	});

	test('is moved by quiet hours, which are read in Timezone too', () => {
		const { body, timing } = read({
			sendAt: '2030-05-17 22:00',
			sendAtTimezone: 'Asia/Kolkata',
			quietHours: { hours: { from: '21:00', to: '08:00' } },
		});
		expect(body.send_at).toBe('2030-05-18 08:00 +05:30');
		expect(timing).toMatchObject({
			timezone: 'Asia/Kolkata',
			effective: { text: '2030-05-18 08:00 +05:30' },
			isMoved: true,
		});
	});

	test.each([
		['', "'Send At' is missing"],
		[' \u200B', "'Send At' is missing"],
		['={{ $json.when }}', "'Send At': {{ $json.when }} gave nothing"],
		['nowadays', "'Send At' is no date with a time that everybody reads in the same way"],
	])('is refused: "%s"', (sendAt, refusal) => {
		expect(refusalOf(() => read({ sendAt }))).toBe(refusal);
	});
});

describe('Timezone', () => {
	const sendAt = '2030-05-17 09:30';
	test.each([
		...['EST', 'GMT', 'Etc/GMT+5', 'etc/gmt', 'Etc/Universal', 'EST5EDT'],
		...['Europe/Atlantis', '+02:00', 'Berlin', '/', 'Narnia'],
	])('is refused if it is no timezone of a region: %s', (sendAtTimezone) => {
		expect(refusalOf(() => read({ sendAtTimezone }))).toBe(
			`'Timezone' is not a timezone of a region: "${sendAtTimezone}"`,
		);
	});

	test.each(['UTC', ' utc ', 'Etc/UTC'])('may be UTC, written as "%s"', (sendAtTimezone) => {
		const { body } = read({ sendAt, sendAtTimezone }, { timezone: 'Europe/Berlin' });
		expect(body.send_at).toBe('2030-05-17 09:30 +00:00');
	});

	test.each(['America/Argentina/Buenos_Aires', 'US/Pacific', 'america/new_york'])(
		'may be that of any region: %s',
		(sendAtTimezone) => {
			expect(read({ sendAt, sendAtTimezone }).body.send_at).toMatch(/^2030-05-17 09:30 -0/);
		},
	);

	test("may be one without a region if it is the workflow's", () => {
		const { body } = read({ sendAt }, { timezone: 'Etc/GMT+5' });
		expect(body.send_at).toBe('2030-05-17 09:30 -05:00');
	});

	test.each(['Mars/Base', '', 'Europe/Berlin '])(
		"that is none is looked for in the workflow's settings: '%s'",
		(timezone) => {
			expect(refusalOf(() => requireTimezone(timezone))).toBe(
				`The timezone in the workflow's settings is none: "${timezone.trim()}"`,
			);
		},
	);

	test('offers names of today, with a region, and takes each of them', () => {
		const names = timezones().map(({ value }) => String(value));
		const searched = ['Europe/Berlin', 'Asia/Kolkata', 'Asia/Yangon', 'Europe/Kyiv'];
		expect(names).toEqual(expect.arrayContaining(searched));
		expect(names.filter((name) => !name.includes('/'))).toEqual(['UTC']);
		const taken = names.map((sendAtTimezone) => read({ sendAtTimezone }).timing.timezone);
		expect(taken).toEqual(names);
	});

	test.each(['={{ $json.zone }}', false, []])('that is blank is left out: %j', (sendAtTimezone) => {
		const context = { timezone: 'Asia/Tokyo', input: { zone: '\u00A0' } };
		expect(read({ sendAt, sendAtTimezone }, context).timing.timezone).toBe('Asia/Tokyo');
	});
});

describe('Expire After', () => {
	const expire = (duration: object) => read({ expireAfter: { duration } });

	test.each([
		{ duration: { amount: 7, unit: 'd' }, expires: '7d' },
		{ duration: { amount: '12', unit: 'h' }, expires: '12h' },
		{ duration: { amount: 1, unit: ' m ' }, expires: '1m' },
	])('is $expires', ({ duration, expires }) => {
		expect(expire(duration).body.expire_push).toBe(expires);
	});

	const amount = "'Amount' in 'Expire After' is not a whole number from 1";
	test.each([
		[{ amount: 0, unit: 'd' }, `${amount}: 0`],
		[{ amount: 1.5, unit: 'd' }, `${amount}: 1.5`],
		[{ amount: '-7', unit: 'd' }, `${amount}: "-7"`],
		[{ amount: 2 ** 53, unit: 'd' }, `${amount}: 9007199254740992`],
		[{}, "'Amount' in 'Expire After' is missing"],
		[{ amount: 1, unit: '' }, "'Unit' in 'Expire After' is missing"],
		[{ amount: 1, unit: 'w' }, `'Unit' in 'Expire After' is none of d, h, m: "w"`],
	])('is refused: %j', (duration, refusal) => {
		expect(refusalOf(() => expire(duration))).toBe(refusal);
	});
});

describe('Expire At', () => {
	const now = Date.UTC(2030, 4, 17, 9, 30, 30);
	const timingOf = (fields: object, timezone = 'Europe/Berlin') =>
		read(fields, { timezone }).timing;
	const expiry = (fields: object) => expiryOf(timingOf(fields), now);

	test.each([
		{ expireAt: '2030-05-17 23:59', expires: '748m' },
		{ expireAt: '2030-05-17 11:31:30', expires: '1m' },
		{ expireAt: '2030-05-17 11:32:29', expires: '1m' },
		{ expireAt: '2030-05-17T09:33Z', expires: '2m' },
		{ expireAt: Date.UTC(2030, 4, 17, 10, 0, 29), expires: '29m' },
		{ expireAt: '2030-05-17 9:45 AM +00:00', expires: '14m' },
		{ expireAt: '2030-05-19 23:59', sendAtTimezone: 'America/New_York', expires: '3988m' },
	])('is sent as whole minutes from now, rounded down: $expireAt', ({ expires, ...fields }) => {
		expect(expiry(fields)).toBe(expires);
		expect(lateness(timingOf(fields), now)).toBeUndefined();
	});

	test('is counted from Send At, and from the end of quiet hours if they hold the send back', () => {
		const fields = { expireAt: '2030-05-18 09:00', sendAt: '2030-05-17 22:00' };
		expect(expiry(fields)).toBe('660m');
		expect(expiry({ ...fields, quietHours: { hours: { from: '21:00', to: '08:00' } } })).toBe(
			'60m',
		);
	});

	test('keeps its text in its own offset, for messages', () => {
		const { expireAt } = timingOf({ expireAt: '2030-05-17T23:59:30+05:30' });
		expect(expireAt).toEqual({
			text: '2030-05-17 23:59 +05:30',
			at: Date.UTC(2030, 4, 17, 18, 29, 30),
		});
	});

	test('is nothing if it is not there', () => {
		expect(expiryOf(timingOf({}), now)).toBeUndefined();
		expect(expiryOf(timingOf({ sendAt: '2030-05-18 09:00' }), now)).toBeUndefined();
	});

	test('is in no body that is kept: what is left of it depends on when the request leaves', () => {
		expect(read({ expireAt: '2030-05-17 23:59' }).body).not.toHaveProperty('expire_push');
	});

	const late = (fields: object) => lateness(timingOf(fields), now)?.message;
	test.each([
		{ expireAt: '2030-05-17 11:31', when: 'now' },
		{ expireAt: '2020-05-17 11:31', when: 'now' },
		{ expireAt: '2030-05-17 11:31:29.999', when: 'now' },
		{
			expireAt: '2030-05-17 12:00',
			sendAt: '2030-05-17 12:00',
			when: 'at 2030-05-17 12:00 +02:00',
		},
	])('is refused if less than a minute is left: $expireAt', ({ when, ...fields }) => {
		expect(late(fields)).toMatch(/^'Expire At' is 20[23]0-05-17 1[12]:\d\d \+02:00, which leaves /);
		expect(late(fields)).toContain(`less than a minute for what goes out ${when}`);
		// Asked a moment too late, it is the least that the service takes.
		expect(expiry(fields)).toBe('1m');
	});

	test.each([
		['', "'Expire At' is missing"],
		['now', "'Expire At' is no date with a time that everybody reads in the same way"],
	])('is refused: "%s"', (expireAt, refusal) => {
		expect(refusalOf(() => read({ expireAt }))).toBe(refusal);
	});

	test('is refused beside Expire After, even an empty one', () => {
		const expireAt = '2030-05-17 23:59';
		for (const expireAfter of [{}, { duration: { amount: 7, unit: 'd' } }]) {
			const both = () => read({ expireAt, expireAfter });
			expect(refusalOf(both)).toBe("'Expire At' is there beside 'Expire After'");
		}
	});
});
