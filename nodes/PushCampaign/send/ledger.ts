import { explain, reasons } from '../service/failures';
import type { ChangeKind } from '../service/kinds';
import { digestLength } from './digest';
import type { SendOutcome } from './outcome';
import { isUnknown, mayBeSent, notRequested } from './outcome';
import type { SavedLedger, SavedSend } from './savedLedger';
import { pack, unpack } from './savedLedger';

/**
 * What tells one send from another: digests of the content that is sent, and of where it comes from (the
 * node's parameters as written and the input item). Either is enough to know an item again: an expression
 * such as `{{ $now }}` or `{{ $execution.id }}` makes other content of the same item when n8n runs the node
 * again, and that must not send it twice. Both take in the site that it is sent to.
 */
export interface Identity {
	readonly kind: ChangeKind;
	readonly content: string;
	/** Missing where the parameters hold no expression: then other content is another send. */
	readonly source?: string | undefined;
}

/** Which run of the node and which of its items; in an agent's tool only the content counts. */
export type Place = { readonly run: number; readonly itemIndex: number } | 'tool';

const prefixOf = (place: Place) => (place === 'tool' ? 't.' : `${place.run}.${place.itemIndex}.`);

/** What one execution has sent, or may have sent. An item takes less than 120 bytes where n8n saves it. */
export class Ledger {
	/** What n8n holds and saves; changed in place. */
	readonly saved: SavedLedger;
	/** How many sends it knows. */
	size = 0;
	/** By place and source, the key of the send. */
	private readonly bySource = new Map<string, string>();
	/** Sends that are being made at this moment, by key. */
	private readonly underWay = new Map<string, Promise<SendOutcome>>();

	constructor(id: string) {
		this.saved = { id, sends: {} };
	}

	/** Whether nothing is being sent. */
	get isIdle(): boolean {
		return this.underWay.size === 0;
	}

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
	recall(place: Place, identity: Identity, resendUnknown: boolean): SendOutcome | undefined {
		const key = this.keyOf(place, identity);
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
		place: Place,
		identity: Identity,
		resendUnknown: boolean,
		attempt: () => Promise<SendOutcome>,
	): Promise<SendOutcome> {
		for (;;) {
			const key = this.keyOf(place, identity);
			const running = this.underWay.get(key);
			if (running === undefined) {
				const known = this.recall(place, identity, resendUnknown);
				return known ?? (await this.make(key, identity, attempt));
			}
			const outcome = await running;
			if (mayBeSent(outcome)) return notRequested(outcome);
		}
	}

	private async make(
		key: string,
		{ kind, source }: Identity,
		attempt: () => Promise<SendOutcome>,
	): Promise<SendOutcome> {
		const before = this.saved.sends[key];
		// A send that is known by its source keeps that one.
		const kept = before?.[1] ?? source ?? null;
		const keep = (outcome: SendOutcome) => {
			const send = pack(kept, outcome) ?? before;
			if (send === undefined) this.forget(key);
			else this.put(key, send);
		};
		// Written before the request leaves: an execution that ends here must not send it again.
		keep({ kind: 'failed', problem: explain(reasons.canceled, kind) });
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

	private keyOf(place: Place, { content, source }: Identity): string {
		const key = prefixOf(place) + content;
		if (source === undefined || Object.hasOwn(this.saved.sends, key)) return key;
		return this.bySource.get(prefixOf(place) + source) ?? key;
	}

	private put(key: string, send: SavedSend): void {
		if (!Object.hasOwn(this.saved.sends, key)) this.size += 1;
		this.saved.sends[key] = send;
		if (send[1] !== null) this.bySource.set(sourceKey(key, send[1]), key);
	}

	private forget(key: string): void {
		const source = this.saved.sends[key]?.[1];
		delete this.saved.sends[key];
		this.size -= 1;
		if (typeof source === 'string') this.bySource.delete(sourceKey(key, source));
	}
}

const sourceKey = (key: string, source: string) => key.slice(0, -digestLength) + source;
