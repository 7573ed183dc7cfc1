import { randomUUID } from 'crypto';

import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { Problem } from '../service/problems';
import type { UnknownOutcome } from './keys';

const stateKey = 'pushCampaignLedger';

const savedProblem = z.object({
	type: z.string(),
	outcome: z.literal('unknown'),
	message: z.string(),
	remedy: z.enum(['wait', 'mend', 'correct']),
	cause: z.enum([
		'rate-limited',
		'credential-invalid',
		'configuration-invalid',
		'temporarily-unavailable',
		'node-defect',
	]),
	httpCode: z.string().optional(),
});
type UnknownProblem = z.infer<typeof savedProblem>;

/** What an item of this node holds. */
const plain = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const savedRow = z.record(
	z.string(),
	z.union([plain, z.array(plain), z.record(z.string(), plain)]),
);

/** How a send ended, as n8n saves it: the item that it gave, or why nobody knows and which execution left it so. */
const savedEntry = z.union([
	z.object({ row: savedRow }),
	z.object({ unknown: savedProblem, executionId: z.string() }),
]);
const savedLedger = z.object({ id: z.string(), entries: z.record(z.string(), savedEntry) });
type Entry = z.infer<typeof savedEntry>;

/** What the ledger says of a send. */
export type Recalled =
	| { readonly says: 'new' }
	/** It was sent, and gave this item. */
	| { readonly says: 'sent'; readonly row: IDataObject }
	/** Nobody knows, and it must not be sent. */
	| { readonly says: 'unknown'; readonly problem: Problem }
	/** An earlier execution left it unknown, and its user found it in the dashboard. */
	| { readonly says: 'countAsSent' };

/**
 * What one execution has sent, or may have sent, by the position of the item. It lives in n8n's context of the node, which
 * n8n keeps between the tries of 'Retry On Fail' and saves with the execution, where 'Retry' finds it again.
 */
export class Ledger {
	/** Sends that are in flight. Not saved. */
	readonly #inFlight = new Set<string>();

	constructor(
		readonly id: string = randomUUID(),
		private readonly entries: Record<string, Entry> = {},
	) {}

	has(position: string): boolean {
		return this.entries[position] !== undefined;
	}

	/** How a send stands for this execution, if its user chose this about what earlier executions left unknown. */
	recall(position: string, executionId: string, choice: UnknownOutcome): Recalled {
		const entry = this.entries[position];
		if (entry === undefined) return { says: 'new' };
		if ('row' in entry) return { says: 'sent', row: structuredClone(entry.row) };
		const isDecided = choice !== 'report' && entry.executionId !== executionId;
		// Two Retries may run at once: what is in flight is nobody's to decide.
		if (!isDecided || this.#inFlight.has(position)) {
			return { says: 'unknown', problem: entry.unknown };
		}
		return choice === 'resend' ? { says: 'new' } : { says: 'countAsSent' };
	}

	/** Notes that a request is about to leave. If the execution ends here, its outcome is unknown. */
	begin(position: string, executionId: string): void {
		this.#inFlight.add(position);
		this.entries[position] = { unknown: stopped, executionId };
	}

	/** Notes the item that a send gave. */
	keepSent(position: string, row: IDataObject): void {
		this.#inFlight.delete(position);
		this.entries[position] = { row: savedRow.parse(row) };
	}

	/** Notes how a request ended that was not accepted. */
	keepFailed(position: string, executionId: string, problem: Problem): void {
		this.#inFlight.delete(position);
		if (problem.outcome === 'unknown') {
			this.entries[position] = { unknown: savedProblem.parse(problem), executionId };
		} else {
			delete this.entries[position];
		}
	}
}

const stopped: UnknownProblem = {
	type: 'network',
	outcome: 'unknown',
	message:
		'It is unknown whether this was sent: the execution was stopped before the push service answered',
	remedy: 'wait',
	cause: 'temporarily-unavailable',
};

/**
 * The ledgers of executions that were retried, by ID, the one used longest ago first. n8n's list offers Retry for the
 * first execution only, and what it saved knows nothing of an earlier Retry: this process does.
 */
const retried = new Map<string, Ledger>();
const mostRetried = 100;

function remember(ledger: Ledger): Ledger {
	retried.delete(ledger.id);
	retried.set(ledger.id, ledger);
	const [oldest = ''] = retried.keys();
	if (retried.size > mostRetried) retried.delete(oldest);
	return ledger;
}

/**
 * The ledger of the execution that runs.
 * @param context n8n's context of the node; changed in place
 */
export function openLedger(context: object): Ledger {
	const state: unknown = Reflect.get(context, stateKey);
	// Still the same execution.
	if (state instanceof Ledger) return state;
	const saved = savedLedger.safeParse(state);
	const ledger = saved.success
		? remember(retried.get(saved.data.id) ?? new Ledger(saved.data.id, saved.data.entries))
		: new Ledger();
	Reflect.set(context, stateKey, ledger);
	return ledger;
}
