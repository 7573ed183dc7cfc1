import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { Counters } from '../service/answers';

const counters = z.object({
	totalAttempts: z.number(),
	successfullySent: z.number(),
	failedToSend: z.number(),
	delivered: z.number(),
	clicked: z.number(),
	closed: z.number(),
});

/** What was last emitted of a campaign, and when its reading had begun (milliseconds since 1970). */
export interface Baseline {
	readonly counters: Counters;
	readonly readAt: number;
}

const watchState = z.object({
	baselines: z.record(z.string(), z.object({ counters, readAt: z.number() })).catch({}),
	/** Campaigns whose failure was reported, with what was reported. */
	reported: z.record(z.string(), z.string()).catch({}),
	/** Campaigns that were not reached in time, to be read first. */
	unread: z.array(z.string()).catch([]),
});

/** What the trigger remembers from poll to poll. */
export type WatchState = z.infer<typeof watchState>;

/** Reads the trigger's memory from n8n's static data of the node. */
export function loadState(staticData: IDataObject): WatchState {
	return watchState.parse({ baselines: {}, reported: {}, unread: [], ...staticData });
}

/**
 * Writes what changed of the trigger's memory. Whole values under the first level: n8n does not notice
 * what changes below it, and would not save it.
 */
export function saveState(staticData: IDataObject, before: WatchState, after: WatchState): void {
	for (const key of ['baselines', 'reported', 'unread'] as const) {
		if (JSON.stringify(before[key]) !== JSON.stringify(after[key])) {
			staticData[key] = structuredClone(after[key]);
		}
	}
}

/** Keeps of a record only what belongs to the given campaigns. */
export function keepOnly<Value>(
	record: Readonly<Record<string, Value>>,
	campaignIds: readonly string[],
): Record<string, Value> {
	return Object.fromEntries(Object.entries(record).filter(([id]) => campaignIds.includes(id)));
}
