import type { UnknownOutcome } from '../service/problems';
import type { KeyRows } from './rows';

/** A request may still be answered so long after its time is over, in milliseconds. */
const graceMs = 5_000;

/** One send that asks for its key. */
export interface KeyedSend {
	/** The name of the key's rows. */
	readonly key: string;
	readonly unknownOutcome: UnknownOutcome;
	/** How long a request may take, in milliseconds. */
	readonly timeoutMs: number;
}

/**
 * How a key stands for a send:
 * - `free`: whoever makes the claim after the last one sends.
 * - `sent`: it was sent, or it counts as sent.
 * - `unknown`: nobody knows whether it was sent.
 * - `held`: somebody else may be sending it. Ask again after a pause.
 */
export type KeyState =
	| { readonly is: 'free'; readonly lastClaim: number }
	| { readonly is: 'sent' }
	| { readonly is: 'unknown' }
	| { readonly is: 'held' };

/** A claim of somebody else. */
interface FoundClaim {
	/** The first claim that this run found under the key. */
	readonly first: number;
	readonly claim: number;
	/** When it counts as unknown. */
	readonly until: number;
}

/** How a request under a claim ended. */
export type ClaimEnd = 'sent' | 'free' | 'lost';

/**
 * The keys of one run: what was sent under a key is never sent under it again. A key is a chain of claims, made of rows
 * that are only ever inserted. An insert is the decision: of any number of askers, one makes it.
 *
 * | rows of the last claim N | state                                        | who may send                                     |
 * | ------------------------ | -------------------------------------------- | ------------------------------------------------ |
 * | none                     | free                                         | whoever inserts claim 1                          |
 * | `claim N`                | in flight, or its process has ended; unknown | nobody                                           |
 * |                          | when its time is over                        |                                                  |
 * | `claim N`, `free N`      | refused: certainly not sent                  | whoever inserts claim N + 1                      |
 * | `claim N`, `lost N`      | unknown                                      | with Send Again, whoever inserts claim N + 1     |
 * | `sent`                   | sent                                         | nobody, ever                                     |
 *
 * A claim of somebody else is waited for first, and the next one is inserted after that. So without Send Again a claim is
 * only made when all claims before it were refused. No clock is part of that: time decides how long to wait before a
 * claim counts as unknown, and that lets nobody send.
 */
export class Keys {
	/** What this run found of claims of others, by key. */
	private readonly found = new Map<string, FoundClaim>();
	/** Whether the last key was free: then the next one is claimed without a look before it. */
	private wasFree = false;

	/** @param now milliseconds from any fixed moment */
	constructor(
		private readonly rows: KeyRows,
		private readonly now: () => number = () => performance.now(),
	) {}

	/**
	 * How a key stands. Only reads, unless an unknown outcome counts as sent.
	 * @param mayGuess whether a key may be taken for free because the last one was: the claim decides
	 * @throws Unavailable
	 */
	async look(send: KeyedSend, mayGuess: boolean): Promise<KeyState> {
		const { key, unknownOutcome } = send;
		if (this.wasFree && mayGuess) return { is: 'free', lastClaim: 0 };
		if (await this.rows.isThere(sentRow(key))) return { is: 'sent' };
		const lastClaim = await this.findLastClaim(key);
		if (lastClaim === 0) return { is: 'free', lastClaim };
		if (await this.rows.isThere(endRow(key, 'free', lastClaim))) return { is: 'free', lastClaim };

		const found = this.foundBy(send, lastClaim);
		const isLost = await this.rows.isThere(endRow(key, 'lost', lastClaim));
		if (!isLost && this.now() < found.until) return { is: 'held' };
		switch (unknownOutcome) {
			case 'report':
				return { is: 'unknown' };
			case 'countAsSent':
				await this.countAsSent(key);
				return { is: 'sent' };
			case 'resend':
				// What became unknown while this run waited was sent again by another one: once is enough.
				return lastClaim === found.first ? { is: 'free', lastClaim } : { is: 'unknown' };
		}
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
	 * @throws Unavailable: then the claim stays, and counts as unknown when its time is over
	 */
	async end(key: string, claim: number, how: ClaimEnd): Promise<void> {
		await this.rows.insert(how === 'sent' ? sentRow(key) : endRow(key, how, claim));
	}

	/**
	 * Notes that a key was sent, because its user found the send in the dashboard. A key that was added after the send has
	 * no claim yet: claim 1 shows it to those who claim without a look.
	 * @throws Unavailable
	 */
	async countAsSent(key: string): Promise<void> {
		await this.rows.insert(claimRow(key, 1));
		await this.rows.insert(sentRow(key));
	}

	private foundBy({ key, timeoutMs }: KeyedSend, claim: number): FoundClaim {
		const known = this.found.get(key);
		if (known?.claim === claim) return known;
		const until = this.now() + timeoutMs + graceMs;
		const found = { first: known?.first ?? claim, claim, until };
		this.found.set(key, found);
		return found;
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
