import { TriggerMemories } from './memory';
import type { PollState, TriggerData, TriggerState } from './triggerState';
import { nextState, triggerStateSchema } from './triggerState';

/**
 * How long after an emission a poll may still start from a cursor that does not show it, in milliseconds.
 * A cursor is read when the task of a poll begins (n8n 2.41.1: packages/cli/src/scheduling/
 * poll-trigger-node/poll-trigger-task-handler.ts, execute). The poll itself may take 45 s
 * (N8N_SCHEDULER_POLL_TIMEOUT), and a task is taken from a process whose lease of 60 s has ended
 * (N8N_SCHEDULER_LEASE_DURATION, checked every 30 s): 90 s in all. After that, n8n did not save an
 * emission that no cursor shows.
 */
export const staleCursorMs = 120_000;

interface DurableMemory {
	/** The revision of the newest emission of this process; 0 if there was none. */
	newestRevision: number;
	/** Until when a poll may start from an older cursor, by `performance.now()`, a clock that nobody sets. */
	staleUntil: number;
}

const memories = new TriggerMemories<DurableMemory>(() => ({ newestRevision: 0, staleUntil: 0 }));

/**
 * Opens the state of a trigger in n8n's durable engine, for one poll.
 *
 * The engine reads the saved state, the cursor, before it polls, hands the poll a copy, and saves the changed
 * copy in the same write as the execution (n8n 2.41.1: packages/cli/src/workflows/triggers/
 * trigger-execution-context.factory.ts, getExecutePollFunctions). So what is saved is right after any crash.
 *
 * But several polls can start from the same old cursor, after a restart all polls that were missed. Each
 * would emit the same changes. So a poll whose cursor lacks the newest emission of this process emits nothing,
 * and leaves its changes to the next poll. It does not count from that emission: n8n may have failed to save it,
 * and then its changes would be lost.
 * @param initial the state of a trigger that has no cursor yet
 */
export function openDurableState(
	{ workflowId, nodeId, node: cursor }: TriggerData,
	initial: TriggerState,
): PollState {
	const memory = memories.ofTrigger(workflowId, nodeId);
	const state = triggerStateSchema.safeParse(cursor).data ?? initial;
	const openedAt = performance.now();

	return {
		load: () => state,

		isStale: () => state.revision < memory.newestRevision && openedAt < memory.staleUntil,

		save(site, baselines) {
			// Never a revision that a lost emission had: a cursor that shows the one would pass for the other.
			memory.newestRevision = Math.max(state.revision, memory.newestRevision) + 1;
			memory.staleUntil = performance.now() + staleCursorMs;
			Object.assign(cursor, structuredClone(nextState(site, baselines, memory.newestRevision)));
		},
	};
}
