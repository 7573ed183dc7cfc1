import {
	dryRunHint,
	failedHint,
	sameAudienceHint,
	sentHint,
	testHint,
	withoutKeysHint,
} from '../../../nodes/PushCampaign/execution/hints';
import type { ItemThat, RunItem } from '../../../nodes/PushCampaign/execution/runItem';
import type { PreparedSend } from '../../../nodes/PushCampaign/operations/operation';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { unknownProblem, validationProblem } from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';
import { prepare } from '../operations/support';
import {
	connectionTo,
	failed as failedItem,
	many,
	sent as sentItem,
	sentEarlier,
	shown,
} from './support';

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

describe('what was sent', () => {
	test('is scheduled from the first time to the last, in whatever order the items came', () => {
		const times = [at('2035-05-19 09:00'), toAll, at('2035-05-17 09:00'), at('2035-05-18 09:00')];
		expect(sentHint(times.map(sent))?.message).toBe(
			'4 sent: each to all subscribers.<br>3 of them scheduled from 17 May 2035 at 09:00, UTC to 19 May 2035 at 09:00, UTC.',
		);
	});

	test('is moved by quiet hours if one of them is', () => {
		const quietHours = { hours: { from: '21:00', to: '08:00' } };
		const times = [at('2035-05-17 09:00'), at('2035-05-18 23:00', { quietHours })];
		expect(sentHint(times.map(sent))?.message).toMatch(/, because of quiet hours\.$/);
	});

	test('has its audiences by name, up to three', () => {
		const to = (count: number) =>
			sentHint(['1', '2', '3', '4'].slice(0, count).map((id) => sent(toSegment(id))))?.message;
		expect(to(3)).toBe('3 sent: to segment 1; segment 2; segment 3.');
		expect(to(4)).toBe('4 sent: to 4 audiences.');
	});

	test('says that another ID sends it again if one of them was sent under its key', () => {
		const items: RunItem[] = [
			sent(toAll),
			sentEarlier(1),
			{ ...sentEarlier(2), how: 'alreadySent' },
		];
		expect(sentHint(items)?.message).toBe(
			"1 sent now, to all subscribers. 2 were sent earlier: another ID in 'Send Only Once' sends it again.",
		);
	});
});

describe('several campaigns to the same people', () => {
	const only = 'To send one alone, turn on Execute Once in the settings of the node.' as const;

	test('are named by them, sent or in a dry run', () => {
		const hint = `These 2 notifications go to every subscriber with plan = pro, so everybody there gets each of them. ${only}`;
		const items = [sent(toPlan('pro')), sent(toAll), shown(2, toPlan('pro'))];
		expect(sameAudienceHint(items)?.message).toBe(hint);
	});

	test('are none if they go to the same audience of two sites', () => {
		const at = (site: string) => sent(toAll, { connection: connectionTo(site) });
		expect(sameAudienceHint([at('one'), at('another')])).toBeUndefined();
		expect(sameAudienceHint([at('one'), at('one')])).toBeDefined();
	});

	test('are none if one has the key of the other', () => {
		expect(sameAudienceHint([shown(0), shown(1, toAll, { first: 0 })])).toBeUndefined();
	});

	test('are none if they were not sent now, or go to single subscribers', () => {
		const earlier = [sent(toAll), sentEarlier(1), failedItem(2, lost, { send: toAll })];
		expect(sameAudienceHint(earlier)).toBeUndefined();
		expect(
			sameAudienceHint([sent(toSubscriber('5001')), sent(toSubscriber('5001'))]),
		).toBeUndefined();
	});
});

test('two items that were sent without Send Only Once have a hint about a crash', () => {
	expect(withoutKeysHint([sent(toAll), sent(toAll)])).toBeDefined();
	expect(withoutKeysHint([shown(0), shown(1)])).toBeUndefined();
	expect(withoutKeysHint([sent(toAll), sent(toAll, { key: 'key:1' })])).toBeUndefined();
	expect(withoutKeysHint([sent(toAll), failedItem(1, lost), sentEarlier(2)])).toBeUndefined();
});

describe('a dry run', () => {
	const unsendable = (index: number): ItemThat<'unsendable'> => ({
		...failedItem(index, invalid(`Reason ${index}`)),
		how: 'unsendable',
	});
	const hintOf = (items: readonly RunItem[], isContinuing = false) =>
		dryRunHint(items, isContinuing, undefined);

	test('counts notifications to single subscribers', () => {
		const items = [shown(0, toSubscriber('5001')), shown(1, toSubscriber('5002'))];
		expect(hintOf(items)?.message).toContain(
			'<br>2 notifications, to 2 subscribers. The first one:',
		);
	});

	test('gives up to 20 reasons, as a warning', () => {
		const hint = hintOf(many(0, 21, unsendable));
		expect(hint?.type).toBe('warning');
		expect(hint?.message).toMatch(/<br>Item 19: Reason 19<br>And 1 more reason<br>$/);
		expect(hintOf([shown(0)])?.type).toBe('info');
	});

	test('says what the run would do, as On Error is set', () => {
		const items = [...many(0, 16, (index) => shown(index)), ...many(16, 4, unsendable)];
		expect(hintOf(items)?.message).toContain('4 of 20 items are not valid, so none would be sent:');
		expect(hintOf(items)?.message).not.toContain('It would go');
		expect(hintOf(items, true)?.message).toContain('16 of 20 would be sent. The others would not:');
	});

	test('says until when it is delivered, and in which timezone quiet hours are read', () => {
		const quietHours = { hours: { from: '21:00', to: '08:00' } };
		const expireAt = '2035-05-20 23:59';
		const fields = { quietHours, expireAt, sendAtTimezone: 'Europe/Berlin' };
		const message = hintOf([shown(0, at('2035-05-17 09:00', fields))])?.message;
		expect(message).toContain('<br>Delivered until 20 May 2035 at 23:59, Europe/Berlin.');
		expect(message).toContain('<br>Quiet hours: 21:00 to 08:00, Europe/Berlin.');
	});

	test('of nothing has no hint', () => {
		expect(hintOf([failedItem(0, lost)])).toBeUndefined();
	});
});

describe('a test', () => {
	const standingFor = (send: PreparedSend) => ({ ...toSubscriber('5001'), standsFor: send });

	test('of one item says whom it is meant for, and when, and is no send', () => {
		const items = [sent(standingFor(toAll))];
		expect(testHint(items)?.message).toBe(
			'This was a test: it went to subscriber 5001 alone. When the workflow runs by itself, it goes to all subscribers right away.',
		);
		expect(sentHint(items)).toBeUndefined();
		const later = [sent(standingFor(at('2035-05-17 09:00')))];
		expect(testHint(later)?.message).toMatch(/ on 17 May 2035 at 09:00, UTC\.$/);
	});

	test('of two items says that the other went to nobody', () => {
		const rest: RunItem = { ...shown(1, toPlan('pro')), how: 'untested' };
		expect(testHint([sent(standingFor(toAll)), rest])?.message).toMatch(
			/ The other 1 item went to nobody\. .* to all subscribers; every subscriber with plan = pro right away\.$/,
		);
	});

	test('that failed was not sent', () => {
		const failed = failedItem(0, invalid('No'), { send: standingFor(toAll) });
		expect(testHint([failed])?.message).toMatch(/^This was a test, and nothing was sent now\. /);
	});
});

test('what failed in a run that went on is counted, with the place where it is', () => {
	const hint = failedHint(1, 2, false, 'Which.');
	expect(hint?.type).toBe('warning');
	expect(hint?.message).toBe('1 of 2 items failed: see the error column. Which.');
	expect(failedHint(1, 1, true, 'a\nb')?.message).toMatch(
		/^1 of 1 item .* the Error output\. a<br>b$/,
	);
	expect(failedHint(0, 1, false)).toBeUndefined();
});
