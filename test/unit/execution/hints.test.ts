import * as fc from 'fast-check';
import { DateTime, Settings } from 'luxon';
import { executionHints } from '../../../nodes/PushCampaign/execution/hints';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import type { PreparedSend } from '../../../nodes/PushCampaign/operations/send';
import { prepareSend } from '../../../nodes/PushCampaign/operations/send';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { content, itemOf } from '../operations/support';

const now = Date.UTC(2030, 10, 2);
const stop = 'To stop what is scheduled, use the dashboard of your push service.';

const sendOf = (additionalFields = {}, options = {}, more = {}): PreparedSend =>
	prepareSend(
		sendToAll,
		itemOf({ ...content, additionalFields, options, ...more }, 'Europe/Berlin'),
	);
const at = (sendAt: unknown, sendAtTimezone?: string) =>
	sendOf(sendAtTimezone === undefined ? { sendAt } : { sendAt, sendAtTimezone });
/** A run in which nothing else happened. */
const runOf = (...sends: PreparedSend[]) => ({
	sends,
	alreadySent: 0,
	unknown: 0,
	items: sends.length,
});
const messages = (run: Parameters<typeof executionHints>[0]) =>
	executionHints(run, now).map(({ message }) => message);

test('a run that sent at once says nothing', () => {
	expect(messages(runOf())).toEqual([]);
	expect(messages({ ...runOf(sendOf(), sendOf()), unknown: 1, items: 4 })).toEqual([]);
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
	expect(executionHints(runOf(at(sendAt, timezone)), now)).toEqual([
		{ message: `Scheduled for ${told}. ${stop}`, type: 'info', location: 'outputPane' },
	]);
});

test.each([
	[Date.UTC(2030, 11, 31, 23, 30), '2031-01-01T12:00:00', 'Pacific/Kiritimati', '1 Jan 12:00'],
	[Date.UTC(2031, 0, 1, 0, 30), '2030-12-31T20:00:00', 'Pacific/Pago_Pago', '31 Dec 20:00'],
])('whether it is this year is told by its timezone: %d', (moment, sendAt, timezone, told) => {
	const [hint] = executionHints(runOf(at(sendAt, timezone)), moment);
	expect(hint?.message).toBe(`Scheduled for ${told}, ${timezone}. ${stop}`);
});

test('several that are scheduled are counted', () => {
	const christmas = at('2030-12-24T09:00:00');
	expect(messages(runOf(christmas, sendOf(), christmas))).toEqual([
		`2 sends are scheduled for 24 Dec 09:00, Europe/Berlin. ${stop}`,
	]);
	const others = [at('2030-12-23T09:00:00'), at('2031-01-01', 'UTC')];
	expect(messages(runOf(christmas, ...others))).toEqual([
		`3 sends are scheduled, the first for 23 Dec 09:00, Europe/Berlin, the last for 1 Jan 2031 00:00, UTC. ${stop}`,
	]);
});

describe('a dry run', () => {
	const dry = (operation: SendOperation, more = {}, additionalFields = {}) =>
		prepareSend(
			operation,
			itemOf({ ...content, options: { dryRun: true }, ...more, additionalFields }, 'Europe/Berlin'),
		);
	const notification = '<br><b>Summer sale</b><br>Everything must go<br>shop.example';
	const pairs = (count: number) =>
		Array.from({ length: count }, (_, index) => ({ name: `n${index}`, value: index }));
	const attributes = (count: number) => ({ attributes: { pairs: pairs(count) } });

	test.each<[SendOperation, object, string]>([
		[sendToAll, {}, 'all subscribers'],
		[sendToAttributes, attributes(1), 'every subscriber with n0 = 0'],
		[sendToAttributes, attributes(2), 'every subscriber with n0 = 0 or n1 = 1'],
		[
			sendToAttributes,
			attributes(7),
			'every subscriber with n0 = 0 or n1 = 1 or n2 = 2 or n3 = 3 or n4 = 4 or 2 more',
		],
		[sendToSegments, { segmentIds: 12 }, 'segment 12'],
		[sendToSegments, { segmentIds: '1, 2, 3, 4, 5' }, 'segments 1, 2, 3, 4, 5'],
		[sendToSegments, { segmentIds: '1, 2, 3, 4, 5, 6' }, 'segments 1, 2, 3, 4, 5, 1 more'],
		[sendToSegments, { segmentIds: 'x'.repeat(61) }, `segment ${'x'.repeat(59)}…`],
		[sendToSubscriber, { subscriberId: 5001 }, 'subscriber 5001'],
	])('shows the notification, and to whom it would go: %#', (operation, more, whom) => {
		expect(executionHints(runOf(dry(operation, more)), now)).toEqual([
			{
				message: `Nothing was sent: this was a dry run.<br>It would go to ${whom} at once:${notification}`,
				type: 'info',
				location: 'outputPane',
			},
		]);
	});

	test('shows when it would go, and schedules nothing', () => {
		const sendAt = { sendAt: '2030-12-24T09:00:00' };
		expect(messages(runOf(dry(sendToAll, {}, sendAt)))).toEqual([
			`Nothing was sent: this was a dry run.<br>It would go to all subscribers on 24 Dec 09:00, Europe/Berlin:${notification}`,
		]);
	});

	test('of several items shows the first', () => {
		const runs = [dry(sendToAll), dry(sendToAll, { title: 'Other' })];
		const preview = `would go to all subscribers at once:${notification}`;
		expect(messages(runOf(...runs))).toEqual([
			`Nothing was sent: this was a dry run.<br>The first of 2 ${preview}`,
		]);
		expect(messages(runOf(...runs, at('2030-12-24T09:00:00')))).toEqual([
			`Nothing was sent for 2 of the 3 items: these were a dry run.<br>The first of 2 ${preview}`,
			`Scheduled for 24 Dec 09:00, Europe/Berlin. ${stop}`,
		]);
	});

	test('shows what a user wrote as text, whatever it is', () => {
		const marks = `<b>a</b> & "b" 'c'\nnext`;
		const escaped = '&#60;b&#62;a&#60;/b&#62; &#38; &#34;b&#34; &#39;c&#39;<br>next';
		const [shown] = messages(runOf(dry(sendToAll, { title: marks, message: marks })));
		expect(shown).toContain(`<br><b>${escaped}</b><br>${escaped}<br>`);

		const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
		fc.assert(
			fc.property(text, text, text, (title, name, value) => {
				fc.pre([title, name, value].every((each) => each.trim() !== ''));
				const given = { title, attributes: { pairs: [{ name, value }] } };
				const [message = ''] = messages(runOf(dry(sendToAttributes, given)));
				expect(message.replace(/<\/?b>|<br>/g, '')).not.toMatch(/[<>"']|&(?!#\d+;)/);
			}),
		);
	});
});

test.each([
	[0, 1, 0, 1, 'Nothing was sent: 1 of 1 was sent earlier under its idempotency key.'],
	[0, 3, 0, 3, 'Nothing was sent: 3 of 3 were sent earlier under their idempotency keys.'],
	[0, 2, 0, 3, 'Nothing was sent: 2 of 3 were sent earlier under their idempotency keys.'],
	[1, 2, 0, 3, '2 of 3 were sent earlier under their idempotency keys, and not again.'],
	// It may have been sent.
	[0, 1, 1, 2, '1 of 2 was sent earlier under its idempotency key, and not again.'],
])('%d sent, %d already sent and %d unknown, of %d', (sent, alreadySent, unknown, items, told) => {
	const sends = Array.from({ length: sent }, () => sendOf());
	expect(messages({ sends, alreadySent, unknown, items })).toEqual([told]);
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
		const [hint] = executionHints(runOf(at(soon.toMillis(), 'UTC')));
		expect(hint?.message).toMatch(/^Scheduled for \d+ [A-Z][a-z]{2,3} (20\d\d )?\d\d:\d\d, UTC\./);
	});
});
