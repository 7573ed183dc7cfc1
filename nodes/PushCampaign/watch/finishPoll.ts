import type { IDataObject } from 'n8n-workflow';

import type { Problem } from '../service/failures';
import type { Baselines } from './compare';
import { findEmissions } from './compare';
import { TriggerMemories } from './memory';
import type { Readings } from './readSubjects';
import type { Failing } from './reports';
import { nothingFails, selectReports } from './reports';
import type { PollState } from './triggerState';
import type { Watched } from './watched';

/** What this process remembers of a trigger beside its state. n8n saves none of it. */
export interface TriggerMemory {
	/** Whether a poll has ended without failing a publication: the trigger watches something. */
	isWatching: boolean;
	/** IDs that the next poll reads first, because the last one did not get to them. */
	readFirst: readonly string[];
	/** What could not be read in the last poll, and when it was reported. */
	failing: Failing;
	/**
	 * IDs that were taken off the list and are still in the saved baselines. The next emission removes them
	 * there; until then they must not count if they come back.
	 */
	removed: ReadonlySet<string>;
}

/** Stands for all that is watched, in a poll that could not begin to read. No campaign has this ID. */
const wholePoll = '';

const memories = new TriggerMemories<TriggerMemory>(() => ({
	isWatching: false,
	readFirst: [],
	failing: nothingFails,
	removed: new Set(),
}));

export const memoryOf = (workflowId: string, nodeId: string): TriggerMemory =>
	memories.ofTrigger(workflowId, nodeId);

/** What a poll found out. */
export type SiteReadings = Readings & {
	/** A digest of the address and the credential. */
	readonly site: string;
};

/** What a poll emits and reports. */
export interface PollResult {
	readonly items: readonly IDataObject[];
	/** Failures to report, by ID. */
	readonly toReport: ReadonlyMap<string, Problem>;
}

const withoutIds = (baselines: Baselines, ids: ReadonlySet<string>): Baselines =>
	new Map([...baselines].filter(([id]) => !ids.has(id)));

/**
 * Compares what a poll read with the baselines, moves the baselines of what it emits, and selects the failures
 * to report. It waits for nothing: no other poll can emit in between.
 * @param isPublication whether a failure is reported in its first poll already
 */
export function finishPoll(
	state: PollState,
	memory: TriggerMemory,
	{ ids, rule }: Pick<Watched, 'ids' | 'rule'>,
	{ site, ...readings }: SiteReadings,
	isPublication: boolean,
): PollResult {
	if (state.isStale()) return { items: [], toReport: new Map() };

	const saved = state.load();
	const known = new Map(Object.entries(saved.baselines));
	const listed = new Set(ids);
	const isRemoved = (id: string) => !listed.has(id) || memory.removed.has(id);
	const removed = new Set([...known.keys()].filter(isRemoved));
	// Of another site, nothing was ever emitted.
	const before: Baselines = saved.site === site ? withoutIds(known, removed) : new Map();
	const { emissions, baselines } = findEmissions(readings.observations, before, rule);
	// The baselines move with an emission, and with nothing else.
	if (emissions.length > 0) state.save(site, baselines);
	for (const { id } of emissions) removed.delete(id);

	const { failing, toReport } = selectReports(readings, memory.failing, isPublication);
	memory.isWatching = true;
	memory.readFirst = readings.unread;
	memory.failing = failing;
	memory.removed = removed;
	return { items: emissions.map(({ item }) => item), toReport };
}

/**
 * Ends a poll that could read nothing, because a parameter or the credential can't be used.
 * @returns whether that is to be reported
 */
export function failPoll(
	memory: TriggerMemory,
	problem: Problem,
	isReportedAtOnce: boolean,
): boolean {
	// Of the campaigns nothing new is known.
	const unread = [...memory.failing.reasons.keys()];
	const readings = { observations: [], failures: new Map([[wholePoll, problem]]), unread };
	const { failing, toReport } = selectReports(readings, memory.failing, isReportedAtOnce);
	memory.isWatching = true;
	memory.failing = failing;
	return toReport.size > 0;
}
