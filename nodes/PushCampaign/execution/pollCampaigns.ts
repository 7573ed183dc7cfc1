import type { IDataObject, INodeExecutionData, IPollFunctions, NodeError } from 'n8n-workflow';

import { refuseExpressions } from '../operations/asWritten';
import type { Watched } from '../operations/triggerEvents';
import { readWatched } from '../operations/triggerEvents';
import { withDeadline } from '../service/deadline';
import type { Problem } from '../service/failures';
import { toPresentItem } from '../watch/compare';
import { describeFailures } from '../watch/failures';
import { finishPoll, memoryOf } from '../watch/finishPoll';
import type { Readings } from '../watch/readSubjects';
import { readSubjects } from '../watch/readSubjects';
import { subjects } from '../watch/subjects';
import { toApiError, toExpected } from './errors';
import { inWords } from './parameterReader';
import type { Poll, PollReason, PollTime } from './pollReason';
import { describePoll } from './pollReason';
import { sleep } from './sleep';
import { connect } from './transport';

const maxParallel = 100;
/** How much of the budget goes into reading: the rest is for comparing and emitting. */
const budgetShare = 0.8;

/** What becomes of failures in a poll. */
interface FailurePolicy {
	/** Some of what is watched can't be read. */
	readonly some: 'throw' | 'report at once' | 'report if repeated';
	/** Nothing can be read, or a parameter or the credential is not valid. */
	readonly all: 'throw' | 'report';
}

/**
 * A failure that is thrown fails the poll. n8n does not publish a trigger whose first poll fails, never polls
 * one again that fails while n8n starts, and backs off where a scheduled poll fails. A failure that is
 * reported becomes a failed execution beside the poll, and the trigger goes on.
 */
const failurePolicies: Readonly<Record<PollReason | 'firstPublication', FailurePolicy>> = {
	test: { some: 'throw', all: 'throw' },
	// The trigger watches nothing yet: its user is there to correct it.
	firstPublication: { some: 'throw', all: 'throw' },
	publication: { some: 'report at once', all: 'report' },
	start: { some: 'report if repeated', all: 'report' },
	schedule: { some: 'report if repeated', all: 'throw' },
};

/**
 * The contexts of polls in flight. n8n's classic engine polls again on the same context when its time comes,
 * whether or not the last poll has ended: if polls take longer than their interval, ever more of them would
 * slow each other down, and none would end.
 */
const inFlight = new WeakSet<object>();

function watchedBy(context: IPollFunctions): Watched {
	return readWatched({
		get(parameter) {
			const { name } = parameter;
			refuseExpressions(parameter, context.getNodeParameter(name, null, { rawExpressions: true }));
			return inWords(parameter, () => context.getNodeParameter(name, null));
		},
	});
}

const credentialTimeout: Problem = {
	type: 'network',
	outcome: 'notDone',
	message: 'n8n did not open the credential in the time that it gives a poll',
	description:
		"The next poll tries again. If it stays like this, check n8n's database, and the vault if the credential uses external secrets.",
	cause: 'temporarily-unavailable',
};

/** Reads what is watched, within the poll's time. Opening the credential counts. */
async function read(
	context: IPollFunctions,
	{ subject, ids }: Watched,
	time: PollTime,
	first: readonly string[] = [],
): Promise<Readings> {
	const budgetMs = Math.max(1, Math.floor(time.budgetMs * budgetShare));
	const signal = AbortSignal.timeout(budgetMs);
	const open = async () => await connect(context, signal);
	const opened = await withDeadline(open, { timeoutMs: budgetMs, sleep });
	if (opened.kind === 'failed') {
		throw opened.isLate ? toApiError(context.getNode(), credentialTimeout) : opened.error;
	}
	const timeoutMs = Math.max(1, Math.min(time.requestMs, Math.floor(budgetMs / 2)));
	const options = { subject: subjects[subject], ids, first: new Set(first), timeoutMs };
	return await readSubjects(options, opened.value.client, {
		maxConcurrency: maxParallel,
		stopOnFailure: false,
		now: () => performance.now(),
		sleep,
		random: Math.random,
		signal,
	});
}

/** One error for all failures, if there are any. */
function failureError(
	context: IPollFunctions,
	failures: Readings['failures'],
	{ subject }: Watched,
): NodeError | undefined {
	const problem = describeFailures(failures, subjects[subject]);
	return problem && toApiError(context.getNode(), problem);
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

/** A poll of an active workflow. */
async function emitChanges(context: IPollFunctions, { reason, time, openState }: Poll) {
	const workflowId = String(context.getWorkflow().id);
	const { id: nodeId } = context.getNode();
	const memory = memoryOf(workflowId, nodeId);
	// Until the state is there: two triggers with one ID share this memory, and the second must not be published.
	let hasWatched = false;
	const policyOf = () =>
		failurePolicies[reason === 'publication' && !hasWatched ? 'firstPublication' : reason];
	try {
		const state = openState({
			workflowId,
			nodeId,
			node: context.getWorkflowStaticData('node'),
			global: context.getWorkflowStaticData('global'),
		});
		hasWatched = memory.hasPolled || state.load().size > 0;
		const policy = policyOf();
		const watched = watchedBy(context);
		const readings = await read(context, watched, time, memory.readFirst);

		const error = failureError(context, readings.failures, watched);
		if (error !== undefined && policy.some === 'throw') throw error;
		const isNothingRead = readings.observations.length === 0;
		if (error !== undefined && isNothingRead && !state.isStale()) throw error;
		const isAtOnce = policy.some === 'report at once';
		const { items, toReport } = finishPoll(state, memory, watched, readings, isAtOnce);
		const report = failureError(context, toReport, watched);
		if (report !== undefined) context.__emitError(report);
		return toOutput(items);
	} catch (error) {
		const expected = toExpected(context.getNode(), error);
		if (policyOf().all === 'throw') throw expected;
		context.__emitError(expected);
		return null;
	}
}

/**
 * Reads what a trigger watches and returns an item for each change, or `null`. The baselines move with what
 * is returned, and with nothing else: what n8n saves together with an emission is all that a restart needs.
 * Also returns `null` while another poll on the same context is in flight.
 * @throws NodeApiError if nothing can be read (see `failurePolicies`)
 * @throws NodeOperationError if a parameter or the credential is not valid
 */
export async function pollCampaigns(
	context: IPollFunctions,
): Promise<INodeExecutionData[][] | null> {
	if (inFlight.has(context)) return null;
	inFlight.add(context);
	try {
		const poll = describePoll(context);
		if (poll.reason === 'test') return await showPresent(context, poll);
		return await emitChanges(context, poll);
	} catch (error) {
		throw toExpected(context.getNode(), error);
	} finally {
		inFlight.delete(context);
	}
}
