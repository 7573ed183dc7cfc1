import { Limiter } from '../../../nodes/PushCampaign/delivery/limiter';
import type { Outcome } from '../../../nodes/PushCampaign/delivery/runJobs';
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

/** Lets one in at a time, for which so much time passes from look to look that no wait is ever left. */
export function limiterOfNoWait(sleep: (milliseconds: number) => Promise<void>): Limiter {
	let now = 0;
	return new Limiter({ ceiling: 1, now: () => (now += 60_000_000), sleep, random: () => 0.5 });
}

export interface Limit {
	readonly perSecond: number;
	readonly burst: number;
}

export interface ServiceOptions {
	readonly latencyMs: number;
	readonly limit?: Limit;
	/** Whether refusals carry `Retry-After`, in whole seconds. */
	readonly retryAfter?: boolean;
	/** Another limit, from a number of accepted requests on. */
	readonly then?: Limit & { readonly afterAccepted: number };
	/** So many requests in each period, which begins anew as the clock strikes. */
	readonly quota?: { readonly requests: number; readonly periodMs: number };
	/** Items that are never accepted, such as a subscriber who had enough for today. */
	readonly capped?: ReadonlySet<number>;
}

/** A service that accepts by a token bucket. */
export class SimulatedService {
	readonly accepted: number[] = [];
	/** When, in milliseconds. */
	readonly acceptedAt: number[] = [];
	readonly refusals = new Map<number, number>();
	/** Items in the order of their requests. */
	readonly starts: number[] = [];
	/** Requests that came before the time that an answer to `Retry-After` named. */
	startedTooEarly = 0;
	private readonly underWayFrom: Array<{ at: number; count: number }> = [];
	private notBefore = 0;
	private underWay = 0;
	private tokens: number;
	private filledAt = 0;
	private period = 0;
	private takenInPeriod = 0;
	private limit: Limit | undefined;

	constructor(
		private readonly clock: SimulatedClock,
		private readonly options: ServiceOptions,
	) {
		this.limit = options.limit;
		this.tokens = options.limit?.burst ?? 0;
	}

	/** Answers after the latency: `undefined` for accepted, otherwise what `Retry-After` says. */
	async request(item: number): Promise<{ retryAfterMs?: number } | undefined> {
		this.underWay += 1;
		this.starts.push(item);
		this.underWayFrom.push({ at: this.clock.now(), count: this.underWay });
		if (this.clock.now() < this.notBefore) this.startedTooEarly += 1;
		const refusal = this.options.capped?.has(item) ? {} : this.take();
		if (refusal === undefined) {
			this.accepted.push(item);
			this.acceptedAt.push(this.clock.now());
		} else this.refusals.set(item, (this.refusals.get(item) ?? 0) + 1);
		const { then } = this.options;
		if (then !== undefined && this.accepted.length === then.afterAccepted && this.limit !== then) {
			this.limit = then;
			this.tokens = Math.min(this.tokens, then.burst);
		}
		await this.clock.sleep(this.options.latencyMs);
		this.underWay -= 1;
		const { retryAfterMs = 0 } = refusal ?? {};
		this.notBefore = Math.max(this.notBefore, this.clock.now() + retryAfterMs);
		return refusal;
	}

	/** The most requests that were ever under way at once. */
	get mostUnderWay(): number {
		return this.mostUnderWayWithin(Infinity);
	}

	/** The most requests that were under way at once before a moment, in milliseconds. */
	mostUnderWayWithin(moment: number): number {
		const counts = this.underWayFrom.filter(({ at }) => at < moment).map(({ count }) => count);
		return Math.max(0, ...counts);
	}

	private take(): { retryAfterMs?: number } | undefined {
		const { quota } = this.options;
		if (quota !== undefined) {
			const period = Math.floor(this.clock.now() / quota.periodMs);
			if (period !== this.period) this.takenInPeriod = 0;
			this.period = period;
			if (this.takenInPeriod >= quota.requests) return {};
			this.takenInPeriod += 1;
			return undefined;
		}
		if (this.limit === undefined) return undefined;
		const now = this.clock.now();
		const { perSecond, burst } = this.limit;
		this.tokens = Math.min(burst, this.tokens + ((now - this.filledAt) / 1000) * perSecond);
		this.filledAt = now;
		if (this.tokens >= 1) {
			this.tokens -= 1;
			return undefined;
		}
		const seconds = Math.max(1, Math.ceil((1 - this.tokens) / perSecond));
		return this.options.retryAfter === true ? { retryAfterMs: seconds * 1000 } : {};
	}
}

const refusal = (retryAfterMs: number | undefined): Problem => ({
	type: 'rate_limit',
	message: 'Too many requests',
	description: '',
	httpCode: '429',
	cause: 'rate-limited',
	outcome: 'notSent',
	...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

export interface Delivery {
	readonly service: SimulatedService;
	readonly elapsedMs: number;
	readonly failed: number;
	readonly refusals: number;
	readonly mostRefusals: number;
	readonly wasRefused: boolean;
	readonly outcomes: ReadonlyArray<Outcome<number>>;
}

/** Delivers items to a simulated service, in simulated time. */
export async function simulate(
	items: number,
	ceiling: number,
	options: ServiceOptions,
	random: () => number = () => 0.5,
	startsFast?: boolean,
	waitsAlone?: boolean,
): Promise<Delivery> {
	const clock = new SimulatedClock();
	const service = new SimulatedService(clock, options);
	const limiter = new Limiter({
		ceiling,
		now: clock.now,
		sleep: clock.sleep,
		random,
		...(startsFast === undefined ? {} : { startsFast }),
	});
	const jobs = Array.from({ length: items }, (_, item) => ({
		rateLimitRetries: 5,
		transientRetries: 0,
		attempt: async () => {
			const refused = await service.request(item);
			return refused === undefined
				? ({ kind: 'done', value: item } as const)
				: ({ kind: 'failed', problem: refusal(refused.retryAfterMs) } as const);
		},
	}));
	const outcomes = await clock.run(
		runJobs(jobs, {
			limiter,
			stopOnFailure: false,
			...(waitsAlone === undefined ? {} : { waitsAlone }),
			sleep: clock.sleep,
			random,
		}),
	);
	const counts = [...service.refusals.values()];
	return {
		service,
		elapsedMs: clock.now(),
		failed: outcomes.filter(({ kind }) => kind !== 'done').length,
		refusals: counts.reduce((sum, count) => sum + count, 0),
		mostRefusals: Math.max(0, ...counts),
		wasRefused: limiter.wasRefused,
		outcomes,
	};
}
