import { randomUUID } from 'crypto';

import type { IExecuteFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { withDeadline } from '../service/deadline';

export type Helpers = IExecuteFunctions['helpers'];

/**
 * A sent key takes three entries. n8n drops the oldest entries beyond this number, so at least the newest
 * 10,000 keys of a node are remembered; the rest is for stamps and for keys that are being sent.
 */
const maxEntries = 33_000;
const scope = 'node';
const options = { mode: 'entries', maxEntries } as const;

/** After this many milliseconds a call of n8n's store counts as failed. What it writes may still arrive. */
const timeoutMs = 30_000;

/** How many writes are remembered to know how long a write takes. */
const rememberedWrites = 20;
/** A claim waits at least this long, in milliseconds, and this many times as long as a write takes. */
export const shortestPauseMs = 100;
const pausePerWrite = 2;
/**
 * After a write that took longer than a pause, this process trusts none of its claims for so long, in
 * milliseconds and in times that the write took: it may have written over a claim of another process, which
 * finds that out and claims its key again within this time.
 */
export const shortestDoubtMs = 3_000;
const doubtPerWrite = 5;

/** A stamp is looked for no later than this, in milliseconds, unless its claim is still used. */
const stampLifeMs = 60_000;

/** Two workers can both insert a node's first row: SQLite, PostgreSQL and MySQL refuse the second one so. */
const isCollision = (error: unknown) => /unique|duplicate/i.test(String(error));

/** What a write found, with its times by `performance.now()`. */
export interface Written {
	/** Which of the recorded entries were not there before. A stamp that was gone once stays fresh. */
	readonly fresh: ReadonlySet<string>;
	/** An entry of this write alone: while it is there, no other process has written over this write. */
	readonly stamp: string;
	readonly startedAt: number;
	readonly endedAt: number;
}

/** Changes that are written together. */
interface Batch {
	readonly record: Set<string>;
	readonly remove: Set<string>;
	readonly stamp: string;
	readonly removed: Promise<void>;
	readonly recorded: Promise<Written>;
}

/**
 * Writes the deduplication entries that n8n keeps for one node. n8n's store has no lock: a write reads all
 * entries, changes them and writes them back (n8n 2.41.1: packages/cli/src/deduplication/deduplication-helper.ts).
 * So this process makes one write at a time, and each takes all changes that came meanwhile. A write of
 * another process that began before ours and ends after it drops what ours recorded.
 */
export class EntryWriter {
	private lastWrite: Promise<unknown> = Promise.resolve();
	private next: Batch | undefined;
	/** The stamps in n8n's store: when each was recorded, and whether it was removed once. */
	private readonly stamps = new Map<string, { readonly at: number; readonly isRemoved: boolean }>();
	/**
	 * The stamps that were found gone. Looking for a stamp records it again, and the claims of one write share it:
	 * without this, only the first that looks would find out that its claim was overwritten.
	 */
	private readonly lostStamps = new Set<string>();
	/** How long the last writes took, in milliseconds, the newest last. */
	private durations: number[] = [];
	/**
	 * When the next write may begin: after a rest that is longer than a write takes. If two processes wrote without
	 * a rest, each could put back what it read before the other one wrote, again and again, and both would find
	 * their own claims.
	 */
	private restUntil = -Infinity;
	/** When the last write ended that took longer than the shortest pause of any process. */
	private slowAt = -Infinity;
	/** Until when this process does not trust its own claims. */
	private doubtUntil = -Infinity;

	/**
	 * Records entries.
	 * @param isClaim whether the write's stamp is recorded with them
	 * @throws what n8n's store throws; then none of the entries counts as recorded
	 */
	async record(entries: Iterable<string>, helpers: Helpers, isClaim = false): Promise<Written> {
		const batch = (this.next ??= this.open(helpers));
		for (const entry of entries) batch.record.add(entry);
		if (isClaim) batch.record.add(batch.stamp);
		return await batch.recorded;
	}

	/**
	 * Removes entries, also those that were to be recorded by the same write.
	 * @throws what n8n's store throws; then some may be left
	 */
	async remove(entries: Iterable<string>, helpers: Helpers): Promise<void> {
		const batch = (this.next ??= this.open(helpers));
		for (const entry of entries) {
			batch.record.delete(entry);
			batch.remove.add(entry);
		}
		await batch.removed;
	}

	/**
	 * How long a claim waits before it is looked at, in milliseconds. The slowest write but one decides, so
	 * that a single slow write does not slow down the next twenty.
	 */
	get pauseMs(): number {
		return Math.max(shortestPauseMs, pausePerWrite * this.slowestButOneMs);
	}

	private get slowestButOneMs(): number {
		const [, slowestButOne = 0] = this.slowestFirst();
		return slowestButOne;
	}

	private get medianMs(): number {
		const slowestFirst = this.slowestFirst();
		return slowestFirst[Math.floor(slowestFirst.length / 2)] ?? 0;
	}

	private slowestFirst(): number[] {
		return [...this.durations].sort((one, other) => other - one);
	}

	/** From when on a claim's stamp says that the claim holds, by `performance.now()`. */
	trustedFrom({ endedAt }: Written): number {
		return Math.max(endedAt + this.pauseMs, this.doubtUntil);
	}

	/**
	 * Whether a write of this process could have dropped a claim of another one that was looked at already. The
	 * other one finds out and claims its key again, but may not have when this process reads the entries.
	 */
	wasSlowSince({ startedAt }: Written): boolean {
		return this.slowAt >= startedAt - 2 * this.pauseMs || this.doubtUntil > startedAt;
	}

	/** How many stamps are left in n8n's store. */
	get stampCount(): number {
		return this.stamps.size;
	}

	/**
	 * Removes the stamps that are too old to be looked for; each twice, because a write of another process that
	 * began earlier puts them back.
	 * @param inUse those that are kept
	 * @throws what n8n's store throws
	 */
	async removeStamps(inUse: ReadonlySet<string>, helpers: Helpers): Promise<void> {
		const now = performance.now();
		const old = [...this.stamps].filter(
			([stamp, { at }]) => at < now - stampLifeMs && !inUse.has(stamp),
		);
		if (old.length === 0) return;
		for (const [stamp, { isRemoved }] of old) {
			if (isRemoved) {
				this.stamps.delete(stamp);
				this.lostStamps.delete(stamp);
			} else this.stamps.set(stamp, { at: now, isRemoved: true });
		}
		await this.remove(
			old.map(([stamp]) => stamp),
			helpers,
		);
	}

	/** Begins to collect the changes of the write that comes when the last one is over. */
	private open(helpers: Helpers): Batch {
		const record = new Set<string>();
		const remove = new Set<string>();
		const stamp = `stamp:${randomUUID()}`;
		const isTurn = this.lastWrite.then(async () => {
			// What is asked for until the write begins is part of it.
			await this.rest();
			this.next = undefined;
		});
		// First, so that a key can be freed and claimed in one batch.
		const removed = isTurn.then(async () => {
			if (remove.size === 0) return;
			await this.call(async () => await helpers.removeProcessed([...remove], scope, options));
		});
		const recorded = removed
			.catch(() => undefined)
			.then(async () => {
				const startedAt = performance.now();
				if (record.has(stamp)) this.stamps.set(stamp, { at: startedAt, isRemoved: false });
				const added = await this.recordAll([...record], helpers);
				for (const entry of added) {
					if (entry !== stamp && this.stamps.has(entry)) this.lostStamps.add(entry);
				}
				const fresh = new Set([
					...added,
					...[...record].filter((entry) => this.lostStamps.has(entry)),
				]);
				return { fresh, stamp, startedAt, endedAt: performance.now() };
			});
		this.lastWrite = recorded.catch(() => undefined);
		// Not every batch has somebody who waits for both.
		removed.catch(() => undefined);
		recorded.catch(() => undefined);
		return { record, remove, stamp, removed, recorded };
	}

	/** @returns the entries that were not there before */
	private async recordAll(entries: string[], helpers: Helpers): Promise<ReadonlySet<string>> {
		if (entries.length === 0) return new Set();
		const write = async () =>
			await this.call(async () => await helpers.checkProcessedAndRecord(entries, scope, options));
		const answer = await write().catch(async (error: unknown) => {
			if (!isCollision(error)) throw error;
			return await write();
		});
		if (answer.new.length + answer.processed.length < entries.length) {
			throw new Error('n8n did not record all of it');
		}
		return new Set(answer.new.map(String));
	}

	/** Makes one call of n8n's store and notes how long it took. */
	private async call<Value>(access: () => Promise<Value>): Promise<Value> {
		await this.rest();
		const startedAt = performance.now();
		const answer = access();
		const ending = await withDeadline(async () => await answer, { timeoutMs, sleep });
		this.noteDuration(performance.now() - startedAt);
		if (ending.kind === 'settled') return ending.value;
		if (!ending.isLate) throw ending.error;
		// It may still be written, over all that is written until then.
		const noteEnd = () => this.noteDuration(performance.now() - startedAt);
		answer.then(noteEnd, noteEnd);
		throw new Error(`n8n's database did not answer within ${timeoutMs / 1000} seconds`);
	}

	private async rest(): Promise<void> {
		await sleep(Math.max(0, this.restUntil - performance.now()));
	}

	private noteDuration(durationMs: number): void {
		const now = performance.now();
		if (durationMs > shortestPauseMs) this.slowAt = now;
		if (durationMs > this.pauseMs) {
			const doubtMs = Math.max(shortestDoubtMs, doubtPerWrite * durationMs);
			this.doubtUntil = Math.max(this.doubtUntil, now + doubtMs);
		}
		this.durations = [...this.durations, durationMs].slice(-rememberedWrites);
		this.restUntil = now + this.medianMs * (1 + Math.random() / 2);
	}
}
