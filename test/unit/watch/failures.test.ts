import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
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

/** Which campaigns each of some polls tells of. */
function told(polls: readonly string[], atOnce = false): string[] {
	let failing = {};
	return polls.map((failures) => {
		const found = findNews(of(failures), failing, atOnce);
		failing = found.failing;
		return [...found.news.keys()].join();
	});
}

test.each<[string, string[], string[]]>([
	['once, when it is there in two polls in a row', ['1 gone', '1 gone', '1 gone'], ['', '1', '']],
	['again after it healed', ['1 gone', '1 gone', '', '1 gone', '1 gone'], ['', '1', '', '', '1']],
	['not where it heals at once', ['1 slow', '', '1 slow', ''], ['', '', '', '']],
	['not where it is another campaign each time', ['1 slow', '2 slow', '3 slow'], ['', '', '']],
	['by campaign', ['1 gone', '1 gone, 2 gone', '1 gone, 2 gone'], ['', '1', '2']],
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
])('a failure is told %s', (_how, polls, expected) => {
	expect(told(polls)).toEqual(expected);
});

test('at once on a publication, and not again', () => {
	expect(told(['1 gone', '1 gone', '1 slow'], true)).toEqual(['1', '', '1']);
});

test('campaigns whose IDs are names of every object’s are told like others', () => {
	expect(told(['constructor gone', 'constructor gone'])).toEqual(['', 'constructor']);
});

describe('in words', () => {
	test('none are none', () => {
		expect(describeFailures(of(''))).toBeUndefined();
	});

	test.each([
		[1, 'Campaign 1'],
		[2, 'Campaigns 1, 2'],
		[10, 'Campaigns 1, 2, 3, 4, 5, 6, 7, 8, 9, 10'],
		[11, 'Campaigns 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 1 more'],
		[200, 'Campaigns 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 190 more'],
	])('%d of one reason are named', (count, names) => {
		const ids = Array.from({ length: count }, (_, index) => String(index + 1));
		const problem = failed('invalid_value');
		const all = count > 10 ? ` All that can't be read: ${ids.join(', ')}.` : '';
		expect(describeFailures(new Map(ids.map((id) => [id, problem])))).toEqual({
			...problem,
			message: `${names} can't be read: ${problem.message}`,
			description: problem.description + all,
		});
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

	test('an ID is cut where it is long', () => {
		const told = describeFailures(of(`${'1'.repeat(301)} gone`));
		expect(told?.message).toMatch(/^Campaign 1{300}… can't/);
	});
});
