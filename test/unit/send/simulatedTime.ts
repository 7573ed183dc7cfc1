/**
 * Time that passes only when everything waits: a test of minutes takes milliseconds, and is the same on a fast and
 * on a slow machine. A test file lets `sleep` of n8n-workflow go by it, and `install` the rest.
 */
export class SimulatedTime {
	now = 0;
	private count = 0;
	private timers: Array<{ at: number; order: number; ring: () => void }> = [];

	/** @param turns how many turns of Node.js all that need no time takes */
	constructor(private readonly turns = 8) {}

	/** Forgets what waits, and begins at 0 again. */
	reset(): void {
		this.now = 0;
		this.timers = [];
	}

	readonly sleep = async (milliseconds: number): Promise<void> => {
		await new Promise<void>((ring) => {
			this.timers.push({ at: this.now + milliseconds, order: (this.count += 1), ring });
		});
	};

	/** Lets time pass until nothing waits any more, or by so many milliseconds. */
	async run(milliseconds = Infinity): Promise<void> {
		const until = this.now + milliseconds;
		while (await this.step(until));
		if (until !== Infinity) this.now = until;
	}

	/** Lets time pass until a promise is settled. */
	async until<Value>(promise: Promise<Value>): Promise<Value> {
		let isSettled = false;
		const settle = () => (isSettled = true);
		promise.then(settle, settle);
		while (!isSettled && (await this.step(Infinity)));
		if (!isSettled) throw new Error('Nothing waits any more, and the promise is not settled');
		return await promise;
	}

	/** @returns whether a timer rang */
	private async step(until: number): Promise<boolean> {
		// All that can go on without waiting does so first.
		for (let turn = 0; turn < this.turns; turn += 1)
			await new Promise((resolve) => setImmediate(resolve));
		this.timers.sort((one, other) => one.at - other.at || one.order - other.order);
		const [next] = this.timers;
		if (next === undefined || next.at > until) return false;
		this.timers.shift();
		this.now = next.at;
		next.ring();
		return true;
	}
}

/** Numbers from 0 up to, but not including, 1, the same for the same seed. */
export function numbersFrom(seed: number): () => number {
	let state = seed >>> 0;
	return () => (state = (state * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32;
}

const real = { now: performance.now, random: Math.random, timeout: AbortSignal.timeout };

/**
 * Lets `performance.now` and `Math.random` be what a test says, and no deadline end. Plain functions: a mock of
 * jest's keeps each of its calls, and there are millions.
 * @returns takes it back
 */
export function install(now: () => number, random: () => number): () => void {
	const never = new AbortController().signal;
	performance.now = now;
	Math.random = random;
	AbortSignal.timeout = () => never;
	return () => {
		performance.now = real.now;
		Math.random = real.random;
		AbortSignal.timeout = real.timeout;
	};
}

/**
 * Lets each test of a file begin at 0, and puts back what `install` replaced after it.
 * @param turns how many turns of Node.js all that needs no time takes
 * @param randomOf gives a test's source of random numbers
 */
export function useSimulatedTime(turns?: number, randomOf = () => () => 0.5): SimulatedTime {
	const time = new SimulatedTime(turns);
	let restore = () => {};
	beforeEach(() => {
		time.reset();
		restore = install(() => time.now, randomOf());
	});
	afterEach(() => restore());
	return time;
}
