import type { Circumstances } from '../../../nodes/PushCampaign/execution/failureTexts';
import {
	circumstancesOf,
	describeCanceled,
	describeItem,
	describeRun,
	mainFailure,
	messageOfRun,
} from '../../../nodes/PushCampaign/execution/failureTexts';
import type { FailedItem, RunItem } from '../../../nodes/PushCampaign/execution/runItem';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import {
	failureProblem,
	unknownProblem,
	validationProblem,
} from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput, Unavailable } from '../../../nodes/PushCampaign/service/thrown';
import { itemOf, prepare } from '../operations/support';

// What a person reads when a send failed: what was sent; what must not be done, if anything; the one thing to do.

const parameters = itemOf({});
const nothing = { byThisNode: false, byOthers: false };
const ended = (index: number, how: RunItem['how'], more: Partial<RunItem> = {}): RunItem => ({
	...{ index, how, parameters, hasKey: false },
	...more,
});
const failed = (index: number, problem: Problem, more: Partial<RunItem> = {}): FailedItem => ({
	...ended(index, 'failed', more),
	problem,
});

const requested = { isSend: true };
const service = (type: string, description = '') =>
	failureProblem({ type, description }, { statusCode: 200 }, requested);
const invalid = (message = "'Title' is missing") =>
	validationProblem(new InvalidInput(message, "Fill in 'Title'."));
const lost = unknownProblem('the connection was lost', requested);
const problems: Readonly<Record<string, Problem>> = {
	wait: { ...service(''), fix: undefined },
	mend: { ...service('authentication_failure'), fix: 'Check it.' },
	correct: { ...invalid(), fix: 'Correct it.' },
	said: { ...invalid(), remedy: 'said', fix: 'Do this, or that.' },
	unknown: lost,
};

/**
 * Sentences by what they depend on: the first line that fits. `keys`: all items have Send Only Once. `continue`: the run
 * goes on after a failure. `made`: one of the keys is made of the text. `sub`: another workflow called this one. `sent`: something was sent. `one`: to one subscriber
 * each. `several`: several are unknown.
 */
const sentences: ReadonlyArray<readonly [when: string, says: string]> = [
	[
		'wait continue keys',
		'Wait a moment. Then run the workflow again: what was sent is not sent again.',
	],
	[
		'wait continue sent',
		'Wait a moment. Then run the workflow with the items alone that were not sent.',
	],
	[
		'wait continue sub',
		'Wait a moment. Then run the workflow with the items alone that were not sent.',
	],
	['wait continue', 'Wait a moment. Then run the workflow again.'],
	[
		'wait keys',
		"Wait a moment. Then use 'Retry' in the list of executions, or run the workflow again: what was sent is not sent again.",
	],
	[
		'wait sub',
		"Wait a moment. Then use 'Retry' of the sub-workflow's own execution, not of the workflow that called it, which would send all again.",
	],
	[
		'wait sent',
		"Wait a moment. Then use 'Retry' in the list of executions: it sends the rest alone. Running the workflow again would send all again.",
	],
	['wait', "Wait a moment. Then use 'Retry' in the list of executions."],
	['mend continue keys', 'Check it. Then run the workflow again: what was sent is not sent again.'],
	[
		'mend continue sent',
		'Check it. Then run the workflow with the items alone that were not sent.',
	],
	['mend continue sub', 'Check it. Then run the workflow with the items alone that were not sent.'],
	['mend continue', 'Check it. Then run the workflow again.'],
	[
		'mend keys',
		"Check it. Then use 'Retry' in the list of executions, or run the workflow again: what was sent is not sent again.",
	],
	[
		'mend sub',
		"Check it. Then use 'Retry' of the sub-workflow's own execution, not of the workflow that called it, which would send all again.",
	],
	[
		'mend sent',
		"Check it. Then use 'Retry' in the list of executions: it sends the rest alone. Running the workflow again would send all again.",
	],
	['mend', "Check it. Then use 'Retry' in the list of executions."],
	['said keys', 'Do this, or that.'],
	['said sent', 'Running the workflow again would send again what was sent. Do this, or that.'],
	['said', 'Do this, or that.'],
	[
		'correct keys made',
		'Correct it. Then run the workflow again: what was sent is not sent again unless it has changed.',
	],
	['correct keys', 'Correct it. Then run the workflow again: what was sent is not sent again.'],
	[
		'correct continue sent',
		'Running the workflow again would send again what was sent. Correct it. Then run the workflow with the items alone that were not sent.',
	],
	[
		'correct continue sub',
		'Running the workflow that called this one would send again what its other calls sent. Correct it. Then run the workflow with the items alone that were not sent.',
	],
	['correct continue', 'Correct it. Then run the workflow again.'],
	[
		'correct sent',
		"Running the workflow again would send again what was sent. Correct it. Then run the workflow with the items alone that were not sent, as 'Retry' would use the old data.",
	],
	[
		'correct sub',
		"Running the workflow that called this one would send again what its other calls sent. Correct it. Then run the workflow with the items alone that were not sent, as 'Retry' would use the old data.",
	],
	['correct', "Correct it. Then run the workflow again, as 'Retry' would use the old data."],
	...unknownSentences(),
];

/** All begin with the same two sentences, and ask the same questions. */
function unknownSentences(): Array<[when: string, says: string]> {
	const many = 'Look for the campaigns in the dashboard of your push service.';
	const one = 'Look for the campaign in the dashboard of your push service.';
	const people =
		'The dashboard of your push service does not list notifications to one subscriber, so ask the subscribers.';
	const person =
		'The dashboard of your push service does not list a notification to one subscriber, so ask the subscriber.';
	const variants = [
		['one several', people, 'Did all arrive?', 'Did none arrive?', 'Did only some arrive?'],
		['one', person, 'Did it arrive?', 'Did it not arrive?', ''],
		['several', many, 'Are they all there?', 'Is none there?', 'Are only some there?'],
		['', one, 'Is it there?', 'Is it not there?', ''],
	] as const;
	const stay = 'Do not run it again yet.';
	return variants.flatMap(([words, look, all, none, some]): Array<[string, string]> => {
		const choose = `${stay} ${look} ${all} Choose Count as Sent under 'Unknown Outcome' in the options. ${none} Choose Send Again.`;
		const divide =
			some === ''
				? ''
				: `${some} Choose Count as Sent, and run the workflow with the others alone afterwards. `;
		const divideKeys =
			some === ''
				? ''
				: `${some} Choose Count as Sent and run the workflow with those alone first, then choose Send Again. `;
		const alone =
			some === ''
				? `${none} Run the workflow with this item alone.`
				: `Run the workflow with the items alone that ${words.startsWith('one') ? 'did not arrive' : 'are not there'}.`;
		const retry = "Then use 'Retry with currently saved workflow'";
		return [
			[
				`unknown keys ${words}`,
				`${choose} ${divideKeys}Then run the workflow again, and take the option out afterwards.`,
			],
			[`unknown continue ${words}`, `${stay} ${look} ${alone}`],
			[
				`unknown sub ${words}`,
				`${choose} ${divide}${retry} of the sub-workflow's own execution, not of the workflow that called it, which would send all again, and take the option out afterwards.`,
			],
			[
				`unknown ${words}`,
				`${choose} ${divide}${retry} in the list of executions, and take the option out afterwards.`,
			],
		];
	});
}

const wordsFor: ReadonlyArray<readonly [word: string, name: keyof Circumstances]> = [
	['keys', 'hasKeys'],
	['continue', 'isContinuing'],
	['sub', 'isSubWorkflow'],
	['sent', 'isAnySent'],
	['one', 'isToOne'],
	['several', 'areUnknown'],
	['made', 'areKeysMade'],
	['others', 'haveOthersSent'],
];

/** Each problem in all circumstances. */
const cases = Object.entries(problems).flatMap(([name, problem]) =>
	Array.from({ length: 2 ** wordsFor.length }, (_, number) => {
		const chosen = wordsFor.filter((_word, place) => (number >> place) % 2 === 1);
		const is = (key: keyof Circumstances) => chosen.some(([, each]) => each === key);
		const circumstances: Circumstances = {
			hasKeys: is('hasKeys'),
			isContinuing: is('isContinuing'),
			areKeysMade: is('areKeysMade'),
			haveOthersSent: is('haveOthersSent'),
			isSubWorkflow: is('isSubWorkflow'),
			isAnySent: is('isAnySent'),
			isToOne: is('isToOne'),
			areUnknown: is('areUnknown'),
		};
		return { words: [name, ...chosen.map(([word]) => word)], problem, circumstances };
	}),
);

const nothingIn = ({ isSubWorkflow, isAnySent, haveOthersSent }: Circumstances) => {
	if (isAnySent || haveOthersSent) return 'Nothing was sent by this run of the node. ';
	return isSubWorkflow ? 'Nothing was sent by this call. ' : 'Nothing was sent. ';
};
const others = ({ haveOthersSent }: Circumstances) =>
	haveOthersSent
		? 'Other Push Campaign nodes have sent already: deactivate them before you run the workflow again. '
		: '';

test('in all circumstances there is one thing to do, and it is said in these words', () => {
	const used = new Set<string>();
	for (const { words, problem, circumstances } of cases) {
		const [when, says] =
			sentences.find(([given]) =>
				given.split(' ').every((word) => word === '' || words.includes(word)),
			) ?? [];
		used.add(String(when));
		const text = describeRun([failed(0, problem)], problem, circumstances);
		expect(`${words.join(' ')}: ${text}`).toBe(
			`${words.join(' ')}: ${problem === lost ? '' : nothingIn(circumstances)}${others(circumstances)}${says}`,
		);
	}
	expect(used.size).toBe(sentences.length);
});

test('one item of a run that went on says the same as its run', () => {
	for (const { problem, circumstances } of cases) {
		if (circumstances.areUnknown && !circumstances.hasKeys) continue;
		const [, ...steps] = describeItem(problem, circumstances).split('It was not sent. ');
		const text = steps.join('') || describeItem(problem, circumstances);
		expect(describeRun([failed(0, problem)], problem, circumstances).endsWith(text)).toBe(true);
	}
});

test('without keys one item of a run that went on is one, however many others are unknown', () => {
	const given = { ...neverSent, areUnknown: true };
	expect(describeItem(lost, given)).toBe(describeItem(lost, neverSent));
	expect(describeItem(service(''), given)).toMatch(/^It was not sent\. Wait a moment\. /);
});

test('nothing is said twice', () => {
	for (const { problem, circumstances } of cases) {
		const items = [ended(0, 'sent'), failed(1, problem), ended(2, 'ready')];
		const text = `${problem.message}. ${describeRun(items, problem, circumstances)}`;
		const all = text.split(/(?<=[.?])\s+/);
		expect(new Set(all).size).toBe(all.length);
	}
});

test('a run that went on names also what was not sent beside an item that is unknown', () => {
	const items = [failed(0, lost), failed(1, service(''))];
	const text = describeRun(items, lost, { ...neverSent, isContinuing: true });
	expect(text).toMatch(/ Run the workflow with the items alone that are not there\.$/);
	// A Retry, or running it again with keys, sends those as well.
	for (const more of [{}, { isContinuing: true, hasKeys: true }]) {
		expect(describeRun(items, lost, { ...neverSent, ...more })).toContain(' Is it there? Choose ');
	}
});

test('what is to be mended comes first also if the outcome is unknown', () => {
	const defect: Problem = { ...lost, cause: 'node-defect', fix: 'Report it.' };
	expect(describeItem(defect, neverSent)).toMatch(/^Report it\. Do not run it again yet\. /);
});

const neverSent: Circumstances = {
	...{ hasKeys: false, areKeysMade: false, isContinuing: false, isSubWorkflow: false },
	...{ isAnySent: false, haveOthersSent: false, isToOne: false, areUnknown: false },
};

describe('a description begins with what was sent:', () => {
	const begin = (items: RunItem[], problem: Problem, more: Partial<Circumstances> = {}) =>
		describeRun(items, problem, { ...neverSent, ...circumstancesOf(items, nothing), ...more });

	test.each<[what: string, items: RunItem[], problem: Problem, begins: string]>([
		[
			'nothing',
			[failed(0, problems['wait'] ?? lost), ended(1, 'ready')],
			service(''),
			'Nothing was sent. ',
		],
		[
			'some',
			[ended(0, 'sent'), failed(1, service('')), ended(2, 'ready')],
			service(''),
			'1 of 3 was sent, 2 not sent. ',
		],
		[
			'several',
			[ended(0, 'sent'), ended(1, 'sent'), failed(2, service(''))],
			service(''),
			'2 of 3 were sent, 1 not sent. ',
		],
		[
			'after a Retry',
			[
				ended(0, 'sentEarlier'),
				ended(1, 'sent'),
				failed(2, service('')),
				ended(3, 'repeated'),
				ended(4, 'alreadySent'),
			],
			service(''),
			'1 sent now, 2 sent earlier, 1 sent by another item of this run, 1 not sent. ',
		],
		[
			'what another item of the run sent',
			[ended(0, 'sent'), ended(1, 'repeated'), failed(2, service(''))],
			service(''),
			'1 sent now, 1 sent by another item of this run, 1 not sent. ',
		],
		[
			'as much earlier as by another item of the run',
			[ended(0, 'sentEarlier'), ended(1, 'repeated'), failed(2, service(''))],
			service(''),
			'0 sent now, 1 sent earlier, 1 sent by another item of this run, 1 not sent. ',
		],
		[
			'what is unknown, by its number and its subscriber',
			[ended(0, 'sent'), failed(1, lost, { subscriberId: '5002' }), failed(2, lost)],
			lost,
			'1 of 3 was sent, 2 unknown: items 1 (subscriber 5002), 2 (counted from 0). Do not',
		],
		['one that is unknown', [failed(0, lost)], lost, 'Do not run it again yet. '],
		[
			'nothing of what a gateway says',
			[failed(0, { ...lost, said: 'The service says: "No".' })],
			{ ...lost, said: 'The service says: "No".' },
			'Do not run it again yet. ',
		],
		[
			'what the service says',
			[failed(0, service('', 'No'))],
			service('', 'No'),
			'Nothing was sent. The service says: "No". ',
		],
	])('%s', (_what, items, problem, begins) => {
		expect(begin(items, problem).slice(0, begins.length)).toBe(begins);
	});
});

test('a key that was added after something had been sent without one counts for nothing', () => {
	const items = [ended(0, 'sentEarlier'), failed(1, lost, { hasKey: true })];
	expect(circumstancesOf(items, nothing)).toEqual({
		...{ hasKeys: false, areKeysMade: false, haveOthersSent: false },
		...{ isAnySent: true, areUnknown: false },
	});
	const keyed = [ended(0, 'alreadySent', { hasKey: true }), failed(1, lost, { hasKey: true })];
	expect(circumstancesOf(keyed, nothing).hasKeys).toBe(true);
});

test('what was sent before a run counts for it', () => {
	const items = [failed(0, service(''), { hasKey: true }), ended(1, 'ready', { hasKey: true })];
	expect(circumstancesOf(items, nothing)).toMatchObject({
		...{ isAnySent: false, hasKeys: true, haveOthersSent: false },
	});
	expect(circumstancesOf(items, { byThisNode: true, byOthers: false })).toMatchObject({
		...{ isAnySent: true, hasKeys: false, haveOthersSent: false },
	});
	expect(circumstancesOf(items, { byThisNode: false, byOthers: true })).toMatchObject({
		...{ isAnySent: false, hasKeys: true, haveOthersSent: true },
	});
});

test('a blank key is made of what is sent', () => {
	const withKey = (idempotencyKey: unknown) =>
		ended(0, 'ready', { parameters: itemOf({ options: { idempotencyKey } }) });
	expect(circumstancesOf([withKey('a'), withKey('')], nothing).areKeysMade).toBe(true);
	const options = { idempotencyKey: '={{ $json.id }}' };
	const empty = ended(0, 'sent', { send: prepare({ options }) });
	expect(circumstancesOf([empty], nothing).areKeysMade).toBe(true);
	expect(circumstancesOf([withKey('a'), withKey({})], nothing).areKeysMade).toBe(false);
});

test('what the items of a run say: whether anything was sent, and whether several are unknown', () => {
	expect(circumstancesOf([failed(0, lost), failed(1, service(''))], nothing)).toMatchObject({
		...{ isAnySent: true, areUnknown: false },
	});
	expect(circumstancesOf([failed(0, lost), failed(1, lost)], nothing).areUnknown).toBe(true);
	expect(circumstancesOf([ended(0, 'sent'), ended(1, 'repeated')], nothing).isAnySent).toBe(true);
	expect(circumstancesOf([failed(0, service('')), ended(1, 'ready')], nothing).isAnySent).toBe(
		false,
	);
});

test('what is unknown decides what to do, or else the first failure', () => {
	const items = [ended(0, 'sent'), failed(1, service('invalid_value')), failed(2, lost)];
	expect(mainFailure(items)?.index).toBe(2);
	expect(mainFailure(items.slice(0, 2))?.index).toBe(1);
	expect(mainFailure(items.slice(0, 1))).toBeUndefined();
});

describe('the message of a run', () => {
	test('counts what is not valid, and gives each reason with up to ten items', () => {
		const same = Array.from({ length: 12 }, (_, index) => failed(index, invalid()));
		const other = failed(12, invalid("'Subscriber ID' is missing"), { subscriberId: '5013' });
		const [first = other] = same;
		expect(messageOfRun([...same, other, ended(13, 'ready')], first)).toBe(
			"13 of 14 items are not valid (counted from 0): items 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …: 'Title' is missing; item 12 (subscriber 5013): 'Subscriber ID' is missing",
		);
	});

	test('gives up to ten reasons', () => {
		const items = Array.from({ length: 12 }, (_, index) =>
			failed(index, invalid(`Reason ${index}`)),
		);
		const [first = failed(0, invalid())] = items;
		expect(messageOfRun(items, first)).toMatch(/item 9: Reason 9; and 2 more reasons$/);
	});

	test('of one item is the reason alone', () => {
		for (const problem of [invalid(), service('')]) {
			const only = failed(0, problem, { subscriberId: '5001' });
			expect(messageOfRun([only], only)).toBe(problem.message);
		}
	});

	test('names up to ten items, and gives up to ten reasons', () => {
		const named = Array.from({ length: 10 }, (_, index) => failed(index, invalid()));
		const [first = failed(0, invalid())] = named;
		expect(messageOfRun(named, first)).toMatch(/: items 0, 1, 2, 3, 4, 5, 6, 7, 8, 9: 'Title'/);
		const reasons = named.map(({ index }) => failed(index, invalid(`Reason ${index}`)));
		expect(messageOfRun(reasons, first)).toMatch(/item 9: Reason 9$/);
		const more = [...reasons, failed(10, invalid('Reason 10'))];
		expect(messageOfRun(more, first)).toMatch(/item 9: Reason 9; and 1 more reason$/);
	});

	test('counts what is not valid alone, though others failed in another way', () => {
		const late = failed(0, invalid("'Send At' is over"));
		expect(messageOfRun([late, failed(1, service('')), ended(2, 'sent')], late)).toBe(
			"1 of 3 items is not valid (counted from 0): item 0: 'Send At' is over",
		);
	});

	test('names the subscriber, once', () => {
		const problem = service('');
		const unnamed = failed(1, problem, { subscriberId: '5002' });
		expect(messageOfRun([ended(0, 'sent'), unnamed], unnamed)).toBe(
			`${problem.message} (subscriber 5002)`,
		);
		const named = failed(
			1,
			{ ...problem, message: 'No subscriber 5002' },
			{ subscriberId: '5002' },
		);
		expect(messageOfRun([ended(0, 'sent'), named], named)).toBe('No subscriber 5002');
	});

	test('begins with what must not be done if the outcome is unknown', () => {
		const unknown = failed(0, lost);
		expect(messageOfRun([unknown], unknown)).toBe(
			'Do not run it again yet: it is unknown whether this was sent (the connection was lost)',
		);
	});

	test('counts nothing if one reason fails all items once', () => {
		const vault = validationProblem(new Unavailable('The vault is sealed', 'Open it.'));
		const items = [0, 1].map((index) => failed(index, vault, { subscriberId: '5001' }));
		const [first = failed(0, vault)] = items;
		expect(messageOfRun(items, first)).toBe('The vault is sealed');
		expect(messageOfRun([...items, failed(2, service(''))], first)).toBe(
			'The vault is sealed (subscriber 5001)',
		);
	});
});

describe('a run that n8n stopped', () => {
	const said = (items: RunItem[], more: Partial<Circumstances> = {}) =>
		describeCanceled(items, { ...neverSent, ...circumstancesOf(items, nothing), ...more });

	test('says what was sent, and names no Retry: n8n offers none', () => {
		expect(said([ended(0, 'sent'), ended(1, 'ready')])).toEqual({
			message: 'The execution was canceled. 1 of 2 was sent, 1 not sent.',
			description: 'Run the workflow with the items alone that were not sent.',
		});
	});

	test('says to look first if anything is unknown', () => {
		const { message, description } = said([ended(0, 'sent'), failed(1, lost)]);
		expect(message).toBe(
			'The execution was canceled. 1 of 2 was sent, 1 unknown: item 1 (counted from 0).',
		);
		expect(description).toMatch(
			/^Do not run it again yet\. .* Run the workflow with the items alone that are not there\.$/,
		);
	});

	test('can be run again if all items have keys', () => {
		const { description } = said([
			ended(0, 'sent', { hasKey: true }),
			ended(1, 'ready', { hasKey: true }),
		]);
		expect(description).toBe('Run the workflow again: what was sent is not sent again.');
	});
});
