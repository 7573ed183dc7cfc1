import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { runQueue } from '../delivery/queue';
import { toN8nError } from '../n8n/errors';
import { isTool } from '../n8n/parameters';
import type { Ending, SendOperation } from '../operations/operation';
import { toInvalidRow, toRequest, toRow } from '../operations/send';
import type { SendOutcome, SendsOnce } from '../send/once';
import { openSends, sentBeforeIn } from '../send/open';
import { subscriberCount } from '../service/answers';
import { subscriberCountPath } from '../service/rules';
import { findRepeats, refuseSameCampaigns, refuseSharedKeys } from './duplicates';
import type { Circumstances } from './failureTexts';
import {
	circumstancesOf,
	describeCanceled,
	describeItem,
	describeRun,
	mainFailure,
	messageOfRun,
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
import { Planner, startOf } from './plan';
import { isErrorOutput, planEach, queueOptions, toItemError, toOutput } from './results';
import type { RunItem } from './runItem';
import { failuresIn } from './runItem';

/**
 * Sends each item once. Unless the node continues on fail, all items are checked before the first is sent, and the first
 * failure keeps the rest from starting.
 * @throws NodeOperationError, NodeApiError
 */
export async function runSends(
	context: IExecuteFunctions,
	operation: SendOperation,
): Promise<INodeExecutionData[]> {
	const { once, requireKeys } = openSends(context);
	const sentBefore = sentBeforeIn(context);
	const planner = new Planner(context, operation, once, requireKeys);
	const planned = await planEach(context, async (index) => await planner.plan(index));
	const checked = findRepeats(refuseSameCampaigns(refuseSharedKeys(planned)));
	const isContinuing = context.continueOnFail();
	// What an earlier try left unknown keeps nothing else back.
	const isRefused = failuresIn(checked).some(({ problem }) => problem.outcome === 'notSent');
	const mayStart = isContinuing || !isRefused;
	const items = mayStart ? await sendAll(context, checked, once) : checked;

	const circumstances = {
		...circumstancesOf(items, sentBefore),
		isContinuing: isContinuing || isTool(context.getNode()) || context.getMode() === 'internal',
		isToOne: operation.audience === 'subscriber' || items.some(({ send }) => send?.isTest),
		isSubWorkflow: startOf(context) === 'integrated',
	};
	if (context.getExecutionCancelSignal()?.aborted) {
		const { message, description } = describeCanceled(items, circumstances);
		throw new NodeOperationError(context.getNode(), message, { description });
	}
	const failure = mainFailure(items);
	const step = failure === undefined ? '' : describeRun(items, failure.problem, circumstances);
	if (failure !== undefined && !isContinuing) {
		// An agent reads the description, too, which begins like the message of a run.
		const isAgents = isTool(context.getNode());
		const message = isAgents ? failure.problem.message : messageOfRun(items, failure);
		const said = { message, description: step, itemIndex: failure.index };
		throw toN8nError(context.getNode(), failure.problem, said);
	}
	const active = await countSubscribers(operation, items);
	// Not every context that n8n makes can show hints.
	context.addExecutionHints?.(
		...failedHints(items, isErrorOutput(context), step),
		...testHints(items),
		...dryRunHints(items, active),
		...sentHints(items),
		...sameAudienceHints(items),
		...withoutKeysHints(items),
		...unknownOutcomeHints(items),
	);
	return toOutput(
		context,
		items.map((item) => ({
			row: rowOf(item, operation, circumstances),
			isFailed: item.how === 'failed',
		})),
	);
}

/** Sends what is ready, each key once. */
async function sendAll(
	context: IExecuteFunctions,
	items: readonly RunItem[],
	sends: SendsOnce,
): Promise<RunItem[]> {
	const jobs = items.flatMap(({ index, once, how, first }) =>
		once !== undefined && how === 'ready' && first === undefined ? [{ index, once }] : [],
	);
	const outcomes = await runQueue(
		jobs.map(
			({ once }) =>
				async () =>
					await sends.try(once),
		),
		queueOptions(context),
	);
	const ended = new Map(jobs.map(({ index }, place) => [index, outcomes[place]]));
	return items.map((item) =>
		item.how === 'ready' ? endOf(item, ended.get(item.first ?? item.index)) : item,
	);
}

/** How an item ended, by the outcome of its send; or of the one that it repeats. */
function endOf(item: RunItem, outcome: SendOutcome | undefined): RunItem {
	if (outcome === undefined) return item;
	if (outcome.ended === 'failed') return { ...item, how: 'failed', problem: outcome.problem };
	if (item.first !== undefined && outcome.ended === 'sent') return { ...item, how: 'repeated' };
	if (item.first !== undefined || outcome.ended === 'alreadySent') {
		return { ...item, how: 'alreadySent' };
	}
	return { ...item, how: outcome.ended === 'sent' ? 'sent' : 'sentEarlier', row: outcome.row };
}

/** What an item gives. */
function rowOf(item: RunItem, operation: SendOperation, circumstances: Circumstances): IDataObject {
	const { send, row, parameters } = item;
	if (row !== undefined) return row;
	const ending = endingOf(item, circumstances);
	return send === undefined ? toInvalidRow(parameters, operation, ending) : toRow(send, ending);
}

function endingOf(item: RunItem, circumstances: Circumstances): Ending {
	const { how, send, connection, problem, first } = item;
	if (problem !== undefined) {
		const isDryRun = how === 'unsendable';
		const description = isDryRun ? (problem.fix ?? '') : describeItem(problem, circumstances);
		const error = toItemError(problem, description, true);
		if (isDryRun) return { dryRun: true, error };
		return { status: problem.outcome, description: problem.message, error };
	}
	if (how === 'previewed' || how === 'toNobody') {
		const request = send && connection && toRequest(connection.baseUrl, send);
		return { dryRun: true, ...(request === undefined ? {} : { request }) };
	}
	const isMade = send?.options.idempotencyKey === '';
	const what = isMade ? 'the same text was sent to the same people' : 'this ID was sent';
	const when = how === 'repeated' ? `by item ${first} of this run` : 'earlier';
	const another = `${isMade ? 'an' : 'another'} ID in 'Send Only Once' sends it again`;
	return {
		status: 'alreadySent',
		description: `Nothing was sent for this item: ${what} ${when}, and ${another}`,
	};
}

/** A hint that comes late helps nobody. In milliseconds. */
const patienceMs = 5_000;

/** How many subscribers a dry run to all would reach: one request for the whole run, and the hint does without it. */
async function countSubscribers(
	{ audience }: SendOperation,
	items: readonly RunItem[],
): Promise<number | undefined> {
	const previews = items.filter(({ how }) => how === 'previewed');
	const [preview] = previews;
	if (audience !== 'all' || preview?.connection === undefined) return undefined;
	const sites = new Set(previews.map(({ connection }) => connection?.site));
	if (sites.size > 1) return undefined;
	const request = { isSend: false, path: subscriberCountPath };
	const { client } = preview.connection;
	const result = await client.request(request, subscriberCount, patienceMs);
	return result.answered ? (result.value['activeSubscribers'] ?? undefined) : undefined;
}
