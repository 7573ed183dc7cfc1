import * as fc from 'fast-check';
import type { INode } from 'n8n-workflow';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import { siteId, timeIsOver } from '../../../nodes/PushCampaign/trigger/fetch';
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
	crowded: {
		...common,
		type: 'rate_limit',
		message: 'Too many',
		fix: 'The service asks for a pause of 60 minutes.',
		cause: 'rate-limited',
		retryAfterMs: 3_600_000,
	},
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

/** What each trigger here watches. */
const watched = ['1', '2', '3'];
/** Nothing at all can be read, for this reason. */
const nothing = (name: string) => watched.map((id) => `${id} ${name}`).join(', ');
const isAnythingRead = (failures: ReadonlyMap<string, Problem>) =>
	!failures.has(everything) && watched.some((id) => !failures.has(id));

let triggers = 0;

/** The campaigns that each poll of a new trigger reports; `all` if it reports that it could not begin. */
function reportedBy(polls: readonly string[]): string[] {
	const trigger = `trigger ${(triggers += 1)}`;
	return polls.map((text) => {
		const failures = failuresOf(text);
		const ids = [...selectReports(trigger, failures, isAnythingRead(failures)).keys()];
		return ids.map((id) => (id === everything ? 'all' : id)).join();
	});
}

describe('whatever fails in each poll', () => {
	/** What a poll meets, as names of failures, each with the campaigns that a report of it names. */
	function failuresMet(text: string): Map<string, string[]> {
		const failures = failuresOf(text);
		const scope = isAnythingRead(failures) ? 'a part' : 'the whole';
		const met = new Map<string, string[]>();
		for (const [id, { cause }] of failures) {
			const isPassing = cause === 'temporarily-unavailable' || cause === 'rate-limited';
			const name = isPassing ? scope : `${id} ${cause}`;
			met.set(name, [...(met.get(name) ?? []), id]);
		}
		return met;
	}

	/** Whether a poll shows that a failure is over. */
	function heals(text: string, name: string): boolean {
		const failures = failuresOf(text);
		if (failures.has(everything)) return false;
		const met = failuresMet(text);
		if (name === 'the whole') return !met.has('the whole');
		if (name === 'a part') return !met.has('a part') && !met.has('the whole');
		return !failures.has(name.split(' ')[0] ?? '');
	}

	test('a failure is reported in the second poll that meets it since it last healed, and in no other', () => {
		const kinds = ['', '', 'gone', 'refused', 'key', 'slow', 'page', 'crowded'];
		const one = fc
			.tuple(...watched.map(() => fc.constantFrom(...kinds)))
			.map((all) =>
				all.flatMap((kind, index) => (kind === '' ? [] : [`${watched[index]} ${kind}`])).join(', '),
			);
		const poll = fc.oneof(
			{ weight: 5, arbitrary: one },
			{ weight: 2, arbitrary: fc.constantFrom(nothing('slow'), nothing('page'), '1 slow', '') },
			{ weight: 1, arbitrary: fc.constantFrom('all key', 'all vault') },
		);
		fc.assert(
			fc.property(fc.array(poll, { maxLength: 30, size: 'max' }), (polls) => {
				const expected = polls.map((text, now) => {
					const reported = [...failuresMet(text)].filter(([name]) => {
						const healedAt = polls.slice(0, now).findLastIndex((each) => heals(each, name));
						const since = polls.slice(healedAt + 1, now + 1);
						return since.filter((each) => failuresMet(each).has(name)).length === 2;
					});
					const ids = reported.flatMap(([, all]) => all);
					return ids.map((id) => (id === everything ? 'all' : id)).sort();
				});
				const found = reportedBy(polls).map((ids) => (ids === '' ? [] : ids.split(',').sort()));
				expect(found).toEqual(expected);
			}),
			{ numRuns: 200 },
		);
	});
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

	const messageOf = (failures: Map<string, Problem>) => toError(node, failures)?.message;

	test('is missing if nothing failed', () => {
		expect(toError(node, new Map())).toBeUndefined();
	});

	test('names every campaign and every reason, that of the most campaigns first, and what to mend, in its message', () => {
		const error = toError(node, failuresOf('3 key, 1 gone, 2 slow, 4 gone'), 'It goes on.');
		expect(error).toMatchObject({
			name: 'NodeApiError',
			message: [
				"The push service has no campaigns 1, 4. Campaign 3 can't be read. The credential is not accepted.",
				`Campaign 2 can't be read. No answer. The service says: "No". Correct 'Campaign IDs'. Check 'API Key'.`,
			].join(' '),
			description: 'It goes on.',
			httpCode: '404',
			failure: { cause: 'configuration-invalid' },
		});
	});

	test('has ten different sentences of the service, each once', () => {
		const saying = (id: number): [string, Problem] => {
			const said = `The service says: "${Math.floor(id / 2)}".`;
			return [String(id), { ...refused('bad_request'), said }];
		};
		const message = messageOf(new Map(Array.from({ length: 30 }, (_, id) => saying(id))));
		expect(message?.match(/"\d+"/g)).toEqual(Array.from({ length: 10 }, (_, at) => `"${at}"`));
	});

	test('does not end a sentence twice', () => {
		const message = 'n8n could not open the credential: Not there.';
		const vault: Problem = { ...common, type: 'network', message, fix: 'Test it there.' };
		expect(messageOf(new Map([[everything, vault]]))).toBe(`${message} Test it there.`);
	});

	test('names the subscriber count for the site, and nothing for a poll that could not begin', () => {
		const ofSite = messageOf(new Map([[siteId, refused('invalid_value')]]));
		expect(ofSite).toMatch(/^The subscriber count can't be read\. Refused/);
		expect(messageOf(failuresOf('all key'))).toBe(
			`The credential is not accepted. The service says: "No". Check 'API Key'.`,
		);
	});

	test('names 100 campaigns, and counts the others', () => {
		const ids = Array.from({ length: 100 }, (_, index) => index).join(', ');
		const [hundred, many] = [100, 2000].map((count) => messageOf(allGone(count)));
		expect(hundred).toMatch(`The push service has no campaigns ${ids}. Correct`);
		expect(many).toMatch(`The push service has no campaigns ${ids} and 1,900 more. Correct`);
	});
});
