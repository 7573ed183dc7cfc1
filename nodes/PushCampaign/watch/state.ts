import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

import { mapCounters } from '../service/answers';

const counts = z.object(mapCounters(() => z.number()));

/** Earlier versions of this package saved `highest` of no counter, or of those alone that fell. */
const baseline = z
	.object({ counters: counts, highest: counts.partial().default({}) })
	.transform(({ counters, highest }) => ({
		/** What was emitted last. */
		counters,
		/** The most that was ever emitted. */
		highest: mapCounters((name) => highest[name] ?? counters[name]),
	}));

/** What was emitted of a campaign. */
export type Baseline = Readonly<z.infer<typeof baseline>>;

const watchState = z.object({
	/** Tells which of two states is newer. */
	revision: z.number().default(0),
	/** By campaign ID. */
	baselines: z.record(baseline),
});

/** What n8n saves of a trigger. */
export type WatchState = Readonly<z.infer<typeof watchState>>;

/** Where n8n keeps a trigger's state. */
export interface Store {
	readonly nodeId: string;
	/** The node's static data. The classic engine keeps it under the node's name, the durable one under its ID. */
	readonly node: IDataObject;
	/** The workflow's static data, which the classic engine saves in the same write. */
	readonly global: IDataObject;
	/** Whether `node` is a copy that the durable engine saves when the poll is over. */
	readonly isCursor: boolean;
}

/** Of the workflow's static data this alone is ours: the triggers' states, by node ID. */
const ourStates = 'n8n-nodes-push-campaign.pushCampaignTrigger';
const statesById = z.record(watchState).catch({});
/** Triggers that are gone leave theirs behind: the ones that were written last are kept. */
const mostStates = 100;

/**
 * Reads a trigger's state. In the classic engine, what is kept under the node's ID comes first: a name can
 * be another trigger's by now. The durable engine's own copy goes by the ID anyway; where it has none yet,
 * n8n was switched to it, and what the classic one kept counts.
 */
export function loadState({ nodeId, node, global, isCursor }: Store): WatchState {
	const kept = statesById.parse(global[ourStates])[nodeId];
	const own = watchState.safeParse(node).data;
	return (isCursor ? (own ?? kept) : (kept ?? own)) ?? { revision: 0, baselines: {} };
}

/**
 * Writes a trigger's state. Whole values under the first level: n8n does not notice what changes below it.
 * @param stores where the workflow's triggers keep theirs in this process. n8n can have several copies of a
 * workflow's data, from when it activated one trigger and another, and the one that it saves last replaces all
 */
export function saveState(
	{ nodeId, node, global, isCursor }: Store,
	state: WatchState,
	stores: readonly Store[],
): void {
	Object.assign(node, structuredClone(state));
	if (isCursor) return;
	const states = new Map(Object.entries(statesById.parse(global[ourStates])));
	for (const store of stores) {
		const each = loadState(store);
		if (each.revision > (states.get(store.nodeId)?.revision ?? 0)) states.set(store.nodeId, each);
	}
	// Written last, also where it was there before.
	states.delete(nodeId);
	states.set(nodeId, state);
	global[ourStates] = structuredClone(Object.fromEntries([...states].slice(-mostStates)));
}
