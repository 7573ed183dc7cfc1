import { randomUUID } from 'crypto';
import type { INodeExecutionData, IPollFunctions, NodeParameterValueType } from 'n8n-workflow';
import { z } from 'zod/v3';

import { Limiter } from '../delivery/limiter';
import type { RunOptions } from '../delivery/runJobs';
import { parseIdList } from '../operations/idList';
import { check, invalid, isBlank, toRecord } from '../operations/parameters';
import { counterNames } from '../service/answers';
import { campaignId } from '../service/schemas';
import { isCopy, loadState } from '../watch/baseline';
import type { CampaignEvent } from '../watch/compare';
import { toEvent } from '../watch/compare';
import type { Watched } from '../watch/emit';
import { emitChanges } from '../watch/emit';
import type { Readings } from '../watch/readCampaigns';
import { readCampaigns } from '../watch/readCampaigns';
import { RecentEmissions } from '../watch/recentEmissions';
import { describeGroup, findUnreported } from '../watch/reportedFailures';
import { catchInvalid, toApiError, toOperationError } from './errors';
import { unreadable } from './parameterReader';
import { sleep } from './sleep';
import { connect } from './transport';

const maxParallel = 100;
/** How much of n8n's budget goes into reading: the rest is for comparing and emitting. */
const budgetShare = 0.8;
/**
 * Where n8n gives no budget, in milliseconds. n8n 2 gives as much in its classic engine; in its durable
 * one 36 s, and abandons a poll after 45 s with all that it read.
 */
const defaultBudgetMs = 5 * 60_000;

const counterList = z.array(z.enum(counterNames)).min(1);
const wholeNumber = z.number().int().min(1);

const isEmpty = (chosen: unknown) =>
	isBlank(chosen) || (Array.isArray(chosen) && chosen.length === 0);

function readParameters(context: IPollFunctions): Watched {
	const get = (name: string, displayName: string, fallback: NodeParameterValueType): unknown => {
		try {
			return context.getNodeParameter(name, fallback);
		} catch (error) {
			throw unreadable(displayName, error);
		}
	};
	const listed = parseIdList(get('campaignIds', 'Campaign IDs', ''), 'Campaign IDs');
	const campaignIds = [...new Set(listed.map((id) => check(campaignId, id, 'Campaign IDs')))];
	if (campaignIds.length === 0) {
		throw invalid('Campaign IDs', 'is missing', 'Give at least one campaign ID.');
	}
	// An object, such as n8n's static data, holds nothing of its own under this name.
	if (campaignIds.includes('__proto__')) {
		throw invalid('Campaign IDs', 'holds __proto__, which no baseline can be kept for');
	}
	const chosen = get('counters', 'Counters', [...counterNames]);
	const counters = counterList.safeParse(chosen);
	if (!counters.success) {
		if (isEmpty(chosen)) throw invalid('Counters', 'is empty', 'Choose at least one counter.');
		throw invalid('Counters', 'is not a selection from the list', 'Choose at least one counter.');
	}
	const options = toRecord(get('options', 'Options', {}), 'Options');
	const minimumChange = wholeNumber.safeParse(options['minimumChange'] ?? 1);
	if (!minimumChange.success) throw invalid('Minimum Change', 'is not a whole number from 1');
	return { campaignIds, counters: counters.data, minimumChange: minimumChange.data };
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

/** Triggers whose last poll went well: the next may start fast. */
const unhindered = new Set<string>();

async function read(
	context: IPollFunctions,
	campaignIds: readonly string[],
	trigger: string,
): Promise<Readings> {
	const budgetMs = (hasBudget(context) ? context.getPollBudgetMs() : defaultBudgetMs) * budgetShare;
	const signal = AbortSignal.timeout(Math.max(1, Math.floor(budgetMs)));
	const limiter = new Limiter({
		ceiling: maxParallel,
		now: () => performance.now(),
		sleep,
		random: Math.random,
		startsFast: unhindered.has(trigger),
	});
	const options: RunOptions = {
		limiter,
		stopOnFailure: false,
		// A poll has no time for that.
		waitsAlone: false,
		sleep,
		random: Math.random,
		signal,
	};
	const { value: connection, invalid: fault } = await connect(context, signal);
	if (connection === undefined) throw toOperationError(context.getNode(), fault);
	const time = { budgetMs, signal };
	const readings = await readCampaigns(campaignIds, connection.client, time, options);
	if (limiter.wasRefused || readings.failures.size > 0) unhindered.delete(trigger);
	else unhindered.add(trigger);
	return readings;
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
	return await recentEmissions.during(trigger, async (memory) => {
		const readings = await read(context, ordered, trigger);
		const error = failureError(context, readings);
		if (error !== undefined && (isStrict || readings.observations.length === 0)) throw error;
		const observations = [...readings.observations].sort(
			(one, other) => campaignIds.indexOf(one.campaignId) - campaignIds.indexOf(other.campaignId),
		);
		if (context.getMode() === 'manual') {
			return toItems(observations.map((seen) => toEvent(seen, undefined, parameters.counters)));
		}
		const staticData = context.getWorkflowStaticData('node');
		const news = emitChanges(staticData, parameters, { ...readings, observations }, memory);
		for (const group of news.failures) {
			context.__emitError(toApiError(context.getNode(), describeGroup(group)));
		}
		return news.events.length === 0 ? null : toItems(news.events);
	});
}
