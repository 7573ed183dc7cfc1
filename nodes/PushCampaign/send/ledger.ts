import { randomUUID } from 'crypto';

import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { Problem } from '../service/problems';
import { unknownProblem } from '../service/problems';

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

/**
 * How a send ended, as n8n saves it: the item that it gave, or why nobody knows. This is a format: it stays as it is from
 * version to version.
 */
const savedEntry = z.union([z.object({ row: savedRow }), z.object({ unknown: savedProblem })]);
type Entry = z.infer<typeof savedEntry>;

const unknownBecause = (reason: string): Entry => ({
	unknown: savedProblem.parse(unknownProblem(reason, { isSend: true })),
});

const stopped = unknownBecause('the execution was stopped before the push service answered');

/** What can't be read may have been sent. */
const unreadable = unknownBecause(
	"this version of Push Campaign can't read what was saved about it",
);

const savedLedger = z.object({
	id: z.string(),
	entries: z.record(z.string(), savedEntry.catch(unreadable)),
	// In this order: zod 4.0 would have `catch` take the place of what is not there.
	ifMissing: savedEntry.optional().catch(unreadable),
});
type Saved = z.infer<typeof savedLedger>;

/** What the ledger says of a send. */
type Recalled =
	| { readonly says: 'new' }
	/** Another Retry, or another call of a tool, is sending it at this moment. */
	| { readonly says: 'inFlight' }
	/** It was sent, and gave this item. */
	| { readonly says: 'sent'; readonly row: IDataObject }
	/** Nobody knows. */
	| { readonly says: 'unknown'; readonly problem: Problem };

/** What one execution and its Retries share in a process. */
interface Chain {
	readonly entries: Record<string, Entry>;
	/** The positions of sends that are in flight. */
	readonly inFlight: Set<string>;
	/** The ID of the newest ledger in this process: the next Retry claims it. */
	newest: string;
	/** The ID that the first Retry in this process has claimed: no other process gets it. */
	readonly claimed: string;
	/** The last claim: Retries of one process claim one after another. */
	claim: Promise<boolean>;
	/** The Retries that send at this moment. */
	readonly sending: Set<Ledger>;
}

const newChain = (newest: string): Chain => ({
	...{ entries: {}, inFlight: new Set(), newest, claimed: newest, sending: new Set() },
	claim: Promise.resolve(true),
});

/**
 * What one execution has sent, or may have sent, by the position of the item. It lives in n8n's context of the node, which
 * n8n keeps between the tries of 'Retry On Fail' and saves with the execution for 'Retry': all but what is private by `#`.
 */
export class Ledger {
	/** What a Retry of this execution claims. */
	private id: string;
	private readonly entries: Record<string, Entry>;
	/** How a send stands that has no entry, if it is not new. */
	private readonly ifMissing: Entry | undefined;
	readonly #chain: Chain;
	/** What this execution alone tells as unknown: it found an ID whose process had ended. */
	readonly #found = new Map<string, Problem>();
	#takenOver: Promise<boolean> | undefined;

	/** Puts together what n8n saved, perhaps in another process, and what this one knows: sent is sent. */
	constructor(saved: Saved = { id: randomUUID(), entries: {} }, chain = newChain(saved.id)) {
		this.id = saved.id;
		this.entries = chain.entries;
		this.ifMissing = saved.ifMissing;
		this.#chain = chain;
		for (const [position, entry] of Object.entries(saved.entries)) {
			if ('row' in entry) this.entries[position] = entry;
			else this.entries[position] ??= entry;
		}
	}

	/** Whether anything was sent, or left unknown. */
	hasEntries(): boolean {
		return this.ifMissing !== undefined || Object.keys(this.entries).length > 0;
	}

	/** How a send stands for this execution. */
	recall(position: string | undefined): Recalled {
		if (position === undefined) return { says: 'new' };
		const found = this.#found.get(position);
		if (found !== undefined) return { says: 'unknown', problem: found };
		const entry = this.entries[position] ?? this.ifMissing;
		if (entry === undefined) return { says: 'new' };
		if ('row' in entry) return { says: 'sent', row: { ...entry.row } };
		if (this.#chain.inFlight.has(position)) return { says: 'inFlight' };
		return { says: 'unknown', problem: entry.unknown };
	}

	/** Notes that a request is about to leave. If the execution ends here, its outcome is unknown. */
	begin(positions: readonly string[]): void {
		for (const position of positions) {
			this.#chain.inFlight.add(position);
			this.entries[position] = stopped;
		}
	}

	/** Notes that its request has ended, however that was. */
	end(positions: readonly string[]): void {
		for (const position of positions) this.#chain.inFlight.delete(position);
	}

	keepSent(position: string, row: IDataObject): void {
		this.entries[position] = { row: savedRow.parse(row) };
	}

	/** Notes the problem of a send. One that did not go out may be sent again. */
	keepFailed(positions: readonly string[], problem: Problem): void {
		for (const position of positions) {
			if (problem.outcome === 'notSent') delete this.entries[position];
			else this.entries[position] = { unknown: savedProblem.parse(problem) };
		}
	}

	/** Notes that this execution found a send to be unknown. A later one does not report it again. */
	keepFound(position: string, problem: Problem): void {
		this.#found.set(position, problem);
	}

	/**
	 * Claims what the execution that this one retries has left: of any number of Retries in any number of processes, one
	 * sends it. The answer holds for the whole execution, each try of 'Retry On Fail' included.
	 * @param insert inserts a row of a name, and says whether nobody had inserted it before; may throw
	 * @returns whether this one may send
	 */
	async takeOver(insert: (name: string) => Promise<boolean>): Promise<boolean> {
		this.#takenOver ??= this.#claim(insert);
		const isOurs = await this.#takenOver;
		if (isOurs) this.#chain.sending.add(this);
		return isOurs;
	}

	/**
	 * Notes that this execution sends nothing more. What n8n saves of it lacks what another Retry of this process still
	 * sends: then that one is the one to be retried, and this one not.
	 */
	handOn(): void {
		const { sending, claimed, newest } = this.#chain;
		sending.delete(this);
		this.id = sending.size > 0 ? claimed : newest;
	}

	async #claim(insert: (name: string) => Promise<boolean>): Promise<boolean> {
		const chain = this.#chain;
		const before = chain.claim.catch(() => false);
		chain.claim = before.then(async () => await insert(`retry:${chain.newest}`));
		if (!(await chain.claim)) return false;
		// The next Retry claims what this one leaves.
		chain.newest = randomUUID();
		this.id = chain.newest;
		remember(this.id, chain);
		return true;
	}
}

/**
 * What this process knows of executions that were retried, by the ID of the ledger, the one used longest ago first. A second
 * Retry of the same execution finds in n8n only what the first one began with.
 */
const retried = new Map<string, Chain>();
const mostRetried = 200;

function remember(id: string, chain = newChain(id)): Chain {
	retried.delete(id);
	retried.set(id, chain);
	const [oldest = ''] = retried.keys();
	if (retried.size > mostRetried) retried.delete(oldest);
	return chain;
}

const stateKey = 'pushCampaignLedger';

/**
 * The ledger of the execution that runs. If what n8n saved is no ledger, nobody knows what was sent.
 * @param context n8n's context of the node; changed in place
 * @param retryOf of a Retry: what names the execution that it retries, if the node had not run in it
 */
export function openLedger(context: object, retryOf?: string): Ledger {
	const state: unknown = Reflect.get(context, stateKey);
	// Still the same execution.
	if (state instanceof Ledger) return state;
	const nothing: Saved = { id: retryOf ?? randomUUID(), entries: {} };
	const unread: Saved = { ...nothing, ifMissing: unreadable };
	const saved = state === undefined ? nothing : (savedLedger.safeParse(state).data ?? unread);
	// An execution that is no Retry is the only one with its ledger, also if it goes on after a pause.
	const known = retryOf === undefined ? undefined : remember(saved.id, retried.get(saved.id));
	const ledger = new Ledger(saved, known);
	Reflect.set(context, stateKey, ledger);
	return ledger;
}
