import type { CounterName, Counters, Rates } from '../service/answers';
import { counterNames, mapCounters, toRates } from '../service/answers';
import type { Baseline } from './state';

/** Which campaigns a trigger watches, and how. */
export interface Watched {
	readonly campaignIds: readonly string[];
	readonly counters: readonly CounterName[];
	/** How far one of the counters has to move for an event. */
	readonly minimumChange: number;
	/** Where it is given, it is not how far a counter moves that counts, but that it comes up to this. */
	readonly reaches?: number | undefined;
}

/** How one counter moved; `by` is negative when the service took something back. */
export interface Change {
	readonly from: number;
	readonly to: number;
	readonly by: number;
}

export type Changes = Partial<Record<CounterName, Change>>;

/** A campaign as a poll saw it. */
export interface Observation {
	readonly campaignId: string;
	readonly status: string;
	readonly counters: Counters;
	/** When the answer was there, in milliseconds since 1970. */
	readonly observedAt: number;
}

/** What the trigger emits for a campaign. */
export interface CampaignEvent extends Rates {
	readonly campaignId: string;
	readonly status: string;
	readonly counters: Counters;
	readonly changes: Changes;
	readonly firstSeen: boolean;
	/** ISO 8601, UTC. */
	readonly observedAt: string;
}

const zeros = mapCounters(() => 0);
/** Of a campaign that was never emitted: it counts from zero. */
const zero: Baseline = { counters: zeros, highest: zeros };

/** The baseline after an emission. A counter that the service does not give keeps its place. */
export function moveBaseline(before: Baseline = zero, now: Counters): Baseline {
	const counters = mapCounters((name) => now[name] ?? before.counters[name]);
	const highest = mapCounters((name) => Math.max(before.highest[name], counters[name]));
	return { counters, highest };
}

/** Every watched counter that moved; one that the service does not give can't be compared. */
function findChanges(
	from: Baseline['counters'],
	to: Counters,
	watched: readonly CounterName[],
): Changes {
	const changes: Changes = {};
	for (const name of counterNames) {
		const now = to[name];
		if (!watched.includes(name) || now === null || now === from[name]) continue;
		changes[name] = { from: from[name], to: now, by: now - from[name] };
	}
	return changes;
}

/** The event of an observation against a baseline. */
export function toEvent(
	{ campaignId, status, counters, observedAt }: Observation,
	baseline: Baseline | undefined,
	watched: readonly CounterName[],
): CampaignEvent {
	return {
		campaignId,
		status,
		counters,
		...toRates(counters),
		changes: findChanges((baseline ?? zero).counters, counters, watched),
		firstSeen: baseline === undefined,
		observedAt: new Date(observedAt).toISOString(),
	};
}

/**
 * The event of an observation, where one of its changes is worth it. A counter comes up to a number once:
 * one that falls and rises again has been there.
 */
export function findEvent(
	observation: Observation,
	baseline: Baseline | undefined,
	{ counters, minimumChange, reaches }: Watched,
): CampaignEvent | undefined {
	const event = toEvent(observation, baseline, counters);
	const { highest } = baseline ?? zero;
	const isWorthIt = counterNames.some((name) => {
		const change = event.changes[name];
		if (change === undefined) return false;
		if (reaches === undefined) return Math.abs(change.by) >= minimumChange;
		return highest[name] < reaches && change.to >= reaches;
	});
	return isWorthIt ? event : undefined;
}
