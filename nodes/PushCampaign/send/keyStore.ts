import type { IExecuteFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { messageOf } from '../service/invalidInput';
import type { SendOutcome } from './sendOutcome';

/**
 * A key takes one entry in n8n's store, and another one, its mark, as long as its send has no known outcome.
 * n8n drops the oldest entries beyond this number: so at least the newest 10,000 keys are remembered.
 */
const mostEntries = 20_000;
const mostKeys = mostEntries / 2;
const scope = 'node';
const options = { mode: 'entries', maxEntries: mostEntries } as const;

/** What is written of a key: that it is claimed, that its send was made, or that another one may claim it. */
export type Change = 'claim' | 'sent' | 'free';

/**
 * The first look comes so long after a run, in milliseconds and in times that a write takes, and each next one
 * after twice the pause: processes that look at the same time do so less and less.
 */
const lookAfterMs = 250;
const lookAfterWrites = 3;
/** So many looks come even where all keys are found: that a mark came back can't be seen. */
const fewestLooks = 5;
/** Processes that go on writing over each other's keys are left to themselves after so many. */
const mostLooks = 10;
/** n8n searches all entries for each one that is removed, with nothing else done meanwhile. */
const lookedAtOnce = 500;

/**
 * The keys of one node, for all its executions in this process. n8n's store has no lock: a write reads all
 * entries, changes them and writes them back. So one write is under way at a time, and the next takes all
 * that came meanwhile. What another process wrote at the same time can be lost all the same, so the keys of a
 * run are looked at again when it has ended.
 */
export class KeyStore {
	/** Sends under a key that are under way in this process, until all that is to be written of them is. */
	readonly underWay = new Map<string, Promise<SendOutcome>>();
	private lastWrite: Promise<unknown> = Promise.resolve();
	/** The changes that are written together next. */
	private next: ReturnType<KeyStore['open']> | undefined;
	/** How long the last write took. Another process's may have read what is there before ours came. */
	private writeMs = 0;
	/** Keys that another process may write over yet: what is recorded of each, and how often it was looked at. */
	private readonly recent = new Map<string, { readonly change: Change; looks: number }>();
	private isLooking = false;

	/**
	 * Writes a change.
	 * @returns whether the key and its mark were there before; what the change does not record counts as there
	 * @throws what n8n's store throws: then a claim is not recorded, and another change perhaps not whole
	 */
	async write(change: Change, key: string, { helpers }: IExecuteFunctions) {
		const batch = (this.next ??= this.open(helpers));
		const entry = `key:${key}`;
		const mark = `unsettled:${key}`;
		if (change === 'free') batch.remove.push(entry);
		// Once more where it was sent: another process may have written over the claim meanwhile.
		else batch.record.add(entry);
		if (change === 'claim') batch.record.add(mark);
		else batch.remove.push(mark);
		const fresh = await batch.recorded;
		// A claim is what was recorded, whatever can't be removed for others.
		if (change !== 'claim') await batch.removed;
		return { key: !fresh.has(entry), mark: !fresh.has(mark) };
	}

	/** Takes note of a key that is to be looked at again; not of one that is free, which others may claim. */
	watch(key: string, change: Change): void {
		this.recent.delete(key);
		if (change !== 'free') this.recent.set(key, { change, looks: 0 });
		// More are not remembered either.
		const [oldest] = this.recent.keys();
		if (this.recent.size > mostKeys && oldest !== undefined) this.recent.delete(oldest);
	}

	/**
	 * Looks in the background whether another process wrote over the keys that are watched, and records them
	 * once more, until they have lasted. The marks of what was sent are taken out each time: a process that
	 * writes back an older copy brings them back. Never throws.
	 */
	async lookAgain(context: IExecuteFunctions): Promise<void> {
		if (this.isLooking) return;
		this.isLooking = true;
		try {
			while (this.recent.size > 0) {
				const newest = [...this.recent.values()].at(-1);
				const firstMs = Math.max(lookAfterMs, lookAfterWrites * this.writeMs);
				const pauseMs = firstMs * 2 ** (newest?.looks ?? 0);
				// Not in step with another process that looks.
				await sleep(pauseMs * (1 + Math.random() / 2));
				await this.look(context);
			}
		} catch (error) {
			this.recent.clear();
			context.logger.warn(
				`Idempotency keys of workflow ${context.getWorkflow().id} could not be looked at again, so those that another process wrote over at the same moment may be lost: ${messageOf(error)}`,
			);
		}
		this.isLooking = false;
	}

	private async look(context: IExecuteFunctions): Promise<void> {
		const looked = [...this.recent];
		let isWhole = true;
		for (let from = 0; from < looked.length; from += lookedAtOnce) {
			const found = await Promise.all(
				looked
					.slice(from, from + lookedAtOnce)
					// Another change of it may be written by now, and must not be written over.
					.filter(([key, recent]) => this.recent.get(key) === recent)
					.map(async ([key, { change }]) => await this.write(change, key, context)),
			);
			isWhole &&= found.every(({ key, mark }) => key && mark);
		}
		for (const [key, recent] of looked) {
			recent.looks += 1;
			const isOver = recent.looks >= (isWhole ? fewestLooks : mostLooks);
			// It may be watched anew by now.
			if (isOver && this.recent.get(key) === recent) this.recent.delete(key);
		}
	}

	/** Begins to collect the changes of the write that comes when the last one is over. */
	private open(helpers: IExecuteFunctions['helpers']) {
		const record = new Set<string>();
		const remove: string[] = [];
		let from = 0;
		/** Which of what is recorded is new. */
		const recorded = this.lastWrite.then(async () => {
			// Those that start together come one right after another.
			await sleep(0);
			this.next = undefined;
			from = performance.now();
			if (record.size === 0) return new Set<unknown>();
			const answer = await helpers.checkProcessedAndRecord([...record], scope, options);
			if (answer.new.length + answer.processed.length < record.size) {
				throw new Error('n8n did not record all of it');
			}
			return new Set<unknown>(answer.new);
		});
		const removed = recorded.then(async () => {
			if (remove.length > 0) await helpers.removeProcessed(remove, scope, options);
			this.writeMs = performance.now() - from;
		});
		this.lastWrite = removed.catch(() => undefined);
		return { record, remove, recorded, removed };
	}
}

const stores = new Map<string, KeyStore>();

/** The keys of the node that runs, whatever execution it runs in. */
export function keyStoreOf(context: IExecuteFunctions): KeyStore {
	const name = `${context.getWorkflow().id}:${context.getNode().id}`;
	const store = stores.get(name) ?? new KeyStore();
	stores.set(name, store);
	return store;
}
