import * as fc from 'fast-check';
import { Settings } from 'luxon';
import { endHint, executionHints, waitedHint } from '../../../nodes/PushCampaign/execution/hints';
import type { TimedSend, SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { readSend } from '../../../nodes/PushCampaign/operations/sendFields';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { anyCodePoints } from '../../support/text';
import { content, itemOf } from '../operations/support';

const notDone: Problem = {
	type: 'validation',
	outcome: 'notSent',
	message: 'No',
	description: 'Try again.',
	cause: 'configuration-invalid',
};

const cancel = "To cancel it, use your push service's dashboard.";

const sendOf = (operation: SendOperation, parameters = {}): TimedSend =>
	readSend(itemOf({ ...content, ...parameters }, 'Europe/Berlin'), operation);
const at = (sendAt: unknown, more = {}) =>
	sendOf(sendToAll, { additionalFields: { sendAt, ...more } });
const dry = (operation: SendOperation, parameters = {}) =>
	sendOf(operation, { options: { dryRun: true }, ...parameters });
/** The hints of a run in which nothing else happened. */
const hintsOf = (...sends: TimedSend[]) =>
	executionHints({ sends, items: sends.length, refused: [] });
const messages = (...sends: TimedSend[]) => hintsOf(...sends).map(({ message }) => message);

test('a run that sent right away says nothing', () => {
	expect(messages()).toEqual([]);
	expect(messages(sendOf(sendToAll))).toEqual([]);
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
		const [hint] = executionHints({ sends: [dry(sendToAll)], items: 1, refused: [], reached });
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

	test('says how many would be sent, and for each reason which items would not', () => {
		const refusedFor = (message: string, ...items: number[]) =>
			items.map((itemIndex) => ({ itemIndex, problem: { ...notDone, message } }));
		const refused = [
			...refusedFor('Title is <b>', 17, 3),
			...refusedFor('Message is missing', ...Array.from({ length: 12 }, (_, index) => 20 + index)),
		];
		expect(executionHints({ sends: [dry(sendToAll)], items: 15, refused })).toEqual([
			{
				message: [
					'Nothing was sent: this was a dry run.',
					'1 of 15 would be sent. 14 of 15 would not be sent:',
					'Title is &#60;b&#62;: items 3, 17',
					'Message is missing: items 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, …',
					'',
					`The one to be sent would go to all subscribers right away:${notification}`,
				].join('<br>'),
				type: 'warning',
				location: 'outputPane',
			},
		]);
		const many = Array.from({ length: 30 }, (_, index) => refusedFor(`No ${index}`, index)).flat();
		const [hint] = executionHints({ sends: [], items: 30, refused: many });
		expect(hint?.message).toMatch(
			/^Nothing .*<br>0 of 30 would be sent\. 30 .*<br>No 19: item 19<br>10 more reasons: see the error column$/,
		);
	});

	test('shows what a user wrote as text, whatever it is', () => {
		const marks = `<b>a</b> & "b" 'c'\nnext`;
		const escaped = '&#60;b&#62;a&#60;/b&#62; &#38; &#34;b&#34; &#39;c&#39;<br>next';
		const [shown] = messages(dry(sendToAll, { title: marks, message: marks }));
		expect(shown).toContain(`<br><b>${escaped}</b><br>${escaped}<br>`);

		const text = anyCodePoints({ minLength: 1, maxLength: 60 });
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

describe('how a run ended', () => {
	const counts = { sent: 4, scheduled: 0, sentEarlier: 8, dryRun: 0 };
	const failures = [{ itemIndex: 7, problem: { ...notDone, message: 'Title is <b>' } }];
	const run = { kind: 'send', items: 13, counts, failures } as const;

	test.each([
		{ isErrorOutput: false, where: 'the error column' },
		{ isErrorOutput: true, where: 'the Error output' },
	])('is said in one sentence, with where to look: $where', ({ isErrorOutput, where }) => {
		const message = `4 sent, 8 sent earlier, 1 not sent (item 7: Title is &#60;b&#62;). See ${where}.`;
		expect(endHint(run, isErrorOutput)).toEqual([
			{ message, type: 'warning', location: 'outputPane' },
		]);
	});

	test('is said of what was sent earlier though nothing failed', () => {
		expect(endHint({ ...run, failures: [], items: 12 }, false)).toEqual([
			{
				message: '4 sent, 8 sent earlier. What was sent earlier is not sent again.',
				type: 'info',
				location: 'outputPane',
			},
		]);
	});

	test('is not said if all were sent now', () => {
		const sent = { ...run, failures: [], items: 4, counts: { ...counts, sentEarlier: 0 } };
		expect(endHint(sent, false)).toEqual([]);
		expect(endHint({ kind: 'read', items: 2, failures: [] }, false)).toEqual([]);
	});
});

test('a run says how long it waited because of too many requests, and how often', () => {
	expect(waitedHint({ refusals: 3, waitedMs: 84_200 })).toEqual([
		{
			message:
				'The push service said 3 times that there were too many requests, so the run waited 1 minute, 25 seconds in total.',
			type: 'info',
			location: 'outputPane',
		},
	]);
	expect(waitedHint({ refusals: 1, waitedMs: 0 })).toEqual([]);
});
