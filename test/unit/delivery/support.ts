import type { RunOptions } from '../../../nodes/PushCampaign/delivery/job';
import type { Outcome } from '../../../nodes/PushCampaign/delivery/outcome';
import { runJobs } from '../../../nodes/PushCampaign/delivery/runJobs';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';

/** A clock that moves only when nothing else is left to do. Times in milliseconds. */
export class SimulatedClock {
	private time = 0;
	private readonly timers: Array<{ at: number; fire: () => void }> = [];

	readonly now = (): number => this.time;

	readonly sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
		await new Promise<void>((resolve, reject) => {
			const stop = () => reject(new Error('stopped'));
			if (signal?.aborted) stop();
			signal?.addEventListener('abort', stop, { once: true });
			this.at(this.time + milliseconds, resolve);
		});
	};

	/** Calls back at a moment. */
	at(moment: number, fire: () => void): void {
		const later = this.timers.findIndex(({ at }) => at > moment);
		this.timers.splice(later < 0 ? this.timers.length : later, 0, { at: moment, fire });
	}

	/** Lets time pass until the promise has settled. */
	async run<Value>(promise: Promise<Value>, longestMs = 200_000_000): Promise<Value> {
		let isSettled = false;
		const settle = () => {
			isSettled = true;
		};
		promise.then(settle, settle);
		for (;;) {
			await new Promise((resolve) => setImmediate(resolve));
			if (isSettled) return await promise;
			const next = this.timers.shift();
			if (next === undefined || next.at > longestMs) throw new Error('It never ends');
			this.time = Math.max(this.time, next.at);
			next.fire();
		}
	}
}

/** What a run needs of the world: 100 at once, pauses of the same length, and a failure stops nothing. */
export const optionsOf = ({ now, sleep }: Pick<RunOptions, 'now' | 'sleep'>) => ({
	maxConcurrency: 100,
	stopOnFailure: false,
	now,
	sleep,
	random: () => 0.5,
});

/** One goes at a time, and so much time passes between two calls of `now` that no wait is ever left. */
export function withoutWaiting(sleep: RunOptions['sleep']) {
	let now = 0;
	return { ...optionsOf({ now: () => (now += 60_000_000), sleep }), maxConcurrency: 1 };
}

/** A refusal for too many requests. */
export const refusal = (retryAfterMs?: number): Problem => ({
	type: 'rate_limit',
	message: 'Too many requests',
	description: '',
	httpCode: '429',
	cause: 'rate-limited',
	outcome: 'notSent',
	retryAfterMs,
});

/** A token bucket. */
export interface Limit {
	readonly perSecond: number;
	readonly burst: number;
}

/** A service that refuses what is too much for it. */
export interface ServiceOptions {
	/** 50 when left out. */
	readonly latencyMs?: number;
	/** By how many requests were accepted. */
	readonly limit?: (accepted: number) => Limit;
	/** So many requests in each period, which begin as the clock strikes. */
	readonly quota?: { readonly requests: number; readonly periodMs: number };
	/** Items that are never accepted, such as a subscriber who had enough for today. */
	readonly capped?: readonly number[];
	/** The share of requests that are refused by chance. */
	readonly unlucky?: number;
	/** Everything is refused between these moments, in milliseconds from the start. */
	readonly outage?: { readonly from: number; readonly until: number };
	/** The share of refusals that carry `Retry-After`, in whole seconds. */
	readonly retryAfter?: number;
	/** What `Retry-After` says, in milliseconds, if not the time that the service needs. */
	readonly retryAfterMs?: number;
}

export interface Load {
	readonly items: number;
	/** How many executions send as many items at the same time. */
	readonly executions?: number;
	readonly maxConcurrency?: number;
	readonly rateLimitRetries?: number;
	readonly random?: () => number;
}

/** Numbers from 0 up to, but not including, 1: the same ones for the same seed. */
export function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = Math.imul(state ^ (state >>> 15), state | 1) + 0x6d2b79f5;
		return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** How long a request would have to wait, in milliseconds; `undefined` where it is accepted. */
function limiter({ limit, quota, capped = [], outage }: ServiceOptions) {
	let accepted = 0;
	let tokens = limit?.(0).burst ?? 0;
	let filledAt = 0;
	let period = 0;
	let takenInPeriod = 0;
	return (item: number, now: number): number | undefined => {
		if (capped.includes(item)) return 0;
		if (outage && now >= outage.from && now < outage.until) return outage.until - now;
		if (quota !== undefined) {
			const current = Math.floor(now / quota.periodMs);
			if (current !== period) takenInPeriod = 0;
			period = current;
			if (takenInPeriod >= quota.requests) return (period + 1) * quota.periodMs - now;
			takenInPeriod += 1;
		}
		if (limit === undefined) return undefined;
		const { perSecond, burst } = limit(accepted);
		tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * perSecond);
		filledAt = now;
		if (tokens < 1) return ((1 - tokens) / perSecond) * 1000;
		tokens -= 1;
		accepted += 1;
		return undefined;
	};
}

/** Delivers items to a simulated service, in simulated time. */
export async function simulate(
	{ items, executions = 1, maxConcurrency = 100, rateLimitRetries = 5, random = () => 0.5 }: Load,
	service: ServiceOptions,
) {
	const { latencyMs = 50, unlucky = 0, retryAfter = 0 } = service;
	const clock = new SimulatedClock();
	const limited = limiter(service);
	const chance = randomFrom(1);
	/** Items in the order of their requests, and how many requests were in flight at each. */
	const starts: Array<{ item: number; at: number; inFlight: number }> = [];
	const accepted: Array<{ item: number; at: number }> = [];
	let inFlight = 0;
	let startedTooEarly = 0;
	let notBefore = 0;

	async function attempt(item: number): Promise<Outcome<number>> {
		const at = clock.now();
		inFlight += 1;
		starts.push({ item, at, inFlight });
		if (at < notBefore) startedTooEarly += 1;
		const waitMs = chance() < unlucky ? 0 : limited(item, at);
		const hasRetryAfter = waitMs !== undefined && chance() < retryAfter;
		const neededMs = Math.max(1, Math.ceil((waitMs ?? 0) / 1000)) * 1000;
		const retryAfterMs = hasRetryAfter ? (service.retryAfterMs ?? neededMs) : undefined;
		if (waitMs === undefined) accepted.push({ item, at });
		await clock.sleep(latencyMs);
		inFlight -= 1;
		notBefore = Math.max(notBefore, clock.now() + (retryAfterMs ?? 0));
		return waitMs === undefined
			? { kind: 'done', value: item }
			: { kind: 'failed', problem: refusal(retryAfterMs) };
	}

	const runs = Array.from({ length: executions }, async (_run, run) => {
		const jobs = Array.from({ length: items }, (_item, index) => ({
			rateLimitRetries,
			transientRetries: 0,
			attempt: async () => await attempt(run * items + index),
		}));
		return await runJobs(jobs, { ...optionsOf(clock), maxConcurrency, random });
	});
	const outcomes = (await clock.run(Promise.all(runs))).flat();
	const requests = new Map<number, number>();
	for (const { item } of starts) requests.set(item, (requests.get(item) ?? 0) + 1);
	return {
		starts,
		/** In the order of their requests. */
		accepted: accepted.map(({ item }) => item),
		failed: outcomes.filter(({ kind }) => kind === 'failed').length,
		/** Requests that came before the time that an answer to `Retry-After` named. */
		startedTooEarly,
		/** How often one item was requested at most. */
		mostRequests: Math.max(...requests.values()),
		mostInFlight: Math.max(...starts.map((start) => start.inFlight)),
		lastAcceptedMs: accepted.at(-1)?.at ?? 0,
		elapsedMs: clock.now(),
	};
}
