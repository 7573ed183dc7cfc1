import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { Counters } from '../service/answers';

/** A campaign, or the site, as the service shows it at one moment. */
export interface Reading {
	readonly id: string;
	/** Null for the site, which has no status. */
	readonly status: string | null;
	/** In the order of the item. */
	readonly counters: Counters;
	/** What the item begins with, in front of what changed. */
	readonly head: Readonly<IDataObject>;
	/** What follows it. */
	readonly numbers: Readonly<IDataObject>;
	/** When the answer arrived, in milliseconds since 1970. */
	readonly observedAt: number;
}

/** Starts the workflow when something watched moved since the last event. */
interface ChangedRule {
	readonly startsOn: 'change';
	/** Names of counters, and perhaps `status`. */
	readonly watched: readonly string[];
	/** By how much one of the counters has to change. Any change of the status is enough. */
	readonly minimumChange: number;
}

/** Starts the workflow once, when a counter reaches a number. */
interface ReachedRule {
	readonly startsOn: 'reach';
	readonly counter: string;
	readonly number: number;
}

export type Rule = ChangedRule | ReachedRule;

/**
 * What was emitted of a campaign or the site. It moves with an emission and with nothing else, and an emission moves all
 * of it: an item shows all numbers. What the service does not give keeps its older value.
 */
export const baselineSchema = z.object({
	id: z.string(),
	status: z.string().nullable(),
	counters: z.record(z.string(), z.number()),
	/** Of each counter, the highest number whose reaching was emitted. */
	reached: z.record(z.string(), z.number()),
});
type Baseline = Readonly<z.infer<typeof baselineSchema>>;

/** By ID. */
export type Baselines = ReadonlyMap<string, Baseline>;

type Change =
	| { readonly from: string | null; readonly to: string }
	| { readonly from: number; readonly to: number; readonly by: number };

/** By the name of the counter, or `status`. */
type Changes = Readonly<Record<string, Change>>;

/** What was never emitted counts from zero. */
const nothing = (id: string): Baseline => ({ id, status: null, counters: {}, reached: {} });

/** Everything watched that moved, also by less than the minimum. What the service does not give is not compared. */
function findChanges({ status, counters }: Reading, before: Baseline, rule: Rule): Changes {
	const watched = rule.startsOn === 'change' ? rule.watched : [rule.counter];
	const changes: Record<string, Change> = {};
	if (watched.includes('status') && status !== null && status !== before.status) {
		changes['status'] = { from: before.status, to: status };
	}
	for (const [name, to] of Object.entries(counters)) {
		const from = before.counters[name] ?? 0;
		if (!watched.includes(name) || to === null || to === from) continue;
		changes[name] = { from, to, by: to - from };
	}
	return changes;
}

function startsWorkflow(now: Reading, changes: Changes, before: Baseline, rule: Rule): boolean {
	if (rule.startsOn === 'reach') {
		const { counter, number } = rule;
		return (now.counters[counter] ?? 0) >= number && (before.reached[counter] ?? 0) < number;
	}
	return Object.values(changes).some(
		(change) => !('by' in change) || Math.abs(change.by) >= rule.minimumChange,
	);
}

function moveBaseline(before: Baseline, { status, counters }: Reading, rule: Rule): Baseline {
	const moved = { ...before.counters };
	for (const [name, value] of Object.entries(counters)) {
		if (value !== null) moved[name] = value;
	}
	const baseline = { ...before, status: status ?? before.status, counters: moved };
	if (rule.startsOn === 'change') return baseline;
	return { ...baseline, reached: { ...before.reached, [rule.counter]: rule.number } };
}

const toItem = ({ head, numbers, observedAt }: Reading, changes: Changes, firstSeen: boolean) => ({
	...head,
	// Where a table shows them at once.
	changes,
	firstSeen,
	...numbers,
	observedAt: new Date(observedAt).toISOString(),
});

/** The item that shows the present state, as if it were seen for the first time. */
export function presentItem(reading: Reading, rule: Rule): IDataObject {
	return toItem(reading, findChanges(reading, nothing(reading.id), rule), true);
}

/** Compares what was read with what was emitted. */
export function compare(
	readings: readonly Reading[],
	before: Baselines,
	rule: Rule,
): { readonly items: IDataObject[]; readonly baselines: Baselines } {
	const items: IDataObject[] = [];
	const baselines = new Map(before);
	for (const reading of readings) {
		const { id } = reading;
		const baseline = before.get(id) ?? nothing(id);
		const changes = findChanges(reading, baseline, rule);
		if (!startsWorkflow(reading, changes, baseline, rule)) continue;
		items.push(toItem(reading, changes, !before.has(id)));
		baselines.set(id, moveBaseline(baseline, reading, rule));
	}
	return { items, baselines };
}
