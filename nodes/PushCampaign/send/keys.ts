import type { KeyRows } from './rows';

/** A request may still be answered so long after its time is over, in milliseconds. */
const graceMs = 5_000;

/**
 * How a key stands for a send:
 * - `free`: whoever makes the claim after the last one sends.
 * - `held`: somebody else may be sending under it. Ask again after a pause.
 * - `ended`: the time of a claim is over, and nobody has noted how its request ended.
 * - `lost`: somebody has noted that nobody knows whether it was sent.
 * - `sent`: it was sent.
 */
export type KeyState =
	| { readonly is: 'free' | 'ended'; readonly lastClaim: number }
	| { readonly is: 'held' }
	| { readonly is: 'lost' }
	| { readonly is: 'sent' };

/** How a request under a claim ended. */
export type ClaimEnd = 'sent' | 'free' | 'lost';

/**
 * The keys of one run: what was sent under a key is never sent under it again. A key is a chain of claims, made of rows
 * that are only ever inserted. An insert is the decision: of any number of askers, one makes it.
 *
 * | rows of the last claim N | state                                             | who may send                  |
 * | ------------------------ | ------------------------------------------------- | ----------------------------- |
 * | none                     | free                                              | whoever inserts claim 1       |
 * | `claim N`                | in flight, or its process has ended; after its    | nobody                        |
 * |                          | time whoever inserts `lost N` reports it unknown  |                               |
 * | `claim N`, `free N`      | refused: certainly not sent                       | whoever inserts claim N + 1   |
 * | `claim N`, `lost N`      | unknown                                           | nobody, ever                  |
 * | `sent`                   | sent                                              | nobody, ever                  |
 *
 * A claim of somebody else is waited for first, and the next one is inserted after that: so it is only made when all
 * claims before it were refused. No clock is part of that: time decides how long to wait before a claim counts as
 * unknown, and that lets nobody send.
 */
export class Keys {
	/** When claims of others count as unknown, by the name of their row. */
	private readonly heldUntil = new Map<string, number>();
	/** Whether the last key was free: then the next one is claimed without a look before it. */
	private wasFree = false;

	/** @param now milliseconds from any fixed moment */
	constructor(
		private readonly rows: KeyRows,
		private readonly now: () => number = () => performance.now(),
	) {}

	/**
	 * How a key stands. Only reads.
	 * @param key the name of its rows
	 * @param timeoutMs how long a request may take, in milliseconds
	 * @param mayGuess whether a key may be taken for free because the last one was: the claim decides
	 * @throws Unavailable
	 */
	async look(key: string, timeoutMs: number, mayGuess: boolean): Promise<KeyState> {
		if (this.wasFree && mayGuess) return { is: 'free', lastClaim: 0 };
		if (await this.rows.isThere(sentRow(key))) return { is: 'sent' };
		const lastClaim = await this.findLastClaim(key);
		if (lastClaim === 0) return { is: 'free', lastClaim };
		if (await this.rows.isThere(endRow(key, 'free', lastClaim))) return { is: 'free', lastClaim };
		if (await this.rows.isThere(endRow(key, 'lost', lastClaim))) return { is: 'lost' };
		const name = claimRow(key, lastClaim);
		const until = this.heldUntil.get(name) ?? this.now() + timeoutMs + graceMs;
		this.heldUntil.set(name, until);
		return this.now() < until ? { is: 'held' } : { is: 'ended', lastClaim };
	}

	/**
	 * Makes the claim after the last one.
	 * @returns its number; 0 if somebody else made it
	 * @throws Unavailable
	 */
	async claim(key: string, lastClaim: number): Promise<number> {
		const claim = lastClaim + 1;
		const isOurs = await this.rows.insert(claimRow(key, claim));
		this.wasFree = isOurs && claim === 1;
		return isOurs ? claim : 0;
	}

	/**
	 * Notes how the request under a claim ended. May be repeated.
	 * @returns whether nobody had noted that before
	 * @throws Unavailable: then the claim stays, and counts as unknown when its time is over
	 */
	async end(key: string, claim: number, how: ClaimEnd): Promise<boolean> {
		return await this.rows.insert(how === 'sent' ? sentRow(key) : endRow(key, how, claim));
	}

	/** Claims are numbered without a gap. There is hardly ever a second one, so it doubles before it bisects. */
	private async findLastClaim(key: string): Promise<number> {
		const isThere = async (claim: number) => await this.rows.isThere(claimRow(key, claim));
		let missing = 1;
		while (await isThere(missing)) missing *= 2;
		let there = Math.floor(missing / 2);
		while (missing - there > 1) {
			const middle = Math.floor((there + missing) / 2);
			if (await isThere(middle)) there = middle;
			else missing = middle;
		}
		return there;
	}
}

const claimRow = (key: string, claim: number) => `${key}:claim:${claim}`;
const endRow = (key: string, how: ClaimEnd, claim: number) => `${key}:${how}:${claim}`;
const sentRow = (key: string) => `${key}:sent`;
