import type { IExecuteFunctions } from 'n8n-workflow';

import { EntryWriter } from './entryWriter';
import type { Claim, OwnClaim } from './keyClaims';
import { claimKey, claimOnce, takeOver } from './keyClaims';
import { claimEntry, freedEntries, sentEntries } from './keyEntries';
import { KeyRechecks } from './keyRechecks';
import type { SendOutcome } from './sendOutcome';

/** A claim that is made ahead of its send. Whichever run of this process comes first uses it. */
interface Reservation {
	readonly claiming: Promise<Claim>;
	/** What the claim gave; missing while it is being made. */
	claim?: Claim;
	/** How many runs expect to use it. */
	users: number;
}

/**
 * The keys of one node, for all its executions in this process. A key is free, claimed or sent (`keyEntries`).
 * A claim is reserved for a send at first, and in flight from when its request may have left.
 */
export class KeyStore {
	/** Sends under a key in this process, until their outcome is written. */
	readonly sending = new Map<string, Promise<SendOutcome>>();
	private readonly reservations = new Map<string, Reservation>();
	private readonly writer = new EntryWriter();
	// A reservation that another process wrote over is made again when its send has its turn.
	private readonly rechecks = new KeyRechecks(this.writer, (key) => this.reservations.delete(key));

	/** Whether nothing is lost if this process forgets the store. */
	get isIdle(): boolean {
		return this.sending.size === 0 && this.reservations.size === 0 && this.rechecks.isIdle;
	}

	/** Begins to claim a key that a run is going to send under. Never throws. */
	reserve(key: string, context: IExecuteFunctions): void {
		const known = this.reservations.get(key);
		if (known !== undefined) {
			known.users += 1;
			return;
		}
		const claiming = this.ask(key, context);
		const reservation: Reservation = { claiming, users: 1 };
		this.reservations.set(key, reservation);
		claiming.then(
			async (claim) => {
				reservation.claim = claim;
				if (claim.kind === 'ours') this.rechecks.note(key, { kind: 'reserved', claim }, context);
				await this.freeUnused(key, reservation, context);
			},
			() => this.reservations.delete(key),
		);
	}

	/** Whether it is known what the claim of a key gave. */
	isClaimed(key: string): boolean {
		return this.reservations.get(key)?.claim !== undefined;
	}

	/**
	 * Gives the claim of a key for the send that is next.
	 * @param resendUnknown whether to claim it also if it is claimed and not known to be sent
	 * @throws what n8n's store throws; then nothing may be sent
	 */
	async claim(key: string, resendUnknown: boolean, context: IExecuteFunctions): Promise<Claim> {
		const { helpers } = context;
		const reservation = this.reservations.get(key);
		const wasKnown = reservation?.claim !== undefined;
		let claim = (await reservation?.claiming) ?? (await this.ask(key, context));
		// It was held when the claim was made ahead, which may be long ago.
		if (claim.kind === 'held' && wasKnown) claim = await claimOnce(key, this.writer, helpers);
		if (claim.kind === 'held' && resendUnknown) return await takeOver(key, this.writer, helpers);
		return claim;
	}

	private async ask(key: string, { helpers }: IExecuteFunctions): Promise<Claim> {
		const state = this.rechecks.stateOf(key);
		if (state === 'sent') return { kind: 'sent' };
		// Nobody is sending what this process left unknown, so there is nothing to wait for.
		if (state === 'unknown') return await claimOnce(key, this.writer, helpers);
		return await claimKey(key, this.writer, helpers);
	}

	/** Notes that the request of a claimed key is about to leave. */
	start(key: string, claim: OwnClaim, context: IExecuteFunctions): void {
		this.rechecks.note(key, { kind: 'inFlight', claim }, context);
	}

	/**
	 * Writes how a send ended: it was made, nobody knows, or another one may claim the key.
	 * @throws what n8n's store throws; then the key stays claimed
	 */
	async settle(
		key: string,
		{ entry }: OwnClaim,
		change: 'sent' | 'unknown' | 'free',
		context: IExecuteFunctions,
	): Promise<void> {
		const { helpers } = context;
		this.reservations.delete(key);
		const isTakenOver = entry !== claimEntry(key);
		if (change === 'free' && !isTakenOver) {
			this.rechecks.forget(key);
			await this.writer.remove(freedEntries(key), helpers);
			return;
		}
		// What was taken over and not sent is as unknown as before.
		this.rechecks.note(key, { kind: change === 'sent' ? 'sent' : 'unknown' }, context);
		if (change === 'sent') await this.writer.record(sentEntries(key), helpers);
		if (isTakenOver) await this.writer.remove([entry], helpers);
	}

	/** Keeps the claim of a send that the service refused for now: the same run tries it again. */
	keep(key: string, claim: OwnClaim, context: IExecuteFunctions): void {
		this.reservations.set(key, { claiming: Promise.resolve(claim), claim, users: 1 });
		this.rechecks.note(key, { kind: 'reserved', claim }, context);
	}

	/** Notes that a run does not use a claim any more, and frees the key if no other run is going to. Never throws. */
	async release(key: string, context: IExecuteFunctions): Promise<void> {
		const reservation = this.reservations.get(key);
		if (reservation === undefined) return;
		reservation.users -= 1;
		await this.freeUnused(key, reservation, context);
	}

	private async freeUnused(
		key: string,
		reservation: Reservation,
		{ helpers }: IExecuteFunctions,
	): Promise<void> {
		const { users, claim } = reservation;
		if (users > 0 || claim === undefined || this.sending.has(key)) return;
		if (this.reservations.get(key) !== reservation) return;
		this.reservations.delete(key);
		if (claim.kind !== 'ours') return;
		this.rechecks.forget(key);
		// A key that can't be freed stays claimed: a later send under it is not made, and counts as unknown.
		await this.writer.remove(freedEntries(key), helpers).catch(() => undefined);
	}
}

const stores = new Map<string, KeyStore>();

/** The keys of the node that runs, whatever execution it runs in. Copies of a workflow share the IDs of its nodes. */
export function keyStoreOf(context: IExecuteFunctions): KeyStore {
	const name = `${context.getWorkflow().id}:${context.getNode().id}`;
	for (const [other, store] of stores) if (store.isIdle) stores.delete(other);
	const store = stores.get(name) ?? new KeyStore();
	stores.set(name, store);
	return store;
}
