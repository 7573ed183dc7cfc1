import { refusalBackoffMs } from './retry';

/**
 * How many requests are under way at the start, unless the service is known to take more, and by how many
 * more each good answer lets it grow: 20, 80, then the default ceiling of 100. Of 200 requests at 50 ms,
 * all of them take 3 round trips then; from 10 and doubling it would be 5.
 */
const firstLimit = 20;
const limitGrowth = 3;

/**
 * How fast a learned pace grows: by this share in the first second, ever faster afterwards, so that a
 * limit that was lifted is found again within some ten seconds. Time counts only as far as requests are
 * accepted (`growthAcceptances` are worth a second): a slow service is not asked more often for nothing.
 */
const growth = 0.03;
const growthAcceptances = 10;

/** What may be made up for when a timer fires late. */
const slackMs = 100;

/** Per millisecond; beyond it a pace means nothing. */
const fastestPace = 10;

/**
 * How fast requests may start: how many at once, and how soon after one another. Pure arithmetic: times
 * are given, in milliseconds from any fixed moment; paces are requests per millisecond.
 *
 * Until the first refusal only the number at once counts. Each refusal means that the service has just
 * run out of what it allows, so what it accepted between two of them is a lower bound of its own pace,
 * and the pace that was refused is an upper one. The next try is their geometric mean: it is there after
 * a few refusals, whatever the first guess was, also when the limit changes midway.
 *
 * Measured in simulated time at a latency of 50 ms, as a multiple of what the limit itself needs. All
 * items arrived; of the 5 retries that an item has, none needed more than 3.
 *
 * | limit per second | burst | items | time | with `Retry-After` |
 * |---|---|---|---|---|
 * | 100 | 100 | 2000 | 1.00 to 1.01 | 1.02 |
 * | 200, from item 900 on 20 | 100, 20 | 1200 | 1.02 to 1.05 | 1.15 |
 * | 20 | 20 | 400 | 1.01 | 1.06 |
 * | 100 | 10 | 400 | 1.16 to 1.23 | 1.94 |
 */
export class RateController {
	private limit: number;
	private underWay = 0;
	/** Under way since before the last slow-down: their refusals are no news. */
	private stale = 0;
	private pausedUntil = -Infinity;
	private refusalsInARow = 0;
	/** Unknown until the first refusal. */
	private pace: number | undefined;
	private paceGrowth = growth;
	private growsFrom = 0;
	private nextAt = -Infinity;
	private measuredFrom: number | undefined;
	private accepted = 0;

	/**
	 * @param ceiling the most requests that are ever under way at once
	 * @param random a number from 0 up to, but not including, 1
	 * @param startsFast whether it starts at the ceiling
	 */
	constructor(
		private readonly ceiling: number,
		private readonly random: () => number,
		startsFast: boolean,
	) {
		this.limit = startsFast ? ceiling : Math.min(ceiling, firstLimit);
	}

	/** Whether the service has refused a request for too many requests. */
	get wasRefused(): boolean {
		return this.pace !== undefined;
	}

	/** How often everything was refused in a row: what was under way together counts once. */
	get refusals(): number {
		return this.refusalsInARow;
	}

	/** Whether one more may be under way. */
	hasRoom(): boolean {
		return this.underWay < Math.floor(this.limit);
	}

	/** How long the next one has to wait, in milliseconds. */
	waitMs(now: number): number {
		return Math.max(0, this.nextAt - now);
	}

	/** A request starts. */
	started(now: number): void {
		this.underWay += 1;
		this.measuredFrom ??= now;
		const pace = this.paceAt(now);
		if (pace !== undefined) this.nextAt = Math.max(this.nextAt, now - slackMs) + 1 / pace;
	}

	/**
	 * A request is no longer under way.
	 * @param isWell whether the service dealt with it; otherwise nothing is learned from it
	 */
	ended(isWell: boolean): void {
		this.underWay -= 1;
		this.stale = Math.max(0, this.stale - 1);
		if (!isWell) return;
		this.accepted += 1;
		this.refusalsInARow = 0;
		const step = this.pace === undefined ? limitGrowth : 1;
		this.limit = Math.min(this.ceiling, this.limit + step);
	}

	/**
	 * A request under way is refused for too many requests.
	 * @param retryAfterMs what the service asked for, in milliseconds
	 */
	refused(now: number, retryAfterMs?: number): void {
		const isNews = this.stale === 0;
		if (isNews) this.slowDown(now);
		const pauseMs =
			retryAfterMs ?? (isNews ? refusalBackoffMs(this.refusalsInARow, this.random()) : 0);
		this.pausedUntil = Math.max(this.pausedUntil, now + pauseMs);
		this.growsFrom = this.pausedUntil;
		this.nextAt = Math.max(this.nextAt, this.pausedUntil);
	}

	/** Forgets what refusals have taught: they were about single items, and not about the pace. */
	forget(now: number): void {
		this.pace = undefined;
		this.refusalsInARow = 0;
		this.limit = Math.max(this.limit, Math.min(this.ceiling, firstLimit));
		this.measuredFrom = now;
		this.pausedUntil = now;
		this.nextAt = now;
	}

	private slowDown(now: number): void {
		this.refusalsInARow += 1;
		this.stale = this.underWay;
		// Where nothing at all was accepted, one goes ahead and tries.
		this.limit = this.accepted === 0 ? 1 : Math.max(1, this.underWay / 2);
		// A service that accepts nothing for a while tells nothing of the pace that it takes otherwise.
		if (this.accepted === 0 && this.pace !== undefined) return;
		const refusedPace = this.paceAt(now);
		// Half a request: what is accepted next was on its way already.
		const measured = (this.accepted + 0.5) / Math.max(1, now - (this.measuredFrom ?? now));
		this.pace = refusedPace === undefined ? measured : Math.sqrt(measured * refusedPace);
		// A first guess from few answers may be far too low.
		this.paceGrowth = growth + (refusedPace === undefined ? 1 / (this.accepted + 1) : 0);
		this.measuredFrom = now;
		this.accepted = 0;
	}

	private paceAt(now: number): number | undefined {
		if (this.pace === undefined) return undefined;
		const elapsed = Math.max(0, now - this.growsFrom) / 1000;
		const seconds = Math.min(elapsed, this.accepted / growthAcceptances);
		const grown = this.pace * Math.exp(this.paceGrowth * (seconds + seconds ** 2));
		return Math.min(fastestPace, grown);
	}
}
