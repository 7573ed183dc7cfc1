import { randomUUID } from 'crypto';

import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { Problem } from '../service/problems';
import { unknownProblem } from '../service/problems';

const stateKey = 'pushCampaignLedger';

const savedProblem = z.object({
	type: z.string(),
	outcome: z.literal('unknown'),
	message: z.string(),
	reason: z.string(),
	fix: z.string().optional(),
	cause: z.enum([
		'rate-limited',
		'credential-invalid',
		'configuration-invalid',
		'temporarily-unavailable',
		'node-defect',
	]),
	httpCode: z.string().optional(),
});

const savedRow = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

/** What was sent: the key, if it has Send Only Once, and a digest of what its subscribers see. */
const savedSend = { key: z.string().optional(), notification: z.string().optional() };

/**
 * How a send ended, as n8n saves it: the item that it gave, or why nobody knows and which execution left it so. This is a
 * format: it stays as it is from version to version.
 */
const savedEntry = z.union([
	z.object({ row: savedRow, ...savedSend }),
	z.object({ unknown: savedProblem, executionId: z.string(), ...savedSend }),
]);
type Entry = z.infer<typeof savedEntry>;

/** The send that an entry is about. */
export interface LedgerSend {
	/** Its position in the execution, which no other send has. */
	readonly position: string;
	/** The name of its key's rows, if it has Send Only Once. */
	readonly key?: string | undefined;
	/** A digest of what its subscribers see; missing if they may get the same again. */
	readonly notification?: string | undefined;
}

const unknownBecause = (reason: string) =>
	savedProblem.parse(unknownProblem(reason, { isSend: true }));

const stopped = unknownBecause('the execution was stopped before the push service answered');

/** What can't be read may have been sent. */
const unreadable: Entry = {
	unknown: unknownBecause("this version of Push Campaign can't read what was saved about it"),
	executionId: '',
};
const savedLedger = z.object({
	id: z.string(),
	entries: z.record(z.string(), savedEntry.catch(unreadable)),
	// In this order: zod 4.0 would have `catch` take the place of what is not there.
	ifMissing: savedEntry.optional().catch(unreadable),
});

/** Ends the position of a test, which says nothing about the send that it stands for. */
export const testMark = '.test';

/** What the ledger says of a send. */
export type Recalled =
	| { readonly says: 'new' }
	/** Another Retry, or another call of a tool, is sending it at this moment. */
	| { readonly says: 'inFlight' }
	/** It was sent, and gave this item. */
	| { readonly says: 'sent'; readonly row: IDataObject }
	/** Nobody knows. */
	| {
			readonly says: 'unknown';
			readonly problem: Problem;
			/** Whether an earlier execution left it so: then its user may decide. */
			readonly isOfEarlier: boolean;
			/** The key that it was sent under. */
			readonly key?: string | undefined;
	  };

/**
 * What one execution has sent, or may have sent, by the position of the item. It lives in n8n's context of the node, which
 * n8n keeps between the tries of 'Retry On Fail' and saves with the execution, where 'Retry' finds it again.
 */
export class Ledger {
	/** Sends that are in flight. Not saved, as nothing below. */
	readonly #inFlight = new Set<string>();
	/** By what its subscribers see: the last send of it that went out, or may have. */
	readonly #notifications = new Map<string, LedgerSend>();
	/** The executions that began with something that an earlier one had left unknown. */
	readonly #foundUnknown = new Set<string>();
	/** The executions that have left something unknown. */
	readonly #leftUnknown = new Set<string>();
	#hasEntries = false;
	private readonly entries: Record<string, Entry> = {};

	/** @param ifMissing how a send stands that has no entry, if it is not new */
	constructor(
		readonly id: string = randomUUID(),
		private readonly ifMissing?: Entry,
	) {}

	/** Whether anything was sent, or left unknown. */
	get hasEntries(): boolean {
		return this.#hasEntries;
	}

	/** Whether an execution is the Retry of one that left something unknown. */
	hasFoundUnknown(executionId: string): boolean {
		return this.#foundUnknown.has(executionId);
	}

	/** Whether an execution itself has left something unknown. */
	hasLeftUnknown(executionId: string): boolean {
		return this.#leftUnknown.has(executionId);
	}

	/** How a send stands for an execution. */
	recall(position: string, executionId: string): Recalled {
		const entry = this.entries[position] ?? this.ifMissing;
		if (entry === undefined) return { says: 'new' };
		if ('row' in entry) return { says: 'sent', row: { ...entry.row } };
		if (this.#inFlight.has(position)) return { says: 'inFlight' };
		const isOfEarlier = entry.executionId !== executionId;
		return { says: 'unknown', problem: entry.unknown, isOfEarlier, key: entry.key };
	}

	/**
	 * Whether another send of this execution has shown the same to the same subscribers, or may have. One under the same key
	 * is told by its key.
	 */
	hasShown({ position, key, notification }: LedgerSend): boolean {
		const shown = notification === undefined ? undefined : this.#notifications.get(notification);
		if (shown === undefined || shown.position === position) return false;
		return key === undefined || shown.key !== key;
	}

	/** Notes that a request is about to leave. If the execution ends here, its outcome is unknown. */
	begin(send: LedgerSend, executionId: string): void {
		this.#inFlight.add(send.position);
		this.keep(send, { unknown: stopped, executionId });
	}

	/** Notes that its request has ended, however that was. */
	end({ position }: LedgerSend): void {
		this.#inFlight.delete(position);
	}

	/** Notes the item that a send gave. */
	keepSent(send: LedgerSend, row: IDataObject): void {
		this.#hasEntries = true;
		this.keep(send, { row: savedRow.parse(row) });
	}

	/** Notes the item of a send that its user found in the dashboard. */
	countAsSent(position: string, row: IDataObject): void {
		this.keep({ ...this.entries[position], position }, { row: savedRow.parse(row) });
	}

	/** Notes how a request ended that was not accepted. */
	keepFailed(send: LedgerSend, executionId: string, problem: Problem): void {
		const { position, notification = '' } = send;
		if (problem.outcome === 'unknown') {
			this.keep(send, { unknown: savedProblem.parse(problem), executionId });
			this.#leftUnknown.add(executionId);
			this.#hasEntries = true;
			return;
		}
		delete this.entries[position];
		const isLast = this.#notifications.get(notification)?.position === position;
		if (isLast) this.#notifications.delete(notification);
	}

	/** Adds what n8n saved, perhaps in another process: what either of the two knows as sent is sent. */
	add(saved: Readonly<Record<string, Entry>>, executionId: string): void {
		for (const [position, entry] of Object.entries(saved)) {
			this.#hasEntries = true;
			const isKnown = this.entries[position] !== undefined && !('row' in entry);
			if (!isKnown) this.keep({ ...entry, position }, entry);
		}
		const all: Array<[string, Entry | undefined]> = [
			['', this.ifMissing],
			...Object.entries(saved),
		];
		for (const [position, entry] of all) {
			if (entry === undefined || 'row' in entry || position.endsWith(testMark)) continue;
			const isOfEarlier = entry.executionId !== executionId;
			(isOfEarlier ? this.#foundUnknown : this.#leftUnknown).add(executionId);
		}
	}

	private keep(send: LedgerSend, entry: Entry): void {
		const { position, key, notification } = send;
		this.entries[position] = {
			...entry,
			...(key === undefined ? {} : { key }),
			...(notification === undefined ? {} : { notification }),
		};
		if (notification !== undefined) this.#notifications.set(notification, send);
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

/** The execution that runs. */
export interface Execution {
	readonly id: string;
	readonly isRetry: boolean;
}

/**
 * The ledger of the execution that runs. If what n8n saved is no ledger, nobody knows what was sent.
 * @param context n8n's context of the node; changed in place
 */
export function openLedger(context: object, execution: Execution): Ledger {
	const state: unknown = Reflect.get(context, stateKey);
	// Still the same execution.
	if (state instanceof Ledger) return state;
	const ledger = state === undefined ? new Ledger() : ledgerOf(state, execution);
	Reflect.set(context, stateKey, ledger);
	return ledger;
}

function ledgerOf(state: unknown, { id: executionId, isRetry }: Execution): Ledger {
	const { data } = savedLedger.safeParse(state);
	const id = data?.id ?? randomUUID();
	// An execution that goes on after a pause is the only one with its ledger.
	const known = isRetry ? retried.get(id) : undefined;
	const ledger = known ?? new Ledger(id, data === undefined ? unreadable : data.ifMissing);
	ledger.add(data?.entries ?? {}, executionId);
	return isRetry ? remember(ledger) : ledger;
}
