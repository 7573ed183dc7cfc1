import type { Store, WatchState } from './state';
import { loadState, saveState } from './state';

/**
 * For how long after an emission a poll may still start from a cursor that does not show it, in
 * milliseconds. n8n's durable engine reads the cursor when it begins with a poll's task, gives the poll
 * 45 s (N8N_SCHEDULER_POLL_TIMEOUT), and takes nothing from a task whose lease of 60 s has ended
 * (N8N_SCHEDULER_LEASE_DURATION, looked at every 30 s): 90 s in all. After that, an emission that no
 * cursor shows was not saved.
 */
export const staleCursorMs = 120_000;

/**
 * The same after a poll that emitted nothing but changed its state: n8n saves that with two short
 * queries as soon as the poll is over, so that only a poll that had begun before can miss it. In
 * milliseconds; short, because n8n does not save it at all where the poll is the test of an activation.
 */
export const quietWriteMs = 10_000;

/** So that one poll that hangs does not keep the next one from what it did not see. */
const mostAtOnce = 2;

/** A poll that is under way. */
export interface RunningPoll {
	/** By `performance.now()`. */
	readonly startedAt: number;
	/** Whether a poll of the same trigger has begun on another context since. */
	isSuperseded(): boolean;
	end(): void;
}

/** What this process knows of one trigger. Times are by `performance.now()`: nobody sets that clock. */
export class TriggerMemory {
	/** Whether a poll has come to its end: then what the trigger watches was read before. */
	isWatching = false;
	/**
	 * The newest state: in the durable engine what n8n was given to save, in the classic one what n8n had
	 * taken when it polled last.
	 */
	state: WatchState | undefined;
	/** What n8n was given to save last, for what it saves with other triggers of the workflow. */
	private latest: WatchState | undefined;
	/**
	 * In the durable engine, what n8n was given to save last with an emission, and what without one: until
	 * when a poll may start from a cursor that does not show it.
	 */
	private readonly writes = new Map<
		boolean,
		{ readonly revision: number; readonly until: number }
	>();
	/** By campaign, when the reading began that was emitted last: polls can overlap. */
	private readonly emitted = new Map<string, number>();
	/** n8n's contexts that have polled, and the one on which a poll began last. */
	private readonly contexts = new WeakSet<object>();
	private lastContext: WeakRef<object> | undefined;
	private readonly polls = new Set<{ readonly context: object; readonly until: number }>();

	/** @param triggers what is known of all triggers of the workflow, by node ID */
	constructor(private readonly triggers: ReadonlyMap<string, TriggerMemory>) {}

	/** Whether no poll has begun on this context of n8n's. */
	isNew(context: object): boolean {
		return !this.contexts.has(context);
	}

	/**
	 * Notes that a poll begins. n8n's classic engine polls on one context whenever it is time, whether or
	 * not the last poll is through: where polls take longer than their interval, ever more of them would
	 * slow each other down, and none would come to its end.
	 * @param budgetMs a poll that takes longer holds up no other
	 * @returns nothing where so many are under way on this context that they will tell what there is
	 */
	begin(context: object, budgetMs: number): RunningPoll | undefined {
		const startedAt = performance.now();
		const beside = [...this.polls].filter(
			(poll) => poll.context === context && poll.until > startedAt,
		);
		if (beside.length >= mostAtOnce) return undefined;
		this.contexts.add(context);
		this.lastContext = new WeakRef(context);
		const poll = { context, until: startedAt + budgetMs };
		this.polls.add(poll);
		return {
			startedAt,
			isSuperseded: () => this.lastContext?.deref() !== context,
			end: () => {
				this.polls.delete(poll);
				if (this.polls.size === 0) this.emitted.clear();
			},
		};
	}

	/**
	 * Brings the classic engine's data up to date, before a poll. They are read from the database when a
	 * workflow is activated, and there an execution may have turned them back: n8n saves the data of a
	 * whole workflow as an execution had them when it began. What was emitted on a context counts from the
	 * next poll on it: n8n 2 throws away what a poll gives whose workflow was deactivated meanwhile.
	 */
	catchUp(store: Store): void {
		if (store.isCursor) return;
		const saved = loadState(store);
		if (this.state === undefined || this.state.revision <= saved.revision) this.state = saved;
		else saveState(store, this.state, this.known());
		this.latest = this.state;
	}

	/**
	 * The state that a poll counts from. n8n's durable engine gives each poll a copy from when it began
	 * with it, and after a restart it begins with all missed polls at once: each would emit the same. One
	 * whose copy does not show what was emitted before it may emit nothing: the next one starts from a
	 * newer copy. To count from what was emitted, and go on, would lose it where n8n could not save it.
	 * @param startedAt what was recent when the poll began stays so until its end
	 * @returns nothing where the poll may emit and save nothing
	 */
	stateFor(store: Store, startedAt: number): WatchState | undefined {
		const saved = loadState(store);
		const isUnseen = ({ revision }: { readonly revision: number }) => revision > saved.revision;
		const unseen = [...this.writes.values()].filter(isUnseen);
		if (unseen.some(({ until }) => startedAt < until)) return undefined;
		if (!store.isCursor || this.state === undefined || !isUnseen(this.state)) return saved;
		// What was told was told, whether or not n8n could save that.
		return { ...saved, failing: this.state.failing, unread: this.state.unread };
	}

	/** Gives n8n a state to save: in the classic engine it does so with an emission alone. */
	save(store: Store, state: WatchState, isEmission: boolean): void {
		const newest = Math.max(state.revision, this.state?.revision ?? 0);
		const revision = isEmission || store.isCursor ? newest + 1 : state.revision;
		const after = { ...state, revision };
		saveState(store, after, this.known());
		this.latest = after;
		if (!store.isCursor) return;
		this.state = after;
		const staleMs = isEmission ? staleCursorMs : quietWriteMs;
		this.writes.set(isEmission, { revision, until: performance.now() + staleMs });
	}

	/** The states of all triggers of the workflow, by node ID. */
	private known(): Map<string, WatchState> {
		const states = new Map<string, WatchState>();
		for (const [id, { latest }] of this.triggers) if (latest !== undefined) states.set(id, latest);
		return states;
	}

	/** Whether a later reading of a campaign was emitted than the one that began then. */
	isOvertaken(campaignId: string, readAt: number): boolean {
		return (this.emitted.get(campaignId) ?? -Infinity) > readAt;
	}

	/** Notes the reading of a campaign that is emitted. */
	noteEmitted(campaignId: string, readAt: number): void {
		this.emitted.set(campaignId, readAt);
	}
}

/** The workflows that polled last are remembered: a few kilobytes for each of their triggers. */
const mostWorkflows = 1000;

/** What this process knows of its triggers, by workflow and node. */
export class Memories {
	private readonly workflows = new Map<string, Map<string, TriggerMemory>>();

	/** What is known of a trigger. Copies of a workflow share the IDs of its nodes. */
	of(workflowId: string, nodeId: string): TriggerMemory {
		const triggers = this.workflows.get(workflowId) ?? new Map<string, TriggerMemory>();
		const memory = triggers.get(nodeId) ?? new TriggerMemory(triggers);
		triggers.set(nodeId, memory);
		// The one that polled last stands last.
		this.workflows.delete(workflowId);
		this.workflows.set(workflowId, triggers);
		const [oldest] = this.workflows.keys();
		if (this.workflows.size > mostWorkflows && oldest !== undefined) this.workflows.delete(oldest);
		return memory;
	}
}
