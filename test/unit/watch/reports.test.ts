import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import {
	describeFailures,
	nothingFails,
	repeatReportMs,
	selectReports,
} from '../../../nodes/PushCampaign/watch/reports';
import { subjects } from '../../../nodes/PushCampaign/watch/subjects';
import { clock, useClock } from './stateSupport';
import { observationOf } from './support';

useClock();

const failed = (type?: string) =>
	explain(
		reasons.failure({ status: 'failure', type }, { requestedId: { of: 'campaign' } }),
		'poll',
	);
const problems: Record<string, Problem> = {
	gone: failed('invalid_value'),
	key: failed('authentication_failure'),
	crowded: failed('rate_limit'),
	slow: explain(reasons.timeout(30_000), 'poll'),
	down: explain(reasons.connectionLost, 'poll'),
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
const allGone = (count: number, length = 1) =>
	new Map(
		Array.from({ length: count }, (_, index) => [
			String(index).padEnd(length, '0'),
			failed('invalid_value'),
		]),
	);

interface Circumstances {
	/** Whether the polls report a failure that is there for the first time. */
	readonly isAtOnce?: boolean;
	/** Whether the polls read nothing else. */
	readonly isNothingRead?: boolean;
}

/** Which campaigns each poll reports, half a day after the one before; `1 unread` is one that was not reached. */
function reportedBy(
	polls: readonly string[],
	{ isAtOnce = false, isNothingRead = false }: Circumstances,
): string[] {
	let failing = nothingFails;
	return polls.map((failures) => {
		clock.now += repeatReportMs / 2;
		const unread = failures.split(' unread', 2).slice(0, -1);
		const observations = isNothingRead ? [] : [observationOf({}, { id: 'read' })];
		const readings = { observations, failures: of(failures), unread };
		const selected = selectReports(readings, failing, isAtOnce);
		failing = selected.failing;
		return [...selected.toReport.keys()].join();
	});
}

describe('a failing campaign', () => {
	interface Row extends Circumstances {
		readonly name: string;
		/** What fails in each poll. */
		readonly given: string[];
		/** What each poll reports. */
		readonly then: string[];
	}
	const rows: Row[] = [
		{
			name: 'is reported once, in the second poll in a row in which it fails',
			given: ['1 gone', '1 gone', '1 gone'],
			then: ['', '1', ''],
		},
		{
			name: 'is reported again if it healed in between',
			given: ['1 gone', '1 gone', '', '1 gone', '1 gone'],
			then: ['', '1', '', '', '1'],
		},
		{
			name: 'is not reported if it heals by the next poll',
			given: ['1 slow', '', '1 slow', ''],
			then: ['', '', '', ''],
		},
		{
			name: 'is not reported if another one fails in each poll',
			given: ['1 slow', '2 slow', '3 slow'],
			then: ['', '', ''],
		},
		{
			name: 'is not reported again if a poll does not reach it',
			given: ['1 slow', '1 slow', '1 unread', '1 slow', '1 slow'],
			then: ['', '1', '', '', ''],
		},
		{
			name: 'is reported again if its reason changes for two polls in a row',
			given: ['1 slow', '1 slow', '1 down', '1 slow', '1 down', '1 down', '1 down'],
			then: ['', '1', '', '', '', '1', ''],
		},
		{
			name: 'is reported once if its reasons alternate',
			given: ['1 slow', '1 down', '1 slow', '1 down'],
			then: ['', '1', '', ''],
		},
		{
			name: 'is reported in its first poll on a publication, and once for each reason',
			given: ['1 gone', '1 gone', '1 slow'],
			then: ['1', '', '1'],
			isAtOnce: true,
		},
		{
			name: 'is reported in its second poll, and then once a day, while nothing at all can be read',
			given: ['1 gone', '1 gone', '1 gone', '1 gone', '1 gone', '1 gone'],
			then: ['', '1', '', '1', '', '1'],
			isNothingRead: true,
		},
		{
			name: 'is reported together with the others once a day while nothing at all can be read',
			given: ['1 gone', '1 gone, 2 slow', '1 gone, 2 slow', '1 gone, 2 slow', '1 gone, 2 slow'],
			then: ['', '1', '2', '', '1,2'],
			isNothingRead: true,
		},
	];
	test.each(rows)('$name', ({ given, then, ...circumstances }) => {
		expect(reportedBy(given, circumstances)).toEqual(then);
	});
});

describe('the message about failures', () => {
	const describeAll = (failures: ReadonlyMap<string, Problem>) =>
		describeFailures(failures, subjects.campaign);

	test('is missing if nothing failed', () => {
		expect(describeAll(of(''))).toBeUndefined();
	});

	test('names each reason with its campaigns, what concerns the account first', () => {
		const { gone, slow, key, crowded } = problems;
		expect(describeAll(of('1 gone, 2 slow, 3 key, 4 gone, 5 crowded'))).toEqual({
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

	test('has the advice for its one reason, and cuts an ID that is long', () => {
		const { gone } = problems;
		expect(describeAll(of(`1 gone, ${'2'.repeat(301)} gone`))).toEqual({
			...gone,
			message: `Campaigns 1, ${'2'.repeat(300)}… can't be read: ${gone?.message}`,
		});
	});

	test('names the subscriber count for the site', () => {
		const failures = new Map([['the site', failed('authentication_failure')]]);
		expect(describeFailures(failures, subjects.site)?.message).toBe(
			`The subscriber count can't be read: ${problems['key']?.message}`,
		);
	});

	test('names 100 campaigns', () => {
		const ids = Array.from({ length: 100 }, (_, index) => index).join(', ');
		expect(describeAll(allGone(100))?.message).toBe(
			`Campaigns ${ids} can't be read: ${problems['gone']?.message}`,
		);
	});

	test('names ten of 2,000 campaigns and counts the others', () => {
		expect(describeAll(allGone(2000))?.message).toBe(
			`Campaigns 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 … and 1,990 more can't be read: ${problems['gone']?.message}`,
		);
	});

	test('gives ten of 2,000 reasons and counts the others', () => {
		const failures = new Map(
			Array.from({ length: 2000 }, (_, index) => [String(index), failed(`reason_${index}`)]),
		);
		const { message = '', description = '' } = describeAll(failures) ?? {};
		expect(message).toContain('(reason_9). … and 1,990 more reasons');
		expect(message).not.toContain('reason_10)');
		expect(description).not.toContain('Campaign 10:');
	});
});
