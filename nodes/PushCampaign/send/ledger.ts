import { randomUUID } from 'crypto';

import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { Problem, UnknownOutcome } from '../service/problems';
import { unknownProblem } from '../service/problems';

const stateKey = 'pushCampaignLedger';

const savedProblem = z.object({
	type: z.string(),
	outcome: z.literal('unknown'),
	message: z.string(),
	fix: z.string().optional(),
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

/** Whether it was sent with Send Only Once. */
const hasKey = z.boolean();
const savedRow = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

/**
 * How a send ended, as n8n saves it: the item that it gave, or why nobody knows and which execution left it so. This is a
 * format: it stays as it is from version to version.
 */
const savedEntry = z.union([
	z.object({ row: savedRow, hasKey }),
	z.object({ unknown: savedProblem, executionId: z.string(), hasKey }),
]);
type Entry = z.infer<typeof savedEntry>;

const unknownBecause = (reason: string) =>
	savedProblem.parse(unknownProblem(reason, { isSend: true }));

const stopped = unknownBecause('the execution was stopped before the push service answered');

/** What can't be read may have been sent. */
const unreadable: Entry = {
	unknown: unknownBecause("this version of Push Campaign can't read what was saved about it"),
	executionId: '',
	hasKey: false,
};
const savedLedger = z.object({
	id: z.string(),
	entries: z.record(z.string(), savedEntry.catch(unreadable)),
	// In this order: zod 4.0 would have `catch` take the place of what is not there.
	ifMissing: savedEntry.optional().catch(unreadable),
});

/** What the ledger says of a send. */
export type Recalled =
	| { readonly says: 'new' }
	/** It was sent, and gave this item. */
	| { readonly says: 'sent'; readonly row: IDataObject; readonly hasKey: boolean }
	/** Nobody knows, and it must not be sent. */
	| { readonly says: 'unknown'; readonly problem: Problem; readonly hasKey: boolean }
	/** An earlier execution left it unknown, and its user found it in the dashboard. */
	| { readonly says: 'countAsSent' };

/**
 * What one execution has sent, or may have sent, by the position of the item. It lives in n8n's context of the node, which
 * n8n keeps between the tries of 'Retry On Fail' and saves with the execution, where 'Retry' finds it again.
 */
export class Ledger {
	/** Sends that are in flight. Not saved. */
	readonly #inFlight = new Set<string>();
	private readonly entries: Record<string, Entry> = {};

	/** @param ifMissing how a send stands that has no entry, if it is not new */
	constructor(
		readonly id: string = randomUUID(),
		private readonly ifMissing?: Entry,
	) {}

	/** Whether this execution has sent nothing yet, and left nothing unknown. */
	get isEmpty(): boolean {
		return this.ifMissing === undefined && Object.keys(this.entries).length === 0;
	}

	/** How a send stands for this execution, if its user chose this about what earlier executions left unknown. */
	recall(position: string, executionId: string, choice: UnknownOutcome): Recalled {
		const entry = this.entries[position] ?? this.ifMissing;
		if (entry === undefined) return { says: 'new' };
		if ('row' in entry) return { says: 'sent', row: { ...entry.row }, hasKey: entry.hasKey };
		const isDecided = choice !== 'report' && entry.executionId !== executionId;
		// Two Retries may run at once: what is in flight is nobody's to decide.
		if (!isDecided || this.#inFlight.has(position)) {
			return { says: 'unknown', problem: entry.unknown, hasKey: entry.hasKey };
		}
		return choice === 'resend' ? { says: 'new' } : { says: 'countAsSent' };
	}

	/** Notes that a request is about to leave. If the execution ends here, its outcome is unknown. */
	begin(position: string, executionId: string, withKey: boolean): void {
		this.#inFlight.add(position);
		this.entries[position] = { unknown: stopped, executionId, hasKey: withKey };
	}

	/** Notes the item that a send gave. */
	keepSent(position: string, row: IDataObject, withKey: boolean): void {
		this.#inFlight.delete(position);
		this.entries[position] = { row: savedRow.parse(row), hasKey: withKey };
	}

	/** Notes how a request ended that was not accepted. */
	keepFailed(position: string, executionId: string, problem: Problem, withKey: boolean): void {
		this.#inFlight.delete(position);
		if (problem.outcome === 'unknown') {
			const unknown = savedProblem.parse(problem);
			this.entries[position] = { unknown, executionId, hasKey: withKey };
		} else {
			delete this.entries[position];
		}
	}

	/** Adds what n8n saved, perhaps in another process: what either of the two knows as sent is sent. */
	add(saved: Readonly<Record<string, Entry>>): void {
		for (const [position, entry] of Object.entries(saved)) {
			if ('row' in entry || this.entries[position] === undefined) this.entries[position] = entry;
		}
	}
}

/**
 * The ledgers of executions that were retried, by ID, the one used longest ago first. A second Retry of the same execution
 * finds in n8n only what the first one began with: this process knows more.
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
 * The ledger of the execution that runs. If what n8n saved is no ledger, nobody knows what was sent.
 * @param context n8n's context of the node; changed in place
 */
export function openLedger(context: object): Ledger {
	const state: unknown = Reflect.get(context, stateKey);
	// Still the same execution.
	if (state instanceof Ledger) return state;
	const ledger = state === undefined ? new Ledger() : ledgerOf(state);
	Reflect.set(context, stateKey, ledger);
	return ledger;
}

function ledgerOf(state: unknown): Ledger {
	const saved = savedLedger.safeParse(state);
	if (!saved.success) return new Ledger(undefined, unreadable);
	const { id, entries, ifMissing } = saved.data;
	const ledger = remember(retried.get(id) ?? new Ledger(id, ifMissing));
	ledger.add(entries);
	return ledger;
}
