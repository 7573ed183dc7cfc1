import type { IPollFunctions } from 'n8n-workflow';

import { openClassicState, readClassicState } from '../watch/classicState';
import { openDurableState } from '../watch/durableState';
import type { PollState, TriggerData } from '../watch/triggerState';
import { newState } from '../watch/triggerState';

/** n8n 1 has no budget, whatever the types say. */
export type PollContext = Omit<IPollFunctions, 'getPollBudgetMs'> & Partial<IPollFunctions>;

/** One of n8n's two engines for triggers that poll. Only this file knows that there are two. */
interface Engine {
	readonly openState: (data: TriggerData) => PollState;
	/**
	 * Whether n8n gives each scheduled poll a context of its own, and calls it an update (n8n 2.41.1:
	 * packages/cli/src/workflows/triggers/trigger-execution-context.factory.ts, createPollExecutionContext).
	 */
	readonly schedulesUpdates: boolean;
}
const classic: Engine = { openState: openClassicState, schedulesUpdates: false };
const durable: Engine = {
	// A trigger without a cursor goes on with what the classic engine saved before n8n was switched over.
	openState: (data) => openDurableState(data, readClassicState(data) ?? newState),
	schedulesUpdates: true,
};

/**
 * The classic engine hands out static data that note changes (n8n 2.41.1:
 * packages/workflow/src/observable-object.ts, create), the durable one a plain copy.
 */
const engineOf = (context: PollContext): Engine =>
	'__dataChanged' in context.getWorkflowStaticData('node') ? classic : durable;

/**
 * Why n8n polls.
 * - `test`: the editor's 'Fetch Test Event'.
 * - `publication`: the first poll after a user published the workflow.
 * - `start`: the first poll after n8n started, or after another main instance became the leader.
 * - `schedule`: any other poll.
 */
export type PollReason = 'test' | 'publication' | 'start' | 'schedule';

/** The contexts that have polled before. The classic engine makes one for each activation. */
const usedContexts = new WeakSet<object>();

function pollReasonOf(context: PollContext, { schedulesUpdates }: Engine): PollReason {
	if (context.getMode() === 'manual') return 'test';
	const isFirst = !usedContexts.has(context);
	usedContexts.add(context);
	if (!isFirst) return 'schedule';
	const mode = context.getActivationMode();
	if (mode === 'update' && schedulesUpdates) return 'schedule';
	if (mode === 'init' || mode === 'leadershipChange') return 'start';
	return 'publication';
}

/** How much time a poll has, in milliseconds. */
export interface PollTime {
	readonly budgetMs: number;
	readonly requestMs: number;
}

/**
 * n8n 1 gives no budget. n8n 2 gives as much in its classic engine, and 36 s in its durable one, which
 * abandons a poll after 45 s with all that it read.
 */
const defaultBudgetMs = 5 * 60_000;
const requestMs = 30_000;
/**
 * n8n 2 gives up a publication after 84 s (seven tenths of N8N_WORKFLOW_PUBLICATION_OUTBOX_LEASE_SECONDS), and
 * the trigger with it.
 */
const firstPoll: PollTime = { budgetMs: 60_000, requestMs: 10_000 };

function pollTimeOf(context: PollContext, reason: PollReason): PollTime {
	const budgetMs = context.getPollBudgetMs?.() ?? defaultBudgetMs;
	if (reason === 'test' || reason === 'schedule') return { budgetMs, requestMs };
	return { ...firstPoll, budgetMs: Math.min(budgetMs, firstPoll.budgetMs) };
}

/** What n8n says about one of its polls. */
export interface Poll {
	readonly reason: PollReason;
	readonly time: PollTime;
	/** @throws InvalidInput if the trigger's state is not its own */
	readonly openState: (data: TriggerData) => PollState;
}

export function describePoll(context: PollContext): Poll {
	const engine = engineOf(context);
	const reason = pollReasonOf(context, engine);
	return { reason, time: pollTimeOf(context, reason), openState: engine.openState };
}
