import type { IPollFunctions } from 'n8n-workflow';

import { openClassicState, readClassicState } from '../watch/classicState';
import { openDurableState } from '../watch/durableState';
import type { PollState, TriggerData } from '../watch/triggerState';

/** n8n 1 has no budget, whatever the types say. */
export type PollContext = Omit<IPollFunctions, 'getPollBudgetMs'> & Partial<IPollFunctions>;

/**
 * Opens a trigger's state in the engine that polls; only this file knows that n8n has two. The classic engine hands
 * out static data that note changes (n8n 2.41.1: packages/workflow/src/observable-object.ts, create), the durable
 * one a plain copy.
 * @throws InvalidInput if the trigger's state is not its own
 */
export function openState(data: TriggerData): PollState {
	if ('__dataChanged' in data.node) return openClassicState(data);
	// A trigger without a cursor goes on with what the classic engine saved before n8n was switched over.
	return openDurableState(data, readClassicState(data));
}

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

/**
 * The budget of a poll to which n8n gave none (n8n 2.41.1: packages/core/src/execution-engine/
 * node-execution-context/poll-context.ts, constructor). Also that of n8n 1, which has no budget.
 */
const noBudgetMs = 5 * 60_000;

const budgetMsOf = (context: PollContext) => context.getPollBudgetMs?.() ?? noBudgetMs;

function pollReasonOf(context: PollContext): PollReason {
	if (context.getMode() === 'manual') return 'test';
	const isFirst = !usedContexts.has(context);
	usedContexts.add(context);
	if (!isFirst) return 'schedule';
	// n8n's scheduler gives each poll a context of its own, with the mode of a publication. Only its polls have a
	// budget: what is left of a task's time (n8n 2.41.1: packages/cli/src/workflows/triggers/
	// trigger-execution-context.factory.ts, getExecutePollFunctions).
	if (budgetMsOf(context) !== noBudgetMs) return 'schedule';
	const mode = context.getActivationMode();
	return mode === 'init' || mode === 'leadershipChange' ? 'start' : 'publication';
}

/** How much time a poll has, in milliseconds. */
export interface PollTime {
	readonly budgetMs: number;
	readonly requestMs: number;
}

const requestMs = 30_000;
/**
 * n8n 2 gives up a publication after 84 s (seven tenths of N8N_WORKFLOW_PUBLICATION_OUTBOX_LEASE_SECONDS), and
 * the trigger with it.
 */
const firstPoll: PollTime = { budgetMs: 60_000, requestMs: 10_000 };

function pollTimeOf(context: PollContext, reason: PollReason): PollTime {
	const isFirst = reason === 'publication' || reason === 'start';
	return isFirst ? firstPoll : { budgetMs: budgetMsOf(context), requestMs };
}

/** What n8n says about one of its polls. */
export interface Poll {
	readonly reason: PollReason;
	readonly time: PollTime;
}

export function beginPoll(context: PollContext): Poll {
	const reason = pollReasonOf(context);
	return { reason, time: pollTimeOf(context, reason) };
}
