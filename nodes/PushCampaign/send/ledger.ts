import { explain, reasons } from '../service/failures';
import type { ChangeKind } from '../service/kinds';
import type { SavedLedger, SavedSend } from './savedLedger';
import { pack, unpack } from './savedLedger';
import type { SendOutcome } from './sendOutcome';
import { isUnknown, notRequested } from './sendOutcome';

/**
 * What tells one send of an execution from another: its place, and digests of the content that is sent and of
 * where it comes from (the node's parameters as written and the input item). Either digest is enough to know an
 * item again: an expression such as `{{ $now }}` or `{{ $execution.id }}` makes other content of the same item
 * when n8n runs the node again, and that must not send it twice. Both take in the site that it is sent to.
 */
export interface Identity {
	readonly kind: ChangeKind;
	/** The run of the node and its item; the same for all calls of an agent's tool, where only content counts. */
	readonly place: string;
	readonly content: string;
	/** Missing where the parameters hold no expression: then other content is another send. */
	readonly source?: string | undefined;
}

/** What one execution has sent, or may have sent. An item takes less than 120 bytes where n8n saves it. */
export class Ledger {
	/** Sends that are being made at this moment, by key. */
	readonly underWay = new Map<string, Promise<SendOutcome>>();
	/** By place and source, the key of the send. */
	private readonly bySource = new Map<string, string>();

	/** @param saved what n8n holds and saves; changed in place */
	constructor(readonly saved: SavedLedger) {}

	/** Takes in what a copy of it knows; that something was sent outweighs that it is unknown. */
	adopt({ sends }: SavedLedger): void {
		for (const [key, send] of Object.entries(sends)) {
			if (this.saved.sends[key]?.[0] !== 'sent' && !this.underWay.has(key)) this.put(key, send);
		}
	}

	/**
	 * How a send ended, where it is not to be made any more: it was sent, or its outcome is unknown and it is
	 * not to be made again. Nothing of one that is being made at this moment.
	 */
	recall(identity: Identity, resendUnknown: boolean): SendOutcome | undefined {
		const key = this.keyOf(identity);
		const send = this.saved.sends[key];
		if (send === undefined || this.underWay.has(key)) return undefined;
		const outcome = unpack(send, identity.kind);
		return isUnknown(outcome) && resendUnknown ? undefined : outcome;
	}

	/**
	 * Makes a send unless it is known: one that was sent gives its first answer again, one whose outcome is
	 * unknown stays so unless `resendUnknown`, one that is being made at this moment is waited for.
	 * @param attempt makes the send once; never throws
	 */
	async once(
		identity: Identity,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
	): Promise<SendOutcome> {
		for (;;) {
			const running = this.underWay.get(this.keyOf(identity));
			if (running === undefined) break;
			const outcome = await running;
			// It may have been sent a moment ago, so `resendUnknown` does not mean this one.
			if (isUnknown(outcome)) return notRequested(outcome);
		}
		const known = this.recall(identity, resendUnknown);
		if (known !== undefined) return known;
		const key = this.keyOf(identity);
		const before = this.saved.sends[key];
		// A send that is known by its source keeps that one.
		const source = before?.[1] ?? identity.source ?? null;
		const keep = (outcome: SendOutcome) => {
			const send = pack(source, outcome) ?? before;
			if (send !== undefined) this.put(key, send);
			else {
				delete this.saved.sends[key];
				this.bySource.delete(`${identity.place}.${source}`);
			}
		};
		// Written before the request leaves: an execution that ends here must not send it again.
		keep({ kind: 'failed', problem: explain(reasons.canceled, identity.kind) });
		const sending = attempt();
		this.underWay.set(key, sending);
		try {
			const outcome = await sending;
			keep(outcome);
			return outcome;
		} finally {
			this.underWay.delete(key);
		}
	}

	/** By content if that is known, or else by source. */
	private keyOf({ place, content, source }: Identity): string {
		const key = `${place}.${content}`;
		if (Object.hasOwn(this.saved.sends, key)) return key;
		return this.bySource.get(`${place}.${source}`) ?? key;
	}

	private put(key: string, send: SavedSend): void {
		this.saved.sends[key] = send;
		const place = key.slice(0, key.lastIndexOf('.'));
		if (send[1] !== null) this.bySource.set(`${place}.${send[1]}`, key);
	}
}
