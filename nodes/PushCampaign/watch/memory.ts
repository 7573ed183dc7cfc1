import type { Problem } from '../service/failures';
import type { CampaignEvent, Watched } from './compare';
import { findEvent, moveBaseline } from './compare';
import type { Failing } from './failures';
import { findNews } from './failures';
import type { Readings } from './readCampaigns';
import type { Store, WatchState } from './state';
import { loadState, saveState } from './state';

/**
 * For how long after an emission a poll may still start from a cursor that does not show it, in milliseconds.
 * n8n's durable engine reads the cursor when it begins with a poll's task, gives the poll 45 s
 * (N8N_SCHEDULER_POLL_TIMEOUT), and takes nothing from a task whose lease of 60 s has ended
 * (N8N_SCHEDULER_LEASE_DURATION, looked at every 30 s): 90 s in all. After that, an emission that no
 * cursor shows was not saved.
 */
export const staleCursorMs = 120_000;

/** A poll that is under way. */
export interface Poll extends Store {
	/** By `performance.now()`. */
	readonly startedAt: number;
	/** Whether it is the first one after a publication: then it tells of failures at once. */
	readonly isPublication: boolean;
}

/** What this process knows of one trigger. Times are by `performance.now()`: nobody sets that clock. */
export class TriggerMemory {
	/** Whether a poll has come to its end, here or before n8n was started: the trigger watches something. */
	isWatching = false;
	/** Campaigns that are read first the next time. */
	unread: readonly string[] = [];
	/** What could not be read in the last poll. */
	private failing: Failing = new Map();
	/** Campaigns that were taken off the list: n8n saves that with the next emission. */
	private readonly forgotten = new Set<string>();
	/** In the classic engine, what n8n had taken when it polled last. */
	private taken: WatchState | undefined;
	/** In the classic engine, where the poll that began last keeps its state: each activation has its own. */
	private live: Store | undefined;
	/** The newest emission, and until when a poll of the durable engine may start from an older cursor. */
	private written = { revision: 0, until: 0 };

	/** @param triggers what is known of all triggers of the workflow, by node ID */
	constructor(private readonly triggers: ReadonlyMap<string, TriggerMemory>) {}

	/**
	 * Notes that a poll begins, and brings the classic engine's data up to date. They are read from the
	 * database when a workflow is activated, and there an execution may have turned them back: n8n saves the
	 * data of a whole workflow as an execution had them when it began. What was emitted counts from the next
	 * poll on the same data: n8n 2 throws away what a poll gives whose workflow was deactivated meanwhile.
	 */
	begin(store: Store): void {
		const saved = loadState(store);
		this.isWatching ||= Object.keys(saved.baselines).length > 0;
		if (store.isCursor) return;
		this.live = store;
		if (this.taken === undefined || this.taken.revision <= saved.revision) this.taken = saved;
		else saveState(store, this.taken, this.stores());
	}

	/**
	 * Compares what a poll read with the baselines, moves those of what it gives back, and finds the failures
	 * that are to be told. Waits for nothing: another poll may have emitted before, none can in between.
	 */
	emit(poll: Poll, watched: Watched, readings: Readings) {
		const events: CampaignEvent[] = [];
		const state = loadState(poll);
		if (this.isBehind(poll, state)) return { events, failures: new Map<string, Problem>() };
		const saved = Object.entries(state.baselines);
		for (const [id] of saved) if (!watched.campaignIds.includes(id)) this.forgotten.add(id);
		const baselines = new Map(saved.filter(([id]) => !this.forgotten.has(id)));
		for (const observation of readings.observations) {
			const { campaignId, counters } = observation;
			const baseline = baselines.get(campaignId);
			const event = findEvent(observation, baseline, watched);
			if (event === undefined) continue;
			events.push(event);
			baselines.set(campaignId, moveBaseline(baseline, counters));
			this.forgotten.delete(campaignId);
		}
		if (events.length > 0) {
			this.save(poll, { ...state, baselines: Object.fromEntries(baselines) });
		}
		const { failing, news } = findNews(readings, this.failing, poll.isPublication);
		this.failing = failing;
		this.unread = readings.unread;
		this.isWatching = true;
		return { events, failures: news };
	}

	/**
	 * Whether a poll leaves all that there is to the next one.
	 *
	 * n8n's durable engine gives each poll a copy from when it began with it, and after a restart it begins
	 * with all missed polls at once: each would emit the same. So one whose copy does not show the newest
	 * emission emits nothing. To count from what was emitted, and go on, would lose it where n8n could not
	 * save it. n8n's classic engine activates with data from the database, and n8n 1 still takes what a poll
	 * gives that began before: it would emit what the new one does.
	 */
	private isBehind({ isCursor, node, startedAt }: Poll, { revision }: WatchState): boolean {
		if (!isCursor) return this.live?.node !== node;
		return revision < this.written.revision && startedAt < this.written.until;
	}

	/** Gives n8n the state to save with an emission. */
	save(store: Store, state: WatchState): void {
		const revision = Math.max(state.revision, this.written.revision) + 1;
		this.written = { revision, until: performance.now() + staleCursorMs };
		saveState(store, { ...state, revision }, this.stores());
	}

	/** Where the triggers of the workflow keep their states. */
	private stores(): Store[] {
		return [...this.triggers.values()].flatMap(({ live }) => live ?? []);
	}
}

/** The workflows that polled last are remembered: a few kilobytes for each of their triggers. */
const mostWorkflows = 1000;
const workflows = new Map<string, Map<string, TriggerMemory>>();

/** What this process knows of a trigger. Copies of a workflow share the IDs of its nodes. */
export function memoryOf(workflowId: string, nodeId: string): TriggerMemory {
	const triggers = workflows.get(workflowId) ?? new Map<string, TriggerMemory>();
	const memory = triggers.get(nodeId) ?? new TriggerMemory(triggers);
	triggers.set(nodeId, memory);
	// The one that polled last stands last.
	workflows.delete(workflowId);
	workflows.set(workflowId, triggers);
	const [oldest = workflowId] = workflows.keys();
	if (workflows.size > mostWorkflows) workflows.delete(oldest);
	return memory;
}
