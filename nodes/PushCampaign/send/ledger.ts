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
	said: z.string().optional(),
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

type Saved = z.infer<typeof savedLedger>;
const newlySaved = (ifMissing?: Entry): Saved => ({ id: randomUUID(), entries: {}, ifMissing });

/** What the ledger says of a send. */
type Recalled =
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

/** What one execution and its Retries share in a process. */
class Shared {
	readonly entries: Record<string, Entry> = {};
	hasEntries = false;
	/** The positions of sends that are in flight. */
	readonly inFlight = new Set<string>();
	/** By what its subscribers see: the last send of it that went out, or may have. */
	readonly notifications = new Map<string, LedgerSend>();
}

/**
 * What one execution has sent, or may have sent, by the position of the item. It lives in n8n's context of the node, which
 * n8n keeps between the tries of 'Retry On Fail' and saves with the execution for 'Retry': all but what is private by `#`.
 */
export class Ledger {
	readonly id: string;
	private readonly entries: Record<string, Entry>;
	/** How a send stands that has no entry, if it is not new. */
	private readonly ifMissing: Entry | undefined;
	readonly #shared: Shared;
	readonly #executionId: string;
	#hasFoundUnknown = false;
	#hasLeftUnknown = false;

	/** Puts together what n8n saved, perhaps in another process, and what this one knows: sent is sent. */
	constructor(executionId: string, saved = newlySaved(), shared = new Shared()) {
		this.id = saved.id;
		this.entries = shared.entries;
		this.ifMissing = saved.ifMissing;
		this.#shared = shared;
		this.#executionId = executionId;
		if (saved.ifMissing !== undefined) this.noteUnknown(saved.ifMissing);
		for (const [position, entry] of Object.entries(saved.entries)) {
			shared.hasEntries = true;
			const isKnown = this.entries[position] !== undefined && !('row' in entry);
			if (!isKnown) this.keep({ ...entry, position }, entry);
			if (!position.endsWith(testMark)) this.noteUnknown(entry);
		}
	}

	/** Whether anything was sent, or left unknown. */
	get hasEntries(): boolean {
		return this.#shared.hasEntries;
	}

	/** Whether this execution is the Retry of one that left something unknown. */
	get hasFoundUnknown(): boolean {
		return this.#hasFoundUnknown;
	}

	/** Whether this execution itself has left something unknown, in an earlier run of the node. */
	get hasLeftUnknown(): boolean {
		return this.#hasLeftUnknown;
	}

	/** How a send stands for this execution. */
	recall(position: string): Recalled {
		const entry = this.entries[position] ?? this.ifMissing;
		if (entry === undefined) return { says: 'new' };
		if ('row' in entry) return { says: 'sent', row: { ...entry.row } };
		if (this.#shared.inFlight.has(position)) return { says: 'inFlight' };
		const isOfEarlier = entry.executionId !== this.#executionId;
		return { says: 'unknown', problem: entry.unknown, isOfEarlier, key: entry.key };
	}

	/**
	 * Whether another send of this execution has shown the same to the same subscribers, or may have. One under the same key
	 * is known by its key.
	 */
	hasShown({ position, key, notification = '' }: LedgerSend): boolean {
		const shown = this.#shared.notifications.get(notification);
		if (shown === undefined || shown.position === position) return false;
		return key === undefined || shown.key !== key;
	}

	/** Notes that a request is about to leave. If the execution ends here, its outcome is unknown. */
	begin(send: LedgerSend): void {
		this.#shared.inFlight.add(send.position);
		this.keep(send, { unknown: stopped, executionId: this.#executionId });
	}

	/** Notes that its request has ended, however that was. */
	end({ position }: LedgerSend): void {
		this.#shared.inFlight.delete(position);
	}

	keepSent(send: LedgerSend, row: IDataObject): void {
		this.#shared.hasEntries = true;
		this.keep(send, { row: savedRow.parse(row) });
	}

	/** Notes the item of a send that its user found in the dashboard. */
	countAsSent(position: string, row: IDataObject): void {
		this.keepSent({ ...this.entries[position], position }, row);
	}

	/** Notes the problem of a send. One that did not go out may be sent again. */
	keepFailed(send: LedgerSend, problem: Problem): void {
		const { position, notification = '' } = send;
		if (problem.outcome === 'unknown') {
			this.#shared.hasEntries = true;
			this.#hasLeftUnknown = true;
			this.keep(send, { unknown: savedProblem.parse(problem), executionId: this.#executionId });
			return;
		}
		delete this.entries[position];
		const { notifications } = this.#shared;
		if (notifications.get(notification)?.position === position) notifications.delete(notification);
	}

	private noteUnknown(entry: Entry): void {
		if ('row' in entry) return;
		if (entry.executionId === this.#executionId) this.#hasLeftUnknown = true;
		else this.#hasFoundUnknown = true;
	}

	private keep(send: LedgerSend, entry: Entry): void {
		const { position, key, notification } = send;
		this.entries[position] = {
			...entry,
			...(key === undefined ? {} : { key }),
			...(notification === undefined ? {} : { notification }),
		};
		if (notification !== undefined) this.#shared.notifications.set(notification, send);
	}
}

/**
 * What this process knows of executions that were retried, by the ID of the ledger, the one used longest ago first. A second
 * Retry of the same execution finds in n8n only what the first one began with.
 */
const retried = new Map<string, Shared>();
const mostRetried = 100;

function sharedBy(id: string): Shared {
	const shared = retried.get(id) ?? new Shared();
	retried.delete(id);
	retried.set(id, shared);
	const [oldest = ''] = retried.keys();
	if (retried.size > mostRetried) retried.delete(oldest);
	return shared;
}

/**
 * The ledger of the execution that runs. If what n8n saved is no ledger, nobody knows what was sent.
 * @param context n8n's context of the node; changed in place
 */
export function openLedger(context: object, executionId: string, isRetry: boolean): Ledger {
	const state: unknown = Reflect.get(context, stateKey);
	// Still the same execution.
	if (state instanceof Ledger) return state;
	const saved = state === undefined ? newlySaved() : state;
	const { data = newlySaved(unreadable) } = savedLedger.safeParse(saved);
	// An execution that goes on after a pause is the only one with its ledger.
	const shared = isRetry ? sharedBy(data.id) : new Shared();
	const ledger = new Ledger(executionId, data, shared);
	Reflect.set(context, stateKey, ledger);
	return ledger;
}
