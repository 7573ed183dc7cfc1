import { join } from 'node:path';
import type { Circumstances } from '../../../nodes/PushCampaign/execution/failureTexts';
import {
	describeFailures,
	describeItem,
	describeRun,
	mainFailure,
	messageOfRun,
} from '../../../nodes/PushCampaign/execution/failureTexts';
import { nameItems } from '../../../nodes/PushCampaign/execution/names';
import type { RunItem } from '../../../nodes/PushCampaign/execution/runItem';
import { dryRunLeftIn, fixedKey } from '../../../nodes/PushCampaign/execution/start';
import { begunBefore } from '../../../nodes/PushCampaign/send/open';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import {
	failureProblem,
	timeoutProblem,
	validationProblem,
} from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';
import { expectPage } from '../../support/page';
import { itemOf } from '../operations/support';
import { before, failed, many, ready, reported, sent } from './support';

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
const noTitleAndUrl: Problem = {
	...noTitle,
	others: [invalid("'Target URL' is missing", "Fill in 'Target URL'.")],
};
const gone: Problem = {
	...service('invalid_sid', 'Subscriber not found'),
	fix: 'They may have unsubscribed.',
};
const to = (subscriberId: string) => ({ subscriberId });
const cafe = { parameters: itemOf({ title: 'Café opens on Monday' }) };

const usual: Circumstances = {
	...{ isTest: false, offersRetry: true, hasSentWithoutId: false },
};
const hasSent = { hasSentWithoutId: true };

type Case = readonly [what: string, items: readonly RunItem[], more?: Partial<Circumstances>];

const runs: readonly Case[] = [
	['one item', [failed(0, outage)]],
	['one item, in the editor', [failed(0, outage)], { offersRetry: false }],
	['several', [...many(0, 8, sent), failed(8, outage), ...many(9, 11, ready)], hasSent],
	['several, each with an ID', [...many(0, 8, sent), failed(8, outage), ...many(9, 11, ready)]],
	['none of several', [failed(0, outage), ...many(1, 19, ready)]],
	['none of two thousand', [failed(0, outage), ...many(1, 1_999, ready)]],
	[
		'in a Retry',
		[...many(0, 8, before), ...many(8, 5, sent), failed(13, outage), ready(14)],
		hasSent,
	],
	['a credential', [failed(0, service('authentication_failure', 'You are not authorized'))]],
	['a pause', [failed(0, { ...service('rate_limit'), fix: 'The service asks for a pause.' })]],
	['every subscriber is gone', many(0, 12, (index) => failed(index, gone, to(`${index}`)))],
	[
		'twelve sentences of the service',
		many(0, 12, (index) => failed(index, service('', `No. ${index}`))),
	],
	['not valid, one item', [failed(0, noTitle)]],
	['not valid, one item for two reasons', [failed(0, noTitleAndUrl)]],
	['not valid, in the editor', [failed(0, noTitle)], { offersRetry: false }],
	[
		'not valid, several',
		[...many(0, 5, ready), failed(5, wrongOption), failed(6, noTitleAndUrl), failed(7, noTitle)],
	],
	['not valid, one of several', [ready(0), failed(1, noTitle, to('5002'))]],
	[
		'not valid, many',
		many(0, 24, (index) => (index % 2 === 0 ? failed(index, noTitle) : ready(index))),
	],
	['not valid, in a Retry', [...many(0, 7, before), failed(7, noTitle), ready(8)], hasSent],
	['in a Retry, beside one that is unknown', [reported(0, lost), failed(1, outage), ready(2)]],
	['one reason for all', many(0, 20, (index) => failed(index, wrongOption))],
	['a dry run that was left in', many(0, 20, (index) => failed(index, dryRunLeftIn))],
	['an ID that is typed on Fixed', [failed(0, fixedKey)]],
	[
		'a Retry that may not send',
		[before(0), failed(1, begunBefore), failed(2, begunBefore)],
		hasSent,
	],
	['unknown, one item', [failed(0, lost)]],
	['unknown, to one subscriber', [failed(0, lost, to('5001'))]],
	[
		'unknown, one of several to one subscriber each',
		[sent(0), failed(1, lost, to('5002')), ready(2)],
		hasSent,
	],
	['unknown, one of several to many', [sent(0), failed(1, lost, cafe), ready(2)], hasSent],
	[
		'unknown, several',
		[...many(0, 12, sent), failed(12, lost), failed(13, lost, cafe), failed(15, lost), ready(14)],
		hasSent,
	],
	[
		'unknown, more than ten to one subscriber each',
		[sent(0), ...many(1, 11, (index) => failed(index, lost, to(`${index}`))), sent(12)],
	],
	[
		'unknown for two reasons',
		[failed(0, lost), failed(1, timeoutProblem(1_000, requested)), ready(2)],
	],
	['unknown, and another that failed', [failed(0, outage), failed(1, lost), ready(2)]],
	[
		'a test',
		[failed(0, service('invalid_value', 'No'), to('5001'))],
		{ isTest: true, offersRetry: false },
	],
];

const goesOn: readonly Case[] = [
	['an outage', [sent(0), failed(1, outage), failed(2, outage)]],
	['not valid', [sent(0), failed(1, noTitle)]],
	['unknown', [sent(0), failed(1, lost)]],
	['unknown, to one subscriber each', [failed(0, lost, to('5001')), failed(1, lost, to('5002'))]],
	['three kinds', [failed(0, noTitle), failed(1, outage), failed(2, lost)]],
];

const models: ReadonlyArray<readonly [what: string, problem: Problem]> = [
	['not valid', noTitle],
	['an outage', outage],
	['unknown', lost],
];

function tellRun([what, items, more]: Case): string {
	const main = mainFailure(items);
	if (main === undefined) throw new Error('Nothing failed');
	const description = describeRun(items, main, { ...usual, ...more });
	return `### ${what}\n\n**${messageOfRun(items, main)}**\n\n${description}`.trim();
}

function tellItems([what, items]: Case): string {
	const rows = items
		.filter((item) => item.state === 'failed')
		.map((item) => `- ${item.problem.message}: ${describeItem(item, false)}`);
	const lines = [describeFailures(items), '', ...new Set(rows)];
	return `### ${what}\n\n${lines.join('\n')}`;
}

const tellModel = ([what, problem]: readonly [string, Problem]) =>
	`### ${what}\n\n${problem.message}. ${describeItem(failed(0, problem), true)}`;

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
	expectPage(join(__dirname, 'failureTexts.md'), `${told}\n`);
});

test('ten items to one subscriber each are named with their subscribers, and more of them as ranges', () => {
	const items = many(0, 11, (index) => failed(index, lost, to(`${5000 + index}`)));
	expect(nameItems(items.slice(0, 10))).toMatch(
		/^items 0 \(subscriber 5000\), .*9 \(subscriber 5009\)$/,
	);
	expect(nameItems(items)).toBe('items 0 to 10');
});
