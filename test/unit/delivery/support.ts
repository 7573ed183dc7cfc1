import type { Outcome, RunOptions } from '../../../nodes/PushCampaign/delivery/runJobs';
import { runJobs } from '../../../nodes/PushCampaign/delivery/runJobs';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';

/** A clock that moves only when nothing else is left to do. Times in milliseconds. */
export class SimulatedClock {
	private time = 0;
	private readonly timers: Array<{ at: number; fire: () => void }> = [];

	readonly now = (): number => this.time;

	readonly sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
		await new Promise<void>((resolve, reject) => {
			if (signal?.aborted) {
				reject(new Error('stopped'));
				return;
			}
			this.at(this.time + milliseconds, resolve);
			signal?.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
		});
	};

	/** Calls back at a moment. */
	at(moment: number, fire: () => void): void {
		const later = this.timers.findIndex(({ at }) => at > moment);
		this.timers.splice(later < 0 ? this.timers.length : later, 0, { at: moment, fire });
	}

	/** Lets time pass until the promise has settled. */
	async run<Value>(promise: Promise<Value>, longestMs = 3_600_000): Promise<Value> {
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
	ceiling: 100,
	stopOnFailure: false,
	now,
	sleep,
	random: () => 0.5,
});

/** One goes at a time, and so much time passes from look to look that no wait is ever left. */
export function withoutWaiting(sleep: RunOptions['sleep']) {
	let now = 0;
	return { ...optionsOf({ now: () => (now += 60_000_000), sleep }), ceiling: 1 };
}

/** A refusal for too many requests. */
export const refusal = (retryAfterMs?: number): Problem => ({
	type: 'rate_limit',
	message: 'Too many requests',
	description: '',
	httpCode: '429',
	cause: 'rate-limited',
	outcome: 'notDone',
	...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

export interface Limit {
	readonly perSecond: number;
	readonly burst: number;
}

export interface ServiceOptions {
	/** 50 when left out. */
	readonly latencyMs?: number;
	/** A token bucket. */
	readonly limit?: Limit;
	/** Another limit, from a number of accepted requests on. */
	readonly then?: Limit & { readonly afterAccepted: number };
	/** So many requests in each period, which begins anew as the clock strikes. */
	readonly quota?: { readonly requests: number; readonly periodMs: number };
	/** Items that are never accepted, such as a subscriber who had enough for today. */
	readonly capped?: ReadonlySet<number>;
	/** The share of requests that are refused by chance. */
	readonly unlucky?: number;
	/** The share of refusals that carry `Retry-After`, in whole seconds. */
	readonly retryAfter?: number;
}

/** Numbers from 0 up to, but not including, 1, the same ones each time. */
function chance(): () => number {
	let state = 1;
	return () => {
		state = Math.imul(state ^ (state >>> 15), state | 1) + 0x6d2b79f5;
		return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** A service that refuses what is too much for it. */
export class SimulatedService {
	readonly accepted: number[] = [];
	/** When, in milliseconds. */
	readonly acceptedAt: number[] = [];
	/** How often each item was refused. */
	readonly refusals = new Map<number, number>();
	/** Items in the order of their requests, and how many requests were under way at each. */
	readonly starts: Array<{ item: number; at: number; underWay: number }> = [];
	/** Requests that came before the time that an answer to `Retry-After` named. */
	startedTooEarly = 0;
	private readonly random = chance();
	private notBefore = 0;
	private underWay = 0;
	private limit: Limit | undefined;
	private tokens: number;
	private filledAt = 0;
	private period = 0;
	private takenInPeriod = 0;

	constructor(
		private readonly clock: SimulatedClock,
		private readonly options: ServiceOptions,
	) {
		this.limit = options.limit;
		this.tokens = options.limit?.burst ?? 0;
	}

	/** Answers after the latency: `undefined` for accepted. */
	async request(item: number): Promise<Problem | undefined> {
		const at = this.clock.now();
		this.underWay += 1;
		this.starts.push({ item, at, underWay: this.underWay });
		if (at < this.notBefore) this.startedTooEarly += 1;
		const waitMs = this.options.capped?.has(item) ? 0 : this.take(at);
		const isTold = waitMs !== undefined && this.random() < (this.options.retryAfter ?? 0);
		const retryAfterMs = isTold ? Math.max(1, Math.ceil(waitMs / 1000)) * 1000 : undefined;
		if (waitMs === undefined) {
			this.accepted.push(item);
			this.acceptedAt.push(at);
			this.changeLimit();
		} else this.refusals.set(item, (this.refusals.get(item) ?? 0) + 1);
		await this.clock.sleep(this.options.latencyMs ?? 50);
		this.underWay -= 1;
		this.notBefore = Math.max(this.notBefore, this.clock.now() + (retryAfterMs ?? 0));
		return waitMs === undefined ? undefined : refusal(retryAfterMs);
	}

	private changeLimit(): void {
		const { then } = this.options;
		if (this.accepted.length !== then?.afterAccepted) return;
		this.limit = then;
		this.tokens = Math.min(this.tokens, then.burst);
	}

	/** How long it would have to wait, in milliseconds; `undefined` where it is accepted. */
	private take(now: number): number | undefined {
		const { quota, unlucky = 0 } = this.options;
		if (this.random() < unlucky) return 0;
		if (quota !== undefined) {
			const period = Math.floor(now / quota.periodMs);
			if (period !== this.period) this.takenInPeriod = 0;
			this.period = period;
			if (this.takenInPeriod >= quota.requests) return (period + 1) * quota.periodMs - now;
			this.takenInPeriod += 1;
		}
		if (this.limit === undefined) return undefined;
		const { perSecond, burst } = this.limit;
		this.tokens = Math.min(burst, this.tokens + ((now - this.filledAt) / 1000) * perSecond);
		this.filledAt = now;
		if (this.tokens < 1) return ((1 - this.tokens) / perSecond) * 1000;
		this.tokens -= 1;
		return undefined;
	}
}

export interface Load {
	readonly items: number;
	/** How many executions send as many items at the same time. */
	readonly executions?: number;
	readonly ceiling?: number;
	readonly random?: () => number;
}

/** Delivers items to a simulated service, in simulated time. */
export async function simulate(
	{ items, executions = 1, ceiling = 100, random = () => 0.5 }: Load,
	serviceOptions: ServiceOptions,
) {
	const clock = new SimulatedClock();
	const service = new SimulatedService(clock, serviceOptions);
	const runs = Array.from({ length: executions }, async (_run, run) => {
		const jobs = Array.from({ length: items }, (_item, index) => ({
			rateLimitRetries: 5,
			transientRetries: 0,
			attempt: async (): Promise<Outcome<number>> => {
				const problem = await service.request(run * items + index);
				return problem === undefined
					? { kind: 'done', value: run * items + index }
					: { kind: 'failed', problem };
			},
		}));
		return await runJobs(jobs, { ...optionsOf(clock), ceiling, random });
	});
	const outcomes = (await clock.run(Promise.all(runs))).flat();
	return {
		service,
		outcomes,
		elapsedMs: clock.now(),
		failed: outcomes.filter(({ kind }) => kind !== 'done').length,
		mostRefusals: Math.max(0, ...service.refusals.values()),
		lastAcceptedMs: Math.max(0, ...service.acceptedAt),
	};
}
