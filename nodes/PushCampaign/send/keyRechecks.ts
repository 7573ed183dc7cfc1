import type { IExecuteFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { messageOf } from '../service/invalidInput';
import type { EntryWriter } from './entryWriter';
import type { OwnClaim } from './keyClaims';
import { claimEntry, contestedEntry, sentEntries } from './keyEntries';

/**
 * How a key stands that this process wrote: claimed and not used yet, its request has left, its outcome is
 * unknown, or it was sent.
 */
export type KeyState = UsedState | { readonly kind: 'unknown' | 'sent' };

interface UsedState {
	readonly kind: 'reserved' | 'inFlight';
	readonly claim: OwnClaim;
}

const isUsed = (state: KeyState): state is UsedState => 'claim' in state;

/** The first recheck comes so long after a write, in milliseconds; each next one when the write is twice as old. */
const firstRecheckMs = 250;
/** Until then another process's write that began earlier is expected to have ended. */
const lastRecheckMs = 60_000;
/** A claim that is used for longer is rechecked this often, in milliseconds. */
const longestGapMs = 4_000;
/**
 * So many of the newest keys are rechecked, beside those that are used. n8n's store drops the oldest keys: to
 * record them again would push out newer ones. Half of what it remembers, because two workers recheck.
 */
const mostKeys = 5_000;
/** How many keys are rechecked by one write: each entry is hashed, which blocks n8n. */
const keysPerWrite = 1_000;

interface Recheck {
	readonly state: KeyState;
	/** Which key of this process it is, counted from the first. */
	readonly position: number;
	/** When it was written last, and when it is rechecked next. */
	writtenAt: number;
	dueAt: number;
}

/** Entries that must be there while a key stands like this. */
function entriesOf(key: string, state: KeyState): string[] {
	if (state.kind === 'reserved') return [state.claim.stamp];
	if (state.kind === 'inFlight') return [state.claim.stamp, state.claim.entry];
	return state.kind === 'sent' ? sentEntries(key) : [claimEntry(key)];
}

/**
 * Records again what another process wrote over. A write of another process that began before ours and ends
 * after it drops ours, so what was written is rechecked for a minute, and a claim for as long as it is used.
 */
export class KeyRechecks {
	private readonly rechecks = new Map<string, Recheck>();
	/** How many keys were noted. */
	private count = 0;
	private isRunning = false;

	constructor(
		private readonly writer: EntryWriter,
		/** Called when a claim that was not used yet turns out to be overwritten. */
		private readonly onLost: (key: string) => void,
	) {}

	get isIdle(): boolean {
		return !this.isRunning;
	}

	/** How a key stands that this process wrote lately. */
	stateOf(key: string): KeyState['kind'] | undefined {
		return this.rechecks.get(key)?.state.kind;
	}

	/** Notes how a key stands now. Before it is written: a recheck must not record an older state after it. */
	note(key: string, state: KeyState, context: IExecuteFunctions): void {
		const position = this.rechecks.get(key)?.position ?? (this.count += 1);
		const writtenAt = performance.now();
		this.rechecks.set(key, { state, position, writtenAt, dueAt: writtenAt + firstRecheckMs });
		void this.run(context);
	}

	/** Notes that a key is free: another process may claim it. */
	forget(key: string): void {
		this.rechecks.delete(key);
	}

	/** Rechecks in the background until nothing is left. Never throws. */
	private async run(context: IExecuteFunctions): Promise<void> {
		if (this.isRunning) return;
		this.isRunning = true;
		let hasWarned = false;
		while (this.rechecks.size > 0 || this.writer.stampCount > 0) {
			// The pause differs, so that two processes do not recheck at the same time again and again.
			await sleep(firstRecheckMs * (1 + Math.random() / 2));
			try {
				await this.recheckDue(context);
				await this.removeStamps(context);
			} catch (error) {
				this.postponeDue();
				if (hasWarned) continue;
				hasWarned = true;
				context.logger.warn(
					`Idempotency keys of workflow ${context.getWorkflow().id} could not be rechecked, so those that another process overwrote may be lost: ${messageOf(error)}`,
				);
			}
		}
		this.isRunning = false;
	}

	private async recheckDue(context: IExecuteFunctions): Promise<void> {
		this.forgetOldest();
		const now = performance.now();
		const due = [...this.rechecks].filter(([, { dueAt }]) => dueAt <= now);
		for (let from = 0; from < due.length; from += keysPerWrite) {
			// One that was noted in another state by now must not be written over.
			const current = due
				.slice(from, from + keysPerWrite)
				.filter(([key, recheck]) => this.rechecks.get(key) === recheck);
			const entries = current.flatMap(([key, { state }]) => entriesOf(key, state));
			const { fresh } = await this.writer.record(new Set(entries), context.helpers);
			const contested = current.flatMap(([key, recheck]) => this.judge(key, recheck, fresh));
			if (contested.length > 0) await this.writer.record(contested, context.helpers);
		}
	}

	private forgetOldest(): void {
		for (const [key, { position, state }] of this.rechecks) {
			if (position <= this.count - mostKeys && !isUsed(state)) this.rechecks.delete(key);
		}
	}

	/**
	 * Decides what a recheck means for a key, and when the next one comes.
	 * @returns entries to record beside those that were rechecked
	 */
	private judge(key: string, recheck: Recheck, fresh: ReadonlySet<string>): string[] {
		if (this.rechecks.get(key) !== recheck) return [];
		const { state } = recheck;
		const isOverwritten = entriesOf(key, state).some((entry) => fresh.has(entry));
		if (isOverwritten && state.kind === 'reserved') {
			this.rechecks.delete(key);
			this.onLost(key);
			return [];
		}
		if (isOverwritten) recheck.writtenAt = performance.now();
		this.postpone(key, recheck);
		return isOverwritten && state.kind === 'inFlight' ? [contestedEntry(key)] : [];
	}

	/** Decides when the next recheck of a key comes: never if it was written long ago and is not used. */
	private postpone(key: string, recheck: Recheck): void {
		const now = performance.now();
		const ageMs = now - recheck.writtenAt;
		const isInUse = isUsed(recheck.state);
		if (ageMs >= lastRecheckMs && !isInUse) this.rechecks.delete(key);
		const gapMs = Math.max(firstRecheckMs, ageMs);
		recheck.dueAt = now + (isInUse ? Math.min(longestGapMs, gapMs) : gapMs);
	}

	/** After a recheck that failed: the next one comes as if it had found all entries. */
	private postponeDue(): void {
		const now = performance.now();
		for (const [key, recheck] of this.rechecks) {
			if (recheck.dueAt <= now) this.postpone(key, recheck);
		}
	}

	private async removeStamps(context: IExecuteFunctions): Promise<void> {
		const inUse = new Set<string>();
		for (const { state } of this.rechecks.values()) {
			if (isUsed(state)) inUse.add(state.claim.stamp);
		}
		await this.writer.removeStamps(inUse, context.helpers);
	}
}
