import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import type { SendOperation } from '../operations/operation';
import { toRequest, toRow } from '../operations/send';
import { subscriberCount } from '../service/answers';
import { notStartedProblem } from '../service/problems';
import { subscriberCountPath } from '../service/rules';
import { checkIds, deduplicate } from './duplicates';
import { forEachItem } from './eachItem';
import {
	describeFailures,
	describeItem,
	describeRun,
	inSentences,
	mainFailure,
	messageOfRun,
	tally,
} from './failureTexts';
import { hintsOf } from './hints';
import { planAll, refuse } from './plan';
import { isErrorOutput, toItemError, toOutput, toRunError } from './results';
import type { Run } from './run';
import { openRun } from './run';
import type { RunItem } from './runItem';
import { failuresIn, isGone, rowWith } from './runItem';
import { sendAll } from './sendItems';
import { isForModel, isInEditor, isRetry, isStopped } from './start';

/**
 * Sends each item once. Unless the node continues on fail, all items are checked before the first is sent, and the first
 * failure that is more than a missing subscriber keeps the rest from starting.
 * @throws NodeOperationError, NodeApiError, InvalidInput
 */
export async function runSends(
	context: IExecuteFunctions,
	operation: SendOperation,
): Promise<INodeExecutionData[]> {
	const run = openRun(context, operation);
	const planned = await planAll(run);
	const wrongIds = checkIds(planned);
	const checked = await forEachItem(context, planned, async (item) => {
		const problem = wrongIds.get(item.index);
		return problem === undefined ? item : await refuse(run, item, problem);
	});
	const items = deduplicate(checked);
	// What an earlier try left unknown keeps nothing else back.
	const isRefused = failuresIn(items).some(({ problem }) => problem.outcome === 'notSent');
	const mayStart = !isStopped(context) && (context.continueOnFail() || !isRefused);
	const ended = reportGone(run, mayStart ? await sendAll(run, items) : items);
	throwFailure(run, ended);
	return await toResults(run, ended);
}

/**
 * A subscriber who is gone is no failure: people unsubscribe every week. Unless all of several are, which is what a wrong
 * column looks like.
 */
function reportGone({ context, kind }: Run, items: readonly RunItem[]): readonly RunItem[] {
	const isWrongColumn = items.length > 1 && items.every(isGone) && !isRetry(context);
	if (isWrongColumn || kind === 'test' || isErrorOutput(context)) return items;
	return items.map((item) =>
		item.state === 'failed' && isGone(item) ? { ...item, state: 'reported' } : item,
	);
}

/** What the run gives, and its hints. */
async function toResults(run: Run, items: readonly RunItem[]): Promise<INodeExecutionData[]> {
	const { context, kind } = run;
	const results = items.map((item) => ({
		row: rowOf(run, item),
		isFailed: item.state === 'failed' && kind !== 'dryRun',
	}));
	const hints = hintsOf(items, {
		kind,
		isContinuing: context.continueOnFail(),
		isErrorOutput: isErrorOutput(context),
		which: describeFailures(items),
		activeSubscribers: kind === 'dryRun' ? await countSubscribers(run, items) : undefined,
	});
	return toOutput(context, results, hints);
}

function rowOf(run: Run, item: RunItem): IDataObject {
	if ('row' in item) return item.row;
	if (item.state === 'shown') {
		const request = toRequest(item.connection.baseUrl, item.send);
		return toRow(item.send, { dryRun: true, request });
	}
	const { operation, context, kind } = run;
	const problem = item.state === 'ready' ? notStartedProblem : item.problem;
	const { outcome: status, message: description } = problem;
	if (item.state === 'reported') return rowWith(item, operation, { status, description });
	const advice = item.state === 'failed' ? describeItem(item, isForModel(context)) : '';
	const error = toItemError(problem, advice, true);
	if (kind === 'dryRun') return rowWith(item, operation, { dryRun: true, error });
	return rowWith(item, operation, { status, description, error });
}

/** Throws if the run was stopped, or if it failed and does not go on. */
function throwFailure(run: Run, items: readonly RunItem[]): void {
	const { context, memory, parameters, kind } = run;
	if (isStopped(context)) {
		const message = inSentences('The execution was canceled', tally(items, parameters.length));
		const description = describeFailures(items);
		throw new NodeOperationError(context.getNode(), message, { description });
	}
	const main = mainFailure(items);
	// A dry run shows what could not be sent.
	if (main === undefined || kind === 'dryRun' || context.continueOnFail()) return;
	if (isForModel(context)) {
		const description = describeItem(main, true);
		throw toRunError(context, main.problem, main.problem.message, description);
	}
	const hasSent = memory.ledger.hasEntries();
	const isTest = kind === 'test';
	const description = describeRun(items, main, {
		isTest,
		offersRetry: !isTest && (hasSent || !isInEditor(context)),
		hasSentWithoutId: memory.ledger.hasSentWithoutId(),
	});
	throw toRunError(context, main.problem, messageOfRun(items, main), description);
}

/** A hint that comes late helps nobody. In milliseconds. */
const patienceMs = 5_000;

/** How many subscribers a dry run to all would reach: one request for the whole run, and the hint does without it. */
async function countSubscribers(
	{ operation: { audience } }: Run,
	items: readonly RunItem[],
): Promise<number | undefined> {
	const connections = items.flatMap((item) => (item.state === 'shown' ? [item.connection] : []));
	const [first] = connections;
	if (audience !== 'all' || first === undefined) return undefined;
	if (new Set(connections.map(({ site }) => site)).size > 1) return undefined;
	const request = { isSend: false, path: subscriberCountPath };
	const result = await first.client.request(request, subscriberCount, patienceMs);
	return result.answered ? (result.value['activeSubscribers'] ?? undefined) : undefined;
}
