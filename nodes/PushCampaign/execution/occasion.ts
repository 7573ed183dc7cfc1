import type { IPollFunctions } from 'n8n-workflow';

/** Why and how n8n polls. Which of its engines does is asked here alone. */
export interface Occasion {
	/**
	 * `test`: the editor's 'Fetch Test Event'; `publication` and `start`: the first poll after a user
	 * published the workflow, or after n8n started. n8n does not poll any more where these throw.
	 */
	readonly kind: 'test' | 'publication' | 'start' | 'poll';
	/** Whether n8n hands out a copy of the node's static data and saves it when the poll is over. */
	readonly isDurable: boolean;
	/** How long the poll may take, in milliseconds. */
	readonly budgetMs: number;
	/** The same for one request. */
	readonly requestMs: number;
}

/**
 * Where n8n gives no budget, in milliseconds. n8n 2 gives as much in its classic engine; in its durable
 * one 36 s, and abandons a poll after 45 s with all that it read.
 */
const defaultBudgetMs = 5 * 60_000;
const requestMs = 30_000;
/**
 * For a first poll. n8n 2 gives up a publication after 84 s (seven tenths of
 * N8N_WORKFLOW_PUBLICATION_OUTBOX_LEASE_SECONDS), and the trigger with it; until then it tries five times.
 */
const first = { budgetMs: 60_000, requestMs: 10_000 };

/** n8n 1 has no budget, whatever the types say. */
type PollContext = Omit<IPollFunctions, 'getPollBudgetMs'> & Partial<IPollFunctions>;

/** The contexts that have polled: the classic engine has one for each activation. */
const polled = new WeakSet<object>();

function kindOf(context: PollContext, isDurable: boolean): Occasion['kind'] {
	if (context.getMode() === 'manual') return 'test';
	const isFirst = !polled.has(context);
	polled.add(context);
	const mode = context.getActivationMode();
	// The durable engine calls all its polls an update, each on a context of its own.
	if (!isFirst || (isDurable && mode === 'update')) return 'poll';
	return mode === 'init' || mode === 'leadershipChange' ? 'start' : 'publication';
}

export function occasionOf(context: PollContext): Occasion {
	// The classic engine hands out the data themselves, which watch for changes.
	const isDurable = !('__dataChanged' in context.getWorkflowStaticData('node'));
	const kind = kindOf(context, isDurable);
	const budgetMs = context.getPollBudgetMs?.() ?? defaultBudgetMs;
	if (kind !== 'publication' && kind !== 'start') return { kind, isDurable, budgetMs, requestMs };
	return { kind, isDurable, ...first, budgetMs: Math.min(budgetMs, first.budgetMs) };
}
