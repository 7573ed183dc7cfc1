import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { runQueue } from '../delivery/queue';
import { toN8nError } from '../n8n/errors';
import { isTool } from '../n8n/parameters';
import type { Ending, SendOperation } from '../operations/operation';
import { toInvalidRow, toRequest, toRow } from '../operations/send';
import type { SendOutcome, SendsOnce } from '../send/once';
import { openSends } from '../send/open';
import { subscriberCount } from '../service/answers';
import type { Problem } from '../service/problems';
import { subscriberCountPath } from '../service/rules';
import type { Circumstances } from './failureTexts';
import { describeItem, describeRun, mainFailure, messageOfRun } from './failureTexts';
import {
	dryRunHints,
	failedHints,
	sameAudienceHints,
	sentHints,
	testHints,
	unknownOutcomeHints,
	withoutKeysHints,
} from './hints';
import type { Plan } from './plan';
import { Planner } from './plan';
import { isErrorOutput, queueOptions, requireRunning, toItemError, toOutput } from './results';
import { findRepeats, keyOf, refuseSharedKeys } from './sharedKeys';
import type { FailedEnd, ItemEnd } from './tally';

type SendPlan = Extract<Plan, { action: 'send' }>;

const isSendPlan = (plan: Plan): plan is SendPlan => plan.action === 'send';

/** How the items of a run ended that were to be sent, by index. What never started is missing. */
type Outcomes = ReadonlyMap<number, SendOutcome>;

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
	const planned = await new Planner(context, operation, once, requireKeys).planAll();
	requireRunning(context);

	const plans = refuseSharedKeys(planned);
	const repeats = findRepeats(plans);
	const circumstances = {
		hasKeys: plans.some((plan) => keyOf(plan) !== undefined),
		isContinuing: context.continueOnFail(),
		isToOne: operation.audience === 'subscriber',
	};
	const isRefused = plans.some((plan) => plan.action === 'refuse' && !plan.isDryRun);
	const sends = plans.filter(isSendPlan).filter(({ index }) => !repeats.has(index));
	const mayStart = circumstances.isContinuing || !isRefused;
	const outcomes: Outcomes = mayStart ? await sendAll(context, sends, once) : new Map();
	requireRunning(context);

	const ends = plans.map((plan) => toEnd(plan, outcomes, repeats, operation, circumstances));
	const failure = mainFailure(ends);
	if (failure !== undefined && !circumstances.isContinuing) {
		throw toRunError(context, ends, failure, circumstances);
	}
	const active = await countSubscribers(context, operation, plans);
	const step = failure === undefined ? '' : describeRun(ends, failure, circumstances);
	// Not every context that n8n makes can show hints.
	context.addExecutionHints?.(
		...failedHints(ends, isErrorOutput(context), step),
		...testHints(ends),
		...dryRunHints(ends, active),
		...sentHints(ends),
		...sameAudienceHints(ends),
		...withoutKeysHints(ends, circumstances.hasKeys),
		...unknownOutcomeHints(ends),
	);
	return toOutput(
		context,
		ends.map(({ row, how }) => ({ row, isFailed: how === 'failed' })),
	);
}

async function sendAll(
	context: IExecuteFunctions,
	sends: readonly SendPlan[],
	once: SendsOnce,
): Promise<Outcomes> {
	const jobs = sends.map((plan) => async () => await once.try(plan.once));
	const { outcomes, refusal } = await runQueue(jobs, queueOptions(context));
	const ended = new Map<number, SendOutcome>();
	for (const [position, { index }] of sends.entries()) {
		const outcome = outcomes[position] ?? refusal;
		if (outcome !== undefined) ended.set(index, outcome);
	}
	return ended;
}

/** How an item ended, and what it gives. */
function toEnd(
	plan: Plan,
	outcomes: Outcomes,
	repeats: ReadonlyMap<number, number>,
	operation: SendOperation,
	circumstances: Circumstances,
): ItemEnd {
	const { index, item, action } = plan;
	const send = 'send' in plan ? plan.send : undefined;
	const rowOf = (ending: Ending) =>
		send === undefined ? toInvalidRow(item, operation, ending) : toRow(send, ending);
	const failed = (problem: Problem): ItemEnd => {
		const error = toItemError(problem, describeItem(problem, circumstances), true);
		const { outcome: status, message: description } = problem;
		return { index, how: 'failed', problem, send, row: rowOf({ status, description, error }) };
	};
	switch (action) {
		case 'recall': {
			const { outcome } = plan;
			if (outcome.ended === 'failed') return failed(outcome.problem);
			return { index, how: 'sentEarlier', row: 'row' in outcome ? outcome.row : rowOf({}) };
		}
		case 'refuse': {
			const { problem } = plan;
			if (!plan.isDryRun) return failed(problem);
			const error = toItemError(problem, problem.fix ?? '', true);
			return { index, how: 'unsendable', problem, send, row: rowOf({ dryRun: true, error }) };
		}
		case 'preview': {
			const request = toRequest(plan.connection.baseUrl, plan.send);
			const row = rowOf({ dryRun: true, request });
			return { index, how: 'previewed', send, test: plan.test, row };
		}
		case 'nobody': {
			const request = toRequest(plan.connection.baseUrl, plan.send);
			return { index, how: 'toNobody', send, row: rowOf({ dryRun: true, request }) };
		}
		case 'send':
			break;
	}
	const { meant } = plan;
	const first = repeats.get(index);
	const outcome = outcomes.get(first ?? index);
	if (outcome === undefined) return { index, how: 'notStarted', send, row: {} };
	if (outcome.ended === 'failed') return { ...failed(outcome.problem), meant };
	if (first !== undefined) {
		const description = `Sent by item ${first} of this run; nothing was sent for this one`;
		return { index, how: 'repeated', send, row: rowOf({ status: 'alreadySent', description }) };
	}
	if (outcome.ended === 'alreadySent') {
		const description = 'Sent earlier; nothing was sent now';
		return { index, how: 'sentEarlier', send, row: rowOf({ status: 'alreadySent', description }) };
	}
	const how = outcome.ended === 'sent' ? 'sent' : 'sentEarlier';
	return { index, how, send, meant, row: outcome.row };
}

function toRunError(
	context: IExecuteFunctions,
	ends: readonly ItemEnd[],
	failure: FailedEnd,
	circumstances: Circumstances,
) {
	const node = context.getNode();
	const message = messageOfRun(ends, failure);
	const description = describeRun(ends, failure, circumstances);
	return toN8nError(node, failure.problem, {
		// An agent tells its model the message alone.
		message: isTool(node) ? `${message}. ${description}` : message,
		description,
		itemIndex: failure.index,
	});
}

/** A hint that comes late helps nobody. In milliseconds. */
const patienceMs = 5_000;

/** How many subscribers a dry run to all would reach: one request for the whole run, and the hint does without it. */
async function countSubscribers(
	context: IExecuteFunctions,
	{ audience }: SendOperation,
	plans: readonly Plan[],
): Promise<number | undefined> {
	const [preview] = plans.filter((plan) => plan.action === 'preview');
	if (audience !== 'all' || preview === undefined) return undefined;
	if (context.getExecutionCancelSignal()?.aborted) return undefined;
	const request = { isSend: false, path: subscriberCountPath };
	const { client } = preview.connection;
	const result = await client.request(request, subscriberCount, patienceMs);
	return result.answered ? (result.value['activeSubscribers'] ?? undefined) : undefined;
}
