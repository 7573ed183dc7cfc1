import type { CounterName, Counters, Rates } from '../service/answers';
import { counterNames, toRates } from '../service/answers';
import type { Baseline } from './baseline';
import { zeroCounters } from './baseline';

/** How one counter moved; `by` is negative when the service took something back. */
export interface Change {
	readonly from: number;
	readonly to: number;
	readonly by: number;
}

export type Changes = Partial<Record<CounterName, Change>>;

/** Every watched counter that moved; one that the service does not give can't be compared. */
export function findChanges(
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

/** Whether one of the changes is large enough to be worth an event. */
export function isWorthAnEvent(changes: Changes, minimumChange: number): boolean {
	return Object.values(changes).some(({ by }) => Math.abs(by) >= minimumChange);
}

/** A campaign as a poll saw it. Times are milliseconds since 1970. */
export interface Observation {
	readonly campaignId: string;
	readonly status: string;
	readonly counters: Counters;
	/** When the request left. */
	readonly readAt: number;
	/** When the answer was there. */
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

export interface WatchOptions {
	readonly counters: readonly CounterName[];
	readonly minimumChange: number;
}

/** The event of an observation against a baseline; a campaign without one counts from zero. */
export function toEvent(
	observation: Observation,
	baseline: Baseline | undefined,
	watched: readonly CounterName[],
): CampaignEvent {
	const { campaignId, status, counters, observedAt } = observation;
	return {
		campaignId,
		status,
		counters,
		...toRates(counters),
		changes: findChanges(baseline?.counters ?? zeroCounters, counters, watched),
		firstSeen: baseline === undefined,
		observedAt: new Date(observedAt).toISOString(),
	};
}

/** Whether a newer reading was emitted while this one's poll was under way: polls can overlap. */
function isOvertaken(
	{ readAt }: Observation,
	baseline: Baseline | undefined,
	endedAt: number,
): boolean {
	// A baseline from the future is from a clock that was wrong, and must not hold events back.
	return baseline !== undefined && baseline.readAt > readAt && baseline.readAt <= endedAt;
}

/**
 * The observations that are worth an event, each with its event.
 * @param endedAt when the poll had read all of them, in milliseconds since 1970
 */
export function findEvents(
	observations: readonly Observation[],
	baselines: Readonly<Record<string, Baseline>>,
	{ counters, minimumChange }: WatchOptions,
	endedAt: number,
): Array<{ readonly observation: Observation; readonly event: CampaignEvent }> {
	const baselineOf = ({ campaignId }: Observation) =>
		Object.hasOwn(baselines, campaignId) ? baselines[campaignId] : undefined;
	return observations
		.filter((seen) => !isOvertaken(seen, baselineOf(seen), endedAt))
		.map((observation) => ({
			observation,
			event: toEvent(observation, baselineOf(observation), counters),
		}))
		.filter(({ event }) => isWorthAnEvent(event.changes, minimumChange));
}
