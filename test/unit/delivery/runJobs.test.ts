import { getEventListeners } from 'node:events';
import { Limiter } from '../../../nodes/PushCampaign/delivery/limiter';
import { runJobs, type Outcome, type Job } from '../../../nodes/PushCampaign/delivery/runJobs';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';
import { limiterOfNoWait, SimulatedClock } from './support';

/** Delivers items that are answered at once, and tells how many had started at each pause. */
async function pausesOf(items: number) {
	const never = async () => await new Promise<void>(() => undefined);
	const limiter = new Limiter({ ceiling: 100, now: () => 0, sleep: never, random: () => 0.5 });
	const startedBefore: Array<[started: number, milliseconds: number]> = [];
	let started = 0;
	const jobs = Array.from({ length: items }, (_, item) => ({
		rateLimitRetries: 0,
		transientRetries: 0,
		attempt: async () => {
			started += 1;
			return await Promise.resolve({ kind: 'done', value: item } as const);
		},
	}));
	const outcomes = await runJobs(jobs, {
		limiter,
		stopOnFailure: true,
		random: () => 0.5,
		sleep: async (milliseconds) => {
			startedBefore.push([started, milliseconds]);
			await Promise.resolve();
		},
	});
	expect(outcomes).toEqual(jobs.map((_, value) => ({ kind: 'done', value })));
	return startedBefore;
}

test('what was started leaves before more is started: after each ten', async () => {
	expect(await pausesOf(25)).toEqual([
		[10, 0],
		[20, 0],
	]);
});

const problem = (type: string, more: Partial<Problem> = {}): Problem => ({
	type,
	outcome: 'notSent',
	message: 'No',
	description: '',
	cause: 'temporarily-unavailable',
	...more,
});
const failed = (type: string, more?: Partial<Problem>) =>
	({ kind: 'failed', problem: problem(type, more) }) as const;
const done = (value: string) => ({ kind: 'done', value }) as const;

interface Sketch {
	/** What each attempt gives, the last one again and again. */
	readonly answers: ReadonlyArray<Outcome<string>>;
	readonly rateLimitRetries?: number;
	readonly transientRetries?: number;
	readonly shareKey?: string;
}

/** Delivers one after another, without waiting, and counts the attempts of each. */
async function deliverOneByOne(
	sketches: ReadonlyArray<Sketch | { known: Outcome<string> }>,
	stopOnFailure: boolean,
) {
	const sleeps: number[] = [];
	const attempts = sketches.map(() => 0);
	const sleep = async (milliseconds: number) => {
		sleeps.push(milliseconds);
		await Promise.resolve();
	};
	const limiter = limiterOfNoWait(sleep);
	const jobs = sketches.map((sketch, index): Job<string> => {
		if ('known' in sketch) return sketch;
		const { answers, rateLimitRetries = 0, transientRetries = 0, ...rest } = sketch;
		return {
			...rest,
			rateLimitRetries,
			transientRetries,
			attempt: async () => {
				const attempt = attempts[index] ?? 0;
				attempts[index] = attempt + 1;
				return await Promise.resolve(answers[attempt] ?? answers.at(-1) ?? { kind: 'notStarted' });
			},
		};
	});
	const release = jest.spyOn(limiter, 'release');
	const slowDown = jest.spyOn(limiter, 'slowDown');
	const outcomes = await runJobs(jobs, { limiter, stopOnFailure, sleep, random: () => 0.5 });
	return {
		outcomes,
		attempts,
		sleeps,
		/** For each that gave its place back, whether others may go faster. */
		wentWell: release.mock.calls.map(([isWell]) => isWell),
		slowedDownBy: slowDown.mock.calls.map(([retryAfterMs]) => retryAfterMs),
	};
}

const invalid = new InvalidInput('Send At is too soon', 'Choose a later date.');

describe('what is known already', () => {
	test('is no request, and keeps its place', async () => {
		const { outcomes, attempts } = await deliverOneByOne(
			[{ answers: [done('one')] }, { known: done('two') }, { answers: [done('three')] }],
			true,
		);
		expect(outcomes).toEqual([done('one'), done('two'), done('three')]);
		expect(attempts).toEqual([1, 0, 1]);
	});

	const refused: Outcome<string> = { kind: 'invalid', invalid };
	test.each<[known: Outcome<string>, stopOnFailure: boolean, outcome: Outcome<string>]>([
		[refused, true, { kind: 'notStarted' }],
		[refused, false, done('two')],
		// It failed in an earlier try: this one sends what is left.
		[failed('timeout', { outcome: 'unknown' }), true, done('two')],
		[failed('timeout', { outcome: 'unknown' }), false, done('two')],
	])('and has failed (%j), stopping %p', async (known, stopOnFailure, outcome) => {
		const { outcomes, attempts } = await deliverOneByOne(
			[{ known }, { answers: [done('two')] }],
			stopOnFailure,
		);
		expect(outcomes).toEqual([known, outcome]);
		expect(attempts).toEqual([0, outcome.kind === 'done' ? 1 : 0]);
	});
});

test('the same share key is one request, and one outcome for all', async () => {
	const { outcomes, attempts } = await deliverOneByOne(
		[
			{ answers: [done('one')], shareKey: 'a' },
			{ answers: [done('other')], shareKey: 'b' },
			{ answers: [done('never')], shareKey: 'a' },
			{ known: failed('bad_request') },
			{ answers: [done('never')], shareKey: 'b' },
		],
		false,
	);
	expect(outcomes).toEqual([
		done('one'),
		done('other'),
		done('one'),
		failed('bad_request'),
		done('other'),
	]);
	expect(attempts).toEqual([1, 1, 0, 0, 0]);
});

test.each([
	[true, { kind: 'notStarted' }],
	[false, done('two')],
])('a failure keeps the rest from starting: %p', async (stopOnFailure, outcome) => {
	const { outcomes } = await deliverOneByOne(
		[{ answers: [failed('bad_request')] }, { answers: [done('two')] }],
		stopOnFailure,
	);
	expect(outcomes).toEqual([failed('bad_request'), outcome]);
});

describe('a refusal for too many requests', () => {
	test.each([
		[0, 1],
		[2, 3],
	])('is retried %d times', async (rateLimitRetries, attempt) => {
		const { outcomes, attempts } = await deliverOneByOne(
			[{ answers: [failed('rate_limit')], rateLimitRetries }],
			false,
		);
		expect(outcomes).toEqual([failed('rate_limit')]);
		expect(attempts).toEqual([attempt]);
	});

	test.each([
		[600_000, 2],
		[600_001, 1],
	])('that asks to wait for %d ms is attempted %d times', async (retryAfterMs, attempt) => {
		const { attempts } = await deliverOneByOne(
			[{ answers: [failed('rate_limit', { retryAfterMs })], rateLimitRetries: 1 }],
			false,
		);
		expect(attempts).toEqual([attempt]);
	});
});

test('without retries a first refusal is that item’s alone, a second in a row is the service’s', async () => {
	const refused = { answers: [failed('rate_limit')] };
	const taken = { answers: [done('taken')] };
	const { attempts } = await deliverOneByOne([refused, taken, refused, refused, taken], false);
	expect(attempts).toEqual([1, 1, 1, 1, 0]);
});

describe('what may come later', () => {
	test.each([
		['an unknown outcome', failed('timeout', { outcome: 'unknown' })],
		['an unspecified failure', failed('unspecified')],
	])('%s is asked for again, ever later', async (_name, answer) => {
		const { outcomes, attempts, sleeps } = await deliverOneByOne(
			[{ answers: [answer, answer, done('one')], transientRetries: 2 }],
			false,
		);
		expect(outcomes).toEqual([done('one')]);
		expect(attempts).toEqual([3]);
		expect(sleeps).toEqual([375, 750]);
	});

	test('is not asked for again where it must not happen twice, nor is a plain failure', async () => {
		const unknown = failed('timeout', { outcome: 'unknown' });
		const { attempts } = await deliverOneByOne(
			[{ answers: [unknown] }, { answers: [failed('bad_request')], transientRetries: 2 }],
			false,
		);
		expect(attempts).toEqual([1, 1]);
	});
});

describe('others may go faster after', () => {
	test.each([
		['an answer', done('one'), true],
		['a plain failure', failed('bad_request'), true],
		['a refusal for too many requests', failed('rate_limit'), false],
		['an unspecified failure', failed('unspecified'), false],
		['an unknown outcome', failed('timeout', { outcome: 'unknown' }), false],
		['nothing', { kind: 'notStarted' } as const, false],
		['an answer that is known already', { ...done('one'), wasRequested: false }, false],
		['what was refused before it left', { kind: 'invalid', invalid } as const, false],
	])('%s: it goes well, or not', async (_name, answer, isWell) => {
		const { wentWell } = await deliverOneByOne([{ answers: [answer] }], false);
		expect(wentWell).toEqual([isWell]);
	});
});

test('the last refusal slows all others down, by as much as it says', async () => {
	const refusal = failed('rate_limit', { retryAfterMs: 7000 });
	const last = await deliverOneByOne([{ answers: [refusal] }], false);
	expect(last.slowedDownBy).toEqual([7000]);
	expect((await deliverOneByOne([{ answers: [done('one')] }], false)).slowedDownBy).toEqual([]);
});

test('one at a time: refused, an item goes again before the next, also where its wait is over by then', async () => {
	const order: string[] = [];
	const job = (name: string, answers: Array<Outcome<string>>): Job<string> => ({
		rateLimitRetries: 5,
		transientRetries: 0,
		attempt: async () => {
			order.push(name);
			return await Promise.resolve(answers.shift() ?? done(name));
		},
	});
	const refusal = failed('rate_limit', { retryAfterMs: 10 });
	const sleep = async () => await Promise.resolve();
	await runJobs([job('one', [refusal, refusal]), job('two', [refusal]), job('three', [])], {
		limiter: limiterOfNoWait(sleep),
		stopOnFailure: false,
		sleep,
		random: () => 0.5,
	});
	expect(order).toEqual(['one', 'one', 'one', 'two', 'two', 'three']);
});

describe('an item that is refused for good, the only one left', () => {
	/** How often it slowed down all the others. */
	async function slowDownsBeside(more: (job: Job<string>) => Array<Job<string>>) {
		const clock = new SimulatedClock();
		const { now, sleep } = clock;
		const limiter = new Limiter({ ceiling: 9, now, sleep, random: () => 0.5 });
		const slowDown = jest.spyOn(limiter, 'slowDown');
		const job: Job<string> = {
			rateLimitRetries: 4,
			transientRetries: 0,
			shareKey: 'one',
			attempt: async () => await Promise.resolve(failed('rate_limit')),
		};
		const options = { limiter, stopOnFailure: false, sleep, random: () => 0.5 };
		await clock.run(runJobs([job, ...more(job)], options));
		return slowDown.mock.calls.length;
	}

	test.each<[what: string, more: (job: Job<string>) => Array<Job<string>>]>([
		['at all', () => []],
		['beside one that is known', () => [{ known: done('known') }]],
		['beside one that shares its outcome', (job) => [{ ...job }]],
	])('%s, waits for itself', async (_what, more) => {
		expect(await slowDownsBeside(more)).toBe(2);
	});
});

test('an item that waits for itself waits as long as the service says', async () => {
	const clock = new SimulatedClock();
	const { now, sleep } = clock;
	const limiter = new Limiter({ ceiling: 9, now, sleep, random: () => 0.5 });
	const askedAt: number[] = [];
	const job: Job<string> = {
		rateLimitRetries: 5,
		transientRetries: 0,
		attempt: async () => {
			askedAt.push(now());
			const isLast = askedAt.length === 5;
			return await Promise.resolve(failed('rate_limit', isLast ? { retryAfterMs: 300_000 } : {}));
		},
	};
	await clock.run(runJobs([job], { limiter, stopOnFailure: false, sleep, random: () => 0.5 }));
	const [, , , , fifth = 0, sixth = 0] = askedAt;
	expect(sixth - fifth).toBe(300_000);
});

test('an item without a share key shares with none', async () => {
	const { outcomes } = await deliverOneByOne(
		[{ answers: [failed('bad_request')], shareKey: '' }, { answers: [done('two')] }],
		true,
	);
	expect(outcomes).toEqual([failed('bad_request'), { kind: 'notStarted' }]);
});

describe('when the user stops', () => {
	const jobsOf = (attempt: () => Promise<Outcome<string>>) =>
		[1, 2].map(() => ({ rateLimitRetries: 5, transientRetries: 0, attempt }));
	const optionsOf = (clock: SimulatedClock, signal: AbortSignal) => {
		const { now, sleep } = clock;
		const limiter = new Limiter({ ceiling: 1, now, sleep, random: () => 0.5 });
		return { limiter, stopOnFailure: false, random: () => 0.5, sleep, signal };
	};

	test('before anything has started, nothing starts', async () => {
		const clock = new SimulatedClock();
		const attempt = jest.fn(async () => await Promise.resolve(done('one')));
		const outcomes = await runJobs(jobsOf(attempt), optionsOf(clock, AbortSignal.abort()));
		expect(outcomes).toEqual([{ kind: 'notStarted' }, { kind: 'notStarted' }]);
		expect(attempt).not.toHaveBeenCalled();
	});

	test('what waits for a retry keeps its failure, at once, and is not asked for again', async () => {
		const clock = new SimulatedClock();
		const stop = new AbortController();
		const answer = failed('unspecified');
		const attempt = jest.fn(async () => await Promise.resolve(answer));
		clock.at(100, () => stop.abort());
		const [job] = jobsOf(attempt).map((each) => ({ ...each, transientRetries: 2 }));
		const jobs = job === undefined ? [] : [job];
		const outcomes = await clock.run(runJobs(jobs, optionsOf(clock, stop.signal)));
		expect(outcomes).toEqual([answer]);
		expect(clock.now()).toBe(100);
		expect(attempt).toHaveBeenCalledTimes(1);
	});

	test('what waits after a refusal keeps it, at once, and the rest does not start', async () => {
		const clock = new SimulatedClock();
		const stop = new AbortController();
		const refusal = failed('rate_limit', { retryAfterMs: 600_000 });
		const attempt = jest.fn(async () => await Promise.resolve(refusal));
		clock.at(5000, () => stop.abort());
		const outcomes = await clock.run(runJobs(jobsOf(attempt), optionsOf(clock, stop.signal)));
		expect(outcomes).toEqual([refusal, { kind: 'notStarted' }]);
		expect(clock.now()).toBe(5000);
		expect(attempt).toHaveBeenCalledTimes(1);
		expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
	});
});

test.each([
	[true, { kind: 'notStarted' }],
	[false, done('one')],
])(
	'what waits to be tried again when another fails is not the news: %p',
	async (stopOnFailure, outcome) => {
		const sleep = async () => await new Promise<void>((resolve) => setTimeout(resolve, 1));
		const now = () => performance.now();
		const limiter = new Limiter({ ceiling: 2, now, sleep, random: () => 0.5 });
		let refusals = 0;
		let fail = () => {};
		const outcomes = await runJobs<string>(
			[
				{
					rateLimitRetries: 1,
					transientRetries: 0,
					attempt: async () => {
						if ((refusals += 1) > 1) return await Promise.resolve(done('one'));
						setTimeout(() => fail(), 5);
						return failed('rate_limit', { retryAfterMs: stopOnFailure ? 600_000 : 10 });
					},
				},
				{
					rateLimitRetries: 0,
					transientRetries: 0,
					attempt: async () => {
						await new Promise<void>((resolve) => (fail = resolve));
						return failed('bad_request');
					},
				},
			],
			{ limiter, stopOnFailure, random: () => 0.5, sleep },
		);
		expect(outcomes).toEqual([outcome, failed('bad_request')]);
	},
);
