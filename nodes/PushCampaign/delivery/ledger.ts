import { createHash, randomUUID } from 'crypto';

import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { SendReceipt } from '../service/answers';
import type { Problem } from '../service/failures';
import { interruptedProblem } from '../service/failures';
import { parseJson } from '../service/json';
import type { Outcome } from './runJobs';

/**
 * What tells one send from another: the content that is sent, and where it comes from (the node's
 * parameters as written and the input item). Either is enough to know an item again: an expression such
 * as `{{ $now }}` or `{{ $execution.id }}` makes other content of the same item when n8n runs the node
 * again, and that must not send it twice. Both take in the site that it is sent to.
 */
export interface Identity {
	readonly content: string;
	/** Missing where the parameters hold no expression: then other content is another send. */
	readonly source?: string | undefined;
}

/** Which run of the node and which of its items; in an agent's tool only the content counts. */
export type Place = { readonly run: number; readonly itemIndex: number } | 'tool';

/** How a send ended; `alreadySent` under its idempotency key, by another execution or item. */
export type SendOutcome = Outcome<SendReceipt | 'alreadySent'>;

/** An outcome of which the service was not asked here. */
export const notRequested = (outcome: SendOutcome): SendOutcome =>
	outcome.kind === 'done' ? { ...outcome, wasRequested: false } : outcome;

export type Entry =
	| { readonly outcome: 'sent'; readonly receipt: SendReceipt }
	| { readonly outcome: 'unknown'; readonly problem: Problem };

/** Characters of a digest that are kept: 96 bits, so that two sends never look alike. */
const digestLength = 16;

/** A short digest of any JSON value; what holds itself, or a BigInt, has one too. */
export function digest(value: unknown): string {
	return createHash('sha256').update(toText(value)).digest('base64url').slice(0, digestLength);
}

function toText(value: unknown): string {
	try {
		return JSON.stringify(value);
	} catch {
		const seen = new WeakSet();
		return JSON.stringify(value, (_name, inner: unknown) => {
			if (typeof inner === 'bigint') return String(inner);
			if (typeof inner !== 'object' || inner === null) return inner;
			if (seen.has(inner)) return 'seen before';
			seen.add(inner);
			return inner;
		});
	}
}

const savedProblem = z.object({
	type: z.string(),
	outcome: z.literal('unknown'),
	message: z.string(),
	description: z.string(),
	httpCode: z.string().optional(),
	cause: z.enum([
		'rate-limited',
		'temporarily-unavailable',
		'credential-invalid',
		'configuration-invalid',
	]),
});

const optionalText = z.string().nullable();
/**
 * `sent`, source, description, campaign ID, schedule. Or `unknown`, source, the reason as JSON. n8n saves
 * a text that occurs more than once only once.
 */
const savedSend = z.union([
	z.tuple([z.literal('sent'), optionalText, z.string(), optionalText, optionalText]),
	z.tuple([z.literal('unknown'), optionalText, z.string()]),
]);
type SavedSend = z.infer<typeof savedSend>;

const savedLedger = z.object({
	id: z.string(),
	/** By place and content. */
	sends: z.record(z.string(), savedSend),
});
type SavedLedger = z.infer<typeof savedLedger>;

/** A ledger as this process has it, however many copies of it n8n hands out. */
interface LiveLedger {
	readonly saved: SavedLedger;
	/** How many sends it knows. */
	size: number;
	/** By place and source, the key of the send. */
	readonly bySource: Map<string, string>;
	/** Sends that are being made at this moment, by key. */
	readonly underWay: Map<string, Promise<SendOutcome>>;
}

const stateKey = 'pushCampaignLedger';

/**
 * The ledgers of the last executions, by ID, oldest first. 'Retry' of a failed execution hands the node
 * the ledger as that execution left it, also where an earlier Retry has sent more since; what this process
 * knows of it brings it up to date. Bounded, because a ledger is never known to be of no more use.
 */
const liveLedgers = new Map<string, LiveLedger>();
/** The same by what n8n holds of them: reading thousands of entries anew takes its time. */
const liveBySaved = new WeakMap<object, LiveLedger>();
const mostLedgers = 200;
const mostSends = 20_000;

function dropOldest(): void {
	let sends = 0;
	for (const { size } of liveLedgers.values()) sends += size;
	for (const [id, { size, underWay }] of [...liveLedgers].slice(0, -1)) {
		if (liveLedgers.size <= mostLedgers && sends <= mostSends) return;
		if (underWay.size > 0) continue;
		liveLedgers.delete(id);
		sends -= size;
	}
}

/**
 * What this execution has already sent. It lives in n8n's context of the node, which n8n keeps between
 * the tries of 'Retry On Fail' and saves with the execution, where 'Retry' finds it again. An item
 * takes less than 120 bytes there.
 */
export class Ledger {
	private readonly live: LiveLedger;

	/** @param context n8n's context of the node; changed in place */
	constructor(context: IDataObject) {
		this.live = open(context[stateKey]);
		const { saved } = this.live;
		context[stateKey] = saved;
		// Last again: the one used last is dropped last.
		liveLedgers.delete(saved.id);
		liveLedgers.set(saved.id, this.live);
		dropOldest();
	}

	/** What is remembered of this send, if it is the same send. */
	find(place: Place, identity: Identity): Entry | undefined {
		const send = this.live.saved.sends[this.keyOf(place, identity)];
		return send === undefined ? undefined : unpack(send);
	}

	/**
	 * How a send ended, where it is not to be made any more: it was sent, or its outcome is unknown and it is
	 * not to be made again. Nothing of one that is being made at this moment.
	 */
	recall(place: Place, identity: Identity, resendUnknown: boolean): SendOutcome | undefined {
		if (this.live.underWay.has(this.keyOf(place, identity))) return undefined;
		const entry = this.find(place, identity);
		if (entry?.outcome === 'sent') return notRequested({ kind: 'done', value: entry.receipt });
		if (entry === undefined || resendUnknown) return undefined;
		return { kind: 'failed', problem: entry.problem };
	}

	/**
	 * Makes a send unless it is known: one that was sent gives its first answer again, one that is being
	 * made at this moment is waited for, one whose outcome is unknown stays so unless `resendUnknown`.
	 * @param attempt makes the send once; never throws
	 */
	async once(
		place: Place,
		identity: Identity,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
	): Promise<SendOutcome> {
		const { underWay } = this.live;
		const key = this.keyOf(place, identity);
		const running = underWay.get(key);
		if (running !== undefined) return notRequested(await running);
		const known = this.recall(place, identity, resendUnknown);
		if (known !== undefined) return known;
		// Written before the request leaves: an execution that ends here must not send it again.
		this.record(key, identity, { outcome: 'unknown', problem: interruptedProblem });
		const request = attempt();
		underWay.set(key, request);
		try {
			const outcome = await request;
			const entry = toEntry(outcome);
			if (entry === undefined) this.forget(key);
			else this.record(key, identity, entry);
			return outcome;
		} finally {
			underWay.delete(key);
		}
	}

	private keyOf(place: Place, { content, source }: Identity): string {
		const key = prefixOf(place) + content;
		if (source === undefined || Object.hasOwn(this.live.saved.sends, key)) return key;
		return this.live.bySource.get(prefixOf(place) + source) ?? key;
	}

	private record(key: string, { source }: Identity, entry: Entry): void {
		// A send that is known by its source keeps that one.
		const kept = this.live.saved.sends[key]?.[1] ?? source ?? null;
		put(this.live, key, pack(kept, entry));
	}

	private forget(key: string): void {
		const source = this.live.saved.sends[key]?.[1];
		delete this.live.saved.sends[key];
		this.live.size -= 1;
		if (typeof source === 'string') this.live.bySource.delete(sourceKey(key, source));
	}
}

/** In an agent's tool only the content counts, in whatever run or order its calls come. */
const prefixOf = (place: Place) => (place === 'tool' ? 't.' : `${place.run}.${place.itemIndex}.`);

const sourceKey = (key: string, source: string) => key.slice(0, -digestLength) + source;

function put(live: LiveLedger, key: string, send: SavedSend): void {
	if (!Object.hasOwn(live.saved.sends, key)) live.size += 1;
	live.saved.sends[key] = send;
	if (send[1] !== null) live.bySource.set(sourceKey(key, send[1]), key);
}

/** Takes in what a copy knows; that something was sent outweighs that it is unknown. */
function adopt(live: LiveLedger, key: string, send: SavedSend): void {
	if (live.saved.sends[key]?.[0] !== 'sent' && !live.underWay.has(key)) put(live, key, send);
}

function open(saved: unknown): LiveLedger {
	const own = typeof saved === 'object' && saved !== null ? liveBySaved.get(saved) : undefined;
	if (own !== undefined) return own;
	const parsed = savedLedger.safeParse(saved);
	const copy: SavedLedger = parsed.success ? parsed.data : { id: randomUUID(), sends: {} };
	const live = liveLedgers.get(copy.id) ?? {
		saved: { id: copy.id, sends: {} },
		size: 0,
		bySource: new Map<string, string>(),
		underWay: new Map<string, Promise<SendOutcome>>(),
	};
	liveBySaved.set(live.saved, live);
	for (const [key, send] of Object.entries(copy.sends)) adopt(live, key, send);
	return live;
}

function pack(source: string | null, entry: Entry): SavedSend {
	if (entry.outcome === 'unknown') return ['unknown', source, JSON.stringify(entry.problem)];
	const { description, campaignId = null, sendAt = null } = entry.receipt;
	return ['sent', source, description, campaignId, sendAt];
}

function unpack(send: SavedSend): Entry {
	if (send[0] === 'unknown') {
		const { data } = savedProblem.safeParse(parseJson(send[2]));
		return { outcome: 'unknown', problem: data ?? interruptedProblem };
	}
	const [, , description, campaignId, sendAt] = send;
	return {
		outcome: 'sent',
		receipt: {
			description,
			...(campaignId === null ? {} : { campaignId }),
			...(sendAt === null ? {} : { sendAt }),
		},
	};
}

/** What is to be remembered of an outcome; nothing of a send that did not happen. */
function toEntry(outcome: SendOutcome): Entry | undefined {
	if (outcome.kind === 'done' && outcome.value !== 'alreadySent') {
		return { outcome: 'sent', receipt: outcome.value };
	}
	if (outcome.kind === 'failed' && outcome.problem.outcome === 'unknown') {
		return { outcome: 'unknown', problem: outcome.problem };
	}
	return undefined;
}
