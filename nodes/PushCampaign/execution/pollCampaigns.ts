import { randomUUID } from 'crypto';
import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import type { RunOptions } from '../delivery/runJobs';
import type { ParameterValues } from '../operations/parameters';
import { readWatched } from '../operations/watchCampaigns';
import { withDeadline } from '../service/deadline';
import type { Problem } from '../service/failures';
import { isCopy, loadState } from '../watch/baseline';
import type { CampaignEvent } from '../watch/compare';
import { toEvent } from '../watch/compare';
import { emitChanges } from '../watch/emit';
import type { Readings } from '../watch/readCampaigns';
import { readCampaigns } from '../watch/readCampaigns';
import type { PollMemory } from '../watch/recentEmissions';
import { RecentEmissions } from '../watch/recentEmissions';
import { describeGroup, findUnreported } from '../watch/reportedFailures';
import { toApiError, toInvalid, toOperationError } from './errors';
import { unreadable } from './parameterReader';
import { sleep } from './sleep';
import type { Connection } from './transport';
import { connect } from './transport';

const maxParallel = 100;
/** How much of n8n's budget goes into reading: the rest is for comparing and emitting. */
const budgetShare = 0.8;
/**
 * Where n8n gives no budget, in milliseconds. n8n 2 gives as much in its classic engine; in its durable
 * one 36 s, and abandons a poll after 45 s with all that it read.
 */
const defaultBudgetMs = 5 * 60_000;

/** The trigger's parameters: it has no item. */
function parametersOf(context: IPollFunctions): ParameterValues {
	return {
		get: ({ name, displayName }) => {
			try {
				return context.getNodeParameter(name, null);
			} catch (error) {
				throw unreadable(displayName, error);
			}
		},
	};
}

/**
 * Reads what the user entered.
 * @throws NodeOperationError where it is not valid
 */
async function checked<Value>(
	context: IPollFunctions,
	read: () => Value | Promise<Value>,
): Promise<Value> {
	try {
		return await read();
	} catch (error) {
		throw toOperationError(context.getNode(), toInvalid(error));
	}
}

/** n8n's contexts that have polled before. */
const polledBefore = new WeakSet<IPollFunctions>();

/** n8n 1 has no budget, whatever the types say. */
function hasBudget(context: Partial<Pick<IPollFunctions, 'getPollBudgetMs'>>): boolean {
	return context.getPollBudgetMs !== undefined;
}

/**
 * Whether this poll is the one that n8n makes as a test when a user publishes the workflow: the first on
 * a context of its own, from the second time on as an 'update'. n8n's durable engine calls all its polls
 * that, each on a context of its own, but hands them copies of the static data.
 */
function isActivation(context: IPollFunctions): boolean {
	const isFirst = !polledBefore.has(context);
	polledBefore.add(context);
	const mode = context.getActivationMode();
	if (!isFirst) return false;
	if (mode !== 'update') return mode === 'activate' || mode === 'create';
	return !hasBudget(context) || !isCopy(context.getWorkflowStaticData('node'));
}

/** In milliseconds: what n8n gives a poll before it abandons it. */
function budgetOf(context: IPollFunctions): number {
	return hasBudget(context) ? context.getPollBudgetMs() : defaultBudgetMs;
}

/** So that one poll that hangs does not keep the next one from what it did not see. */
const mostAtOnce = 2;
/** The polls that are under way on a context: when each began, by `performance.now()`. */
const underWay = new WeakMap<IPollFunctions, Set<{ readonly at: number }>>();

/**
 * Runs a poll, unless so many of the same context are under way that they will tell what there is. n8n's
 * classic engine polls on one context whenever it is time, whether or not the last poll is through: where
 * polls take longer than their interval, ever more of them would slow each other down, and none would come
 * to its end. A poll that is over its budget holds up no other.
 */
async function unlessCrowded<Value>(
	context: IPollFunctions,
	poll: () => Promise<Value>,
): Promise<Value | null> {
	const begun = { at: performance.now() };
	const polls = underWay.get(context) ?? new Set();
	const oldest = begun.at - budgetOf(context);
	if ([...polls].filter(({ at }) => at > oldest).length >= mostAtOnce) return null;
	underWay.set(context, polls.add(begun));
	try {
		return await poll();
	} finally {
		polls.delete(begun);
	}
}

/** By trigger, the context of n8n's classic engine on which a poll began last. */
const lastBegun = new Map<string, WeakRef<IPollFunctions>>();

/**
 * Notes that a poll begins. n8n's classic engine makes a context when a workflow is activated, each with
 * its own copy of what was saved, and n8n 1 still takes in what a poll of an earlier one gives: a poll
 * that is under way while its workflow is activated anew would tell what the new one tells.
 * @returns a function that tells whether a poll of the same trigger has begun on another context since
 */
function beginPoll(context: IPollFunctions, trigger: string): () => boolean {
	// Each poll of the durable engine has a context of its own, and the editor's keeps nothing.
	const isAlone = context.getMode() === 'manual' || isCopy(context.getWorkflowStaticData('node'));
	if (isAlone) return () => false;
	lastBegun.set(trigger, new WeakRef(context));
	return () => lastBegun.get(trigger)?.deref() !== context;
}

/** n8n's own database, or the vault of a credential's external secrets, keeps a poll waiting. */
const credentialLate: Problem = {
	type: 'network',
	outcome: 'notSent',
	message: 'n8n did not open the credential in the time that it gives a poll',
	description:
		"The next poll tries again. If it stays like this, look at n8n's database, and at the vault where the credential holds external secrets.",
	cause: 'temporarily-unavailable',
};

async function connectInTime(
	context: IPollFunctions,
	timeoutMs: number,
	signal: AbortSignal,
): Promise<Connection> {
	const open = async () => await checked(context, async () => await connect(context, signal));
	const opened = await withDeadline(open, { timeoutMs, sleep });
	if (opened.kind === 'settled') return opened.value;
	throw opened.isLate ? toApiError(context.getNode(), credentialLate) : opened.error;
}

async function read(context: IPollFunctions, campaignIds: readonly string[]): Promise<Readings> {
	const budgetMs = Math.max(1, Math.floor(budgetOf(context) * budgetShare));
	const signal = AbortSignal.timeout(budgetMs);
	const options: RunOptions = {
		ceiling: maxParallel,
		stopOnFailure: false,
		now: () => performance.now(),
		sleep,
		random: Math.random,
		signal,
	};
	const connection = await connectInTime(context, budgetMs, signal);
	const time = { budgetMs, signal };
	return await readCampaigns(campaignIds, connection.client, time, options);
}

const toItems = (events: readonly CampaignEvent[]): INodeExecutionData[][] => [
	events.map((event) => ({ json: { ...event } })),
];

/** All failures in one error that names the campaigns. */
function failureError(context: IPollFunctions, { failures }: Readings) {
	const [group] = findUnreported(failures, {});
	if (group === undefined) return undefined;
	return toApiError(context.getNode(), describeGroup(group));
}

const recentEmissions = new RecentEmissions(randomUUID(), () => performance.now());

/**
 * Reads the watched campaigns and gives an item for each whose counters moved, or `null`. The baseline
 * moves with what is given back, and with nothing else: what n8n saves together with an emission is all
 * that a restart needs. `null` too where polls of the same context are still under way, or where the
 * workflow was activated anew meanwhile.
 * @throws NodeApiError when nothing can be read, or anything on activation and on 'Fetch Test Event'
 * @throws NodeOperationError when a parameter or the credential is not valid
 */
export async function pollCampaigns(
	context: IPollFunctions,
): Promise<INodeExecutionData[][] | null> {
	const isStrict = isActivation(context) || context.getMode() === 'manual';
	const watched = await checked(context, () => readWatched(parametersOf(context)));
	const { campaignIds } = watched;

	const { unread: readFirst } = loadState(context.getWorkflowStaticData('node'));
	const ordered = [
		...campaignIds.filter((id) => readFirst.includes(id)),
		...campaignIds.filter((id) => !readFirst.includes(id)),
	];
	const trigger = `${context.getWorkflow().id}:${context.getNode().id}`;
	const tellNews = async (memory: PollMemory) => {
		const isSuperseded = beginPoll(context, trigger);
		const readings = await read(context, ordered);
		// An activation is never taken for granted: it tells, or fails.
		if (!isStrict && isSuperseded()) return null;
		const error = failureError(context, readings);
		if (error !== undefined && (isStrict || readings.observations.length === 0)) throw error;
		const observations = [...readings.observations].sort(
			(one, other) => campaignIds.indexOf(one.campaignId) - campaignIds.indexOf(other.campaignId),
		);
		if (context.getMode() === 'manual') {
			return toItems(observations.map((seen) => toEvent(seen, undefined, watched.counters)));
		}
		const staticData = context.getWorkflowStaticData('node');
		const news = emitChanges(staticData, watched, { ...readings, observations }, memory);
		for (const group of news.failures) {
			context.__emitError(toApiError(context.getNode(), describeGroup(group)));
		}
		return news.events.length === 0 ? null : toItems(news.events);
	};
	return await unlessCrowded(context, async () => await recentEmissions.during(trigger, tellNews));
}
