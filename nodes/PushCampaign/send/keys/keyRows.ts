import { digest } from '../digest';
import type { Rows } from '../rows';

/**
 * How a key stands, by its rows in n8n's database:
 *
 * | rows               | state                                                                          |
 * | ------------------ | ------------------------------------------------------------------------------ |
 * | none               | free                                                                           |
 * | claim 1            | claimed: its request may be in flight, or its process has ended                |
 * | claim 1, left 1    | unknown: its request was made, and nobody knows what became of it              |
 * | …, claim 2         | somebody waits to send it again under Resend Unknown, once claim 1 is unknown  |
 * | …, start 2         | … and does; or somebody who waits for claim 3 has decided that it must not any more |
 * | …, left 2          | unknown again: it was not sent under claim 2 either, or nobody knows           |
 * | claim 1 …, sent    | sent                                                                           |
 *
 * Several rows and not one: all are only inserted, but for claim 1, which whoever inserted it deletes if its send was
 * refused. So asking is reading, and nothing that is read is ever written back over something newer. Claim 1 stays
 * when its key is sent, so that whoever can insert it knows that the key was never sent.
 */
export interface KeyState {
	/** How many claims there are. */
	readonly claims: number;
	readonly isSent: boolean;
	/** Whether nobody is sending under the last claim any more. */
	readonly isLeft: boolean;
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
			return { claims: 0, isSent: false, isLeft: false };
		if (await this.rows.isThere(this.sent)) return { claims: 1, isSent: true, isLeft: false };
		let claims = 1;
		while (await this.rows.isThere(this.claim(claims + 1))) claims += 1;
		return { claims, isSent: false, isLeft: await this.isLeft(claims) };
	}

	/** Whether nobody is sending under a claim any more, and nobody knows whether it was sent. Only reads. */
	async isLeft(number: number): Promise<boolean> {
		return await this.rows.isThere(this.left(number));
	}

	/**
	 * Makes a claim: one of any number of askers does.
	 * @returns whether it is this asker's. It is nobody's if the next one is there: then a claim of this number was
	 * taken over just before it was freed.
	 */
	async insert(number: number): Promise<boolean> {
		if (!(await this.rows.insert(this.claim(number)))) return false;
		return !(await this.rows.isThere(this.claim(number + 1)));
	}

	/** Frees the key: takes the first claim back. Once: later it may be another's. */
	async free(): Promise<void> {
		await this.rows.delete(this.claim(1));
	}

	/** May be repeated. */
	async markSent(): Promise<void> {
		await this.rows.insert(this.sent);
	}

	/** Notes that nobody sends under a claim any more. May be repeated. */
	async markLeft(number: number): Promise<void> {
		await this.rows.insert(this.left(number));
	}

	/**
	 * Decides about a claim after the first: whether its maker may send, or somebody else has taken that from it.
	 * @returns whether this asker decided
	 */
	async start(number: number): Promise<boolean> {
		return await this.rows.insert(`${this.name}:start:${number}`);
	}

	/** Only reads. */
	async isStarted(number: number): Promise<boolean> {
		return await this.rows.isThere(`${this.name}:start:${number}`);
	}

	/**
	 * Leaves a mark in the first claim, which goes with it if it is freed. Only whoever made the second claim may: two
	 * at once would write over each other.
	 * @returns `same` if the mark was there, so the claim was, all the time. `ours` if it was freed: it is this
	 * asker's now
	 */
	async watch(mark: string): Promise<'same' | 'new' | 'ours'> {
		const added = await this.rows.record(this.claim(1), [claimEntry, mark]);
		if (added.has(claimEntry)) return 'ours';
		return added.has(mark) ? 'new' : 'same';
	}

	private claim = (number: number) => `${this.name}:claim:${number}`;

	private left = (number: number) => `${this.name}:left:${number}`;

	private get sent(): string {
		return `${this.name}:sent`;
	}
}
