import * as fc from 'fast-check';
import { Settings } from 'luxon';
import { executionHints, failedHint } from '../../../nodes/PushCampaign/execution/hints';
import type { PreparedSend, SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { readSend } from '../../../nodes/PushCampaign/operations/sendFields';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { content, itemOf } from '../operations/support';

const cancel = "To cancel it, use your push service's dashboard.";

const sendOf = (operation: SendOperation, parameters = {}): PreparedSend =>
	readSend(itemOf({ ...content, ...parameters }, 'Europe/Berlin'), operation);
const at = (sendAt: unknown, more = {}) =>
	sendOf(sendToAll, { additionalFields: { sendAt, ...more } });
const dry = (operation: SendOperation, parameters = {}) =>
	sendOf(operation, { options: { dryRun: true }, ...parameters });
const none = { items: 0, done: 0, doneEarlier: 0, notDone: 0, unknown: 0 };
/** The hints of a run in which nothing else happened. */
const hintsOf = (...sends: PreparedSend[]) =>
	executionHints(sends, { ...none, items: sends.length, done: sends.length }, 'send');
const messages = (...sends: PreparedSend[]) => hintsOf(...sends).map(({ message }) => message);

test('a run that sent right away says nothing', () => {
	expect(messages()).toEqual([]);
	const counts = { items: 4, done: 1, doneEarlier: 0, notDone: 2, unknown: 1 };
	expect(executionHints([sendOf(sendToAll)], counts, 'send')).toEqual([]);
});

const christmas = at('2030-12-24T09:00:00');
const moved = { ...christmas, isMoved: true };
const cancelOne = "To cancel one of them, use your push service's dashboard.";

test.each([
	{
		name: 'for one send',
		sends: [christmas],
		told: `Scheduled for 24 Dec 2030 09:00, Europe/Berlin. ${cancel}`,
	},
	{
		name: 'rounded up to the minute, in the time zone of the send',
		sends: [at('2030-12-24T09:00:30', { sendAtTimezone: 'Asia/Tokyo' })],
		told: `Scheduled for 24 Dec 2030 09:01, Asia/Tokyo. ${cancel}`,
	},
	{
		name: "on the clock of the workflow, whatever the date's offset is",
		sends: [at('2030-12-24T08:00:00Z')],
		told: `Scheduled for 24 Dec 2030 09:00, Europe/Berlin. ${cancel}`,
	},
	{
		name: 'once for two sends at the same time, without the one that is not scheduled',
		sends: [christmas, sendOf(sendToAll), christmas],
		told: `2 sends are scheduled for 24 Dec 2030 09:00, Europe/Berlin. ${cancelOne}`,
	},
	{
		name: 'as moved by quiet hours',
		sends: [moved],
		told: `Scheduled for 24 Dec 2030 09:00, Europe/Berlin, because of quiet hours. ${cancel}`,
	},
	{
		name: 'with how many of them quiet hours moved',
		sends: [christmas, moved],
		told: `2 sends are scheduled for 24 Dec 2030 09:00, Europe/Berlin, 1 of them because of quiet hours. ${cancelOne}`,
	},
	{
		name: 'with the first and the last of three',
		sends: [christmas, at('2030-12-23T09:00:00'), at('2031-01-01', { sendAtTimezone: 'UTC' })],
		told: `3 sends are scheduled, the first for 23 Dec 2030 09:00, Europe/Berlin, the last for 1 Jan 2031 00:00, UTC. ${cancelOne}`,
	},
])('the scheduled time is shown $name', ({ sends, told }) => {
	const { defaultLocale } = Settings;
	Settings.defaultLocale = 'ar-EG';
	try {
		expect(hintsOf(...sends)).toEqual([{ message: told, type: 'info', location: 'outputPane' }]);
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

	test.each([
		{ operation: sendToAll, more: {}, to: 'all subscribers right away' },
		{
			operation: sendToAll,
			more: { additionalFields: { sendAt: '2030-12-24T09:00:00' } },
			to: 'all subscribers on 24 Dec 2030 09:00, Europe/Berlin',
		},
		{
			operation: sendToAttributes,
			more: attributes('a'),
			to: 'every subscriber with a = 0 right away',
		},
		{
			operation: sendToAttributes,
			more: attributes('a', 'b'),
			to: 'every subscriber with a = 0 or b = 1 right away',
		},
		{ operation: sendToSegments, more: { segmentIds: 12 }, to: 'segment 12 right away' },
		{
			operation: sendToSegments,
			more: { segmentIds: '1, 2, 3' },
			to: 'segments 1, 2, 3 right away',
		},
		{
			operation: sendToSegments,
			more: { segmentIds: ids(100) },
			to: `segments ${ids(48).join(', ')}… right away`,
		},
		{
			operation: sendToSubscriber,
			more: { subscriberId: 5001 },
			to: 'subscriber 5001 right away',
		},
	])('shows the notification, and that it would go to $to', ({ operation, more, to }) => {
		expect(messages(dry(operation, more))).toEqual([
			`Nothing was sent: this was a dry run.<br>It would go to ${to}:${notification}`,
		]);
	});

	test.each([
		{ reached: 10_000, to: 'all 10,000 active subscribers' },
		{ reached: 2, to: 'all 2 active subscribers' },
		{ reached: 1, to: 'the 1 active subscriber' },
		{ reached: 0, to: 'all 0 active subscribers' },
	])('says how many it would reach: $to', ({ reached, to }) => {
		const [hint] = executionHints([dry(sendToAll)], { ...none, items: 1 }, 'send', reached);
		expect(hint?.message).toContain(`It would go to ${to} right away:`);
	});

	test('shows the buttons, and where each of them leads', () => {
		const button = [
			{ title: 'Shop <now>', url: 'https://shop.example/sale?utm_source=web_push' },
			{ title: 'Later', url: 'https://blog.example' },
		];
		expect(messages(dry(sendToAll, { actionButtons: { button } }))).toEqual([
			expect.stringMatching(
				/<br>shop\.example<br>\[Shop &#60;now&#62;\] shop\.example<br>\[Later\] blog\.example$/,
			),
		]);
	});

	test('says that quiet hours moved its time, which a send beside it does not say', () => {
		const dryRun = {
			...dry(sendToAll, { additionalFields: { sendAt: '2030-12-24T09:00' } }),
			isMoved: true,
		};
		const [preview, scheduled] = messages(dryRun, christmas);
		expect(preview).toContain(
			'all subscribers on 24 Dec 2030 09:00, Europe/Berlin, because of quiet hours:',
		);
		expect(scheduled).not.toContain('quiet hours');
	});

	test('of several items shows the first', () => {
		const runs = [dry(sendToAll), dry(sendToAll, { title: 'Other' })];
		const preview = `would go to all subscribers right away:${notification}`;
		expect(messages(...runs)).toEqual([
			`Nothing was sent: this was a dry run.<br>The first of 2 ${preview}`,
		]);
		expect(messages(...runs, christmas)).toEqual([
			`Nothing was sent for 2 of the 3 items: these were a dry run.<br>The first of 2 ${preview}`,
			`Scheduled for 24 Dec 2030 09:00, Europe/Berlin. ${cancel}`,
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
	{
		name: 'one item alone',
		counts: { items: 1, doneEarlier: 1 },
		told: 'Nothing was sent: 1 of 1 was sent earlier under its idempotency key.',
	},
	{
		name: 'two of three, the other of which failed',
		counts: { items: 3, doneEarlier: 2, notDone: 1 },
		told: 'Nothing was sent: 2 of 3 were sent earlier under their idempotency keys.',
	},
	{
		name: 'two of four, one of which was sent now',
		counts: { items: 4, done: 1, doneEarlier: 2, unknown: 1 },
		told: '2 of 4 were sent earlier under their idempotency keys, and not again.',
	},
	{
		name: 'one of two, the other of which may have been sent',
		counts: { items: 2, doneEarlier: 1, unknown: 1 },
		told: '1 of 2 was sent earlier under its idempotency key, and not again.',
	},
])('what was sent earlier under its key is counted: $name', ({ counts, told }) => {
	expect(executionHints([], { ...none, ...counts }, 'send')).toMatchObject([{ message: told }]);
});

describe('a run with failed items that goes on', () => {
	const notDone: Problem = {
		type: 'bad_request',
		outcome: 'notDone',
		message: 'No',
		description: 'Try again.',
		cause: 'configuration-invalid',
	};
	const unknown: Problem = { ...notDone, outcome: 'unknown' };

	test.each([
		{
			name: 'one of three sends failed',
			counts: { items: 3, done: 2 },
			problems: [notDone],
			told: '2 of 3 were sent, 1 was not: see the column error.',
		},
		{
			name: 'some were sent earlier, some are unknown',
			counts: { items: 5, doneEarlier: 1 },
			problems: [notDone, notDone, unknown, unknown],
			told: '1 of 5 was sent, 2 were not, for 2 it is unknown: see the column error.',
		},
		{
			name: 'all sends failed',
			counts: { items: 2 },
			problems: [notDone, notDone],
			told: 'Nothing was sent: see the column error.',
		},
		{
			name: 'the only one is unknown',
			counts: { items: 1 },
			problems: [unknown],
			told: 'It is unknown whether it was sent: see the column error.',
		},
		{
			name: 'another is a dry run',
			counts: { items: 2, notDone: 2 },
			problems: [notDone],
			told: '1 of 2 failed: see the column error.',
		},
	])('says how many were sent, and where to look: $name', ({ counts, problems, told }) => {
		const run = { items: counts.items, counts: { ...none, ...counts }, isErrorOutput: false };
		expect(failedHint(problems, { ...run, kind: 'send' })).toEqual([
			{ message: told, type: 'warning', location: 'outputPane' },
		]);
	});

	test('says of reads how many failed', () => {
		const run = { items: 3, kind: 'read', isErrorOutput: false } as const;
		expect(failedHint([notDone, unknown], run)).toMatchObject([
			{ message: '2 of 3 failed: see the column error.' },
		]);
	});

	test('names the second output if failed items are there', () => {
		const run = { items: 2, kind: 'read', isErrorOutput: true } as const;
		expect(failedHint([notDone], run)).toMatchObject([
			{ message: '1 of 2 failed: see the output Error.' },
		]);
	});

	test('says nothing if none failed', () => {
		expect(failedHint([], { items: 2, kind: 'read', isErrorOutput: false })).toEqual([]);
	});
});
