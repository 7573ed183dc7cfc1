import { digest } from '../digest';
import type { Rows } from '../rows';

/**
 * How a key stands, by its rows in n8n's database:
 *
 * | rows               | state                                                                         |
 * | ------------------ | ----------------------------------------------------------------------------- |
 * | none               | free                                                                          |
 * | claim 1            | claimed: its request may be in flight, or its process has ended               |
 * | claim 1, left 1    | unknown: its request was made, and nobody knows what became of it             |
 * | …, claim 2         | somebody waits to send it again under Resend Unknown, once claim 1 is unknown |
 * | …, decided 2       | … and does; or somebody who waits with claim 3 has taken that from it         |
 * | …, left 2          | unknown again: it was not sent under claim 2 either, or nobody knows          |
 * | claim 1 …, sent    | sent                                                                          |
 *
 * Several rows and not one: all are only inserted, but for claim 1, which is deleted if its send was refused. So
 * asking is reading, and nothing that is read is ever written back over something newer. Claim 1 stays when its key
 * is sent, so that whoever can insert it knows that the key was never sent. It also stays once somebody has taken it
 * over: `decided 1` says which of the two it is, because only one of them can insert it.
 */
export interface KeyState {
	/** How many claims there are. */
	readonly claims: number;
	readonly isSent: boolean;
	/** Whether nobody is sending under the last claim any more. */
	readonly isAbandoned: boolean;
}

const claimEntry = '1';

/** The rows of one idempotency key of one node. All throw what n8n's database throws. */
export class KeyRows {
	private readonly name: string;

	constructor(
		private readonly rows: Rows,
		key: string,
	) {
		this.name = `key:${rows.nodeId}:${digest(key)}`;
	}

	/** Only reads. In this order: a claim is there before its key is sent. */
	async read(): Promise<KeyState> {
		if (!(await this.rows.isThere(this.claim(1))))
			return { claims: 0, isSent: false, isAbandoned: false };
		if (await this.rows.isThere(this.sent)) return { claims: 1, isSent: true, isAbandoned: false };
		let claims = 1;
		while (await this.rows.isThere(this.claim(claims + 1))) claims += 1;
		return { claims, isSent: false, isAbandoned: await this.isAbandoned(claims) };
	}

	/** Whether nobody is sending under a claim any more, and nobody knows whether it was sent. Only reads. */
	async isAbandoned(number: number): Promise<boolean> {
		return await this.rows.isThere(this.left(number));
	}

	/** Makes a claim: one of any number of askers does. */
	async insert(number: number): Promise<boolean> {
		return await this.rows.insert(this.claim(number));
	}

	/**
	 * Decides about a claim. Claim 1: it is freed, or taken over. A later one: its maker sends, or somebody has taken
	 * that from it.
	 * @returns whether this asker decided
	 */
	async decide(number: number): Promise<boolean> {
		return await this.rows.insert(this.decided(number));
	}

	/** Takes a decision back, by whoever made it. */
	async undecide(number: number): Promise<void> {
		await this.rows.delete(this.decided(number));
	}

	/** Only reads. */
	async isDecided(number: number): Promise<boolean> {
		return await this.rows.isThere(this.decided(number));
	}

	/**
	 * Frees the key, by whoever made claim 1. Once: later it may be another's.
	 * @returns `false` if it was taken over
	 */
	async free(): Promise<boolean> {
		if (!(await this.decide(1))) return false;
		await this.rows.delete(this.claim(1));
		await this.undecide(1);
		return true;
	}

	/** May be repeated. */
	async markSent(): Promise<void> {
		await this.rows.insert(this.sent);
	}

	/** Notes that nobody sends under a claim any more. May be repeated. */
	async markAbandoned(number: number): Promise<void> {
		await this.rows.insert(this.left(number));
	}

	/**
	 * Leaves a mark in the first claim, which goes with it if it is freed. Only whoever made the second claim may: two
	 * at once would write over each other.
	 * @returns `same` if the mark was there, so the claim was, all the time. `ours` if it was freed: it is this
	 * asker's now
	 */
	async markFirstClaim(mark: string): Promise<'same' | 'new' | 'ours'> {
		const added = await this.rows.record(this.claim(1), [claimEntry, mark]);
		if (added.has(claimEntry)) return 'ours';
		return added.has(mark) ? 'new' : 'same';
	}

	private claim = (number: number) => `${this.name}:claim:${number}`;

	private decided = (number: number) => `${this.name}:decided:${number}`;

	private left = (number: number) => `${this.name}:left:${number}`;

	private get sent(): string {
		return `${this.name}:sent`;
	}
}
