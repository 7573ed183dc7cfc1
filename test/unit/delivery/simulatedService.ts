import { runQueue, type Attempt } from '../../../nodes/PushCampaign/delivery/queue';
import { RateLimiter, type RateLimit } from '../../../simulator/rateLimiter';

/** A clock that moves only when nothing else is left to do. Times in milliseconds. */
export class SimulatedClock {
	private time = 0;
	private readonly timers: Array<{ at: number; fire: () => void }> = [];

	readonly now = (): number => this.time;

	readonly sleep = async (milliseconds: number): Promise<void> => {
		await new Promise<void>((resolve) => {
			const at = this.time + milliseconds;
			const later = this.timers.findIndex((timer) => timer.at > at);
			this.timers.splice(later < 0 ? this.timers.length : later, 0, { at, fire: resolve });
		});
	};

	/** Lets time pass until the promise has settled. */
	async run<Value>(promise: Promise<Value>): Promise<Value> {
		let isSettled = false;
		const settle = () => (isSettled = true);
		promise.then(settle, settle);
		for (;;) {
			await new Promise((resolve) => setImmediate(resolve));
			if (isSettled) return await promise;
			const next = this.timers.shift();
			if (next === undefined) throw new Error('It never ends');
			this.time = Math.max(this.time, next.at);
			next.fire();
		}
	}
}

/** Numbers from 0 up to, but not including, 1: the same ones for the same seed. */
export function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = Math.imul(state ^ (state >>> 15), state | 1) + 0x6d2b79f5;
		return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** A service that refuses what is too much for it. */
export interface ServiceOptions {
	/** 50 when left out. */
	readonly latencyMs?: number;
	/** The share of that by which an answer may take shorter or longer, by chance. */
	readonly spread?: number;
	/** A token bucket's, by how many requests were accepted so far. */
	readonly limit?: (accepted: number) => RateLimit;
	/** So many requests in each period, which begin as the clock strikes. */
	readonly quota?: { readonly requests: number; readonly periodMs: number };
	/** Items that are never accepted. */
	readonly capped?: readonly number[];
	/** The share of requests that are refused by chance. */
	readonly unlucky?: number;
	/** Everything is refused between these moments. */
	readonly outage?: { readonly from: number; readonly until: number };
	/** The share of refusals that say how long to wait, in whole seconds. */
	readonly retryAfter?: number;
}

/** How long a request would have to wait, in milliseconds; `undefined` if it is accepted. */
function limiterOf({ limit, quota, capped = [], outage }: ServiceOptions) {
	const bucket = new RateLimiter();
	let accepted = 0;
	let period = 0;
	let takenInPeriod = 0;
	return (item: number, now: number): number | undefined => {
		if (capped.includes(item)) return 0;
		if (outage !== undefined && now >= outage.from && now < outage.until) return outage.until - now;
		if (quota !== undefined) {
			const current = Math.floor(now / quota.periodMs);
			if (current !== period) takenInPeriod = 0;
			period = current;
			if (takenInPeriod >= quota.requests) return (period + 1) * quota.periodMs - now;
			takenInPeriod += 1;
		}
		if (limit === undefined) return undefined;
		const waitMs = bucket.take(limit(accepted), now);
		if (waitMs > 0) return waitMs;
		accepted += 1;
		return undefined;
	};
}

/**
 * Delivers items to a simulated service, in simulated time.
 * @param executions how many runs deliver as many items, beginning within the same second
 */
export async function deliver(
	items: number,
	service: ServiceOptions,
	{ executions = 1, seed = 1 } = {},
) {
	const { latencyMs = 50, spread = 0, unlucky = 0, retryAfter = 0 } = service;
	const clock = new SimulatedClock();
	const waitFor = limiterOf(service);
	const chance = randomFrom(seed);
	const accepted: number[] = [];
	const notBefore = Array.from({ length: executions }, () => 0);
	let [requests, inFlight, mostInFlight, lastAcceptedMs, tooEarly] = [0, 0, 0, 0, 0];

	async function request(run: number, item: number): Promise<Attempt<string>> {
		const at = clock.now();
		requests += 1;
		inFlight += 1;
		mostInFlight = Math.max(mostInFlight, inFlight);
		if (at < (notBefore[run] ?? 0)) tooEarly += 1;
		const waitMs = chance() < unlucky ? 0 : waitFor(item, at);
		const hasRetryAfter = waitMs !== undefined && waitMs < Infinity && chance() < retryAfter;
		const retryAfterMs = hasRetryAfter ? Math.max(1, Math.ceil(waitMs / 1000)) * 1000 : 0;
		if (waitMs === undefined) {
			accepted.push(item);
			lastAcceptedMs = at;
		}
		await clock.sleep(latencyMs * (1 + spread * (2 * chance() - 1)));
		inFlight -= 1;
		notBefore[run] = Math.max(notBefore[run] ?? 0, clock.now() + retryAfterMs);
		return waitMs === undefined
			? { outcome: 'sent', then: 'end', isAccepted: true }
			: { outcome: 'refused', then: 'refused', retryAfterMs };
	}

	const runs = Array.from({ length: executions }, async (_run, run) => {
		const jobs = Array.from({ length: items }, (_item, index) => async () => {
			return await request(run, run * items + index);
		});
		const { now, sleep } = clock;
		if (run > 0) await sleep(1000 * chance());
		return await runQueue(jobs, { stopOnFailure: false, now, sleep });
	});
	const ends = await clock.run(Promise.all(runs));
	return {
		accepted,
		sent: ends.flat().filter((outcome) => outcome === 'sent').length,
		hasGivenUp: ends.flat().includes('refused'),
		requests,
		mostInFlight,
		/** Requests that came before the time that an answer to their run had named. */
		tooEarly,
		lastAcceptedMs,
		elapsedMs: clock.now(),
	};
}
