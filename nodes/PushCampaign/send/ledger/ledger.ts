import { explain, reasons } from '../../service/failures';
import type { SendAttempt, SendOutcome } from '../sendOutcome';
import { isUnknown, notRequested } from '../sendOutcome';
import type { JournalEntry } from './journal';
import type { SavedLedger, SavedSend } from './savedLedger';
import { pack, unpack } from './savedLedger';
import type { SendIdentity } from './sendIdentity';

/** What one execution has sent, or may have sent. An item takes less than 120 bytes where n8n saves it. */
export class Ledger {
	/** Sends that are in flight, by ID. */
	readonly inFlight = new Map<string, Promise<SendAttempt>>();
	/** The ID of a send, by its position and source. */
	private readonly bySource = new Map<string, string>();
	/** The IDs of the sends that were ever noted as unknown under an idempotency key, by the key's digest. */
	private readonly unknownByKey = new Map<string, Set<string>>();

	/** @param saved what n8n holds and saves; changed in place */
	constructor(readonly saved: SavedLedger) {}

	/** Adds what only a copy of this ledger knows. What is known here is at least as new, unless the copy knows it as sent. */
	adopt({ sends }: SavedLedger): void {
		for (const [id, send] of Object.entries(sends)) {
			if (this.inFlight.has(id)) continue;
			const known = this.saved.sends[id];
			if (known === undefined || (known[0] === 'unknown' && send[0] === 'sent')) this.put(id, send);
		}
	}

	/**
	 * How a send ended that must not be made again: it was sent, or its outcome is unknown. `undefined` for a send
	 * that may be made, and for one that is in flight.
	 * @param resendUnknown whether to make again what an earlier execution left unknown
	 */
	recall(send: SendIdentity, resendUnknown: boolean): SendOutcome | undefined {
		const id = this.idOf(send);
		if (this.inFlight.has(id)) return undefined;
		const saved = this.saved.sends[id];
		if (saved === undefined) return this.recallByKey(send);
		const mayBeSent =
			saved[0] === 'unknown' && !becameUnknownIn(saved, send.executionId) && resendUnknown;
		return mayBeSent ? this.recallByKey(send) : unpack(saved, send.kind);
	}

	/**
	 * Makes a send unless it is known, as `recall` says. A send that is in flight is waited for.
	 * @param attempt makes the send once; never throws
	 */
	async once(
		send: SendIdentity,
		resendUnknown: boolean,
		attempt: () => Promise<SendAttempt>,
	): Promise<SendAttempt> {
		for (;;) {
			const running = this.inFlight.get(this.idOf(send));
			if (running === undefined) break;
			const outcome = await running;
			// It may have been sent a moment ago: `resendUnknown` does not apply to it.
			if (outcome.kind !== 'held' && isUnknown(outcome)) return notRequested(outcome);
		}
		const known = this.recall(send, resendUnknown);
		if (known !== undefined) return known;
		const id = this.idOf(send);
		const before = this.saved.sends[id];
		const leftBy = before?.[0] === 'unknown' ? before[3] : [];
		const details = {
			// A send that is known keeps its source.
			source: before?.[1] ?? send.source ?? null,
			key: send.key ?? null,
			executionIds: [...new Set([...leftBy, send.executionId])],
		};
		const keep = (outcome: SendAttempt) => {
			const after = pack(outcome, details) ?? before;
			if (after === undefined) this.forget(id);
			else this.put(id, after);
		};
		// Noted before the request leaves: if the execution ends here, it must not send it again.
		keep({ kind: 'failed', problem: explain(reasons.canceled, send.kind, send.key !== undefined) });
		const sending = attempt();
		this.inFlight.set(id, sending);
		try {
			const outcome = await sending;
			keep(outcome);
			return outcome;
		} finally {
			this.inFlight.delete(id);
		}
	}

	/** Notes what an execution that was cut off left of a send. */
	note(send: SendIdentity, entry: JournalEntry): void {
		const source = send.source ?? null;
		const problem = explain(reasons.cutOff, send.kind, send.key !== undefined);
		this.put(
			this.idOf(send),
			entry === 'sent'
				? ['sent', source, null, null, null]
				: ['unknown', source, JSON.stringify(problem), [], null],
		);
	}

	/** How another send ended that this execution left unknown under the same idempotency key. */
	private recallByKey({ kind, key, executionId }: SendIdentity): SendOutcome | undefined {
		if (key === undefined) return undefined;
		for (const id of this.unknownByKey.get(key) ?? []) {
			// One in flight is noted as unknown until its answer comes. `IdempotencyKeys` waits for that.
			if (this.inFlight.has(id)) continue;
			const saved = this.saved.sends[id];
			const isUnderKey = saved?.[0] === 'unknown' && saved[4] === key;
			if (isUnderKey && becameUnknownIn(saved, executionId)) return unpack(saved, kind);
		}
		return undefined;
	}

	/** By content if that is known, or else by source. */
	private idOf({ position, content, source }: SendIdentity): string {
		const id = `${position}.${content}`;
		if (Object.hasOwn(this.saved.sends, id)) return id;
		return this.bySource.get(`${position}.${source}`) ?? id;
	}

	private put(id: string, send: SavedSend): void {
		this.saved.sends[id] = send;
		const source = send[1];
		if (source !== null) this.bySource.set(`${positionOf(id)}.${source}`, id);
		const key = send[0] === 'unknown' ? send[4] : null;
		if (key !== null) this.unknownByKey.set(key, (this.unknownByKey.get(key) ?? new Set()).add(id));
	}

	private forget(id: string): void {
		const source = this.saved.sends[id]?.[1];
		delete this.saved.sends[id];
		this.bySource.delete(`${positionOf(id)}.${source}`);
	}
}

const positionOf = (id: string) => id.slice(0, id.lastIndexOf('.'));

/** Whether an execution left the outcome of a send unknown. It stays so until the end of that execution. */
const becameUnknownIn = (saved: SavedSend, executionId: string) =>
	saved[0] === 'unknown' && saved[3].includes(executionId);
