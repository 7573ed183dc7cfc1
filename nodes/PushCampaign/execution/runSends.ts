import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { itemParameters } from '../n8n/parameters';
import type { SendOperation } from '../operations/operation';
import { isSentOnlyOnce } from '../operations/options';
import { toRequest, toRow } from '../operations/send';
import { requireTimezone } from '../operations/timing';
import { openMemory } from '../send/open';
import { subscriberCount } from '../service/answers';
import { notStartedProblem } from '../service/problems';
import { subscriberCountPath } from '../service/rules';
import { foldSame, refuseWrongIds } from './duplicates';
import {
	describeFailures,
	describeItem,
	describeRun,
	mainFailure,
	messageOfRun,
	tally,
} from './failureTexts';
import { hintsOf } from './hints';
import { toSentences } from './names';
import { Planner } from './plan';
import { isErrorOutput, planEach, toItemError, toOutput, toRunError } from './results';
import type { RunItem } from './runItem';
import { failuresIn, isGone, isOut, rowWith } from './runItem';
import { askRefused, sendAll } from './sendItems';
import type { Run } from './start';
import { isForModel, isInEditor, isStopped, decide, retryOf, retryOffer } from './start';

/**
 * Sends each item once. Unless the node continues on fail, all items are checked before the first is sent, and the first
 * failure that is more than a missing subscriber keeps the rest from starting.
 * @throws NodeOperationError, NodeApiError, InvalidInput
 */
export async function runSends(
	context: IExecuteFunctions,
	operation: SendOperation,
): Promise<INodeExecutionData[]> {
	requireTimezone(context.getTimezone());
	const itemAt = itemParameters(context);
	const parameters = context.getInputData().map((_input, index) => itemAt(index));
	const memory = openMemory(context, retryOf(context));
	const run: Run = { context, operation, memory, ...decide(context, parameters) };
	const planner = new Planner(run);
	const planned = await planEach(
		context,
		parameters,
		async (item, index) => await planner.plan(item, index),
	);
	const checked = refuseWrongIds(planned);
	const asked = run.kind === 'send' ? await askRefused(run, checked) : checked;
	const items = foldSame(asked);
	// What an earlier try left unknown keeps nothing else back.
	const isRefused = failuresIn(items).some(({ problem }) => problem.outcome === 'notSent');
	const mayStart = !isStopped(context) && (context.continueOnFail() || !isRefused);
	const ended = mayStart ? await sendAll(run, items) : items;
	throwFailure(run, ended);
	return await toResults(run, isErrorOutput(context) ? ended : letGo(ended));
}

/** What the run gives, and its hints. */
async function toResults(run: Run, items: readonly RunItem[]): Promise<INodeExecutionData[]> {
	const { context, kind } = run;
	const results = items.map((item) => ({
		row: rowOf(run, item),
		isFailed: item.how === 'failed' && kind !== 'dryRun',
	}));
	const hints = hintsOf(items, {
		kind,
		isContinuing: context.continueOnFail(),
		isErrorOutput: isErrorOutput(context),
		which: describeFailures(items, isToOne(run)),
		activeSubscribers: kind === 'dryRun' ? await countSubscribers(run, items) : undefined,
	});
	return toOutput(context, results, hints);
}

/** Whether each goes to one subscriber: the dashboard does not list those. */
const isToOne = ({ kind, operation }: Run) =>
	kind === 'test' || operation.audience === 'subscriber';

function rowOf(run: Run, item: RunItem): IDataObject {
	if (item.how === 'sent' || item.how === 'before') return item.row;
	if (item.how === 'shown') {
		const request = toRequest(item.connection.baseUrl, item.send);
		return toRow(item.send, { dryRun: true, request });
	}
	const { operation, context, kind } = run;
	const problem = item.how === 'ready' ? notStartedProblem : item.problem;
	const { outcome: status, message: description } = problem;
	if (item.how === 'gone') return rowWith(item, operation, { status, description });
	const advice = item.how === 'failed' ? describeItem(item, isToOne(run), isForModel(context)) : '';
	const error = toItemError(problem, advice, true);
	if (kind === 'dryRun') return rowWith(item, operation, { dryRun: true, error });
	return rowWith(item, operation, { status, description, error });
}

/** Throws if the run was stopped, or if it failed and does not go on. */
function throwFailure(run: Run, items: readonly RunItem[]): void {
	const { context, memory, kind } = run;
	const all = context.getInputData().length;
	if (isStopped(context)) {
		const message = toSentences('The execution was canceled', tally(items, all));
		const description = describeFailures(items, isToOne(run));
		throw new NodeOperationError(context.getNode(), message, { description });
	}
	const main = mainFailure(items);
	const isGoneAlone = failuresIn(items).every(isGone) && items.some(isOut);
	// A dry run shows what could not be sent.
	if (main === undefined || isGoneAlone || kind === 'dryRun' || context.continueOnFail()) return;
	if (isForModel(context)) {
		throw toRunError(context, main, main.problem.message, describeItem(main, isToOne(run), true));
	}
	const hasEntries = memory.ledger.hasEntries();
	const description = describeRun(items, main, all, {
		...{ isToOne: isToOne(run), isTest: kind === 'test' },
		// Whoever tries the workflow in the editor clicks once more.
		retry: isInEditor(context) && !hasEntries ? 'none' : retryOffer(context),
		hasSentWithoutId: hasEntries && items.some(({ parameters }) => !isSentOnlyOnce(parameters)),
	});
	throw toRunError(context, main, messageOfRun(items, main, all), description);
}

/** Of a run that reached others, a subscriber who is not there any more is no failure: people unsubscribe every week. */
const letGo = (items: readonly RunItem[]): RunItem[] =>
	items.some(isOut)
		? items.map((item) => (item.how === 'failed' && isGone(item) ? { ...item, how: 'gone' } : item))
		: [...items];

/** A hint that comes late helps nobody. In milliseconds. */
const patienceMs = 5_000;

/** How many subscribers a dry run to all would reach: one request for the whole run, and the hint does without it. */
async function countSubscribers(
	{ operation: { audience } }: Run,
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
