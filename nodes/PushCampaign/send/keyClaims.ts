import { sleep } from 'n8n-workflow';

import type { EntryWriter, Helpers, Written } from './entryWriter';
import { shortestDoubtMs } from './entryWriter';
import { claimEntry, isContested, isSent, takeOverEntry } from './keyEntries';

/** A claim of this process: the entry that it recorded, and the stamp of the write that did. */
export interface OwnClaim {
	readonly kind: 'ours';
	readonly entry: string;
	readonly stamp: string;
}

/** What asking for a key gave: a claim, that it was sent, or that it is claimed and its send is not known to be done. */
export type Claim = OwnClaim | { readonly kind: 'sent' } | { readonly kind: 'held' };

/** Pauses, in milliseconds, after which a key that somebody else has claimed is asked for again. */
const heldPausesMs = [250, 500, 1000, 2000, 4000];
/** How often a claim is made again that another process wrote over. */
const mostOverwrites = 10;
/** How many sends with Resend Unknown may have crashed under one key. */
const mostTakeOvers = 5;
/** A claim that can't be trusted within this time, in milliseconds, is given up. */
const longestWaitMs = 30_000;

/**
 * Waits until a claim holds. This is Fischer's timed mutual exclusion: whoever writes over a claim began before
 * it and ended after it, so after a pause that is longer than a write takes, a claim whose stamp is still there
 * is the only one. A process whose own write took longer does not trust its claims for a while.
 * @returns whether it holds, another process wrote over it, or this process is too slow to know
 */
async function confirm(
	claim: Written,
	writer: EntryWriter,
	helpers: Helpers,
): Promise<'holds' | 'overwritten' | 'tooSlow'> {
	for (;;) {
		const trustedFrom = writer.trustedFrom(claim);
		if (trustedFrom - claim.endedAt > longestWaitMs) return 'tooSlow';
		await sleep(Math.max(0, trustedFrom - performance.now()));
		const { fresh } = await writer.record([claim.stamp], helpers);
		if (fresh.has(claim.stamp)) return 'overwritten';
		// Looking is a write, too: it may have been slow.
		if (performance.now() >= writer.trustedFrom(claim)) return 'holds';
	}
}

interface Ask {
	/** What is recorded to claim the key. */
	readonly entry?: string;
	/**
	 * Whether the key was held a moment ago. If it is free now, its send was refused, or a slow write of a third
	 * process dropped the claim: its holder finds that out and records it again.
	 */
	readonly wasHeld?: boolean;
}

/** Asks for a key once, and claims it if it is free. */
export async function claimOnce(
	key: string,
	writer: EntryWriter,
	helpers: Helpers,
	{ entry = claimEntry(key), wasHeld = false }: Ask = {},
): Promise<Claim> {
	for (let overwrites = 0; overwrites <= mostOverwrites; overwrites += 1) {
		const claim = await writer.record([entry], helpers, true);
		if (!claim.fresh.has(entry)) {
			return { kind: (await isSent(key, writer, helpers)) ? 'sent' : 'held' };
		}
		const confirmed = await confirm(claim, writer, helpers);
		if (confirmed === 'tooSlow') return { kind: 'held' };
		if (confirmed === 'overwritten') continue;
		const ours = { kind: 'ours', entry, stamp: claim.stamp } as const;
		if (!wasHeld && !writer.wasSlowSince(claim)) return ours;
		// Somebody else's claim may have been dropped after it was looked at. Its holder has recorded by now that the
		// key is contested, or that it was sent.
		if (wasHeld) await sleep(shortestDoubtMs);
		if (await isSent(key, writer, helpers)) return { kind: 'sent' };
		if (await isContested(key, writer, helpers)) return { kind: 'held' };
		return ours;
	}
	return { kind: 'held' };
}

/**
 * Claims a key. One that somebody else has claimed is asked for a few times, until it is sent or free: its
 * holder may be sending at this moment.
 */
export async function claimKey(
	key: string,
	writer: EntryWriter,
	helpers: Helpers,
	entry = claimEntry(key),
): Promise<Claim> {
	let claim = await claimOnce(key, writer, helpers, { entry });
	for (const pauseMs of heldPausesMs) {
		if (claim.kind !== 'held') return claim;
		await sleep(pauseMs);
		claim = await claimOnce(key, writer, helpers, { entry, wasHeld: true });
	}
	return claim;
}

/** Claims a key whose send is unknown, to send under it once more: one process does, others wait for it. */
export async function takeOver(key: string, writer: EntryWriter, helpers: Helpers): Promise<Claim> {
	for (let round = 1; round <= mostTakeOvers; round += 1) {
		const claim = await claimKey(key, writer, helpers, takeOverEntry(key, round));
		if (claim.kind === 'sent') return claim;
		if (claim.kind === 'held') continue;
		// Whoever had it before may have sent meanwhile.
		if (!(await isSent(key, writer, helpers))) return claim;
		await writer.remove([claim.entry], helpers);
		return { kind: 'sent' };
	}
	return { kind: 'held' };
}
