import type { KeyRows } from './rows';

/** A request may still be answered so long after its time is over, in milliseconds. */
const graceMs = 5_000;

/**
 * How a key stands:
 * - `free`: whoever makes the claim after the last one sends.
 * - `claimed`: somebody may be sending under it, or has ended without a word.
 * - `lost`: somebody has noted that nobody knows whether it was sent.
 * - `sent`: it was sent.
 */
type KeyState =
	| { readonly is: 'free' | 'claimed'; readonly lastClaim: number }
	| { readonly is: 'lost' }
	| { readonly is: 'sent' };

/** What asking for a claim gives. */
export type ClaimAnswer =
	/** The request may leave now. */
	| { readonly is: 'ours'; readonly claim: number }
	/** Somebody else may be sending under it. Ask again after a pause. */
	| { readonly is: 'held' }
	/** Nobody knows whether it was sent; and whether this call was the first to find that. */
	| { readonly is: 'lost'; readonly isFound: boolean }
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
	/** Whether the last key was free. */
	private wasFree = false;

	/** @param now milliseconds from any fixed moment */
	constructor(
		private readonly rows: KeyRows,
		private readonly now: () => number = () => performance.now(),
	) {}

	/** How a key stands. Only reads. @throws Unavailable */
	async look(key: string): Promise<KeyState> {
		if (await this.rows.isThere(sentRow(key))) return { is: 'sent' };
		const lastClaim = await this.findLastClaim(key);
		if (lastClaim === 0) return { is: 'free', lastClaim };
		if (await this.rows.isThere(endRow(key, 'free', lastClaim))) return { is: 'free', lastClaim };
		if (await this.rows.isThere(endRow(key, 'lost', lastClaim))) return { is: 'lost' };
		return { is: 'claimed', lastClaim };
	}

	/**
	 * Claims a key, if it is free.
	 * @param timeoutMs how long a request may take, in milliseconds
	 * @throws Unavailable
	 */
	async claim(key: string, timeoutMs: number): Promise<ClaimAnswer> {
		// Behind a free key the next one is hardly ever another: the insert decides.
		const state = this.wasFree ? neverClaimed : await this.look(key);
		if (state.is === 'lost') return { is: 'lost', isFound: false };
		if (state.is === 'sent') return state;
		if (state.is === 'claimed') {
			if (this.isHeld(claimRow(key, state.lastClaim), timeoutMs)) return { is: 'held' };
			return { is: 'lost', isFound: await this.end(key, state.lastClaim, 'lost') };
		}
		const claim = state.lastClaim + 1;
		const isOurs = await this.rows.insert(claimRow(key, claim));
		this.wasFree = isOurs && claim === 1;
		return isOurs ? { is: 'ours', claim } : { is: 'held' };
	}

	/**
	 * Notes how the request under a claim ended. May be repeated.
	 * @returns whether nobody had noted that before
	 * @throws Unavailable: then the claim stays, and counts as unknown when its time is over
	 */
	async end(key: string, claim: number, how: ClaimEnd): Promise<boolean> {
		return await this.rows.insert(how === 'sent' ? sentRow(key) : endRow(key, how, claim));
	}

	/** Whether the request under somebody else's claim may still be answered. */
	private isHeld(row: string, timeoutMs: number): boolean {
		const until = this.heldUntil.get(row) ?? this.now() + timeoutMs + graceMs;
		this.heldUntil.set(row, until);
		return this.now() < until;
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

const neverClaimed: KeyState = { is: 'free', lastClaim: 0 };
const claimRow = (key: string, claim: number) => `${key}:claim:${claim}`;
const endRow = (key: string, how: ClaimEnd, claim: number) => `${key}:${how}:${claim}`;
const sentRow = (key: string) => `${key}:sent`;
