import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { runQueue } from '../delivery/queue';
import { toN8nError } from '../n8n/errors';
import type { Ending, SendOperation } from '../operations/operation';
import { isSentOnlyOnce, unknownOutcomeOf } from '../operations/options';
import { toRequest, toRow, toRowAsEntered } from '../operations/send';
import type { SendOutcome, SendsOnce } from '../send/once';
import { openSends } from '../send/open';
import { subscriberCount } from '../service/answers';
import type { Problem } from '../service/problems';
import { notStartedProblem } from '../service/problems';
import { subscriberCountPath } from '../service/rules';
import { findRepeats, refuseSameNotifications, refuseSharedKeys } from './duplicates';
import { alreadySentUnderKey, sentByItem } from './endings';
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
	dryRunHints,
	failedHints,
	sameAudienceHints,
	sentHints,
	testHints,
	unknownOutcomeHints,
	withoutKeysHints,
} from './hints';
import { planSends } from './plan';
import { isErrorOutput, queueOptions, toItemError, toOutput } from './results';
import type { FailedItem, ReadyItem, RunItem, UnsendableItem } from './runItem';
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
	const { sendsOnce, requireKeys } = openSends(context);
	const planned = await planSends(context, operation, sendsOnce, requireKeys);
	const checked = findRepeats(refuseSameNotifications(refuseSharedKeys(planned)));
	// What an earlier try left unknown keeps nothing else back.
	const isRefused = failuresIn(checked).some(({ problem }) => problem.outcome === 'notSent');
	const mayStart = context.continueOnFail() || !isRefused;
	const items = mayStart ? await sendAll(context, checked, sendsOnce) : checked;

	// A test is tried anew, not retried: it says nothing about the send that it stands for.
	const isTestRun = items.some(({ isTest }) => isTest);
	const circumstances: Circumstances = {
		retry: isTestRun ? 'none' : retryOffer(context),
		hasKeys: !isTestRun && items.every(({ parameters }) => isSentOnlyOnce(parameters)),
		isToOne: isTestRun || operation.audience === 'subscriber',
		isTriedOnceMore: isInEditor(context) && !sendsOnce.hasSent,
		hasDecided: mayStart && items.some(isDecided),
	};
	throwFailure(context, items, circumstances);
	const active = await countSubscribers(operation, items);
	// Not every context that n8n makes can show hints.
	context.addExecutionHints?.(
		...failedHints(items, isErrorOutput(context), describeFailures(items, circumstances)),
		...testHints(items),
		...dryRunHints(items, context.continueOnFail(), active),
		...sentHints(items),
		...sameAudienceHints(items),
		...withoutKeysHints(items),
		...unknownOutcomeHints(circumstances.hasDecided),
	);
	return toOutput(
		context,
		items.map((item) => ({
			row: rowOf(item, operation, circumstances),
			isFailed: item.how === 'failed',
		})),
	);
}

/** Whether Unknown Outcome is set for an item: where nothing was left unknown, that is refused. */
const isDecided = (item: RunItem) => {
	const isRefused = item.how === 'failed' && item.problem.type === 'validation';
	return item.how !== 'shown' && !isRefused && unknownOutcomeOf(item.parameters) !== 'report';
};

/** Throws if the run was stopped, or if it failed and does not go on. */
function throwFailure(
	context: IExecuteFunctions,
	items: readonly RunItem[],
	circumstances: Circumstances,
): void {
	const node = context.getNode();
	if (context.getExecutionCancelSignal()?.aborted) {
		const message = ['The execution was canceled.', tally(items)].join(' ').trim();
		const description = describeFailures(items, circumstances);
		throw new NodeOperationError(node, message, { description });
	}
	const main = mainFailure(items);
	if (main === undefined || context.continueOnFail()) return;
	const { problem, index: itemIndex } = main;
	if (isForModel(context)) {
		const description = describeForModel(main);
		// It tells its model the message alone.
		const message = `${problem.message}. ${description}`;
		throw toN8nError(node, problem, { message, description, itemIndex });
	}
	const message = messageOfRun(items, main);
	const description = describeRun(items, main, circumstances);
	throw toN8nError(node, problem, { message, description, itemIndex });
}

/** Sends what is ready, each key once. */
async function sendAll(
	context: IExecuteFunctions,
	items: readonly RunItem[],
	sendsOnce: SendsOnce,
): Promise<RunItem[]> {
	const jobs = items.flatMap((item) =>
		item.how === 'ready' && item.first === undefined ? [item] : [],
	);
	const outcomes = await runQueue(
		jobs.map(
			({ job }) =>
				async () =>
					await sendsOnce.try(job),
		),
		queueOptions(context),
	);
	const ended = new Map(jobs.map(({ index }, place) => [index, outcomes[place]]));
	return items.map((item) =>
		item.how === 'ready' ? endOf(item, ended.get(item.first ?? item.index)) : item,
	);
}

/** How an item ended, by the outcome of its send; or of the one that has its key. */
function endOf(item: ReadyItem, outcome: SendOutcome | undefined): RunItem {
	if (outcome === undefined) return item;
	const { first, send } = item;
	if (outcome.ended === 'failed') return { ...item, how: 'failed', problem: outcome.problem };
	if (first !== undefined && outcome.ended === 'sent') {
		return { ...item, how: 'repeated', row: toRow(send, sentByItem(first)) };
	}
	if (first !== undefined || outcome.ended === 'alreadySent') {
		return { ...item, how: 'alreadySent', row: toRow(send, alreadySentUnderKey) };
	}
	return { ...item, how: outcome.ended === 'sent' ? 'sent' : 'sentEarlier', row: outcome.row };
}

/** What an item gives. */
function rowOf(item: RunItem, operation: SendOperation, circumstances: Circumstances): IDataObject {
	switch (item.how) {
		case 'sent':
		case 'sentEarlier':
		case 'alreadySent':
		case 'repeated':
			return item.row;
		case 'shown':
		case 'untested':
			return toRow(item.send, {
				dryRun: true,
				request: toRequest(item.connection.baseUrl, item.send),
			});
		case 'unsendable': {
			const error = toItemError(item.problem, item.problem.fix ?? '', true);
			return failedRow(item, operation, { dryRun: true, error });
		}
		case 'failed': {
			const error = toItemError(item.problem, describeItem(item, circumstances), true);
			return failedRow(item, operation, endingOf(item.problem, error));
		}
		case 'ready':
			return toRow(
				item.send,
				endingOf(notStartedProblem, toItemError(notStartedProblem, '', true)),
			);
	}
}

const endingOf = ({ outcome, message }: Problem, error: IDataObject) => ({
	status: outcome,
	description: message,
	error,
});

/** The row that a send would give, as far as it is known. */
const failedRow = (
	{ send, parameters }: FailedItem | UnsendableItem,
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
