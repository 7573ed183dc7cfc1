import { hintsOf } from '../../../nodes/PushCampaign/execution/hints';
import { failedHint } from '../../../nodes/PushCampaign/execution/results';
import type { ItemThat, RunItem } from '../../../nodes/PushCampaign/execution/runItem';
import type { PreparedSend } from '../../../nodes/PushCampaign/operations/operation';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { unknownProblem, validationProblem } from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';
import { prepare } from '../operations/support';
import { before, connectionTo, failed, many, sent as sentItem, shown } from './support';

// What the editor says above the output of a run, for what no whole workflow of the engine tests shows.

const toAll = prepare({});
const at = (sendAt: string, more = {}) => prepare({ additionalFields: { sendAt, ...more } });
const toSegment = (segmentIds: string) => prepare({ segmentIds }, undefined, sendToSegments);
const toSubscriber = (subscriberId: string) =>
	prepare({ subscriberId }, undefined, sendToSubscriber);
const toPlan = (value: string) =>
	prepare({ attributes: { pairs: [{ name: 'plan', value }] } }, undefined, sendToAttributes);
const sent = (send: PreparedSend, more = {}) => sentItem(0, send, more);

const lost = unknownProblem('the connection was lost', { isSend: true });
const invalid = (message: string) => validationProblem(new InvalidInput(message, 'Correct it.'));

const hints = (items: readonly RunItem[], more: Partial<Parameters<typeof hintsOf>[1]> = {}) =>
	hintsOf(items, {
		...{ kind: 'send', isContinuing: false, isErrorOutput: false, which: 'Which.' },
		...more,
	}).filter((hint) => hint !== undefined);
const said = (...given: Parameters<typeof hints>) => hints(...given).map(({ message }) => message);
const dry = { kind: 'dryRun' } as const;
const asTest = { kind: 'test' } as const;

describe('what was sent', () => {
	test('is scheduled from the first time to the last, in whatever order the items came', () => {
		const times = [at('2035-05-19 09:00'), toAll, at('2035-05-17 09:00'), at('2035-05-18 09:00')];
		expect(said(times.map((send) => sent(send)))[0]).toBe(
			'4 sent: each to all subscribers.<br>3 of them scheduled from 17 May 2035 at 09:00, UTC to 19 May 2035 at 09:00, UTC.',
		);
	});

	test('is moved by quiet hours if one of them is', () => {
		const quietHours = { hours: { from: '21:00', to: '08:00' } };
		const times = [at('2035-05-17 09:00'), at('2035-05-18 23:00', { quietHours })];
		expect(said(times.map((send) => sent(send)))[0]).toMatch(/, because of quiet hours\.$/);
	});

	test('has its audiences by name, up to three', () => {
		const to = (count: number) =>
			said(['1', '2', '3', '4'].slice(0, count).map((id) => sent(toSegment(id))));
		expect(to(3)).toEqual(['3 sent: to segment 1; segment 2; segment 3.']);
		expect(to(4)).toEqual(['4 sent: to 4 audiences.']);
	});

	test('is counted apart from what was sent earlier, and from what nobody knows of', () => {
		const unknown = before(3, { isUnknown: true, key: { name: 'key:1', id: '<77>' } });
		expect(said([sent(toAll), before(1), before(2), unknown])).toEqual([
			'1 sent now, to all subscribers. 2 were sent earlier.',
			'Of 1 item it is unknown whether it was sent: ID &#39;&#60;77&#62;&#39;. Nothing was sent for it.',
		]);
	});

	test('names up to ten subscribers who are not there any more', () => {
		const gone = (index: number): ItemThat<'gone'> => ({
			...failed(index, lost, { subscriberId: `${5000 + index}` }),
			how: 'gone',
		});
		const told = (count: number) => said(many(1, count, gone))[0];
		expect(told(1)).toBe('1 subscriber is not there any more: 5001. Nothing was sent for it.');
		expect(told(10)).toMatch(/: 5001, .*, 5010\. Nothing was sent for them\.$/);
		expect(told(11)).toMatch(/: 5001, .*, 5010 and 1 more\. Nothing was sent for them\.$/);
	});
});

describe('several campaigns to the same people', () => {
	test('are named by them, sent or in a dry run', () => {
		const items = [sent(toPlan('pro')), sent(toAll), sent(toPlan('pro'))];
		expect(said(items)[1]).toBe(
			'These 2 notifications go to every subscriber with plan = pro, so everybody there gets each of them.',
		);
		expect(said([shown(0), shown(1)], dry)[1]).toMatch(
			/^These 2 notifications go to all subscribers/,
		);
	});

	test.each<[what: string, items: readonly RunItem[]]>([
		[
			'of two sites',
			['one', 'another'].map((site) => sent(toAll, { connection: connectionTo(site) })),
		],
		['that were not sent now', [sent(toAll), before(1), failed(2, lost, { send: toAll })]],
		['to one subscriber', [sent(toSubscriber('5001')), sent(toSubscriber('5001'))]],
		['that are the same', [shown(0), shown(1, toAll, { sameAs: 0 })]],
	])('are none: %s', (_what, items) => {
		expect(said(items).join()).not.toContain('everybody there gets each');
	});
});

describe('a dry run', () => {
	const unsendable = (index: number) => failed(index, invalid(`Reason ${index}`));

	test('counts notifications to single subscribers', () => {
		const items = [shown(0, toSubscriber('5001')), shown(1, toSubscriber('5002'))];
		expect(said(items, dry)[0]).toContain(
			'<br>2 notifications, to 2 subscribers. The first one, right away:',
		);
	});

	test('gives up to ten reasons and what to mend, as a warning', () => {
		const [hint] = hints(many(0, 11, unsendable), dry);
		expect(hint?.type).toBe('warning');
		expect(hint?.message).toMatch(/<br>Item 9: Reason 9<br>And 1 more reason<br>Correct it\.<br>$/);
		expect(said(many(0, 10, unsendable), dry)[0]).not.toContain('more');
		expect(hints([shown(0)], dry)[0]?.type).toBe('info');
	});

	test('says what the run would do, as On Error is set', () => {
		const items = [...many(0, 16, (index) => shown(index)), ...many(16, 4, unsendable)];
		expect(said(items, dry)[0]).toContain('4 of 20 items are not valid, so none would be sent:');
		expect(said(items, dry)[0]).not.toContain('It would go');
		expect(said(items, { ...dry, isContinuing: true })[0]).toContain(
			'16 of 20 would be sent. The others would not:',
		);
		expect(said([shown(0), unsendable(1)], dry)[0]).toContain('1 of 2 items is not valid, so none');
	});

	test('says until when it is delivered, and in which timezone quiet hours are read', () => {
		const quietHours = { hours: { from: '21:00', to: '08:00' } };
		const expireAt = '2035-05-20 23:59';
		const fields = { quietHours, expireAt, sendAtTimezone: 'Europe/Berlin' };
		const [message] = said([shown(0, at('2035-05-17 09:00', fields))], dry);
		expect(message).toContain('<br>Delivered until 20 May 2035 at 23:59, Europe/Berlin.');
		expect(message).toContain('<br>Quiet hours: 21:00 to 08:00, Europe/Berlin.');
	});
});

describe('a test', () => {
	const standingFor = (send: PreparedSend) => ({ ...toSubscriber('5001'), standsFor: send });
	const tested = (send: PreparedSend) => sent(standingFor(send), { subscriberId: '5001' });

	test('of one item says whom it is meant for, and when, and is no send', () => {
		expect(said([tested(toAll)], asTest)).toEqual([
			'This was a test: it went to subscriber 5001 alone. When the workflow runs by itself, it goes to all subscribers right away.',
		]);
		expect(said([tested(at('2035-05-17 09:00'))], asTest)[0]).toMatch(
			/ on 17 May 2035 at 09:00, UTC\.$/,
		);
	});

	test('of two items says that the other went to nobody', () => {
		expect(said([tested(toAll), shown(1, toPlan('pro'))], asTest)).toEqual([
			expect.stringMatching(
				/ The other 1 item went to nobody\. .* to all subscribers; every subscriber with plan = pro right away\.$/,
			),
		]);
	});

	test('that failed was not sent', () => {
		const items = [failed(0, invalid('No'))];
		expect(said(items, asTest)[1]).toBe('This was a test, and nothing was sent now.');
	});
});

test('what failed in a run that went on is counted, with the place where it is', () => {
	expect(hints([failed(0, lost), sent(toAll)])[0]).toMatchObject({
		...{ type: 'warning', message: '1 of 2 items failed: see the error column. Which.' },
	});
	expect(failedHint(1, 1, true, 'a\nb')?.message).toMatch(
		/^1 of 1 item .* the Error output\. a<br>b$/,
	);
});
