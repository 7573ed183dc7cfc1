import type { INode } from 'n8n-workflow';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import { siteId, timeIsOver } from '../../../nodes/PushCampaign/trigger/read';
import { everything, selectReports, toError } from '../../../nodes/PushCampaign/trigger/reports';

const common = { outcome: 'unknown', cause: 'temporarily-unavailable' } as const;
const refused = (type: string): Problem => ({
	...common,
	type,
	message: `Refused (${type})`,
	cause: 'configuration-invalid',
	httpCode: '404',
	fix: "Correct 'Campaign IDs'.",
});
const problems: Record<string, Problem> = {
	gone: refused('invalid_value'),
	refused: refused('bad_request'),
	key: {
		...common,
		type: 'authentication_failure',
		message: 'The credential is not accepted',
		said: 'The service says: "No".',
		fix: "Check 'API Key'.",
		cause: 'credential-invalid',
	},
	vault: { ...common, type: 'network', message: 'Not opened', fix: 'Check the vault.' },
	odd: { ...common, type: 'x', message: 'Odd', cause: 'configuration-invalid' },
	crowded: { ...common, type: 'rate_limit', message: 'Too many', cause: 'rate-limited' },
	slow: { ...common, type: 'network', message: 'No answer' },
	page: { ...common, type: 'unexpected_answer', message: 'The answer (HTTP 502) is not its own' },
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

/** The campaigns that each poll of a new trigger reports; `all` if it reports that it could not begin. */
function reportedBy(polls: readonly string[]): string[] {
	const trigger = `trigger ${(triggers += 1)}`;
	return polls.map((text) => {
		const ids = [...selectReports(trigger, failuresOf(text)).keys()];
		return ids.map((id) => (id === everything ? 'all' : id)).join();
	});
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
			name: 'is reported beside one that was reported before',
			polls: ['1 gone', '1 gone, 2 key', '1 gone, 2 key'],
			then: ['', '1', '2'],
		},
		{
			name: 'is not reported if another one fails in each poll',
			polls: ['1 gone', '2 gone', '3 gone'],
			then: ['', '', ''],
		},
		{
			name: 'is reported again if its cause changes',
			polls: ['1 gone', '1 gone', '1 key', '1 key', '1 key'],
			then: ['', '1', '', '1', ''],
		},
		{
			name: 'is not reported again if only its words change',
			polls: ['1 gone', '1 gone', '1 refused', '1 refused', '1 gone'],
			then: ['', '1', '', '', ''],
		},
		{
			name: 'is reported once for each of the causes that it has by turns',
			polls: ['1 gone', '1 key', '1 gone', '1 key', '1 gone', '1 key'],
			then: ['', '', '1', '1', '', ''],
		},
	];
	test.each(rows)('$name', ({ polls, then }) => {
		expect(reportedBy(polls)).toEqual(then);
	});
});

describe('an outage of the service', () => {
	test('is reported once, whatever the service, a gateway or a rate limit answers by turns', () => {
		const answers = ['slow', 'page', 'crowded', 'late'];
		// Each follows each, and itself, sooner or later.
		const polls = Array.from({ length: 60 }, (_, poll) => {
			const answer = (id: number) => answers[(poll * id + Math.floor(poll / 7)) % answers.length];
			return `1 ${answer(1)}, 2 ${answer(2)}`;
		});
		expect(reportedBy(polls)).toEqual(['', '1,2', ...polls.slice(2).map(() => '')]);
	});

	test('is one failure, whichever campaigns it meets', () => {
		const polls = ['1 crowded', '2 crowded, 3 late', '1 slow', '2 page'];
		expect(reportedBy(polls)).toEqual(['', '2,3', '', '']);
	});

	test('is one failure, also if it keeps a poll from beginning', () => {
		expect(reportedBy(['1 slow', 'all slow', '1 slow', 'all slow'])).toEqual(['', 'all', '', '']);
	});

	test('is reported again if it ended in between', () => {
		const polls = ['1 slow', '1 slow', '', '2 slow', '2 slow'];
		expect(reportedBy(polls)).toEqual(['', '1', '', '', '2']);
	});

	test('is over if campaigns fail for other causes alone', () => {
		const polls = ['1 slow', '1 slow', '1 gone', '1 slow, 2 gone', '1 slow'];
		expect(reportedBy(polls)).toEqual(['', '1', '', '', '1']);
	});

	test('neither heals nor repeats what failed before', () => {
		const polls = ['1 gone', '1 gone', '1 late', '1 late', '1 gone', '1 gone'];
		expect(reportedBy(polls)).toEqual(['', '1', '', '1', '', '']);
	});
});

test('a poll that can’t begin is reported like a campaign, and says nothing about the campaigns', () => {
	const polls = ['1 gone', '1 gone', 'all key', 'all key', 'all key', '1 gone', 'all key'];
	expect(reportedBy(polls)).toEqual(['', '1', '', 'all', '', '', '']);
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
	const allGone = (count: number) => {
		const ids = Array.from({ length: count }, (_, index) => `${index} gone`);
		return failuresOf(ids.join(', '));
	};

	test('names one campaign that is not there', () => {
		const error = toError(node, failuresOf('9999 gone'), true);
		expect(error?.message).toBe('The push service has no campaign 9999');
	});

	test('is missing if nothing failed', () => {
		expect(toError(node, new Map(), true)).toBeUndefined();
	});

	test('names every campaign and every reason, that of the most campaigns first', () => {
		const error = toError(node, failuresOf('3 key, 1 gone, 2 slow, 4 gone'), false);
		expect(error).toMatchObject({
			name: 'NodeApiError',
			message: [
				'The push service has no campaigns 1, 4',
				"Campaign 3 can't be read. The credential is not accepted",
				"Campaign 2 can't be read. No answer",
			].join('. '),
			description: `The service says: "No". Correct 'Campaign IDs'. Check 'API Key'. The trigger goes on with its next poll.`,
			httpCode: '404',
			failure: { cause: 'configuration-invalid' },
		});
	});

	test.each([
		{ failures: '1 key', then: `The service says: "No". Check 'API Key', and try again.` },
		{ failures: '1 gone, 2 gone, 3 slow', then: "Correct 'Campaign IDs', and try again." },
		{ failures: '1 gone, 2 slow, 3 slow', then: "Correct 'Campaign IDs'. Try again later." },
		{ failures: '1 slow', then: 'Try again later.' },
		{ failures: '1 odd', then: 'Try again later.' },
		{ failures: 'all vault', then: 'Check the vault. Try again later.' },
	])('says on a publication what to do about $failures: $then', ({ failures, then }) => {
		expect(toError(node, failuresOf(failures), true)?.description).toBe(then);
	});

	test('names the subscriber count for the site, and nothing for a poll that could not begin', () => {
		const { key } = problems;
		const ofSite = toError(node, new Map([[siteId, refused('invalid_value')]]), false);
		expect(ofSite?.message).toMatch(/^The subscriber count can't be read\. Refused/);
		expect(toError(node, failuresOf('all key'), false)?.message).toBe(key?.message);
	});

	test('names 100 campaigns, and ten of more', () => {
		const ids = Array.from({ length: 100 }, (_, index) => index).join(', ');
		expect(toError(node, allGone(100), true)?.message).toBe(
			`The push service has no campaigns ${ids}`,
		);
		expect(toError(node, allGone(101), true)?.message).toBe(
			'The push service has no campaigns 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 91 more',
		);
		expect(toError(node, allGone(2000), true)?.message).toMatch(/ and 1,990 more$/);
	});

	test.each([
		[10, /\(reason_9\)$/],
		[11, /\(reason_9\)\. and 1 more reason$/],
		[2000, /\(reason_9\)\. and 1,990 more reasons$/],
	])('gives at most ten of %i reasons', (count, then) => {
		const reasons = Array.from({ length: count }, (_, index) => refused(`reason_${index}`));
		const failures = new Map(reasons.map((problem, index) => [String(index), problem]));
		const message = toError(node, failures, true)?.message ?? '';
		expect(message).toMatch(then);
		expect(message).not.toContain('reason_10');
	});
});
