import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { Snapshot } from './subjects';
import type { TriggerRule } from './watched';

/** A reading of one campaign, or of the site. */
export interface Observation extends Snapshot {
	readonly id: string;
	/** When the answer arrived, in milliseconds since 1970. */
	readonly observedAt: number;
}

/** What was emitted of a campaign or the site. It moves only together with an emission. */
export const baselineSchema = z.object({
	/** The counter in the last event. A counter that the service did not give keeps its older value. */
	counters: z.record(z.number()),
	/**
	 * The highest value that an event about a reached counter has reported of it: one that falls and rises
	 * again reaches nothing twice.
	 */
	reached: z.record(z.number()),
	/** The status in the last event. A status that the service did not give keeps its older value. */
	status: z.string().nullable(),
});
export type Baseline = Readonly<z.infer<typeof baselineSchema>>;

/** By ID. */
export type Baselines = ReadonlyMap<string, Baseline>;

/** What was never emitted counts from zero. */
const nothing: Baseline = { counters: {}, reached: {}, status: null };

function moveBaseline(
	before: Baseline,
	{ counters, status }: Snapshot,
	rule: TriggerRule,
): Baseline {
	const moved: Baseline = {
		counters: { ...before.counters },
		reached: { ...before.reached },
		status: status ?? before.status,
	};
	for (const [name, value] of Object.entries(counters)) {
		if (value !== null) moved.counters[name] = value;
	}
	if (rule.startsOn === 'reach') {
		moved.reached[rule.counter] = Math.max(
			counters[rule.counter] ?? 0,
			before.reached[rule.counter] ?? 0,
		);
	}
	return moved;
}

/** How the status moved, or a counter; `by` is negative if the service took something back. */
type Change =
	| { readonly from: string | null; readonly to: string }
	| { readonly from: number; readonly to: number; readonly by: number };

/** By the name of the counter, or `status`. */
type Changes = Readonly<Record<string, Change>>;

/**
 * Finds everything watched that moved, also what moved by less than the minimum. What the service does not give can't
 * be compared.
 */
function findChanges({ status, counters }: Snapshot, before: Baseline, rule: TriggerRule): Changes {
	const changes: Record<string, Change> = {};
	const isStatusWatched = rule.startsOn === 'change' && rule.isStatusWatched;
	if (isStatusWatched && status !== null && status !== before.status) {
		changes['status'] = { from: before.status, to: status };
	}
	const watched = rule.startsOn === 'change' ? rule.counters : [rule.counter];
	for (const [name, to] of Object.entries(counters)) {
		const from = before.counters[name] ?? 0;
		if (!watched.includes(name) || to === null || to === from) continue;
		changes[name] = { from, to, by: to - from };
	}
	return changes;
}

function startsWorkflow(
	{ counters }: Snapshot,
	changes: Changes,
	before: Baseline,
	rule: TriggerRule,
): boolean {
	if (rule.startsOn === 'reach') {
		const value = counters[rule.counter] ?? 0;
		const reached = before.reached[rule.counter] ?? 0;
		return value >= rule.target && reached < rule.target;
	}
	// Any change of the status is enough.
	return Object.values(changes).some(
		(change) => !('by' in change) || Math.abs(change.by) >= rule.minimumChange,
	);
}

const toItem = ({ fields, observedAt }: Observation, changes: Changes, isFirst: boolean) => ({
	...fields,
	changes,
	firstSeen: isFirst,
	observedAt: new Date(observedAt).toISOString(),
});

/** The item that shows the present state, as if it were seen for the first time. */
export function toPresentItem(observation: Observation, rule: TriggerRule): IDataObject {
	return toItem(observation, findChanges(observation, nothing, rule), true);
}

/** An item to emit, and the ID that it is about. */
export interface Emission {
	readonly id: string;
	readonly item: IDataObject;
}

/**
 * Compares what was read with the baselines.
 * @returns an emission for each observation that starts the workflow, and the baselines after them
 */
export function findEmissions(
	observations: readonly Observation[],
	before: Baselines,
	rule: TriggerRule,
) {
	const emissions: Emission[] = [];
	const baselines = new Map(before);
	for (const observation of observations) {
		const { id } = observation;
		const baseline = before.get(id) ?? nothing;
		const changes = findChanges(observation, baseline, rule);
		if (!startsWorkflow(observation, changes, baseline, rule)) continue;
		emissions.push({ id, item: toItem(observation, changes, !before.has(id)) });
		baselines.set(id, moveBaseline(baseline, observation, rule));
	}
	return { emissions, baselines };
}
