import type { INode } from 'n8n-workflow';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import { siteId, timeIsOver } from '../../../nodes/PushCampaign/trigger/read';
import { everything, selectReports, toError } from '../../../nodes/PushCampaign/trigger/reports';

const common = { outcome: 'unknown', cause: 'temporarily-unavailable', remedy: 'wait' } as const;
const refused = (type: string): Problem => ({
	...common,
	type,
	message: `Refused (${type})`,
	cause: 'configuration-invalid',
	remedy: 'correct',
	httpCode: '404',
	fix: "Check 'Campaign IDs'.",
});
const problems: Record<string, Problem> = {
	gone: refused('invalid_value'),
	key: {
		...common,
		type: 'authentication_failure',
		message: 'The credential is not accepted',
		said: 'The service says: "No".',
		fix: "Check 'API Key'.",
		remedy: 'mend',
	},
	crowded: { ...common, type: 'rate_limit', message: 'Too many', cause: 'rate-limited' },
	slow: { ...common, type: 'network', message: 'No answer' },
	lost: { ...common, type: 'network', message: 'The connection was lost' },
	late: timeIsOver,
};

/** Failures such as `1 gone, 2 slow`; `all key` is a poll that could not begin to read. */
function failuresOf(text: string): Map<string, Problem> {
	const failures = new Map<string, Problem>();
	for (const each of text.split(', ')) {
		const [id = '', name = ''] = each.split(' ');
		const problem = problems[name];
		if (problem !== undefined) failures.set(id === 'all' ? everything : id, problem);
	}
	return failures;
}

let triggers = 0;

/** The campaigns that each poll of a new trigger reports. */
function reportedBy(polls: readonly string[]): string[] {
	const trigger = `trigger ${(triggers += 1)}`;
	return polls.map((text) => [...selectReports(trigger, failuresOf(text)).keys()].join());
}

describe('a failing campaign', () => {
	const rows: Array<{ name: string; polls: string[]; then: string[] }> = [
		{
			name: 'is reported once, in the second poll in a row in which it fails',
			polls: ['1 gone', '1 gone', '1 gone'],
			then: ['', '1', ''],
		},
		{
			name: 'is reported again if it healed in between',
			polls: ['1 gone', '1 gone', '', '1 gone', '1 gone'],
			then: ['', '1', '', '', '1'],
		},
		{
			name: 'is not reported if another one fails in each poll',
			polls: ['1 slow', '2 slow', '3 slow'],
			then: ['', '', ''],
		},
		{
			name: 'is reported beside one that was reported before',
			polls: ['1 gone', '1 gone, 2 slow', '1 gone, 2 slow'],
			then: ['', '1', '2'],
		},
		{
			name: 'is reported again if its reason changes for two polls in a row',
			polls: ['1 slow', '1 slow', '1 lost', '1 slow', '1 lost', '1 lost', '1 lost'],
			then: ['', '1', '', '', '', '1', ''],
		},
		{
			name: 'is reported once if its reasons alternate',
			polls: ['1 slow', '1 lost', '1 slow', '1 lost'],
			then: ['', '1', '', ''],
		},
	];
	test.each(rows)('$name', ({ polls, then }) => {
		expect(reportedBy(polls)).toEqual(then);
	});
});

describe.each(['crowded', 'late'])('that campaigns are not reached (%s)', (name) => {
	test('is one failure, reported once, whichever campaigns it meets', () => {
		expect(reportedBy([`1 ${name}`, `2 ${name}, 3 ${name}`, `1 ${name}`, `2 ${name}`])).toEqual([
			'',
			'2,3',
			'',
			'',
		]);
	});

	test('neither heals nor repeats what failed before', () => {
		expect(reportedBy(['1 gone', '1 gone', `1 ${name}`, '1 gone', '1 gone'])).toEqual([
			'',
			'1',
			'',
			'',
			'',
		]);
	});
});

test('a poll that can’t begin is reported like a campaign, and says nothing about the campaigns', () => {
	const polls = ['1 gone', '1 gone', 'all key', 'all key', 'all key', '1 gone', 'all key'];
	expect(reportedBy(polls)).toEqual(['', '1', '', everything, '', '', '']);
});

describe('the error about failures', () => {
	const node: INode = {
		id: 'trigger',
		name: 'Trigger',
		type: 'n8n-nodes-push-campaign.pushCampaignTrigger',
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
	};
	const gone = 'Refused (invalid_value)';
	const allGone = (count: number) => {
		const ids = Array.from({ length: count }, (_, index) => `${index} gone`);
		return failuresOf(ids.join(', '));
	};

	test('is missing if nothing failed', () => {
		expect(toError(node, new Map(), true)).toBeUndefined();
	});

	test('names every campaign and every reason, that of the most campaigns first', () => {
		const error = toError(node, failuresOf('3 key, 1 gone, 2 slow, 4 gone'), false);
		expect(error).toMatchObject({
			name: 'NodeApiError',
			message: [
				`Campaigns 1, 4 can't be read. ${gone}`,
				"Campaign 3 can't be read. The credential is not accepted",
				"Campaign 2 can't be read. No answer",
			].join('. '),
			description: `Check 'Campaign IDs'. The service says: "No". Check 'API Key'. The trigger goes on with its next poll.`,
			httpCode: '404',
			failure: { cause: 'configuration-invalid' },
		});
	});

	test.each([
		{
			name: 'after something is mended',
			failures: '1 key',
			then: /Check 'API Key'\. Then try again\.$/,
		},
		{ name: 'later if waiting helps', failures: '1 slow', then: /^Try again later\.$/ },
	])('says on a publication to try again $name', ({ failures, then }) => {
		expect(toError(node, failuresOf(failures), true)?.description).toMatch(then);
	});

	test('names the subscriber count for the site, and nothing for a poll that could not begin', () => {
		const { key } = problems;
		const ofSite = toError(node, new Map([[siteId, refused('bad_request')]]), false);
		expect(ofSite?.message).toMatch(/^The subscriber count can't be read\. Refused/);
		expect(toError(node, failuresOf('all key'), false)?.message).toBe(key?.message);
	});

	test('names 100 campaigns, and ten of 2,000', () => {
		const ids = Array.from({ length: 100 }, (_, index) => index).join(', ');
		expect(toError(node, allGone(100), true)?.message).toBe(
			`Campaigns ${ids} can't be read. ${gone}`,
		);
		expect(toError(node, allGone(2000), true)?.message).toBe(
			`Campaigns 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1,990 more can't be read. ${gone}`,
		);
	});

	test('gives ten of many reasons', () => {
		const failures = new Map(
			Array.from({ length: 2000 }, (_, index) => [String(index), refused(`reason_${index}`)]),
		);
		const message = toError(node, failures, true)?.message ?? '';
		expect(message).toMatch(/\(reason_9\)\. and 1,990 more reasons$/);
		expect(message).not.toContain('reason_10');
	});
});
