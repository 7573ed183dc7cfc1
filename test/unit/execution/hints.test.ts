import * as fc from 'fast-check';
import { Settings } from 'luxon';
import { executionHints } from '../../../nodes/PushCampaign/execution/hints';
import type { PreparedSend, SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { readSend } from '../../../nodes/PushCampaign/operations/sendFields';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { content, itemOf } from '../operations/support';

const stop = 'To stop what is scheduled, use the dashboard of your push service.';

const sendOf = (operation: SendOperation, parameters = {}): PreparedSend =>
	readSend(itemOf({ ...content, ...parameters }, 'Europe/Berlin'), operation);
const at = (sendAt: unknown, more = {}) =>
	sendOf(sendToAll, { additionalFields: { sendAt, ...more } });
const dry = (operation: SendOperation, parameters = {}) =>
	sendOf(operation, { options: { dryRun: true }, ...parameters });
const none = { items: 0, done: 0, doneEarlier: 0, notDone: 0, unknown: 0 };
/** What is told of a run in which nothing else happened. */
const hintsOf = (...sends: PreparedSend[]) =>
	executionHints(sends, { ...none, items: sends.length, done: sends.length }, 'send');
const messages = (...sends: PreparedSend[]) => hintsOf(...sends).map(({ message }) => message);

test('a run that sent at once says nothing', () => {
	expect(messages()).toEqual([]);
	const counts = { items: 4, done: 1, doneEarlier: 0, notDone: 2, unknown: 1 };
	expect(executionHints([sendOf(sendToAll)], counts, 'send')).toEqual([]);
});

const christmas = at('2030-12-24T09:00:00');
test.each<[sends: PreparedSend[], told: string]>([
	[[christmas], 'Scheduled for 24 Dec 2030 09:00, Europe/Berlin'],
	[
		[at('2030-12-24T09:00:30', { sendAtTimezone: 'Asia/Tokyo' })],
		'Scheduled for 24 Dec 2030 09:01, Asia/Tokyo',
	],
	// On the clock of the workflow, whatever the offset of the date.
	[[at('2030-12-24T08:00:00Z')], 'Scheduled for 24 Dec 2030 09:00, Europe/Berlin'],
	[
		[christmas, sendOf(sendToAll), christmas],
		'2 sends are scheduled for 24 Dec 2030 09:00, Europe/Berlin',
	],
	[
		[christmas, at('2030-12-23T09:00:00'), at('2031-01-01', { sendAtTimezone: 'UTC' })],
		'3 sends are scheduled, the first for 23 Dec 2030 09:00, Europe/Berlin, the last for 1 Jan 2031 00:00, UTC',
	],
])('what is scheduled, and that it can be stopped: %#', (sends, told) => {
	const { defaultLocale } = Settings;
	Settings.defaultLocale = 'ar-EG';
	try {
		expect(hintsOf(...sends)).toEqual([
			{ message: `${told}. ${stop}`, type: 'info', location: 'outputPane' },
		]);
	} finally {
		Settings.defaultLocale = defaultLocale;
	}
});

describe('a dry run', () => {
	const notification = '<br><b>Summer sale</b><br>Everything must go<br>shop.example';
	const attributes = (...names: string[]) => ({
		attributes: { pairs: names.map((name, value) => ({ name, value })) },
	});

	const ids = (count: number) => Array.from({ length: count }, (_, index) => 1000 + index);

	test.each<[SendOperation, object, string]>([
		[sendToAll, {}, 'all subscribers at once'],
		[
			sendToAll,
			{ additionalFields: { sendAt: '2030-12-24T09:00:00' } },
			'all subscribers on 24 Dec 2030 09:00, Europe/Berlin',
		],
		[sendToAttributes, attributes('a'), 'every subscriber with a = 0 at once'],
		[sendToAttributes, attributes('a', 'b'), 'every subscriber with a = 0 or b = 1 at once'],
		[sendToSegments, { segmentIds: 12 }, 'segment 12 at once'],
		[sendToSegments, { segmentIds: '1, 2, 3' }, 'segments 1, 2, 3 at once'],
		[sendToSegments, { segmentIds: ids(100) }, `segments ${ids(48).join(', ')}… at once`],
		[sendToSubscriber, { subscriberId: 5001 }, 'subscriber 5001 at once'],
	])('shows the notification, to whom it would go and when: %#', (operation, more, to) => {
		expect(messages(dry(operation, more))).toEqual([
			`Nothing was sent: this was a dry run.<br>It would go to ${to}:${notification}`,
		]);
	});

	test('of several items shows the first', () => {
		const runs = [dry(sendToAll), dry(sendToAll, { title: 'Other' })];
		const preview = `would go to all subscribers at once:${notification}`;
		expect(messages(...runs)).toEqual([
			`Nothing was sent: this was a dry run.<br>The first of 2 ${preview}`,
		]);
		expect(messages(...runs, christmas)).toEqual([
			`Nothing was sent for 2 of the 3 items: these were a dry run.<br>The first of 2 ${preview}`,
			`Scheduled for 24 Dec 2030 09:00, Europe/Berlin. ${stop}`,
		]);
	});

	test('shows what a user wrote as text, whatever it is', () => {
		const marks = `<b>a</b> & "b" 'c'\nnext`;
		const escaped = '&#60;b&#62;a&#60;/b&#62; &#38; &#34;b&#34; &#39;c&#39;<br>next';
		const [shown] = messages(dry(sendToAll, { title: marks, message: marks }));
		expect(shown).toContain(`<br><b>${escaped}</b><br>${escaped}<br>`);

		const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
		fc.assert(
			fc.property(text, text, text, (title, name, value) => {
				fc.pre([title, name, value].every((each) => each.trim() !== ''));
				const given = { title, attributes: { pairs: [{ name, value }] } };
				const [message = ''] = messages(dry(sendToAttributes, given));
				expect(message.replace(/<\/?b>|<br>/g, '')).not.toMatch(/[<>"']|&(?!#\d+;)/);
			}),
		);
	});
});

test.each([
	[0, 1, 0, 1, 'Nothing was sent: 1 of 1 was sent earlier under its idempotency key.'],
	[0, 2, 0, 3, 'Nothing was sent: 2 of 3 were sent earlier under their idempotency keys.'],
	[1, 2, 1, 4, '2 of 4 were sent earlier under their idempotency keys, and not again.'],
	// It may have been sent.
	[0, 1, 1, 2, '1 of 2 was sent earlier under its idempotency key, and not again.'],
])('%d sent, %d already sent and %d unknown, of %d', (sent, alreadySent, unknown, items, told) => {
	const sends = Array.from({ length: sent }, () => sendOf(sendToAll));
	const counts = { ...none, items, done: sent, doneEarlier: alreadySent, unknown };
	expect(executionHints(sends, counts, 'send')).toMatchObject([{ message: told }]);
});
