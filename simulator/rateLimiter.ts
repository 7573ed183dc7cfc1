/** A token bucket's. */
export interface RateLimit {
	/** How many requests the bucket gets back each second; with 0 it stays empty. */
	readonly perSecond: number;
	/** How many requests it holds. */
	readonly burst: number;
	/** Answers refusals with `Retry-After`. */
	readonly retryAfter?: 'seconds';
}

/** A token bucket, full at first. Its limit may be another one at each request. */
export class RateLimiter {
	private tokens = Infinity;
	private filledAt = 0;

	/**
	 * Takes a token if there is one.
	 *
	 * @param now epoch milliseconds
	 * @returns the milliseconds after which there is one; 0 if the request may pass
	 */
	take({ perSecond, burst }: RateLimit, now: number): number {
		const seconds = Math.max(0, now - this.filledAt) / 1000;
		this.tokens = Math.min(burst, this.tokens + seconds * perSecond);
		this.filledAt = now;
		if (this.tokens >= 1) {
			this.tokens -= 1;
			return 0;
		}
		// An empty bucket that never fills: a second later the limit may be another one.
		if (perSecond === 0) return 1000;
		return ((1 - this.tokens) / perSecond) * 1000;
	}
}
