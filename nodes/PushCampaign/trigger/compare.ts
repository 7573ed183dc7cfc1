import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { Counters } from '../service/answers';

/** A campaign, or the site, as the service shows it at one moment. */
export interface Reading {
	readonly id: string;
	/** Null if the service gives none. The site has no status, and its item no field for one. */
	readonly status?: string | null;
	/** In the order of the item. */
	readonly counters: Counters;
	/** What follows the counters. */
	readonly rates: Counters;
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
/** Of what was never emitted there is none: it counts from zero. */
type Baseline = Readonly<z.infer<typeof baselineSchema>> | undefined;

/** By ID. */
export type Baselines = ReadonlyMap<string, NonNullable<Baseline>>;

const isWatched = (name: string, rule: Rule) =>
	rule.startsOn === 'change' ? rule.watched.includes(name) : rule.counter === name;

/** By how much a counter has moved since the last event; null if it is not watched, or not known. */
function moveOf(name: string, now: number | null, before: Baseline, rule: Rule): number | null {
	if (now === null || !isWatched(name, rule)) return null;
	return now - (before?.counters[name] ?? 0);
}

function hasChanged({ status, counters }: Reading, before: Baseline, rule: ChangedRule): boolean {
	const isNewStatus = typeof status === 'string' && status !== before?.status;
	if (isNewStatus && isWatched('status', rule)) return true;
	return Object.entries(counters).some(
		([name, now]) => Math.abs(moveOf(name, now, before, rule) ?? 0) >= rule.minimumChange,
	);
}

function hasReached({ counters }: Reading, before: Baseline, { counter, number }: ReachedRule) {
	return (counters[counter] ?? 0) >= number && (before?.reached[counter] ?? 0) < number;
}

function moveBaseline(before: Baseline, { id, status, counters }: Reading, rule: Rule) {
	const moved = { ...before?.counters };
	for (const [name, value] of Object.entries(counters)) {
		if (value !== null) moved[name] = value;
	}
	const reached = { ...before?.reached };
	if (rule.startsOn === 'reach') reached[rule.counter] = rule.number;
	return { id, status: status ?? before?.status ?? null, counters: moved, reached };
}

/** A flat item of always the same fields, so that a table takes it as it is. */
function toItem(reading: Reading, before: Baseline, rule: Rule): IDataObject {
	const { id, status, counters, rates, observedAt } = reading;
	const item: IDataObject = {};
	if (status !== undefined) {
		item['campaignId'] = id;
		item['status'] = status;
		item['statusBefore'] = isWatched('status', rule) ? (before?.status ?? null) : null;
	}
	item['firstSeen'] = before === undefined;
	for (const [name, now] of Object.entries(counters)) {
		item[name] = now;
		item[`${name}By`] = moveOf(name, now, before, rule);
	}
	return { ...item, ...rates, observedAt: new Date(observedAt).toISOString() };
}

/** The item that shows the present state, as if it were seen for the first time. */
export const presentItem = (reading: Reading, rule: Rule): IDataObject =>
	toItem(reading, undefined, rule);

/** Compares what was read with what was emitted. */
export function compare(
	readings: readonly Reading[],
	before: Baselines,
	rule: Rule,
): { readonly items: IDataObject[]; readonly baselines: Baselines } {
	const items: IDataObject[] = [];
	const baselines = new Map(before);
	for (const reading of readings) {
		const baseline = before.get(reading.id);
		const starts =
			rule.startsOn === 'change'
				? hasChanged(reading, baseline, rule)
				: hasReached(reading, baseline, rule);
		if (!starts) continue;
		items.push(toItem(reading, baseline, rule));
		baselines.set(reading.id, moveBaseline(baseline, reading, rule));
	}
	return { items, baselines };
}
