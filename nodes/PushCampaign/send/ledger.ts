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
	ifMissing: savedEntry.optional(),
});
type Saved = z.infer<typeof savedLedger>;

/** How a send ended that is not sent now. */
export type EarlierOutcome =
	/** It was sent before, by an earlier try of this execution or under its key. */
	| { readonly state: 'before'; readonly row: IDataObject }
	/** It failed; or an earlier execution has reported already that nobody knows. */
	| { readonly state: 'failed' | 'reported'; readonly problem: Problem };

/** How a send ended. */
export type SendOutcome = { readonly state: 'sent'; readonly row: IDataObject } | EarlierOutcome;

/** What the ledger knows of a send. */
type Known =
	| { readonly state: 'new' }
	/** Another call of a tool is sending it at this moment. */
	| { readonly state: 'inFlight' }
	| EarlierOutcome;

/**
 * What one execution has sent, or may have sent, by the position of the item. It lives in n8n's context of the node, which
 * n8n keeps between the tries of 'Retry On Fail' and saves with the execution for 'Retry': all but what is private by `#`.
 */
export class Ledger {
	/** What this execution claims before it sends; after that, what its Retry claims. */
	private id: string;
	private readonly entries: Record<string, Entry>;
	/** How a send stands that has no entry, if it is not new. */
	private readonly ifMissing: Entry | undefined;
	readonly #inFlight = new Set<string>();
	/** What an earlier execution has reported. */
	readonly #reported: Set<string>;
	/** The answer to the claim holds for the whole execution, each try of 'Retry On Fail' included. */
	#maySend: boolean | undefined;

	constructor(saved: Saved) {
		this.id = saved.id;
		this.entries = saved.entries;
		this.ifMissing = saved.ifMissing;
		this.#reported = new Set(Object.keys(saved.entries));
	}

	/** Whether anything was sent, or left unknown. */
	hasEntries(): boolean {
		return this.ifMissing !== undefined || Object.keys(this.entries).length > 0;
	}

	/** Whether anything was sent that has no ID: a new execution does not know it. */
	hasSentWithoutId(): boolean {
		return Object.values(this.entries).some(
			(entry) => 'row' in entry && entry.row['idempotencyKey'] === undefined,
		);
	}

	/** @param position missing for a call of a tool that is not read yet */
	recall(position: string | undefined): Known {
		if (position === undefined) return { state: 'new' };
		const entry = this.entries[position] ?? this.ifMissing;
		if (entry === undefined) return { state: 'new' };
		if ('row' in entry) return { state: 'before', row: { ...entry.row } };
		if (this.#inFlight.has(position)) return { state: 'inFlight' };
		const state = this.#reported.has(position) ? 'reported' : 'failed';
		return { state, problem: entry.unknown };
	}

	/** Notes that a request is about to leave. If the execution ends here, its outcome is unknown. */
	begin(position: string): void {
		this.#inFlight.add(position);
		this.entries[position] = stopped;
	}

	/** Notes that its request has ended, however that was. */
	end(position: string): void {
		this.#inFlight.delete(position);
	}

	/** Notes how a send ended. One that did not go out may be sent again. */
	keep(position: string | undefined, outcome: SendOutcome): void {
		if (position === undefined) return;
		if ('row' in outcome) this.entries[position] = { row: savedRow.parse(outcome.row) };
		else if (outcome.problem.outcome === 'notSent') delete this.entries[position];
		else this.entries[position] = { unknown: savedProblem.parse(outcome.problem) };
		if (outcome.state === 'reported') this.#reported.add(position);
	}

	/**
	 * Claims what is left to send: every execution claims what it found, and a Retry has to be the first.
	 * @param insert inserts a row of a name, and says whether nobody had inserted it before; may throw
	 * @returns whether this execution may send
	 */
	async claim(isRetry: boolean, insert: (name: string) => Promise<boolean>): Promise<boolean> {
		if (this.#maySend !== undefined) return this.#maySend;
		const isFirst = await insert(`begun:${this.id}`);
		this.#maySend = isFirst || !isRetry;
		if (this.#maySend) this.id = randomUUID();
		return this.#maySend;
	}
}

const stateKey = 'pushCampaignLedger';

/**
 * The ledger of the execution that runs. If what n8n saved is no ledger, nobody knows what was sent.
 * @param context n8n's context of the node; changed in place
 * @param execution names the node and its first execution, of which n8n may have saved nothing
 */
export function openLedger(context: object, execution: string): Ledger {
	const state: unknown = Reflect.get(context, stateKey);
	// Still the same execution.
	if (state instanceof Ledger) return state;
	const nothing: Saved = { id: execution, entries: {} };
	const unread: Saved = { ...nothing, ifMissing: unreadable };
	const saved = state === undefined ? nothing : (savedLedger.safeParse(state).data ?? unread);
	const ledger = new Ledger(saved);
	Reflect.set(context, stateKey, ledger);
	return ledger;
}
