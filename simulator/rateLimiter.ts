import type { RateLimit } from './schemas';

/** A token bucket whose limit can be changed while it runs. */
export class RateLimiter {
	private limit: RateLimit | null = null;
	private tokens = 0;
	private filledAt = 0;

	/** Sets the limit, or takes it away; what is left of a burst stays left. `now` in epoch ms. */
	setLimit(limit: RateLimit | null, now: number): void {
		this.refill(now);
		this.tokens = this.limit && limit ? Math.min(this.tokens, limit.burst) : (limit?.burst ?? 0);
		this.limit = limit;
		this.filledAt = now;
	}

	/**
	 * Takes one token. Gives null where the request may pass, otherwise the milliseconds after
	 * which one may.
	 */
	take(now: number): number | null {
		if (!this.limit) return null;
		this.refill(now);
		if (this.tokens >= 1) {
			this.tokens -= 1;
			return null;
		}
		// A limit of none per second never refills: ask again in a second, it may have changed.
		if (this.limit.perSecond === 0) return 1000;
		return ((1 - this.tokens) / this.limit.perSecond) * 1000;
	}

	private refill(now: number): void {
		if (!this.limit) return;
		const elapsedSeconds = Math.max(0, now - this.filledAt) / 1000;
		this.tokens = Math.min(this.limit.burst, this.tokens + elapsedSeconds * this.limit.perSecond);
		this.filledAt = Math.max(now, this.filledAt);
	}
}

/** The value of `Retry-After` for a wait in milliseconds, never shorter than the wait. */
export const retryAfterHeader = (waitMs: number): string =>
	String(Math.max(1, Math.ceil(waitMs / 1000)));
