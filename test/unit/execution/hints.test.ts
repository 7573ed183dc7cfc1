import { DateTime, Settings } from 'luxon';
import { executionHints } from '../../../nodes/PushCampaign/execution/hints';
import type { PreparedSend } from '../../../nodes/PushCampaign/operations/send';
import { prepareSend } from '../../../nodes/PushCampaign/operations/send';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { content, itemOf } from '../operations/support';

const now = Date.UTC(2030, 10, 2);
const stop = 'To stop what is scheduled, use the dashboard of your push service.';

const sendOf = (additionalFields = {}, options = {}, timezone = 'Europe/Berlin'): PreparedSend =>
	prepareSend(sendToAll, itemOf({ ...content, additionalFields, options }, timezone));
const at = (sendAt: unknown, sendAtTimezone?: string) =>
	sendOf(sendAtTimezone === undefined ? { sendAt } : { sendAt, sendAtTimezone });
const messages = (...sends: PreparedSend[]) =>
	executionHints(sends, now).map(({ message }) => message);

test('a run that sent at once says nothing', () => {
	expect(executionHints([])).toEqual([]);
	expect(executionHints([sendOf(), sendOf()])).toEqual([]);
});

test.each([
	['2030-12-24T09:00:00', undefined, '24 Dec 09:00, Europe/Berlin'],
	['2030-12-24T09:00:00', 'Asia/Tokyo', '24 Dec 09:00, Asia/Tokyo'],
	['2030-12-24T09:00:30', undefined, '24 Dec 09:01, Europe/Berlin'],
	// On the clock of the workflow, whatever the offset of the date.
	['2030-12-24T08:00:00Z', undefined, '24 Dec 09:00, Europe/Berlin'],
	[Date.UTC(2030, 11, 24, 8), 'Asia/Tokyo', '24 Dec 17:00, Asia/Tokyo'],
	['2031-01-02T00:00:00', undefined, '2 Jan 2031 00:00, Europe/Berlin'],
	['2030-12-31T23:59:00', undefined, '31 Dec 23:59, Europe/Berlin'],
])('Send At %s (%s) is told as %s', (sendAt, timezone, told) => {
	expect(executionHints([at(sendAt, timezone)], now)).toEqual([
		{ message: `Scheduled for ${told}. ${stop}`, type: 'info', location: 'outputPane' },
	]);
});

test.each([
	[Date.UTC(2030, 11, 31, 23, 30), '2031-01-01T12:00:00', 'Pacific/Kiritimati', '1 Jan 12:00'],
	[Date.UTC(2031, 0, 1, 0, 30), '2030-12-31T20:00:00', 'Pacific/Pago_Pago', '31 Dec 20:00'],
])('whether it is this year is told by its timezone: %d', (moment, sendAt, timezone, told) => {
	const [hint] = executionHints([at(sendAt, timezone)], moment);
	expect(hint?.message).toBe(`Scheduled for ${told}, ${timezone}. ${stop}`);
});

test('several that are scheduled are counted', () => {
	const christmas = at('2030-12-24T09:00:00');
	expect(messages(christmas, sendOf(), christmas)).toEqual([
		`2 sends are scheduled for 24 Dec 09:00, Europe/Berlin. ${stop}`,
	]);
	expect(messages(christmas, at('2030-12-23T09:00:00'), at('2031-01-01', 'UTC'))).toEqual([
		`3 sends are scheduled, the first for 23 Dec 09:00, Europe/Berlin, the last for 1 Jan 2031 00:00, UTC. ${stop}`,
	]);
});

test('a dry run sent nothing, and scheduled nothing', () => {
	const dry = sendOf({ sendAt: '2030-12-24T09:00:00' }, { dryRun: true });
	expect(executionHints([dry, dry], now)).toEqual([
		{ message: 'Nothing was sent: this was a dry run.', type: 'info', location: 'outputPane' },
	]);
	expect(messages(dry, sendOf())).toEqual([
		'Nothing was sent for 1 of the items: these were a dry run.',
	]);
	expect(messages(dry, at('2030-12-24T09:00:00'))).toHaveLength(2);
});

describe('on a server of another language', () => {
	const { defaultLocale, defaultNumberingSystem } = Settings;
	beforeEach(() => {
		Settings.defaultLocale = 'ar-EG';
		Settings.defaultNumberingSystem = 'arab';
	});
	afterEach(() => {
		Settings.defaultLocale = defaultLocale;
		Settings.defaultNumberingSystem = defaultNumberingSystem;
	});

	test('the words are English all the same, and this year is the one in which the run is', () => {
		const soon = DateTime.now().plus({ days: 1 });
		const [hint] = executionHints([at(soon.toMillis(), 'UTC')]);
		expect(hint?.message).toMatch(/^Scheduled for \d+ [A-Z][a-z]{2,3} (20\d\d )?\d\d:\d\d, UTC\./);
	});
});
