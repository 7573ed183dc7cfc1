import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { toProblem } from '../n8n/errors';
import { pollParameters } from '../n8n/parameters';
import type { Rule } from './compare';
import { compare, presentItem } from './compare';
import { readWatched } from './events';
import type { Failures, Readings } from './fetch';
import { connectInTime, fetchAll } from './fetch';
import { everything, isPassing, selectReports, toError } from './reports';
import { TriggerState } from './state';

/**
 * How long a poll may read that can fail a publication, in milliseconds. n8n tries five times, with pauses of 15 s in
 * all, and after 84 s it gives up without a word about the reason (n8n 2.41.1: `trigger-activation-retry.js`,
 * `workflow-publication-outbox-consumer.js`).
 */
const publicationMs = 12_000;
/** How long the first poll of a context may read: n8n may wait for it with a publication, or a user in the editor. */
const firstPollMs = 24_000;
/** How much of n8n's limit a poll uses, so that it can hand over what was read; and of that, one request. */
const timeShare = 0.8;
const longestRequestMs = 30_000;

/**
 * The contexts that have polled, and whether a poll of each is in flight. The classic engine has one for each activation,
 * and polls on it even if the last poll has not ended; the durable one has one for each poll.
 */
const arePolling = new WeakMap<object, boolean>();

/** What a poll found. */
interface Found {
	readonly failures: Failures;
	/** Missing if it could not begin to fetch. */
	readonly seen?: { readonly site: string; readonly rule: Rule } & Pick<Readings, 'readings'>;
}

/** Fetches what the trigger watches. Never throws. */
async function fetchWatched(context: IPollFunctions, longest: number): Promise<Found> {
	// n8n 1 gives no budget.
	const budgetMs = (context.getPollBudgetMs?.() ?? firstPollMs) * timeShare;
	const readingMs = Math.floor(Math.min(budgetMs, longest));
	// What hangs leaves time for what stands behind it, and a slow service is read.
	const requestMs = Math.floor(Math.min(readingMs * timeShare, longestRequestMs));
	try {
		const signal = AbortSignal.timeout(readingMs);
		const { rule, ...watched } = readWatched(pollParameters(context));
		const { client, site } = await connectInTime(context, signal);
		const { readings, failures } = await fetchAll(client, watched, requestMs, signal);
		return { failures, seen: { site, rule, readings } };
	} catch (error) {
		return { failures: new Map([[everything, toProblem(error)]]) };
	}
}

/**
 * Triggers whose last publication failed. n8n 2 makes the next one in the mode `update` (n8n 2.41.1:
 * `workflow-publication-applier.js`, `resolveActivationMode`), which a publication of what has worked before and each
 * poll of the durable engine have, too.
 */
const unpublished = new Set<string>();

/** Whether somebody publishes a trigger that has emitted nothing, and is there to mend what stays wrong. */
function isFirstPublication(context: IPollFunctions, { isNew, key }: TriggerState): boolean {
	const mode = context.getActivationMode();
	return isNew && (mode === 'activate' || (mode === 'update' && unpublished.has(key)));
}

const toOutput = (items: readonly IDataObject[]): INodeExecutionData[][] | null =>
	items.length === 0 ? null : [items.map((json) => ({ json }))];

/** 'Fetch Test Event': the present state of everything, or why there is none of some. It changes no baseline. */
async function fetchTestEvent(context: IPollFunctions) {
	const { failures, seen } = await fetchWatched(context, firstPollMs);
	const error = toError(context.getNode(), failures);
	if (error !== undefined) throw error;
	return toOutput(seen?.readings.map((each) => presentItem(each, seen.rule)) ?? []);
}

/**
 * A poll of an active workflow.
 *
 * What is thrown fails a publication, or a start of n8n: n8n 2 does not poll a trigger again whose first poll fails
 * (n8n-core 2.41.1: `active-workflow-triggers.js`, `activatePollTrigger`). So only what stays wrong is thrown, and only
 * on a first publication. All else becomes a failed execution beside the poll.
 */
async function emitChanges(context: IPollFunctions, isFirst: boolean) {
	const state = new TriggerState(context);
	const mayFail = isFirst && isFirstPublication(context, state);
	let longest = isFirst ? firstPollMs : Infinity;
	if (mayFail) longest = publicationMs;

	const { failures, seen } = await fetchWatched(context, longest);
	const wrong = [...failures].filter(([, problem]) => !isPassing(problem));
	const refusal = mayFail ? toError(context.getNode(), new Map(wrong)) : undefined;
	if (refusal !== undefined) {
		unpublished.add(state.key);
		throw refusal;
	}
	unpublished.delete(state.key);
	// From here on nothing is waited for: no other poll can emit in between.
	if (state.isStale) return null;
	const isAnythingRead = seen !== undefined && seen.readings.length > 0;
	const reports = selectReports(state.key, failures, isAnythingRead);
	const goesOn = 'The trigger goes on with its next poll.';
	const report = toError(context.getNode(), reports, goesOn);
	if (report !== undefined) context.__emitError(report);
	if (seen === undefined) return null;

	const { readings, site, rule } = seen;
	const { items, baselines } = compare(readings, state.baselinesOf(site), rule);
	if (items.length > 0) state.save(site, baselines);
	return toOutput(items);
}

/**
 * Polls once; returns `null` if nothing is to be emitted, or another poll of the context is in flight.
 * @throws NodeApiError or NodeOperationError on 'Fetch Test Event', and on a first publication what stays wrong
 */
export async function poll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const isPolling = arePolling.get(context);
	if (isPolling) return null;
	arePolling.set(context, true);
	try {
		if (context.getMode() === 'manual') return await fetchTestEvent(context);
		return await emitChanges(context, isPolling === undefined);
	} finally {
		arePolling.set(context, false);
	}
}
