import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { readWatched } from '../operations/watchCampaigns';
import { withDeadline } from '../service/deadline';
import type { Problem } from '../service/failures';
import type { CampaignEvent, Watched } from '../watch/compare';
import { toEvent } from '../watch/compare';
import { describeFailures } from '../watch/failures';
import { memoryOf } from '../watch/memory';
import type { Readings } from '../watch/readCampaigns';
import { readCampaigns } from '../watch/readCampaigns';
import { toApiError, toExpected } from './errors';
import type { Occasion } from './occasion';
import { occasionOf } from './occasion';
import { tellUnreadable } from './parameterReader';
import { sleep } from './sleep';
import { connect } from './transport';

const maxParallel = 100;
/** How much of the budget goes into reading: the rest is for comparing and emitting. */
const budgetShare = 0.8;

/**
 * The contexts on which a poll is under way. n8n's classic engine polls on one whenever it is time, whether
 * or not the last poll is through: where polls take longer than their interval, ever more of them would slow
 * each other down, and none would come to its end.
 */
const underWay = new WeakSet<object>();

const watchedBy = (context: IPollFunctions): Watched =>
	readWatched({ get: tellUnreadable((name) => context.getNodeParameter(name, null)) });

/** n8n's own database, or the vault of a credential's external secrets, keeps a poll waiting. */
const credentialLate: Problem = {
	type: 'network',
	outcome: 'notDone',
	message: 'n8n did not open the credential in the time that it gives a poll',
	description:
		"The next poll tries again. If it stays like this, look at n8n's database, and at the vault where the credential holds external secrets.",
	cause: 'temporarily-unavailable',
};

/** Reads the campaigns that are watched, those of `first` before the others. */
async function read(
	context: IPollFunctions,
	{ campaignIds }: Watched,
	first: readonly string[],
	occasion: Occasion,
): Promise<Readings> {
	const budgetMs = Math.max(1, Math.floor(occasion.budgetMs * budgetShare));
	const signal = AbortSignal.timeout(budgetMs);
	const open = async () => await connect(context, signal);
	const opened = await withDeadline(open, { timeoutMs: budgetMs, sleep });
	if (opened.kind === 'failed') {
		throw opened.isLate ? toApiError(context.getNode(), credentialLate) : opened.error;
	}
	const timeoutMs = Math.max(1, Math.min(occasion.requestMs, Math.floor(budgetMs / 2)));
	return await readCampaigns({ campaignIds, first, timeoutMs }, opened.value.client, {
		ceiling: maxParallel,
		stopOnFailure: false,
		now: () => performance.now(),
		sleep,
		random: Math.random,
		signal,
	});
}

/** All failures in one error, where there are any. */
function failureError(context: IPollFunctions, failures: Readings['failures']) {
	const problem = describeFailures(failures);
	return problem && toApiError(context.getNode(), problem);
}

const toItems = (events: readonly CampaignEvent[]): INodeExecutionData[][] | null =>
	events.length === 0 ? null : [events.map((event) => ({ json: { ...event } }))];

/** 'Fetch Test Event': the present state of every campaign. It remembers nothing. */
async function showCampaigns(context: IPollFunctions, occasion: Occasion) {
	const watched = watchedBy(context);
	const { observations, failures } = await read(context, watched, [], occasion);
	const error = failureError(context, failures);
	if (error !== undefined) throw error;
	return toItems(observations.map((seen) => toEvent(seen, undefined, watched.counters)));
}

/** A poll of an active workflow. */
async function tellNews(context: IPollFunctions, occasion: Occasion) {
	const { id: nodeId } = context.getNode();
	const memory = memoryOf(String(context.getWorkflow().id), nodeId);
	const isPublication = occasion.kind === 'publication';
	const poll = {
		nodeId,
		node: context.getWorkflowStaticData('node'),
		global: context.getWorkflowStaticData('global'),
		isCursor: occasion.isDurable,
		startedAt: performance.now(),
		isPublication,
	};
	memory.begin(poll);
	/** Whether any failure is one of the poll. */
	const isStrict = isPublication && !memory.isWatching;
	try {
		const watched = watchedBy(context);
		const readings = await read(context, watched, memory.unread, occasion);
		const error = failureError(context, readings.failures);
		if (error !== undefined && (isStrict || readings.observations.length === 0)) throw error;
		const news = memory.emit(poll, watched, readings);
		const report = failureError(context, news.failures);
		if (report !== undefined) context.__emitError(report);
		return toItems(news.events);
	} catch (error) {
		const told = toExpected(context.getNode(), error);
		if (occasion.kind === 'poll' || isStrict) throw told;
		context.__emitError(told);
		return null;
	}
}

/**
 * Reads the watched campaigns and gives an item for each whose counters moved, or `null`. The baseline
 * moves with what is given back, and with nothing else: what n8n saves together with an emission is all
 * that a restart needs. `null` too where a poll of the same context is still under way, or where the
 * workflow was activated anew meanwhile. Where n8n starts, or publishes a trigger that is watching
 * already, a failure is reported beside the poll: thrown, it would be the trigger's last.
 * @throws NodeApiError when nothing can be read, or anything on a first publication and on 'Fetch Test
 * Event'
 * @throws NodeOperationError when a parameter or the credential is not valid
 */
export async function pollCampaigns(
	context: IPollFunctions,
): Promise<INodeExecutionData[][] | null> {
	if (underWay.has(context)) return null;
	underWay.add(context);
	try {
		const occasion = occasionOf(context);
		if (occasion.kind === 'test') return await showCampaigns(context, occasion);
		return await tellNews(context, occasion);
	} catch (error) {
		throw toExpected(context.getNode(), error);
	} finally {
		underWay.delete(context);
	}
}
