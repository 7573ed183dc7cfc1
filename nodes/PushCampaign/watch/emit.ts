import type { Problem } from '../service/failures';
import type { CampaignEvent, Watched } from './compare';
import { findEvent, moveBaseline } from './compare';
import { findNews } from './failures';
import type { TriggerMemory } from './memory';
import type { Readings } from './readCampaigns';
import type { Store, WatchState } from './state';
import { keepOnly } from './state';

/** What a poll has to tell. */
export interface News {
	readonly events: readonly CampaignEvent[];
	readonly failures: ReadonlyMap<string, Problem>;
}

const isSame = (one: WatchState, other: WatchState) =>
	JSON.stringify(one) === JSON.stringify(other);

/**
 * Compares what a poll read with the baselines, moves those of what it gives back, and finds the failures
 * that are to be told. Waits for nothing: another poll may have emitted before, none can in between.
 * @param poll when it began, by `performance.now()`, and whether it tells of failures at once
 */
export function emitChanges(
	store: Store,
	watched: Watched,
	{ observations, failures, unread }: Readings,
	memory: TriggerMemory,
	{ startedAt, atOnce }: { readonly startedAt: number; readonly atOnce: boolean },
): News {
	const state = memory.stateFor(store, startedAt);
	if (state === undefined) return { events: [], failures: new Map() };
	const baselines = keepOnly(state.baselines, watched.campaignIds);
	const events: CampaignEvent[] = [];
	for (const observation of observations) {
		const { campaignId: id, readAt, counters } = observation;
		const baseline = Object.hasOwn(baselines, id) ? baselines[id] : undefined;
		const event = findEvent(observation, baseline, watched);
		if (event === undefined || memory.isOvertaken(id, readAt)) continue;
		events.push(event);
		baselines[id] = moveBaseline(baseline, counters);
		memory.noteEmitted(id, readAt);
	}
	const { failing, news } = findNews(failures, state.failing, atOnce);
	const after = {
		...state,
		baselines,
		// Of what was not reached nothing new is known.
		failing: { ...keepOnly(state.failing, unread), ...failing },
		unread: [...unread],
	};
	if (!isSame(state, after)) memory.save(store, after, events.length > 0);
	return { events, failures: news };
}
