import type { IDataObject } from 'n8n-workflow';

import { hasChanged, isCopy, keepOnly, loadState, moveBaseline, saveState } from './baseline';
import type { CampaignEvent, WatchOptions } from './compare';
import { findEvents } from './compare';
import type { Readings } from './readCampaigns';
import type { PollMemory } from './recentEmissions';
import type { FailureGroup } from './reportedFailures';
import { findUnreported, toReported } from './reportedFailures';

/** Which campaigns a trigger watches, and how. */
export interface Watched extends WatchOptions {
	readonly campaignIds: readonly string[];
}

/** What a poll has to tell. */
export interface News {
	readonly events: readonly CampaignEvent[];
	readonly failures: readonly FailureGroup[];
}

/**
 * Compares what a poll read with the baselines, moves in the static data those of what it gives back, and
 * finds the failures that were not reported yet. Waits for nothing: another poll may have emitted before,
 * none can in between.
 */
export function emitChanges(
	staticData: IDataObject,
	watched: Watched,
	{ observations, failures, crowdedOut, unread, endedAt }: Readings,
	memory: PollMemory,
): News {
	const state = loadState(staticData);
	const isCursor = isCopy(staticData);
	if (isCursor && memory.isBehind(state.version)) return { events: [], failures: [] };

	const found = findEvents(observations, state.baselines, watched, endedAt);
	const baselines = keepOnly(state.baselines, watched.campaignIds);
	for (const { observation } of found) {
		const { campaignId: id } = observation;
		const before = Object.hasOwn(baselines, id) ? baselines[id] : undefined;
		baselines[id] = moveBaseline(before, observation);
	}
	// Crowded out once is no news: it is read first the next time. Twice in a row is.
	const isPutOff = (id: string) => crowdedOut.has(id) && !state.unread.includes(id);
	const told = new Map([...failures].filter(([id]) => !isPutOff(id)));
	const notRead = [...unread, ...[...crowdedOut].filter(isPutOff)];
	const reported = (isCursor ? memory.reportedSince(state.version) : undefined) ?? state.reported;
	const after = {
		baselines,
		reported: { ...keepOnly(reported, notRead), ...toReported(told, reported) },
		unread: notRead,
		version: state.version,
	};
	if (hasChanged(state, after)) {
		const version = isCursor ? memory.note(after, found.length > 0) : state.version;
		saveState(staticData, state, { ...after, version });
	}
	return {
		events: found.map(({ event }) => event),
		failures: findUnreported(told, reported),
	};
}
