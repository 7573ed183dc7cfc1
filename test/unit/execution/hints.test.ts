import {
	dryRunHints,
	failedHints,
	sameAudienceHints,
	sentHints,
	testHints,
	withoutKeysHints,
} from '../../../nodes/PushCampaign/execution/hints';
import type { RunItem } from '../../../nodes/PushCampaign/execution/runItem';
import type { PreparedSend } from '../../../nodes/PushCampaign/operations/operation';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { unknownProblem, validationProblem } from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';
import { itemOf, prepare, recordingClient } from '../operations/support';

// What the editor says above the output of a run, for what no whole workflow of the engine tests shows.

const parameters = itemOf({});
const item = (how: RunItem['how'], more: Partial<RunItem> = {}): RunItem => ({
	...{ index: 0, how, parameters, hasKey: false },
	...more,
});
const toAll = prepare({});
const at = (sendAt: string, more = {}) => prepare({ additionalFields: { sendAt, ...more } });
const toSegment = (segmentIds: string) => prepare({ segmentIds }, undefined, sendToSegments);
const toSubscriber = (subscriberId: string) =>
	prepare({ subscriberId }, undefined, sendToSubscriber);
const toPlan = (value: string) =>
	prepare({ attributes: { pairs: [{ name: 'plan', value }] } }, undefined, sendToAttributes);
const sent = (send: PreparedSend) => item('sent', { send });
const textsOf = (hints: ReadonlyArray<{ message: string }>) => hints.map(({ message }) => message);

const lost = unknownProblem('the connection was lost', { isSend: true });
const invalid = (message: string) => validationProblem(new InvalidInput(message, 'Correct it.'));

describe('what was sent', () => {
	test('is scheduled from the first time to the last, in whatever order the items came', () => {
		const times = [at('2099-05-19 09:00'), toAll, at('2099-05-17 09:00'), at('2099-05-18 09:00')];
		expect(textsOf(sentHints(times.map(sent)))).toEqual([
			'4 sent: each to all subscribers.<br>3 of them scheduled from 17 May 2099 at 09:00, UTC to 19 May 2099 at 09:00, UTC.',
		]);
	});

	test('is moved by quiet hours if one of them is', () => {
		const quietHours = { hours: { from: '21:00', to: '08:00' } };
		const times = [at('2099-05-17 09:00'), at('2099-05-18 23:00', { quietHours })];
		expect(textsOf(sentHints(times.map(sent)))[0]).toMatch(/, because of quiet hours\.$/);
	});

	test('has its audiences by name, up to three', () => {
		const to = (count: number) =>
			textsOf(sentHints(['1', '2', '3', '4'].slice(0, count).map((id) => sent(toSegment(id)))))[0];
		expect(to(3)).toBe('3 sent: to segment 1; segment 2; segment 3.');
		expect(to(4)).toBe('4 sent: to 4 audiences.');
	});

	test('says that another ID sends it again if one of them was sent under its key', () => {
		const items = [sent(toAll), item('sentEarlier'), item('alreadySent')];
		expect(textsOf(sentHints(items))).toEqual([
			"1 sent now, to all subscribers. 2 were sent earlier: another ID in 'Send Only Once' sends it again.",
		]);
	});
});

describe('several campaigns to the same people', () => {
	const only = 'To send one alone, turn on Execute Once in the settings of the node.' as const;

	test('are named by them, sent or in a dry run', () => {
		const hint = `Every subscriber with plan = pro gets each of these 2 notifications. ${only}`;
		const items = [sent(toPlan('pro')), sent(toAll), item('previewed', { send: toPlan('pro') })];
		expect(textsOf(sameAudienceHints(items))).toEqual([hint]);
	});

	test('are none if they go to the same audience of two sites', () => {
		const at = (site: string): RunItem => {
			const { client } = recordingClient({});
			const connection = { client, baseUrl: 'https://push.example', site, isForAll: false };
			return item('sent', { send: toAll, connection });
		};
		expect(sameAudienceHints([at('one'), at('another')])).toEqual([]);
		expect(sameAudienceHints([at('one'), at('one')])).toHaveLength(1);
	});

	test('are none if one has the key of the other', () => {
		const shown = item('previewed', { send: toAll });
		expect(sameAudienceHints([shown, { ...shown, first: 0 }])).toEqual([]);
	});

	test('are none if they were not sent now, or go to single subscribers', () => {
		const earlier = [
			sent(toAll),
			item('alreadySent', { send: toAll }),
			item('failed', { send: toAll }),
		];
		expect(sameAudienceHints(earlier)).toEqual([]);
		expect(sameAudienceHints([sent(toSubscriber('5001')), sent(toSubscriber('5001'))])).toEqual([]);
	});
});

test('two items without Send Only Once have a hint about a crash, sent or in a dry run', () => {
	const { length } = withoutKeysHints([sent(toAll), item('previewed', { send: toAll })]);
	expect(length).toBe(1);
	expect(withoutKeysHints([sent(toAll), item('sent', { hasKey: true })])).toEqual([]);
	expect(withoutKeysHints([sent(toAll), item('failed'), item('sentEarlier')])).toEqual([]);
});

describe('a dry run', () => {
	const previewed = (send: PreparedSend) => item('previewed', { send });
	const unsendable = (index: number) =>
		item('unsendable', { index, problem: invalid(`Reason ${index}`) });

	test('counts notifications to single subscribers', () => {
		const [single = ''] = textsOf(
			dryRunHints([previewed(toSubscriber('5001')), previewed(toSubscriber('5002'))], undefined),
		);
		expect(single).toContain('<br>2 notifications, to 2 subscribers. The first one:');
	});

	test('gives up to 20 reasons, as a warning', () => {
		const items = Array.from({ length: 21 }, (_, index) => unsendable(index));
		const [hint] = dryRunHints(items, undefined);
		expect(hint?.type).toBe('warning');
		expect(hint?.message).toMatch(/<br>Item 19: Reason 19<br>And 1 more reason<br>$/);
		expect(dryRunHints([previewed(toAll)], undefined)[0]?.type).toBe('info');
	});

	test('of nothing has no hint', () => {
		expect(dryRunHints([item('failed', { problem: lost })], undefined)).toEqual([]);
	});
});

describe('a test', () => {
	const test5001 = { ...toSubscriber('5001'), isTest: true };
	const meant = toAll;

	test('of one item says whom it is meant for, and is no send', () => {
		const items = [item('sent', { send: test5001, meant })];
		expect(textsOf(testHints(items))).toEqual([
			'This was a test: it went to subscriber 5001 alone. When the workflow runs by itself, it goes to all subscribers.',
		]);
		expect(sentHints(items)).toEqual([]);
	});

	test('of two items says that the other went to nobody', () => {
		const rest = item('toNobody', { meant: toPlan('pro'), send: toPlan('pro') });
		expect(textsOf(testHints([item('sent', { send: test5001, meant }), rest]))[0]).toMatch(
			/ The other 1 item went to nobody\. .* to all subscribers; every subscriber with plan = pro\.$/,
		);
	});

	test('that failed was not sent', () => {
		const failed = item('failed', { send: test5001, meant, problem: invalid('No') });
		expect(textsOf(testHints([failed]))[0]).toMatch(
			/^This was a test, and nothing was sent now\. /,
		);
	});
});

describe('what failed in a run that went on', () => {
	const failed = item('failed', { problem: invalid('No') });
	const unknown = item('failed', { problem: lost });
	const said = (...items: RunItem[]) => textsOf(failedHints(items, false, 'Do this.'))[0];

	test('is counted, and what is unknown is counted apart', () => {
		expect(said(failed, sent(toAll))).toBe('1 of 2 items failed: see the error column. Do this.');
		expect(said(unknown, sent(toAll))).toBe(
			'It is unknown whether 1 of 2 items was sent: see the error column. Do this.',
		);
		expect(said(failed, unknown, unknown)).toBe(
			'1 of 3 items failed, and it is unknown whether 2 of 3 items were sent: see the error column. Do this.',
		);
	});

	test('has a line break where the service has one', () => {
		const [hint] = failedHints([failed], true, 'a\nb\r\nc');
		expect(hint?.message).toBe('1 of 1 item failed: see the Error output. a<br>b<br>c');
		expect(hint?.type).toBe('warning');
	});
});
