import type { IExecuteFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { messageOf } from '../service/invalidInput';
import type { SendOutcome } from './outcome';

/** What keys need of n8n; all of it belongs to one node of one workflow. */
export type KeysContext = Pick<IExecuteFunctions, 'getNode' | 'getWorkflow' | 'logger'> & {
	readonly helpers: Pick<
		IExecuteFunctions['helpers'],
		'checkProcessedAndRecord' | 'removeProcessed'
	>;
};

/**
 * A key takes one entry in n8n's store, and another one, its mark, as long as its send has no known outcome.
 * n8n drops the oldest entries beyond this number: so at least the newest 10,000 keys are remembered.
 */
const mostEntries = 20_000;
const mostKeys = mostEntries / 2;

const keyEntry = (key: string) => `key:${key}`;
const markOf = (key: string) => `unsettled:${key}`;
const both = (key: string) => [keyEntry(key), markOf(key)];
const none = () => [];

/** What is recorded of a key, and what is removed then. */
const changes = {
	claim: { record: both, remove: none },
	// Recorded once more: another process may have written over the claim meanwhile.
	sent: { record: (key: string) => [keyEntry(key)], remove: (key: string) => [markOf(key)] },
	free: { record: none, remove: both },
} as const;
type Change = keyof typeof changes;

/** What n8n's store knew of a key before a change. */
export interface Known {
	readonly key: boolean;
	readonly mark: boolean;
}

interface Write {
	readonly change: Change;
	readonly key: string;
	readonly context: KeysContext;
	readonly done: (known: Known) => void;
	readonly failed: (error: unknown) => void;
}

/** A key that another process may write over yet. */
interface Recent {
	readonly isSent: boolean;
	/** How many looks in a row found all keys. */
	clean: number;
	looks: number;
}

/** A look comes so long after the last one: in milliseconds, and in times that a write takes. */
const lookAfterMs = 250;
const lookAfterWrites = 3;
const cleanLooks = 2;
/** Processes that go on writing over each other's keys are left to themselves after so many looks. */
const mostLooks = 20;
/** n8n searches all entries for each one that is removed, with nothing else done meanwhile. */
const lookedAtOnce = 500;

/**
 * The keys of one node, for all its executions in this process. n8n's store has no lock: a write reads all
 * entries, changes them and writes them back. So one write is under way at a time, and the next takes all
 * that came meanwhile. What another process wrote at the same time can be lost all the same, so the keys of a
 * run are looked at again when it has ended.
 */
class KeyStore {
	/** Sends under a key that are under way in this process, until all that is to be written of them is. */
	readonly underWay = new Map<string, Promise<SendOutcome>>();
	private waiting: Write[] = [];
	private readonly recent = new Map<string, Recent>();
	private isWriting = false;
	private isLooking = false;
	/** How long the last write took, in milliseconds. */
	private writeMs = 0;

	/** Whether nothing is left to do. */
	get isIdle(): boolean {
		return this.underWay.size + this.recent.size === 0 && !this.isWriting;
	}

	/**
	 * Writes a change.
	 * @throws what n8n's store throws: then a claim is not recorded, and another change perhaps not whole
	 */
	async write(change: Change, key: string, context: KeysContext): Promise<Known> {
		return await new Promise<Known>((done, failed) => {
			this.waiting.push({ change, key, context, done, failed });
			void this.writeAll();
		});
	}

	/** Takes note of a key that is to be looked at again; not of one that is free, which others may claim. */
	watch(key: string, isSent: boolean): void {
		this.recent.delete(key);
		this.recent.set(key, { isSent, clean: 0, looks: 0 });
		// More are not remembered either.
		const [oldest] = this.recent.keys();
		if (this.recent.size > mostKeys && oldest !== undefined) this.recent.delete(oldest);
	}

	/**
	 * Looks in the background whether another process wrote over the keys that are watched, and records them
	 * once more, until two looks in a row found them all. The marks of what was sent are taken out each time: a
	 * process that writes back an older copy brings them back. Never throws.
	 */
	async lookAgain(context: KeysContext): Promise<void> {
		if (this.isLooking) return;
		this.isLooking = true;
		try {
			while (this.recent.size > 0) {
				const pauseMs = Math.max(lookAfterMs, lookAfterWrites * this.writeMs);
				// Not in step with another process that looks.
				await sleep(pauseMs * (1 + Math.random() / 2));
				await this.look(context);
			}
		} catch (error) {
			this.recent.clear();
			context.logger.warn(
				`Idempotency keys could not be looked at again, so those that another process wrote over at the same moment may be lost: ${messageOf(error)}`,
			);
		}
		this.isLooking = false;
	}

	private async look(context: KeysContext): Promise<void> {
		const looked = [...this.recent];
		let isClean = true;
		for (let from = 0; from < looked.length; from += lookedAtOnce) {
			const found = await Promise.all(
				looked.slice(from, from + lookedAtOnce).map(async ([key, { isSent }]) => {
					const known = await this.write(isSent ? 'sent' : 'claim', key, context);
					return known.key && (isSent || known.mark);
				}),
			);
			isClean &&= !found.includes(false);
		}
		for (const [key, recent] of looked) {
			recent.clean = isClean ? recent.clean + 1 : 0;
			recent.looks += 1;
			const isOver = recent.clean === cleanLooks || recent.looks === mostLooks;
			// It may be watched anew by now.
			if (isOver && this.recent.get(key) === recent) this.recent.delete(key);
		}
	}

	private async writeAll(): Promise<void> {
		if (this.isWriting) return;
		this.isWriting = true;
		while (this.waiting.length > 0) {
			// Those that start together come one right after another.
			await sleep(0);
			const writes = this.waiting;
			this.waiting = [];
			const from = performance.now();
			await writeTogether(writes).catch((error: unknown) => {
				for (const { failed } of writes) failed(error);
			});
			this.writeMs = performance.now() - from;
		}
		this.isWriting = false;
	}
}

const stores = new Map<string, KeyStore>();

/** The keys of the node that runs, whatever execution it runs in. */
export function keyStoreOf(context: KeysContext): KeyStore {
	const name = `${context.getWorkflow().id}:${context.getNode().id}`;
	const known = stores.get(name);
	if (known !== undefined) return known;
	for (const [other, { isIdle }] of stores) if (isIdle) stores.delete(other);
	const store = new KeyStore();
	stores.set(name, store);
	return store;
}

const scope = 'node';
const options = { mode: 'entries', maxEntries: mostEntries } as const;

/** A claim is what was recorded, whatever can't be removed for others. */
async function writeTogether(writes: readonly Write[]): Promise<void> {
	const helpers = writes[0]?.context.helpers;
	if (helpers === undefined) return;
	const record = [...new Set(writes.flatMap(({ change, key }) => changes[change].record(key)))];
	const fresh = new Set<unknown>();
	if (record.length > 0) {
		const answer = await helpers.checkProcessedAndRecord(record, scope, options);
		answer.new.forEach((entry) => fresh.add(entry));
		if (answer.new.length + answer.processed.length < record.length) {
			throw new Error('n8n did not record all of it');
		}
	}
	const settle = ({ key, done }: Write) =>
		done({ key: !fresh.has(keyEntry(key)), mark: !fresh.has(markOf(key)) });
	writes.filter(({ change }) => change === 'claim').forEach(settle);
	const remove = writes.flatMap(({ change, key }) => changes[change].remove(key));
	if (remove.length > 0) await helpers.removeProcessed(remove, scope, options);
	writes.filter(({ change }) => change !== 'claim').forEach(settle);
}
