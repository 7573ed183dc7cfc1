import { retryPolicy } from './retry';

/**
 * How many requests may be in flight at the start, and how many more after each good answer: 20, 80, then the
 * default maximum of 100. So 200 requests at 50 ms take 3 round trips; from 10 and doubling it would be 5.
 */
const firstConcurrency = 20;
const concurrencyGrowth = 3;

/** Below one refusal per this many accepted requests, single items cause them, and the pace stays. */
const acceptedPerStray = 20;

/**
 * After a refusal, the new pace is the rate accepted since the last one, kept between `deepestCut` and `smallestCut` of
 * the old pace. If nothing was accepted, it is `blindCut` of it.
 */
const smallestCut = 0.92;
const deepestCut = 0.25;
const blindCut = 0.7;

/** The first refusal counts at least this many requests as accepted, because others are still in flight. */
const firstAccepted = 3;

/** In requests per millisecond. Without it, cuts during a long outage add up to a wait of days. */
const slowestPace = 1 / retryPolicy.longestPauseMs;

/**
 * Each good answer adds so much to the pace for each second without a refusal, in requests per millisecond: a
 * limit that was lifted is found again within some ten seconds.
 */
const paceGrowth = 0.1 / 1000;
const firstSeconds = 0.5;

/** What requests may make up for if a timer fires late. */
const slackMs = 100;

/** What the run knows about the service's limit. */
type Limit =
	/** Nothing was refused yet: the number in flight alone decides. */
	| { readonly kind: 'unknown' }
	/** Requests start at this pace, in requests per millisecond. */
	| { readonly kind: 'measured'; readonly pace: number };

/**
 * How many requests may be in flight, and how soon the next one may start. Pure arithmetic: times are in
 * milliseconds from any fixed moment.
 *
 * The first refusal measures the pace, each further one cuts it, and it grows while answers are good. A
 * refusal is stale if its request started before the last refusal, which has cut the pace already. While
 * refusals follow each other with nothing accepted in between, one request at a time is in flight.
 *
 * test/unit/delivery/rateLimits shows the result for all kinds of limits and outages, in simulated time.
 */
export class Pace {
	private concurrency: number;
	private limit: Limit = { kind: 'unknown' };
	/** The turn of the request that started last; the next turn is one interval of the pace later. */
	private lastTurn: number;
	private pausedUntil: number;
	/** When counting began: at the last refusal that was not stale, or at the start. */
	private countedFrom: number;
	private accepted = 0;
	private refused = 0;
	private refusalsInARow = 0;

	/** @param maxConcurrency the most requests that are ever in flight */
	constructor(
		private readonly maxConcurrency: number,
		now: number,
	) {
		this.concurrency = Math.min(firstConcurrency, maxConcurrency);
		this.lastTurn = now;
		this.pausedUntil = now;
		this.countedFrom = now;
	}

	/** Whether one more request may be in flight. */
	canStart(inFlight: number): boolean {
		return inFlight < this.concurrency;
	}

	/** How long the next request has to wait, in milliseconds, unless an answer comes first. */
	waitMs(now: number): number {
		return Math.max(0, this.pausedUntil - now, this.lastTurn + this.intervalMs() - now);
	}

	started(now: number): void {
		this.lastTurn = Math.max(this.lastTurn + this.intervalMs(), now - slackMs);
	}

	/** Lets nothing start before that moment. */
	pauseUntil(moment: number): void {
		this.pausedUntil = Math.max(this.pausedUntil, moment);
	}

	/** The service dealt with a request. */
	wasAccepted(now: number): void {
		this.accepted += 1;
		this.refusalsInARow = 0;
		this.concurrency = Math.min(this.maxConcurrency, this.concurrency + concurrencyGrowth);
		if (this.limit.kind === 'unknown') return;
		const quietMs = Math.max(0, now - Math.max(this.countedFrom, this.pausedUntil));
		const pace = this.limit.pace + paceGrowth * (firstSeconds + quietMs / 1000);
		this.limit = { kind: 'measured', pace };
	}

	/**
	 * The service refused a request for too many requests.
	 * @param startedAt when that request started
	 * @param hasRetryAfter whether the service asked for a pause
	 * @returns how many refusals there were in a row, with nothing accepted in between. The first one after an
	 * accepted request only corrects the pace: it counts if the service asked for a pause. A stale one is 0.
	 */
	wasRefused(now: number, startedAt: number, hasRetryAfter: boolean): number {
		this.refused += 1;
		const isStale = startedAt < this.countedFrom;
		if (isStale) return 0;
		if (this.accepted === 0 || hasRetryAfter) this.refusalsInARow += 1;
		this.slowDown(now);
		return this.refusalsInARow;
	}

	private slowDown(now: number): void {
		if (this.accepted === 0) this.concurrency = 1;
		if (this.limit.kind === 'unknown' || this.accepted < acceptedPerStray * this.refused) {
			const pace = this.slowerPace(Math.max(1, now - this.countedFrom));
			this.limit = { kind: 'measured', pace: Math.max(slowestPace, pace) };
			this.lastTurn = now - this.intervalMs();
		}
		this.countedFrom = now;
		this.accepted = 0;
		this.refused = 0;
	}

	private slowerPace(elapsedMs: number): number {
		if (this.limit.kind === 'unknown') return Math.max(firstAccepted, this.accepted) / elapsedMs;
		const { pace } = this.limit;
		if (this.accepted === 0) return pace * blindCut;
		const measured = this.accepted / elapsedMs;
		return Math.max(pace * deepestCut, Math.min(pace * smallestCut, measured));
	}

	/** The time from one turn to the next. */
	private intervalMs(): number {
		return this.limit.kind === 'unknown' ? 0 : 1 / this.limit.pace;
	}
}
