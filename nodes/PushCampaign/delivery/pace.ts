import type { Problem } from '../service/failures';
import { retryPauseMs } from './retry';

/**
 * How many requests are under way at the start, and by how many more each good answer lets it grow: 20, 80,
 * then the default ceiling of 100. Of 200 requests at 50 ms, all of them take 3 round trips then; from 10 and
 * doubling it would be 5.
 */
const firstRoom = 20;
const roomGrowth = 3;

/** A refusal for this many that were accepted is one item's own, and tells nothing of the pace. */
const acceptedForOne = 20;

/**
 * What is left of the pace after a refusal: as much as was accepted since the last one, between these; and
 * where nothing was, which tells less.
 */
const smallestCut = 0.92;
const deepestCut = 0.25;
const blindCut = 0.7;

/** Requests that are counted as accepted at the first refusal where fewer were: others are on their way. */
const firstAccepted = 3;

/**
 * Each good answer adds so much to the pace for each second without a refusal, in requests per millisecond: a
 * limit that was lifted is found again within some ten seconds.
 */
const growth = 0.1 / 1000;
const firstSeconds = 0.5;

/** What may be made up for when a timer fires late. */
const slackMs = 100;

/**
 * How soon requests may start. Pure arithmetic: times are in milliseconds from any fixed moment, the pace in
 * requests per millisecond.
 *
 * Until the first refusal only the number under way counts. That one measures the pace, each further one cuts
 * it, and it grows while answers are good. A refusal of what had started before the last one is no news. Where
 * refusals follow each other with nothing accepted in between, one request at a time goes ahead, after pauses
 * that grow.
 *
 * What comes of it at all kinds of limits, in simulated time, is in test/unit/delivery/rateLimits.
 */
export class Pace {
	private room: number;
	private pace = Infinity;
	private nextAt = -Infinity;
	private pausedUntil = -Infinity;
	/** When the last refusal came that was news, or the first request started, and what came of it since. */
	private countedFrom = Infinity;
	private accepted = 0;
	private refused = 0;
	private refusalsInARow = 0;

	/**
	 * @param ceiling the most requests that are ever under way at once
	 * @param random a number from 0 up to, but not including, 1
	 */
	constructor(
		private readonly ceiling: number,
		private readonly random: () => number,
	) {
		this.room = Math.min(firstRoom, ceiling);
	}

	/** Whether one more may be under way. */
	hasRoom(underWay: number): boolean {
		return underWay < this.room;
	}

	/** How long the next request has to wait, in milliseconds. */
	waitMs(now: number): number {
		return Math.max(0, this.nextAt - now, this.pausedUntil - now);
	}

	started(now: number): void {
		this.countedFrom = Math.min(this.countedFrom, now);
		this.nextAt = Math.max(this.nextAt, now - slackMs) + 1 / this.pace;
	}

	/** The service dealt with a request. */
	wasAccepted(now: number): void {
		this.accepted += 1;
		this.room = Math.min(this.ceiling, this.room + roomGrowth);
		const quietMs = Math.max(0, now - Math.max(this.countedFrom, this.pausedUntil));
		this.pace += growth * (firstSeconds + quietMs / 1000);
	}

	/**
	 * The service refused a request for too many requests.
	 * @param startedAt when that request started
	 * @param ownRefusals how often its item was refused, where no other item goes ahead of it; otherwise 0
	 * @returns how many refusals there were in a row, with nothing accepted in between; 0 where this is no news
	 */
	wasRefused(problem: Problem, now: number, startedAt: number, ownRefusals: number): number {
		this.refused += 1;
		const isNews = startedAt >= this.countedFrom;
		if (isNews) this.slowDown(now);
		const isInARow = isNews && this.refusalsInARow > 0;
		const inARow = isInARow ? Math.max(this.refusalsInARow, ownRefusals) : 0;
		const isPausing = isInARow || problem.retryAfterMs !== undefined;
		const pauseMs = isPausing ? retryPauseMs(problem, inARow, this.random()) : 0;
		this.pausedUntil = Math.max(this.pausedUntil, now + pauseMs);
		return inARow;
	}

	private slowDown(now: number): void {
		this.refusalsInARow = this.accepted > 0 ? 0 : this.refusalsInARow + 1;
		if (this.refusalsInARow > 0) this.room = 1;
		if (this.pace === Infinity || this.accepted < acceptedForOne * this.refused) {
			this.pace = this.slowerPace(Math.max(1, now - this.countedFrom));
			this.nextAt = now;
		}
		this.countedFrom = now;
		this.accepted = 0;
		this.refused = 0;
	}

	private slowerPace(elapsedMs: number): number {
		if (this.pace === Infinity) return Math.max(firstAccepted, this.accepted) / elapsedMs;
		if (this.accepted === 0) return this.pace * blindCut;
		const measured = this.accepted / elapsedMs;
		return Math.max(this.pace * deepestCut, Math.min(this.pace * smallestCut, measured));
	}
}
