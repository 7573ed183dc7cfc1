import { RateController } from './rateController';

/** What the limiter needs of the world, so that tests can stand in for it. */
export interface LimiterOptions {
	/** The most requests that are ever under way at once. */
	readonly ceiling: number;
	/** Milliseconds from any fixed moment. */
	readonly now: () => number;
	/** Waits the given milliseconds; rejects when the signal ends. */
	readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
	/** A number from 0 up to, but not including, 1. */
	readonly random: () => number;
	/** Whether as many as the ceiling start at once: where the service is known to take them. */
	readonly startsFast?: boolean;
}

interface Waiting {
	readonly admit: (isAdmitted: boolean) => void;
}

/**
 * Lets requests start: few at first, soon as many as the ceiling, and where the service says that they
 * are too many, together at the pace that it takes.
 */
export class Limiter {
	/** Settles when the limiter is closed. */
	readonly whenClosed: Promise<void>;
	private readonly rate: RateController;
	private closed = false;
	private endWaits = () => {};
	private wakeUp: AbortController | undefined;
	private readonly refusedQueue: Waiting[] = [];
	private readonly queue: Waiting[] = [];

	constructor(private readonly options: LimiterOptions) {
		this.rate = new RateController(options.ceiling, options.random, options.startsFast ?? false);
		this.whenClosed = new Promise((resolve) => (this.endWaits = resolve));
	}

	/** Whether the service has refused a request for too many requests. */
	get wasRefused(): boolean {
		return this.rate.wasRefused;
	}

	/** How often everything was refused in a row, with nothing accepted in between. */
	get refusalsInARow(): number {
		return this.rate.refusals;
	}

	/** Whether nothing may start any more. */
	get isClosed(): boolean {
		return this.closed;
	}

	/** Whether requests go strictly one after another. */
	get isSingle(): boolean {
		return this.options.ceiling === 1;
	}

	/** Waits for a place. Gives false when the limiter was closed meanwhile: nothing may start. */
	async acquire(): Promise<boolean> {
		return await this.wait(this.queue);
	}

	/** Waits for another place after `release`, ahead of all that has not started yet. */
	async reacquire(): Promise<boolean> {
		return await this.wait(this.refusedQueue);
	}

	/** Gives the place back and waits for another one, ahead of all that has not started yet. */
	async requeue(): Promise<boolean> {
		// In line before the place is free: the pause may be over by then, and another would go first.
		const place = this.enqueue(this.refusedQueue);
		this.release(false);
		return await place;
	}

	/**
	 * Gives the place back.
	 * @param isWell whether the service dealt with the request; otherwise nothing is learned from it
	 */
	release(isWell: boolean): void {
		this.rate.ended(isWell);
		this.admitNext();
	}

	/**
	 * Slows everything down because the service refused a request for too many requests.
	 * @param retryAfterMs what the service asked for, in milliseconds
	 */
	slowDown(retryAfterMs?: number): void {
		this.rate.refused(this.options.now(), retryAfterMs);
	}

	/** Goes on as if nothing had been refused: it was about single items, and not about the pace. */
	speedUp(): void {
		this.rate.forget(this.options.now());
		this.wakeUp?.abort();
	}

	/** Lets nothing more in; what waits is sent away. What is under way goes on. */
	close(): void {
		this.closed = true;
		this.endWaits();
		this.wakeUp?.abort();
		for (const { admit } of [...this.refusedQueue.splice(0), ...this.queue.splice(0)]) admit(false);
	}

	private async wait(queue: Waiting[]): Promise<boolean> {
		const place = this.enqueue(queue);
		this.admitNext();
		return await place;
	}

	private async enqueue(queue: Waiting[]): Promise<boolean> {
		if (this.closed) return false;
		return await new Promise<boolean>((admit) => queue.push({ admit }));
	}

	private admitNext(): void {
		while (this.rate.hasRoom()) {
			if (this.refusedQueue.length === 0 && this.queue.length === 0) return;
			const now = this.options.now();
			const wait = this.rate.waitMs(now);
			if (wait > 0) {
				this.resumeIn(wait);
				return;
			}
			this.rate.started(now);
			this.next()?.admit(true);
		}
	}

	/** Refused ones go first; while nothing is accepted others take turns with them: it may be theirs alone. */
	private next(): Waiting | undefined {
		const isTurnOfOthers = !this.isSingle && this.rate.refusals > 0 && this.rate.refusals % 2 === 0;
		const [first, second] = isTurnOfOthers
			? [this.queue, this.refusedQueue]
			: [this.refusedQueue, this.queue];
		return first.shift() ?? second.shift();
	}

	private resumeIn(milliseconds: number): void {
		if (this.wakeUp !== undefined) return;
		const wakeUp = new AbortController();
		this.wakeUp = wakeUp;
		const resume = () => {
			this.wakeUp = undefined;
			this.admitNext();
		};
		this.options.sleep(milliseconds, wakeUp.signal).then(resume, resume);
	}
}
