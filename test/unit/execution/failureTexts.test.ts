import {
	describeItem,
	describeRun,
	mainFailure,
	messageOfRun,
} from '../../../nodes/PushCampaign/execution/failureTexts';
import type { FailedEnd, ItemEnd } from '../../../nodes/PushCampaign/execution/tally';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import {
	failureProblem,
	refusedProblem,
	unknownProblem,
	validationProblem,
} from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput, Unavailable } from '../../../nodes/PushCampaign/service/thrown';

const failed = (index: number, problem: Problem, row = {}): FailedEnd => ({
	...{ index, how: 'failed', row, problem },
});
const ended = (index: number, how: ItemEnd['how']): ItemEnd => ({ index, how, row: {} });

const requested = { isSend: true };
const service = (type: string) =>
	failureProblem({ type, description: 'As it says' }, { statusCode: 200 }, requested);
const problems: Array<[name: string, problem: Problem]> = [
	['not valid', validationProblem(new InvalidInput("'Title' is missing", "Fill in 'Title'."))],
	['a vault', validationProblem(new Unavailable('The vault is sealed', 'Open it.'))],
	['no such subscriber', service('invalid_sid')],
	['a value', service('invalid_value')],
	['the credential', service('authentication_failure')],
	['too many requests', service('rate_limit')],
	['no type', service('')],
	['a type of its own', service('quota_exceeded')],
	['a page', refusedProblem(403)],
	['unknown', unknownProblem('the connection was lost', requested)],
];
const circumstances = [false, true].flatMap((hasKeys) =>
	[false, true].flatMap((isContinuing) =>
		[false, true].map((isToOne) => ({ hasKeys, isContinuing, isToOne })),
	),
);
const sentencesOf = (text: string) => text.split(/(?<=\.)\s+/);

describe.each(problems)('after %s', (_name, problem) => {
	const runs = [
		[failed(0, problem)],
		[ended(0, 'sent'), failed(1, problem), ended(2, 'notStarted')],
		[ended(0, 'sentEarlier'), failed(1, problem), ended(2, 'repeated')],
	];
	const all = circumstances.flatMap((each) => [
		{ ...each, text: describeItem(problem, each) },
		...runs.map((ends) => ({ ...each, text: describeRun(ends, failed(0, problem), each) })),
	]);

	test('nothing is said twice', () => {
		for (const { text } of all) {
			const sentences = sentencesOf(`${problem.message}. ${text}`);
			expect(new Set(sentences).size).toBe(sentences.length);
			expect(text).toMatch(/\.$/);
		}
	});

	test('there is one next step', () => {
		for (const { text, isContinuing, hasKeys } of all) {
			const isRetry = /use 'Retry/.test(text);
			const isAgain = /[Tt]hen run the workflow|, run the workflow|^Only if.* run the/m.test(text);
			expect(isRetry !== isAgain || (isRetry && hasKeys)).toBe(true);
			// n8n calls it a success, and offers no Retry.
			if (isContinuing && !hasKeys) expect(isRetry).toBe(false);
			if (problem.remedy === 'correct') expect(isRetry).toBe(false);
			if (problem.outcome === 'unknown') expect(text).toContain('Do not run it again yet.');
		}
	});

	test('it begins with what was sent, now and earlier', () => {
		const [one, two, three] = runs.map((ends) =>
			describeRun(ends, failed(0, problem), {
				...{ hasKeys: false, isContinuing: false, isToOne: false },
			}),
		);
		const isUnknown = problem.outcome === 'unknown';
		expect(one).toMatch(isUnknown ? /^Do not run/ : /^Nothing was sent\. /);
		const left = isUnknown ? '1 not sent, 1 unknown' : '2 not sent';
		expect(two?.startsWith(`1 of 3 was sent, ${left}. `)).toBe(true);
		expect(three).toMatch(/^0 sent now, 1 sent earlier, 1 sent by another item of this run, 1 /);
	});
});

test('what is unknown decides what to do, or else the first failure', () => {
	const [value, unknown] = [service('invalid_value'), unknownProblem('lost', requested)];
	const ends = [ended(0, 'sent'), failed(1, value), failed(2, unknown)];
	expect(mainFailure(ends)?.index).toBe(2);
	expect(mainFailure(ends.slice(0, 2))?.index).toBe(1);
	expect(mainFailure(ends.slice(0, 1))).toBeUndefined();
});

describe('the message of a run', () => {
	const invalid = () => validationProblem(new InvalidInput("'Title' is missing", 'Fill it in.'));

	test('counts what is not valid, and names the first item and up to ten others', () => {
		const ends = Array.from({ length: 13 }, (_, index) => failed(index, invalid()));
		const [first = failed(0, invalid())] = ends;
		expect(messageOfRun(ends, first)).toBe(
			"13 of 13 items are not valid: 'Title' is missing (item 0; also items 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)",
		);
	});

	test('names the subscriber, once', () => {
		const row = { subscriberId: '5002' };
		const problem = service('');
		const unnamed = failed(1, problem, row);
		expect(messageOfRun([ended(0, 'sent'), unnamed], unnamed)).toBe(
			`${problem.message} (subscriber 5002)`,
		);
		const about = { of: 'subscriber', label: "'Subscriber ID'", id: '5002' } as const;
		const notFound = failureProblem(
			{ type: 'invalid_sid', description: '' },
			{ statusCode: 200 },
			{ ...requested, about },
		);
		const named = failed(1, notFound, row);
		expect(messageOfRun([ended(0, 'sent'), named], named)).toBe(notFound.message);
	});

	test('counts nothing if one reason fails all items once', () => {
		const vault = validationProblem(new Unavailable('The vault is sealed', 'Open it.'));
		const ends = [0, 1, 2].map((index) => failed(index, vault));
		expect(messageOfRun(ends, failed(0, vault))).toBe('The vault is sealed');
	});
});
