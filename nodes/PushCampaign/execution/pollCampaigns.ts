import type { IDataObject, INodeExecutionData, IPollFunctions, NodeError } from 'n8n-workflow';

import { refuseExpressions } from '../operations/asWritten';
import { readWatched } from '../operations/triggerPanel';
import { digest } from '../send/digest';
import { withDeadline } from '../service/deadline';
import { Unavailable } from '../service/invalidInput';
import { toPresentItem } from '../watch/compare';
import type { SiteReadings, TriggerMemory } from '../watch/finishPoll';
import { failPoll, finishPoll, memoryOf } from '../watch/finishPoll';
import type { Readings } from '../watch/readSubjects';
import { readSubjects } from '../watch/readSubjects';
import { describeFailures } from '../watch/reports';
import type { Watched } from '../watch/watched';
import { toN8nError, asN8nError, toProblem } from './errors';
import { withEvaluationError } from './parameterReader';
import type { Poll, PollTime } from './pollReason';
import { beginPoll, openState } from './pollReason';
import { sleep } from './sleep';
import { connect } from './transport';

const maxConcurrency = 100;
/** How much of the budget goes into reading: the rest is for comparing and emitting. */
const budgetShare = 0.8;

/**
 * The contexts of polls in flight. n8n's classic engine polls again on the same context when its time comes,
 * whether or not the last poll has ended: if polls take longer than their interval, ever more of them would
 * slow each other down, and none would end.
 */
const inFlight = new WeakSet<object>();

function watchedBy(context: IPollFunctions): Watched {
	return readWatched({
		get(parameter) {
			const { name, displayName } = parameter;
			refuseExpressions(parameter, context.getNodeParameter(name, null, { rawExpressions: true }));
			return withEvaluationError(displayName, () => context.getNodeParameter(name, null));
		},
	});
}

const credentialTimeout = () =>
	new Unavailable(
		'n8n did not open the credential in the time that it gives a poll',
		"The next poll tries again. If it stays like this, check n8n's database, and the vault if the credential uses external secrets.",
	);

/**
 * Reads what is watched, within the poll's time. Opening the credential counts.
 * @throws InvalidInput
 * @throws Unavailable
 */
async function read(
	context: IPollFunctions,
	{ subject, ids }: Watched,
	time: PollTime,
	first: readonly string[] = [],
): Promise<SiteReadings> {
	const budgetMs = Math.max(1, Math.floor(time.budgetMs * budgetShare));
	const signal = AbortSignal.timeout(budgetMs);
	const open = async () => await connect(context, signal);
	const opened = await withDeadline(open, { timeoutMs: budgetMs, sleep });
	if (opened.kind === 'failed') throw opened.isLate ? credentialTimeout() : opened.error;
	const timeoutMs = Math.max(1, Math.min(time.requestMs, Math.floor(budgetMs / 2)));
	const options = { subject, ids, first: new Set(first), timeoutMs };
	const readings = await readSubjects(options, opened.value.client, {
		maxConcurrency,
		stopOnFailure: false,
		now: () => performance.now(),
		sleep,
		random: Math.random,
		signal,
	});
	return { ...readings, site: digest(opened.value.site) };
}

/** One error for all failures, if there are any. */
function failureError(
	context: IPollFunctions,
	failures: Readings['failures'],
	{ subject }: Watched,
): NodeError | undefined {
	const problem = describeFailures(failures, subject);
	return problem && toN8nError(context.getNode(), problem);
}

const toOutput = (items: readonly IDataObject[]): INodeExecutionData[][] | null =>
	items.length === 0 ? null : [items.map((json) => ({ json }))];

/** 'Fetch Test Event': the present state of everything. It changes no baseline. */
async function showPresent(context: IPollFunctions, { time }: Poll) {
	const watched = watchedBy(context);
	const { observations, failures } = await read(context, watched, time);
	const error = failureError(context, failures, watched);
	if (error !== undefined) throw error;
	return toOutput(observations.map((observation) => toPresentItem(observation, watched.rule)));
}

/**
 * A poll of an active workflow.
 *
 * A failure that is thrown fails the poll, and with it the trigger: n8n 2 does not poll one again whose first poll
 * after a start or a publication fails (n8n 2.41.1: packages/core/src/execution-engine/active-workflow-triggers.ts,
 * activatePollTrigger). That is right for one that watches nothing yet: its user is there to correct it. Everything
 * else is reported: it becomes a failed execution beside the poll, and the trigger goes on.
 */
async function emitChanges(context: IPollFunctions, { reason, time }: Poll) {
	const workflowId = String(context.getWorkflow().id);
	const { id: nodeId, name: nodeName } = context.getNode();
	const isPublication = reason === 'publication';
	let memory: TriggerMemory | undefined;
	/** Whether the trigger watches nothing yet, as far as that is known. */
	let isNew = isPublication;
	try {
		const state = openState({
			workflowId,
			nodeId,
			nodeName,
			node: context.getWorkflowStaticData('node'),
			global: context.getWorkflowStaticData('global'),
		});
		memory = memoryOf(workflowId, nodeId);
		isNew = isPublication && !memory.isWatching && state.load().revision === 0;
		const watched = watchedBy(context);
		const readings = await read(context, watched, time, memory.readFirst);

		const error = failureError(context, readings.failures, watched);
		if (error !== undefined && isNew) throw error;
		const { items, toReport } = finishPoll(state, memory, watched, readings, isPublication);
		const report = failureError(context, toReport, watched);
		if (report !== undefined) context.__emitError(report);
		return toOutput(items);
	} catch (error) {
		if (isNew) throw asN8nError(context.getNode(), error);
		const problem = toProblem(error, true);
		// Without a state it is the second of two triggers with one ID, which must not share their memory.
		memory ??= memoryOf(workflowId, `${nodeId} ${nodeName}`);
		if (failPoll(memory, problem, isPublication)) {
			context.__emitError(toN8nError(context.getNode(), problem));
		}
		return null;
	}
}

/**
 * Reads what a trigger watches and returns an item for each change, or `null`. The baselines move with what
 * is returned, and with nothing else: what n8n saves together with an emission is all that a restart needs.
 * Also returns `null` while another poll on the same context is in flight.
 * @throws NodeApiError if something can't be read in a test event, or when a trigger is published that watches
 * nothing yet
 * @throws NodeOperationError likewise, if a parameter or the credential is not valid
 */
export async function pollCampaigns(
	context: IPollFunctions,
): Promise<INodeExecutionData[][] | null> {
	if (inFlight.has(context)) return null;
	inFlight.add(context);
	try {
		const poll = beginPoll(context);
		if (poll.reason === 'test') return await showPresent(context, poll);
		return await emitChanges(context, poll);
	} catch (error) {
		throw asN8nError(context.getNode(), error);
	} finally {
		inFlight.delete(context);
	}
}
