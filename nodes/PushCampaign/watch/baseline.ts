import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { CounterName, Counters } from '../service/answers';
import { mapCounters } from '../service/answers';

const counters = z.object(mapCounters(() => z.number()));

/** What was last emitted of a campaign, and when its reading had begun (milliseconds since 1970). */
export interface Baseline {
	readonly counters: Readonly<Record<CounterName, number>>;
	readonly readAt: number;
}

/** The counters of a campaign that was never emitted. */
export const zeroCounters: Baseline['counters'] = Object.freeze(mapCounters(() => 0));

/** The baseline after an emission. A counter that the service does not give keeps its place. */
export function moveBaseline(
	before: Baseline | undefined,
	{ counters: now, readAt }: { readonly counters: Counters; readonly readAt: number },
): Baseline {
	const { counters } = before ?? { counters: zeroCounters };
	return { counters: mapCounters((name) => now[name] ?? counters[name]), readAt };
}

const watchState = z.object({
	baselines: z.record(z.string(), z.object({ counters, readAt: z.number() })).catch({}),
	/** Campaigns whose failure was reported, with what was reported. */
	reported: z.record(z.string(), z.string()).catch({}),
	/** Campaigns that were not reached in time, to be read first. */
	unread: z.array(z.string()).catch([]),
	/** By process, the last of its writes that the state contains. */
	version: z.record(z.string(), z.number()).catch({}),
});

/** What the trigger remembers from poll to poll. */
export type WatchState = z.infer<typeof watchState>;

/** Which writes of which processes a state contains (a version vector). */
export type Version = WatchState['version'];

/** Reads the trigger's memory from n8n's static data of the node. */
export function loadState(staticData: IDataObject): WatchState {
	return watchState.parse({ baselines: {}, reported: {}, unread: [], version: {}, ...staticData });
}

const stateKeys = ['baselines', 'reported', 'unread', 'version'] as const;

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Whether two states differ. */
export function hasChanged(before: WatchState, after: WatchState): boolean {
	return stateKeys.some((key) => !isSame(before[key], after[key]));
}

/**
 * Writes what changed of the trigger's memory. Whole values under the first level: n8n does not notice
 * what changes below it, and would not save it.
 */
export function saveState(staticData: IDataObject, before: WatchState, after: WatchState): void {
	for (const key of stateKeys) {
		if (!isSame(before[key], after[key])) staticData[key] = structuredClone(after[key]);
	}
}

/**
 * Whether n8n handed out a copy that it saves when the poll is over, as its durable engine does, and not
 * the data itself, which watches for changes so that n8n knows what to save.
 */
export function isCopy(staticData: IDataObject): boolean {
	return !('__dataChanged' in staticData);
}

/** Keeps of a record only what belongs to the given campaigns. */
export function keepOnly<Value>(
	record: Readonly<Record<string, Value>>,
	campaignIds: readonly string[],
): Record<string, Value> {
	return Object.fromEntries(Object.entries(record).filter(([id]) => campaignIds.includes(id)));
}
