import { failedHint, hintsOf } from '../../../nodes/PushCampaign/execution/hints';
import type { RunItem } from '../../../nodes/PushCampaign/execution/runItem';
import type { PreparedSend } from '../../../nodes/PushCampaign/operations/operation';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import {
	failureProblem,
	unknownProblem,
	validationProblem,
} from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';
import { itemOf, prepare } from '../operations/support';
import { before, failed, many, reported, sent as sentItem, shown } from './support';

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
	test('of one item needs no number', () => {
		expect(said([sent(toAll)])).toEqual(['Sent to all subscribers.']);
		expect(said([sent(at('2035-05-17 09:00'))])).toEqual([
			'Scheduled for 17 May 2035 at 09:00, UTC, to all subscribers.',
		]);
	});

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

	test('names one audience, and counts several', () => {
		const to = (...ids: string[]) => said(ids.map((id) => sent(toSegment(id))));
		expect(to('1', '1')).toEqual(['2 sent: each to segment 1.']);
		expect(to('1', '2')).toEqual(['2 sent: to 2 audiences.']);
		const people = ['5001', '5002'].map((id) => sent(toSubscriber(id)));
		expect(said(people)).toEqual(['2 sent: to 2 subscribers.']);
	});

	test('is counted apart from what was sent earlier, by this execution or under an ID', () => {
		const key = { name: 'key:1', id: '77' };
		expect(said([sent(toAll), before(1), before(2), before(3, { key })])).toEqual([
			'1 sent now, to all subscribers. 2 were sent earlier. 1 ID was sent earlier.',
		]);
		expect(said([before(0, { key })])).toEqual(['Nothing was sent now. 1 ID was sent earlier.']);
	});
});

describe('items that are the same', () => {
	test('are counted, with the one that went out', () => {
		const same = (index: number, sameAs: number) => sentItem(index, toAll, { sameAs });
		expect(said([sent(toAll), same(1, 0), same(2, 0)])[1]).toBe(
			'3 items are the same notification: it was sent once.',
		);
		expect(said([sent(toAll), same(1, 0), sentItem(2), same(3, 2)])[1]).toBe(
			'4 items are the same as another one: each was sent once.',
		);
		expect(said([shown(0), shown(1, toAll, { sameAs: 0 })], dry)[1]).toBe(
			'2 items are the same notification: it goes out once.',
		);
	});
});

test('one hint has all that was reported: who is gone, and what is unknown since an earlier execution', () => {
	const gone = failureProblem(
		{ type: 'invalid_sid', description: '' },
		{ statusCode: 200 },
		{ isSend: true },
	);
	const to = (index: number) => ({ subscriberId: `${5000 + index}` });
	const titled = { parameters: itemOf({ title: '<Sale>' }) };
	const items = [sent(toAll), reported(1, gone, to(1)), reported(2, gone, to(2))];
	expect(said([...items, reported(3, lost, titled)])[1]).toBe(
		'Not sent: items 1 (subscriber 5001), 2 (subscriber 5002), counted from 0: the push service has no such subscriber.<br>Unknown: item 3 (&#34;&#60;Sale&#62;&#34;), counted from 0: nobody knows whether it was sent earlier.',
	);
	expect(said(many(0, 2, (index) => reported(index, lost, to(index))))).toEqual([
		'Unknown: items 0 (subscriber 5000), 1 (subscriber 5001), counted from 0: nobody knows whether they were sent earlier.',
	]);
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
		expect(hint?.message).toMatch(/<br>Item 9: Reason 9<br>And 1 more reason<br>Correct it\.$/);
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

	test('of one item that is not valid needs no number', () => {
		expect(
			said([failed(0, { ...invalid('No title'), others: [invalid('No link')] })], dry)[0],
		).toBe(
			'Nothing was sent: this was a dry run.<br>It is not valid: No title; No link. Correct it.',
		);
	});

	test('has the time of the first one also if others are not valid', () => {
		expect(said([unsendable(0), shown(1, at('2035-05-17 09:00'))], dry)[0]).toContain(
			'<br>The first one that is valid, on 17 May 2035 at 09:00, UTC:<br>',
		);
	});

	test('has addresses that open by a click, as text', () => {
		const targetUrl = 'https://shop.example.com/?a=1&b="2"';
		const address = targetUrl.replaceAll('&', '&#38;').replaceAll('"', '&#34;');
		expect(said([shown(0, prepare({ targetUrl }))], dry)[0]).toContain(
			`<br><a href="${address}" target="_blank">${address}</a>`,
		);
	});
});

describe('a test', () => {
	const test5001 = { ...toSubscriber('5001'), isTest: true };
	const tested = (send: PreparedSend) => sent(send, { test: test5001, subscriberId: '5001' });

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
			expect.stringMatching(/ The other 1 item went to nobody\. .* to 2 audiences right away\.$/),
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
