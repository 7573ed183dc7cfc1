import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Circumstances } from '../../../nodes/PushCampaign/execution/failureTexts';
import {
	describeFailures,
	describeForModel,
	describeItem,
	describeRun,
	mainFailure,
	messageOfRun,
} from '../../../nodes/PushCampaign/execution/failureTexts';
import type { RunItem } from '../../../nodes/PushCampaign/execution/runItem';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import {
	failureProblem,
	timeoutProblem,
	validationProblem,
} from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';
import { failed, many, ready, sent, sentEarlier } from './support';

// What a person reads when a send failed, whole, as `failureTexts.md` has it: read that file aloud.

const requested = { isSend: true };
const service = (type: string, description = '') =>
	failureProblem({ type, description }, { statusCode: 200 }, requested);
const outage = service('', 'Something went wrong');
const lost = timeoutProblem(30_000, requested);
const invalid = (message: string, advice: string) =>
	validationProblem(new InvalidInput(message, advice));
const noTitle = invalid("'Title' is missing", "Fill in 'Title'.");
const wrongOption = invalid("'Timeout' is not a whole number from 1: 0", "Correct 'Timeout'.");
const gone: Problem = {
	...service('invalid_sid', 'Subscriber not found'),
	fix: "They may have unsubscribed: correct 'Subscriber ID', or take them out of the list.",
};
const to = (subscriberId: string) => ({ subscriberId });

const inList: Circumstances = {
	...{ retry: 'inList', hasKeys: false, isToOne: false, isTriedOnceMore: false, hasDecided: false },
};

type Case = readonly [what: string, items: readonly RunItem[], more?: Partial<Circumstances>];

const runs: readonly Case[] = [
	['one item', [failed(0, outage)]],
	['one item, in the editor', [failed(0, outage)], { isTriedOnceMore: true }],
	['several', [...many(0, 8, sent), failed(8, outage), ...many(9, 11, ready)]],
	['none of several', [failed(0, outage), ...many(1, 19, ready)]],
	['in a Retry', [...many(0, 8, sentEarlier), ...many(8, 5, sent), failed(13, outage), ready(14)]],
	['in a sub-workflow', [sent(0), failed(1, outage)], { retry: 'ofSubWorkflow' }],
	['with Send Only Once', [sent(0), failed(1, outage)], { hasKeys: true }],
	['a credential', [failed(0, service('authentication_failure', 'You are not authorized'))]],
	['a pause', [failed(0, { ...service('rate_limit'), fix: 'The service asks for a pause.' })]],
	['one subscriber who is not there', [failed(0, gone, to('999'))], { isToOne: true }],
	['one of several subscribers', [sent(0), failed(1, gone, to('999')), sent(2)], { isToOne: true }],
	[
		'two of several subscribers',
		[sent(0), failed(1, gone, to('999')), failed(2, gone, to('1007'))],
		{ isToOne: true },
	],
	['twelve subscribers', many(0, 12, (index) => failed(index, gone, to(`${index}`)))],
	[
		'a subscriber who is not there, and an outage',
		[failed(0, gone, to('999')), failed(1, outage, to('5001')), sent(2)],
		{ isToOne: true },
	],
	['not valid, one item', [failed(0, noTitle)]],
	['not valid, in the editor', [failed(0, noTitle)], { isTriedOnceMore: true }],
	[
		'not valid, several',
		[...many(0, 5, ready), failed(5, wrongOption), failed(6, noTitle), failed(7, noTitle)],
	],
	['not valid, one of several', [ready(0), failed(1, noTitle, to('5002'))], { isToOne: true }],
	['one reason for all', many(0, 20, (index) => failed(index, wrongOption))],
	['the option Unknown Outcome did its work', [sent(0), failed(1, outage)], { hasDecided: true }],
	['unknown, one item', [failed(0, lost)]],
	['unknown, one item in a sub-workflow', [failed(0, lost)], { retry: 'ofSubWorkflow' }],
	['unknown, to one subscriber', [failed(0, lost, to('5001'))], { isToOne: true }],
	['unknown, with Send Only Once', [failed(0, lost)], { hasKeys: true }],
	['unknown, one of several', [sent(0), failed(1, lost, to('5002')), ready(2)], { isToOne: true }],
	[
		'unknown, several',
		[...many(0, 12, sent), failed(12, lost), failed(13, lost), failed(15, lost), ready(14)],
	],
	[
		'unknown, several to one subscriber each',
		[sent(0), failed(1, lost, to('5002')), failed(2, lost, to('5003'))],
		{ isToOne: true },
	],
	[
		'unknown, many to one subscriber each',
		[sent(0), ...many(1, 11, (index) => failed(index, lost, to(`${index}`))), sent(12)],
		{ isToOne: true },
	],
	[
		'unknown for two reasons, in a sub-workflow',
		[failed(0, lost), failed(1, timeoutProblem(1_000, requested))],
		{ retry: 'ofSubWorkflow' },
	],
	['unknown, and others that failed', [failed(0, outage), failed(1, lost), failed(2, noTitle)]],
];

const continuing = { retry: 'none' } as const;
const goesOn: readonly Case[] = [
	['an outage', [sent(0), failed(1, outage), failed(2, outage)], continuing],
	['an outage, with Send Only Once', [failed(0, outage)], { ...continuing, hasKeys: true }],
	['a subscriber who is not there', [failed(0, gone, to('999')), sent(1)], continuing],
	['not valid', [sent(0), failed(1, noTitle)], continuing],
	['unknown', [sent(0), failed(1, lost)], continuing],
	[
		'unknown, with Send Only Once',
		[failed(0, lost, to('5001')), failed(1, lost, to('5002'))],
		{ ...continuing, hasKeys: true, isToOne: true },
	],
	['three kinds', [failed(0, noTitle), failed(1, outage), failed(2, lost)], continuing],
];

const models: ReadonlyArray<readonly [what: string, problem: Problem]> = [
	['not valid', noTitle],
	['an outage', outage],
	['unknown', lost],
];

function tellRun([what, items, more]: Case): string {
	const main = mainFailure(items);
	if (main === undefined) throw new Error('Nothing failed');
	const description = describeRun(items, main, { ...inList, ...more });
	return `### ${what}\n\n**${messageOfRun(items, main)}**\n\n${description}`.trim();
}

function tellItems([what, items, more]: Case): string {
	const circumstances = { ...inList, ...more };
	const rows = items
		.filter((item) => item.how === 'failed')
		.map((item) => `- ${item.problem.message}: ${describeItem(item, circumstances)}`);
	const lines = [describeFailures(items, circumstances), '', ...new Set(rows)];
	return `### ${what}\n\n${lines.join('\n')}`;
}

const tellModel = ([what, problem]: readonly [string, Problem]) =>
	`### ${what}\n\n${problem.message}. ${describeForModel(failed(0, problem))}`;

test('every sentence about a failure is as failureTexts.md has it', () => {
	const told = [
		'# What a person reads when a send failed',
		'## A run that ends: its message, and the description behind it',
		...runs.map(tellRun),
		'## A run that goes on: the hint, and the row of each item that failed',
		...goesOn.map(tellItems),
		'## A model',
		...models.map(tellModel),
	].join('\n\n');
	expect(`${told}\n`).toBe(readFileSync(join(__dirname, 'failureTexts.md'), 'utf8'));
});
