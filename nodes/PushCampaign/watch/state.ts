import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

import { mapCounters, toPlainId } from '../service/answers';

const counts = z.object(mapCounters(() => z.number()));

const baseline = z.object({
	counters: counts,
	/** Of each counter that fell, the most that was emitted. */
	highest: counts.partial().default({}),
});

/** What was last emitted of a campaign. */
export type Baseline = Readonly<z.infer<typeof baseline>>;

/** By campaign ID. IDs that differ in leading zeros alone are one campaign. */
const baselines = z
	.record(baseline)
	.transform((all) =>
		Object.fromEntries(Object.entries(all).map(([id, each]) => [toPlainId(id), each])),
	);

/** A campaign that could not be read: the reason of the last poll, and the one that was told. */
const failing = z.object({ last: z.string(), told: z.string().optional() });

const watchState = z.object({
	/** Grows with each state that n8n is given to save. */
	revision: z.number().catch(0),
	baselines: baselines.catch({}),
	failing: z.record(failing).catch({}),
	/** Campaigns that are read first the next time. */
	unread: z.array(z.string()).catch([]),
});

/** What a trigger remembers from poll to poll. */
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
const statesById = z.record(z.record(z.unknown())).catch({});
/** Triggers that are gone leave theirs behind: the ones that were written last are kept. */
const mostStates = 100;

/**
 * Reads a trigger's state. What is kept under the node's ID comes first: a name can be another trigger's
 * by now. The durable engine's own copy goes by the ID anyway, and only it is up to date there.
 */
export function loadState({ nodeId, node, global, isCursor }: Store): WatchState {
	const kept = statesById.parse(global[ourStates])[nodeId];
	return watchState.parse(isCursor && 'baselines' in node ? node : (kept ?? node));
}

/**
 * Writes a trigger's state. Whole values under the first level: n8n does not notice what changes below it.
 * @param all states of the workflow's triggers, by node ID, as this process knows them. n8n can have
 * several copies of a workflow's data, from when it activated one trigger and another, and the one that it
 * saves last replaces all
 */
export function saveState(
	{ nodeId, node, global, isCursor }: Store,
	state: WatchState,
	all: ReadonlyMap<string, WatchState>,
): void {
	Object.assign(node, structuredClone(state));
	if (isCursor) return;
	const states = new Map<string, object>(Object.entries(statesById.parse(global[ourStates])));
	for (const [id, known] of all) {
		const { revision } = watchState.parse(states.get(id) ?? {});
		if (known.revision > revision) states.set(id, structuredClone(known));
	}
	// Written last, also where it was there before.
	states.delete(nodeId);
	states.set(nodeId, structuredClone(state));
	global[ourStates] = Object.fromEntries([...states].slice(-mostStates));
}

/** Keeps of a record only what belongs to the given campaigns. */
export function keepOnly<Value>(
	record: Readonly<Record<string, Value>>,
	campaignIds: readonly string[],
): Record<string, Value> {
	return Object.fromEntries(Object.entries(record).filter(([id]) => campaignIds.includes(id)));
}
