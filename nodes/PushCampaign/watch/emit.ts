import type { Problem } from '../service/failures';
import type { CampaignEvent, Watched } from './compare';
import { findEvent, moveBaseline } from './compare';
import { findNews } from './failures';
import type { Poll, TriggerMemory } from './memory';
import type { Readings } from './readCampaigns';

/** What a poll has to tell. */
export interface News {
	readonly events: readonly CampaignEvent[];
	readonly failures: ReadonlyMap<string, Problem>;
}

/**
 * Compares what a poll read with the baselines, moves those of what it gives back, and finds the failures
 * that are to be told. Waits for nothing: another poll may have emitted before, none can in between.
 */
export function emitChanges(
	poll: Poll,
	watched: Watched,
	readings: Readings,
	memory: TriggerMemory,
): News {
	const state = memory.stateFor(poll);
	if (state === undefined) return { events: [], failures: new Map() };
	const saved = Object.entries(state.baselines);
	for (const [id] of saved) if (!watched.campaignIds.includes(id)) memory.forgotten.add(id);
	const baselines = new Map(saved.filter(([id]) => !memory.forgotten.has(id)));
	const events: CampaignEvent[] = [];
	for (const observation of readings.observations) {
		const { campaignId, counters } = observation;
		const baseline = baselines.get(campaignId);
		const event = findEvent(observation, baseline, watched);
		if (event === undefined) continue;
		events.push(event);
		baselines.set(campaignId, moveBaseline(baseline, counters));
		memory.forgotten.delete(campaignId);
	}
	if (events.length > 0) {
		memory.save(poll.store, { ...state, baselines: Object.fromEntries(baselines) });
	}
	const { failing, news } = findNews(readings, memory.failing, poll.isPublication);
	memory.failing = failing;
	memory.unread = readings.unread;
	memory.isWatching = true;
	return { events, failures: news };
}
