import type { CounterName, Counters } from '../service/answers';
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

/** A campaign as a poll saw it. */
export interface Observation {
	readonly campaignId: string;
	readonly status: string;
	readonly counters: Counters;
	/** When the answer was there, in milliseconds since 1970. */
	readonly observedAt: number;
}

/** How counters moved; `by` is negative when the service took something back. */
type Changes = Partial<Record<CounterName, { from: number; to: number; by: number }>>;

/** Of a campaign that was never emitted: it counts from zero. */
const zero: Baseline = { counters: mapCounters(() => 0), highest: mapCounters(() => 0) };

/** The baseline after an emission. A counter that the service does not give keeps its place. */
export function moveBaseline(before: Baseline = zero, now: Counters): Baseline {
	const counters = mapCounters((name) => now[name] ?? before.counters[name]);
	const highest = mapCounters((name) => Math.max(before.highest[name], counters[name]));
	return { counters, highest };
}

/** The event of an observation against a baseline, with every watched counter that moved. */
export function toEvent(
	{ campaignId, status, counters, observedAt }: Observation,
	baseline: Baseline | undefined,
	watched: readonly CounterName[],
) {
	const changes: Changes = {};
	for (const name of counterNames) {
		const from = (baseline ?? zero).counters[name];
		const to = counters[name];
		// One that the service does not give can't be compared.
		if (!watched.includes(name) || to === null || to === from) continue;
		changes[name] = { from, to, by: to - from };
	}
	return {
		campaignId,
		status,
		counters,
		...toRates(counters),
		changes,
		firstSeen: baseline === undefined,
		observedAt: new Date(observedAt).toISOString(),
	};
}

/** What the trigger emits for a campaign. */
export type CampaignEvent = Readonly<ReturnType<typeof toEvent>>;

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
