import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import type { Failing } from '../../../nodes/PushCampaign/watch/failures';
import { describeFailures, findNews } from '../../../nodes/PushCampaign/watch/failures';

const failed = (type?: string) =>
	explain(reasons.failure({ status: 'failure', type }, { isOfCampaign: true }), 'read');
const problems: Record<string, Problem> = {
	gone: failed('invalid_value'),
	key: failed('authentication_failure'),
	crowded: failed('rate_limit'),
	slow: explain(reasons.timeout(30_000), 'read'),
	down: explain(reasons.notConnected('push.example', 'its name is not known'), 'read'),
};

/** Failures such as `1 gone, 2 slow`; the campaigns are named `1`, `2`. */
function of(failures: string): Map<string, Problem> {
	const words = failures.split(', ').map((each) => each.split(' '));
	return new Map(
		words.flatMap(([id = '', name = '']) => {
			const problem = problems[name];
			return problem === undefined ? [] : [[id, problem]];
		}),
	);
}

/**
 * Which campaigns each of some polls tells of; `1 unread` is one that was not reached.
 * @param atOnce whether they are publications
 */
function told(polls: readonly string[], atOnce: boolean): string[] {
	let failing: Failing = new Map();
	return polls.map((failures) => {
		const unread = failures.split(' unread', 2).slice(0, -1);
		const found = findNews({ failures: of(failures), unread }, failing, atOnce);
		failing = found.failing;
		return [...found.news.keys()].join();
	});
}

test.each<[string, string[], string[], boolean?]>([
	['once, when it is there in two polls in a row', ['1 gone', '1 gone', '1 gone'], ['', '1', '']],
	['again after it healed', ['1 gone', '1 gone', '', '1 gone', '1 gone'], ['', '1', '', '', '1']],
	['not where it heals at once', ['1 slow', '', '1 slow', ''], ['', '', '', '']],
	['not where it is another campaign each time', ['1 slow', '2 slow', '3 slow'], ['', '', '']],
	[
		'not again where it was not reached',
		['1 slow', '1 slow', '1 unread', '1 slow', '1 slow'],
		['', '1', '', '', ''],
	],
	[
		'again when it changes for more than one poll',
		['1 slow', '1 slow', '1 down', '1 slow', '1 down', '1 down', '1 down'],
		['', '1', '', '', '', '1', ''],
	],
	[
		'once where it is another one each time',
		['1 slow', '1 down', '1 slow', '1 down'],
		['', '1', '', ''],
	],
	['at once on a publication, and not again', ['1 gone', '1 gone', '1 slow'], ['1', '', '1'], true],
])('a failure is told %s', (_how, polls, expected, atOnce = false) => {
	expect(told(polls, atOnce)).toEqual(expected);
});

describe('in words', () => {
	test('none are none', () => {
		expect(describeFailures(of(''))).toBeUndefined();
	});

	test('each reason is named with its campaigns, the account’s first', () => {
		const told = describeFailures(of('1 gone, 2 slow, 3 key, 4 gone, 5 crowded'));
		const { gone, slow, key, crowded } = problems;
		expect(told).toEqual({
			...key,
			message: [
				`Campaign 3 can't be read: ${key?.message}`,
				`Campaign 5 can't be read: ${crowded?.message}`,
				`Campaign 2 can't be read: ${slow?.message}`,
				`Campaigns 1, 4 can't be read: ${gone?.message}`,
			].join('. '),
			description: [
				`Campaign 3: ${key?.description}`,
				`Campaign 5: ${crowded?.description}`,
				`Campaign 2: ${slow?.description}`,
				`Campaigns 1, 4: ${gone?.description}`,
			].join(' '),
		});
	});

	test('one reason has its own advice, and an ID is cut where it is long', () => {
		const { gone } = problems;
		expect(describeFailures(of(`1 gone, ${'2'.repeat(301)} gone`))).toEqual({
			...gone,
			message: `Campaigns 1, ${'2'.repeat(300)}… can't be read: ${gone?.message}`,
		});
	});
});
