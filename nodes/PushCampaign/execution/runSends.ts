import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { runQueue } from '../delivery/queue';
import type { Ending, SendOperation } from '../operations/operation';
import { isSentOnlyOnce, unknownOutcomeOf } from '../operations/options';
import { toRequest, toRow, toRowAsEntered } from '../operations/send';
import type { SendMemory, SendOutcome } from '../send/once';
import { trySend } from '../send/once';
import { openMemory } from '../send/open';
import { subscriberCount } from '../service/answers';
import type { Problem } from '../service/problems';
import { notStartedProblem } from '../service/problems';
import { subscriberCountPath } from '../service/rules';
import { findRepeats, refuseSameNotifications, refuseSharedKeys } from './duplicates';
import type { Circumstances } from './failureTexts';
import {
	describeFailures,
	describeForModel,
	describeItem,
	describeRun,
	mainFailure,
	messageOfRun,
	tally,
} from './failureTexts';
import {
	dryRunHint,
	failedHint,
	sameAudienceHint,
	sentHint,
	testHint,
	unknownOutcomeHint,
	withoutKeysHint,
} from './hints';
import { toSentences } from './names';
import { planSends } from './plan';
import { alreadySentUnderKey, sentByItem } from './refusals';
import { isErrorOutput, queueOptions, toItemError, toOutput, toRunError } from './results';
import type { FailedItem, ItemThat, RunItem } from './runItem';
import { failuresIn } from './runItem';
import { isForModel, isInEditor, retryOffer } from './start';

/**
 * Sends each item once. Unless the node continues on fail, all items are checked before the first is sent, and the first
 * failure that is more than a missing subscriber keeps the rest from starting.
 * @throws NodeOperationError, NodeApiError
 */
export async function runSends(
	context: IExecuteFunctions,
	operation: SendOperation,
): Promise<INodeExecutionData[]> {
	const memory = openMemory(context);
	const planned = await planSends(context, operation, memory);
	const checked = findRepeats(refuseSameNotifications(refuseSharedKeys(planned)));
	// What an earlier try left unknown keeps nothing else back.
	const isRefused = failuresIn(checked).some(({ problem }) => problem.outcome === 'notSent');
	const mayStart = context.continueOnFail() || !isRefused;
	const items = mayStart ? await sendAll(context, checked, memory) : checked;

	// A test is tried again, not retried: it says nothing about the send that it stands for.
	const isTestRun = items.some(({ isTest }) => isTest);
	const circumstances: Circumstances = {
		retry: isTestRun ? 'none' : retryOffer(context),
		hasKeys: !isTestRun && items.every(({ parameters }) => isSentOnlyOnce(parameters)),
		isToOne: isTestRun || operation.audience === 'subscriber',
		isTriedOnceMore: isInEditor(context) && !memory.ledger.hasEntries,
		hasDecided: mayStart && items.some(isDecided),
	};
	throwFailure(context, items, circumstances);
	const active = await countSubscribers(operation, items);
	const which = describeFailures(items, circumstances);
	const hints = [
		failedHint(failuresIn(items).length, items.length, isErrorOutput(context), which),
		testHint(items),
		dryRunHint(items, context.continueOnFail(), active),
		sentHint(items),
		sameAudienceHint(items),
		withoutKeysHint(items),
		unknownOutcomeHint(circumstances.hasDecided),
	];
	const describe = (item: FailedItem) =>
		isForModel(context) ? describeForModel(item) : describeItem(item, circumstances);
	const results = items.map((item) => ({
		row: rowOf(item, operation, describe),
		isFailed: item.how === 'failed',
	}));
	return toOutput(context, results, hints);
}

/** Whether Unknown Outcome is set for an item: where nothing was left unknown, that is refused. */
const isDecided = (item: RunItem) => {
	const isShown = item.how === 'shown' || item.how === 'unsendable';
	const isRefused = item.how === 'failed' && item.problem.type === 'validation';
	return !isShown && !isRefused && unknownOutcomeOf(item.parameters) !== 'report';
};

/** Throws if the run was stopped, or if it failed and does not go on. */
function throwFailure(
	context: IExecuteFunctions,
	items: readonly RunItem[],
	circumstances: Circumstances,
): void {
	if (context.getExecutionCancelSignal()?.aborted) {
		const message = toSentences('The execution was canceled', tally(items));
		const description = describeFailures(items, circumstances);
		throw new NodeOperationError(context.getNode(), message, { description });
	}
	const main = mainFailure(items);
	if (main === undefined || context.continueOnFail()) return;
	const { problem, index } = main;
	if (isForModel(context)) {
		throw toRunError(context, problem, problem.message, describeForModel(main), index);
	}
	const message = messageOfRun(items, main);
	throw toRunError(context, problem, message, describeRun(items, main, circumstances), index);
}

/** Sends what is ready, each key once. */
async function sendAll(
	context: IExecuteFunctions,
	items: readonly RunItem[],
	memory: SendMemory,
): Promise<RunItem[]> {
	const jobs = items.flatMap((item) =>
		item.how === 'ready' && item.first === undefined ? [item] : [],
	);
	const tries = jobs.map((item) => async () => await trySend(memory, item.job));
	const outcomes = await runQueue(tries, queueOptions(context));
	const ended = new Map(jobs.map(({ index }, place) => [index, outcomes[place]]));
	return items.map((item) =>
		item.how === 'ready' ? endOf(item, ended.get(item.first ?? item.index)) : item,
	);
}

/** How an item ended, by the outcome of its send; or of the one that has its key. */
function endOf(item: ItemThat<'ready'>, outcome: SendOutcome | undefined): RunItem {
	if (outcome === undefined) return item;
	const { first, send } = item;
	if (outcome.ended === 'failed') return { ...item, how: 'failed', problem: outcome.problem };
	if (first !== undefined && outcome.ended === 'sent') {
		return { ...item, how: 'repeated', row: toRow(send, sentByItem(first)) };
	}
	if (first !== undefined || outcome.ended === 'alreadySent') {
		return { ...item, how: 'alreadySent', row: toRow(send, alreadySentUnderKey) };
	}
	return { ...item, how: outcome.ended, row: outcome.row };
}

/** What an item gives. */
function rowOf(
	item: RunItem,
	operation: SendOperation,
	describe: (item: FailedItem) => string,
): IDataObject {
	switch (item.how) {
		case 'sent':
		case 'sentEarlier':
		case 'alreadySent':
		case 'repeated':
			return item.row;
		case 'shown':
		case 'untested': {
			const request = toRequest(item.connection.baseUrl, item.send);
			return toRow(item.send, { dryRun: true, request });
		}
		case 'unsendable': {
			const error = toItemError(item.problem, item.problem.fix ?? '', true);
			return failedRow(item, operation, { dryRun: true, error });
		}
		case 'failed':
			return failedRow(item, operation, endingOf(item.problem, describe(item)));
		case 'ready':
			return toRow(item.send, endingOf(notStartedProblem, ''));
	}
}

const endingOf = (problem: Problem, description: string): Ending => ({
	status: problem.outcome,
	description: problem.message,
	error: toItemError(problem, description, true),
});

/** The row that a send would give, as far as it is known. */
const failedRow = (
	{ send, parameters }: ItemThat<'failed' | 'unsendable'>,
	operation: SendOperation,
	ending: Ending,
) => (send === undefined ? toRowAsEntered(parameters, operation, ending) : toRow(send, ending));

/** A hint that comes late helps nobody. In milliseconds. */
const patienceMs = 5_000;

/** How many subscribers a dry run to all would reach: one request for the whole run, and the hint does without it. */
async function countSubscribers(
	{ audience }: SendOperation,
	items: readonly RunItem[],
): Promise<number | undefined> {
	const connections = items.flatMap((item) => (item.how === 'shown' ? [item.connection] : []));
	const [first] = connections;
	if (audience !== 'all' || first === undefined) return undefined;
	if (new Set(connections.map(({ site }) => site)).size > 1) return undefined;
	const request = { isSend: false, path: subscriberCountPath };
	const result = await first.client.request(request, subscriberCount, patienceMs);
	return result.answered ? (result.value['activeSubscribers'] ?? undefined) : undefined;
}
