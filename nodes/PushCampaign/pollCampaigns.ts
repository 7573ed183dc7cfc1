import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

import { connect } from './connect';
import type { DeliverOptions } from './delivery/deliver';
import { Window } from './delivery/window';
import { catchInvalid, toApiError, toOperationError } from './nodeErrors';
import { check, invalid, toRecord } from './operations/fields';
import { parseIdList } from './operations/idList';
import { counterNames } from './service/answers';
import { campaignId } from './service/schemas';
import { createSleep, sleep } from './sleep';
import type { Baseline } from './watch/baseline';
import { keepOnly, loadState, saveState } from './watch/baseline';
import type { CampaignEvent, WatchOptions } from './watch/compare';
import { findEvents, toEvent } from './watch/compare';
import { describeGroup, findUnreported, toReported } from './watch/failures';
import { mergeEmitted, OverlappingPolls } from './watch/overlap';
import type { Readings } from './watch/read';
import { readCampaigns } from './watch/read';

const maxParallel = 100;
/** What is left of n8n's budget for comparing and emitting. */
const budgetShare = 0.8;
/** Where n8n gives no budget. */
const defaultBudgetMs = 5 * 60_000;

interface WatchParameters extends WatchOptions {
	readonly campaignIds: readonly string[];
}

const counterList = z.array(z.enum(counterNames)).min(1);
const wholeNumber = z.number().int().min(1);

function readParameters(context: IPollFunctions): WatchParameters {
	const listed = parseIdList(context.getNodeParameter('campaignIds', ''), 'Campaign IDs');
	const campaignIds = [...new Set(listed.map((id) => check(campaignId, id, 'Campaign IDs')))];
	if (campaignIds.length === 0) {
		throw invalid('Campaign IDs', 'is missing', 'Give at least one campaign ID.');
	}
	// An object, such as n8n's static data, holds nothing of its own under this name.
	if (campaignIds.includes('__proto__')) {
		throw invalid('Campaign IDs', 'holds __proto__, which no baseline can be kept for');
	}
	const counters = counterList.safeParse(context.getNodeParameter('counters', [...counterNames]));
	if (!counters.success) {
		throw invalid('Counters', 'is not a selection from the list', 'Choose at least one counter.');
	}
	const options = toRecord(context.getNodeParameter('options', {}), 'Options');
	const minimumChange = wholeNumber.safeParse(options['minimumChange'] ?? 1);
	if (!minimumChange.success) throw invalid('Minimum Change', 'is not a whole number from 1');
	return { campaignIds, counters: counters.data, minimumChange: minimumChange.data };
}

/** n8n's contexts that have polled before. */
const polledBefore = new WeakSet<IPollFunctions>();

/**
 * Whether this poll is the one that n8n makes as a test when a user activates the workflow. n8n's durable
 * engine calls every poll 'update', but so does n8n 1 after a change of an active workflow.
 */
function isActivation(context: IPollFunctions): boolean {
	const isFirst = !polledBefore.has(context);
	polledBefore.add(context);
	const mode = context.getActivationMode();
	if (!isFirst) return false;
	return mode === 'activate' || mode === 'create' || (mode === 'update' && !hasBudget(context));
}

/** n8n 1 has no budget, whatever the types say. */
function hasBudget(context: Partial<Pick<IPollFunctions, 'getPollBudgetMs'>>): boolean {
	return context.getPollBudgetMs !== undefined;
}

/** Triggers whose last poll went well: the next may start fast. */
const unhindered = new Set<string>();

async function read(
	context: IPollFunctions,
	campaignIds: readonly string[],
	trigger: string,
): Promise<Readings> {
	const { value: connection, invalid: fault } = await connect(context);
	if (connection === undefined) throw toOperationError(context.getNode(), fault);
	const budgetMs = (hasBudget(context) ? context.getPollBudgetMs() : defaultBudgetMs) * budgetShare;
	const end = new AbortController();
	const window = new Window({
		ceiling: maxParallel,
		now: () => performance.now(),
		sleep,
		random: Math.random,
		startsFast: unhindered.has(trigger),
	});
	const options: DeliverOptions = {
		window,
		stopOnFailure: false,
		sleep: createSleep(end.signal),
		random: Math.random,
	};
	const outOfTime = sleep(budgetMs, end.signal).then(
		() => window.close(),
		() => undefined,
	);
	try {
		const readings = await readCampaigns(campaignIds, connection.client, budgetMs, options);
		if (window.wasRefused || readings.failures.size > 0) unhindered.delete(trigger);
		else unhindered.add(trigger);
		return readings;
	} finally {
		end.abort();
		await outOfTime;
	}
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

const overlappingPolls = new OverlappingPolls();

/**
 * Reads the watched campaigns and gives an item for each whose counters moved, or `null`. The baseline
 * moves with what is given back, and with nothing else: what n8n saves together with an emission is all
 * that a restart needs.
 * @throws NodeApiError when nothing can be read, or anything on activation and on 'Fetch Test Event'
 * @throws NodeOperationError when a parameter or the credential is not valid
 */
export async function pollCampaigns(
	context: IPollFunctions,
): Promise<INodeExecutionData[][] | null> {
	const isStrict = isActivation(context) || context.getMode() === 'manual';
	const { value: parameters, invalid: fault } = catchInvalid(() => readParameters(context));
	if (parameters === undefined) throw toOperationError(context.getNode(), fault);
	const { campaignIds } = parameters;

	const { unread: readFirst } = loadState(context.getWorkflowStaticData('node'));
	const ordered = [
		...campaignIds.filter((id) => readFirst.includes(id)),
		...campaignIds.filter((id) => !readFirst.includes(id)),
	];
	const trigger = `${context.getWorkflow().id}:${context.getNode().id}`;
	return await overlappingPolls.run(trigger, async (emitted) => {
		const readings = await read(context, ordered, trigger);
		const error = failureError(context, readings);
		if (error !== undefined && (isStrict || readings.observations.length === 0)) throw error;
		const observations = [...readings.observations].sort(
			(one, other) => campaignIds.indexOf(one.campaignId) - campaignIds.indexOf(other.campaignId),
		);
		if (context.getMode() === 'manual') {
			return toItems(observations.map((seen) => toEvent(seen, undefined, parameters.counters)));
		}
		return emitChanges(context, parameters, { ...readings, observations }, emitted);
	});
}

/**
 * Compares what was read with the baselines, moves those of what it gives back, and reports new failures.
 * Nothing in here waits: another poll may have emitted before, none can in between.
 */
function emitChanges(
	context: IPollFunctions,
	parameters: WatchParameters,
	{ observations, failures, unread }: Readings,
	emitted: Map<string, Baseline>,
): INodeExecutionData[][] | null {
	const staticData = context.getWorkflowStaticData('node');
	const state = loadState(staticData);
	const found = findEvents(observations, state.baselines, parameters, emitted);
	const known = keepOnly(state.baselines, parameters.campaignIds);
	for (const { observation } of found) {
		const { campaignId: id, counters, readAt } = observation;
		emitted.set(id, { counters, readAt });
	}
	for (const group of findUnreported(failures, state.reported)) {
		context.__emitError(toApiError(context.getNode(), describeGroup(group)));
	}
	saveState(staticData, state, {
		baselines: found.length === 0 ? known : mergeEmitted(known, emitted),
		reported: { ...keepOnly(state.reported, unread), ...toReported(failures) },
		unread: [...unread],
	});
	return found.length === 0 ? null : toItems(found.map(({ event }) => event));
}
