import type { IExecuteFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import type { SendOutcome } from '../delivery/ledger';
import { notRequested } from '../delivery/ledger';
import { claimedEarlierProblem } from '../service/failures';
import { InvalidInput } from '../service/invalidInput';
import { messageOf } from './errors';

/** What keys need of n8n; all of it belongs to one node of one workflow. */
export type KeysContext = Pick<IExecuteFunctions, 'getNode' | 'getWorkflow' | 'logger'> & {
	readonly helpers: Pick<
		IExecuteFunctions['helpers'],
		'checkProcessedAndRecord' | 'removeProcessed'
	>;
};

/** What is known of a key before a request leaves under it. */
type Claim = 'own' | 'unsettled' | 'sent';

/**
 * A key takes one entry in n8n's store, and another one as long as its send has no known outcome. n8n
 * drops the oldest entries beyond this number: so at least the newest 10,000 keys are remembered.
 */
const mostEntries = 20_000;

const keyEntry = (key: string) => `key:${key}`;
const unsettledEntry = (key: string) => `unsettled:${key}`;

/**
 * How long what came of a send may wait while requests wait for their claims: in milliseconds, and in
 * writes, which take the longer the more keys n8n remembers.
 */
const notesEveryMs = 200;
const notesEveryWrites = 3;

/** Pauses before a write is tried again that only makes a claim's end known, in milliseconds. */
const writePausesMs = [100, 1000];

/** Which of the entries that were recorded were not there before. */
type IsNew = (entry: string) => boolean;

/** What is to be written for one key. */
interface Write {
	readonly record: readonly string[];
	/** What is to be removed then. */
	readonly remove: (isNew: IsNew) => readonly string[];
	/** Whether what was recorded counts even where nothing could be removed. */
	readonly isClaim: boolean;
	readonly context: KeysContext;
	readonly done: (isNew: IsNew) => void;
	readonly failed: (error: unknown) => void;
}

/** A send under a key: how it ended, and when that is written. */
interface KeyedSend {
	readonly outcome: Promise<SendOutcome>;
	readonly written: Promise<void>;
}

/**
 * The keys of one node, for all its executions in this process. n8n's store has no lock: a write reads all
 * entries, changes them and writes them back. So one write is under way at a time, and the next takes all
 * that came meanwhile.
 */
class NodeKeys {
	/** Sends under a key that are under way in this process, until all that is to be written of them is. */
	readonly underWay = new Map<string, KeyedSend>();
	private claims: Write[] = [];
	private notes: Write[] = [];
	/** When notes were written last, and how long the last write took, in milliseconds. */
	private notedAt = -Infinity;
	private writeMs = 0;
	private isWriting = false;

	/**
	 * Claims a key.
	 * @throws what n8n's store throws: then it is not claimed
	 */
	async claim(key: string, context: KeysContext): Promise<Claim> {
		const [entry, unsettled] = [keyEntry(key), unsettledEntry(key)];
		const wasSent = (isNew: IsNew) => !isNew(entry) && isNew(unsettled);
		const isNew = await this.write({
			record: [entry, unsettled],
			remove: (known) => (wasSent(known) ? [unsettled] : []),
			isClaim: true,
			context,
		});
		if (wasSent(isNew)) return 'sent';
		return isNew(entry) && isNew(unsettled) ? 'own' : 'unsettled';
	}

	/** Notes that what was claimed was sent. */
	async settle(key: string, context: KeysContext): Promise<void> {
		// Recorded once more: another process may have written over the claim meanwhile.
		const record = [keyEntry(key)];
		await this.write({ record, remove: () => [unsettledEntry(key)], isClaim: false, context });
	}

	/** Notes that what was claimed was not sent. */
	async free(key: string, context: KeysContext): Promise<void> {
		const remove = () => [keyEntry(key), unsettledEntry(key)];
		await this.write({ record: [], remove, isClaim: false, context });
	}

	private async write(write: Omit<Write, 'done' | 'failed'>): Promise<IsNew> {
		return await new Promise<IsNew>((done, failed) => {
			(write.isClaim ? this.claims : this.notes).push({ ...write, done, failed });
			void this.writeAll();
		});
	}

	private async writeAll(): Promise<void> {
		if (this.isWriting) return;
		this.isWriting = true;
		while (this.claims.length + this.notes.length > 0) {
			// Those that start together come one right after another.
			await sleep(0);
			const writes = this.take();
			const from = performance.now();
			try {
				await writeTogether(writes);
			} catch (error) {
				for (const { failed } of writes) failed(error);
			}
			this.writeMs = performance.now() - from;
		}
		this.isWriting = false;
	}

	/** What is written next: claims, which requests wait for, and every now and then what came of others. */
	private take(): Write[] {
		const writes = this.claims;
		this.claims = [];
		const pauseMs = Math.max(notesEveryMs, notesEveryWrites * this.writeMs);
		if (writes.length > 0 && performance.now() - this.notedAt < pauseMs) return writes;
		this.notedAt = performance.now();
		writes.push(...this.notes);
		this.notes = [];
		return writes;
	}
}

const scope = 'node';
const options = { mode: 'entries', maxEntries: mostEntries } as const;

async function writeTogether(writes: readonly Write[]): Promise<void> {
	const helpers = writes[0]?.context.helpers;
	if (helpers === undefined) return;
	const entries = [...new Set(writes.flatMap(({ record }) => record))];
	const fresh = new Set<unknown>();
	if (entries.length > 0) {
		const answer = await helpers.checkProcessedAndRecord(entries, scope, options);
		answer.new.forEach((entry) => fresh.add(entry));
		if (answer.new.length + answer.processed.length < entries.length) {
			throw new Error('n8n did not record all of it');
		}
	}
	const isNew = (entry: string) => fresh.has(entry);
	const removals = writes.map((write) => ({ write, removed: write.remove(isNew) }));
	for (const { write, removed } of removals) if (removed.length === 0) write.done(isNew);
	const rest = removals.filter(({ removed }) => removed.length > 0);
	if (rest.length === 0) return;
	const removed = rest.flatMap((each) => each.removed);
	const refusal = await helpers.removeProcessed(removed, scope, options).then(
		() => undefined,
		(error: unknown) => ({ error }),
	);
	for (const { write } of rest) {
		// A claim is what was recorded, whatever could not be removed.
		if (refusal === undefined || write.isClaim) write.done(isNew);
		else write.failed(refusal.error);
	}
}

const nodes = new Map<string, NodeKeys>();

function keysOf(context: KeysContext): NodeKeys {
	const name = `${context.getWorkflow().id}:${context.getNode().id}`;
	const known = nodes.get(name);
	if (known !== undefined) return known;
	for (const [other, { underWay }] of nodes) if (underWay.size === 0) nodes.delete(other);
	const keys = new NodeKeys();
	nodes.set(name, keys);
	return keys;
}

/**
 * The idempotency keys of one run of the node: what was sent under a key is never sent under it again by
 * this node of this workflow. Two processes can't see each other's claims of the very same moment.
 */
export class IdempotencyKeys {
	private readonly writing = new Set<Promise<void>>();

	/** @param signal ends when the user stops the execution */
	constructor(
		private readonly context: KeysContext,
		private readonly signal?: AbortSignal,
	) {}

	/**
	 * Makes a send unless one was made under its key before. Its key is claimed before the request leaves;
	 * a claim that can't be written means that nothing leaves.
	 * @param resendUnknown whether to send under a key that is claimed and not known to be sent
	 * @param attempt makes the send once; never throws
	 */
	async once(
		key: string,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
	): Promise<SendOutcome> {
		for (;;) {
			const keys = keysOf(this.context);
			const running = keys.underWay.get(key);
			if (running === undefined) {
				const send = this.start(keys, key, resendUnknown, attempt);
				keys.underWay.set(key, send);
				this.writing.add(send.written);
				return await send.outcome;
			}
			const outcome = await running.outcome;
			if (outcome.kind === 'done') return alreadySent;
			if (isUnknown(outcome)) return outcome;
			await running.written;
		}
	}

	/** Waits until how all sends of this run ended is written. */
	async written(): Promise<void> {
		await Promise.all(this.writing);
	}

	private start(
		keys: NodeKeys,
		key: string,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
	): KeyedSend {
		let isClaimed = false;
		const send = async (): Promise<SendOutcome> => {
			let claim: Claim;
			try {
				claim = await keys.claim(key, this.context);
			} catch (error) {
				return { kind: 'invalid', invalid: notClaimed(error) };
			}
			if (claim === 'sent') return alreadySent;
			if (claim === 'unsettled' && !resendUnknown) {
				return { kind: 'failed', problem: claimedEarlierProblem(key) };
			}
			isClaimed = true;
			return this.signal?.aborted ? { kind: 'notStarted' } : await attempt();
		};
		const outcome = send();
		const written = outcome.then(async (result) => {
			if (isClaimed) await this.note(keys, key, result);
			keys.underWay.delete(key);
		});
		return { outcome, written };
	}

	/** Writes how a send under a key ended. Where that can't be written the key stays claimed. */
	private async note(keys: NodeKeys, key: string, outcome: SendOutcome): Promise<void> {
		if (isUnknown(outcome)) return;
		for (const pauseMs of [...writePausesMs, undefined]) {
			try {
				if (outcome.kind === 'done') await keys.settle(key, this.context);
				else await keys.free(key, this.context);
				return;
			} catch (error) {
				if (pauseMs !== undefined) {
					await sleep(pauseMs);
					continue;
				}
				this.context.logger.warn(
					`The idempotency key of a send stays claimed, because its outcome could not be saved: ${messageOf(error)}`,
				);
			}
		}
	}
}

const alreadySent = notRequested({ kind: 'done', value: 'alreadySent' });

const isUnknown = (outcome: SendOutcome) =>
	outcome.kind === 'failed' && outcome.problem.outcome === 'unknown';

function notClaimed(error: unknown): InvalidInput {
	return new InvalidInput(
		`Idempotency Key could not be saved in n8n's database: ${messageOf(error)}`,
		'It was not sent, because it could be sent twice otherwise. Save the workflow, check that n8n can write to its database, then run the workflow again.',
	);
}
