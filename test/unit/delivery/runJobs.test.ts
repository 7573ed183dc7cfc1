import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import type { Job } from '../../../nodes/PushCampaign/delivery/job';
import type { Outcome } from '../../../nodes/PushCampaign/delivery/outcome';
import { runJobs } from '../../../nodes/PushCampaign/delivery/runJobs';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { notRequestedProblem } from '../../../nodes/PushCampaign/service/failures';
import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';
import { optionsOf, refusal, SimulatedClock, withoutWaiting } from './support';

const failed = (type: string, more: Partial<Problem> = {}) => ({
	kind: 'failed' as const,
	problem: { ...refusal(), type, cause: 'temporarily-unavailable' as const, ...more },
});
const done = (value: string) => ({ kind: 'done', value }) as const;
const [one, two, bad] = [done('one'), done('two'), failed('bad_request')];
const refused = (retryAfterMs?: number) =>
	({ kind: 'failed', problem: refusal(retryAfterMs) }) as const;
/** What is left when the run gives up. */
const left = (retryAfterMs?: number) =>
	({ kind: 'failed', problem: notRequestedProblem(refusal(retryAfterMs)) }) as const;
const lost = failed('network', { outcome: 'unknown' });
const invalid = {
	kind: 'invalid',
	invalid: new InvalidInput('Send At is too soon', 'Choose a later date.'),
} as const;
const notStarted = { kind: 'notStarted' } as const;
const earlier = (outcome: Outcome<string>): Outcome<string> => ({
	...outcome,
	wasRequested: false,
});

/** An outcome that is known already, or what each attempt gives, the last one again and again. */
interface Sketch {
	readonly known?: Outcome<string>;
	readonly answers?: ReadonlyArray<Outcome<string>>;
	readonly rateLimitRetries?: number;
	readonly transientRetries?: number;
	readonly dedupeKey?: string;
}

/** Jobs as sketched; `asked` gets the index of each one that is attempted. */
const jobsOf = (
	sketches: readonly Sketch[],
	asked: number[],
	take: (answer: Outcome<string>, index: number) => Promise<void> = async () => undefined,
) =>
	sketches.map(({ known, answers = [], ...rest }, index): Job<string> => {
		if (known !== undefined) return { known };
		let attempts = 0;
		return {
			rateLimitRetries: 0,
			transientRetries: 0,
			...rest,
			attempt: async () => {
				asked.push(index);
				attempts += 1;
				const answer = answers[attempts - 1] ?? answers.at(-1) ?? notStarted;
				await take(answer, index);
				return answer;
			},
		};
	});

/** Delivers one after another, without waiting. */
async function deliverOneByOne(sketches: readonly Sketch[], stopOnFailure: boolean) {
	const asked: number[] = [];
	const sleeps: number[] = [];
	const options = withoutWaiting(async (milliseconds) => {
		sleeps.push(milliseconds);
		await Promise.resolve();
	});
	const outcomes = await runJobs(jobsOf(sketches, asked), { ...options, stopOnFailure });
	return { outcomes, asked, sleeps };
}

const next = { answers: [two] };
const no = { answers: [refused()] };
const shared = { answers: [refused(0), bad], dedupeKey: '', rateLimitRetries: 1 };
const asksFor = (retryAfterMs: number) => ({
	answers: [refused(retryAfterMs)],
	rateLimitRetries: 1,
});

interface OrderCase {
	readonly name: string;
	readonly jobs: readonly Sketch[];
	readonly outcomes: readonly unknown[];
	/** The index of the job in each attempt. */
	readonly asked: readonly number[];
}

describe('jobs that run one after another', () => {
	test.each<OrderCase>([
		{
			name: 'return a known outcome at its own index',
			jobs: [{ known: invalid }, next, { known: lost }],
			outcomes: [invalid, two, lost],
			asked: [1],
		},
		{
			name: 'run once for each key, and share the outcome',
			jobs: [{ answers: [one], dedupeKey: 'a' }, shared, { ...next, dedupeKey: 'a' }, shared, next],
			outcomes: [one, bad, one, bad, two],
			asked: [0, 1, 1, 4],
		},
		{
			name: 'fail at the first refusal without retries',
			jobs: [no],
			outcomes: [refused()],
			asked: [0],
		},
		{
			name: 'are tried again after a refusal, as often as they may be',
			jobs: [{ ...no, rateLimitRetries: 2 }],
			outcomes: [refused()],
			asked: [0, 0, 0],
		},
		{
			name: 'give up without retries at the second refusal in a row, and not at single ones',
			jobs: [no, next, no, no, no, no, next],
			outcomes: [refused(), two, refused(), refused(), refused(), left(), left()],
			asked: [0, 1, 2, 3, 4],
		},
		{
			name: 'count refusals in a row from zero after an answer and after another failure',
			jobs: [no, { answers: [bad] }, no, next, no, no, next],
			outcomes: [refused(), bad, refused(), two, refused(), refused(), two],
			asked: [0, 1, 2, 3, 4, 5, 6],
		},
		{
			name: 'wait if a refusal asks for ten minutes',
			jobs: [asksFor(600_000), next],
			outcomes: [refused(600_000), left(600_000)],
			asked: [0, 0],
		},
		{
			name: 'give up if a refusal asks for more than ten minutes',
			jobs: [asksFor(600_001), next],
			outcomes: [refused(600_001), left(600_001)],
			asked: [0],
		},
		{
			name: 'count refusals and transient failures separately',
			jobs: [
				{
					answers: [refused(), lost, refused(), lost, one],
					transientRetries: 2,
					rateLimitRetries: 2,
				},
			],
			outcomes: [one],
			asked: [0, 0, 0, 0, 0],
		},
	])('$name', async ({ jobs, outcomes, asked }) => {
		const delivered = await deliverOneByOne(jobs, false);
		expect(delivered).toMatchObject({ outcomes, asked });
	});

	const stopping: ReadonlyArray<{ readonly name: string; readonly first: Sketch }> = [
		{ name: 'a failure answer of the service', first: { answers: [bad] } },
		{ name: 'a refusal without retries', first: no },
		{ name: 'a refusal that makes the run give up', first: asksFor(600_001) },
		{ name: 'an unknown outcome', first: { answers: [lost] } },
		{ name: 'an item that is invalid when its turn comes', first: { answers: [invalid] } },
		{ name: 'an attempt that did not start', first: { answers: [notStarted] } },
		// Nothing is sent before all items are valid.
		{ name: 'an item that is known to be invalid', first: { known: invalid } },
	];
	test.each(stopping)('stop after $name if failures stop the run', async ({ first }) => {
		const { outcomes } = await deliverOneByOne([first, next], true);
		expect(outcomes).toEqual([first.known ?? first.answers?.[0], notStarted]);
	});

	const continuing: typeof stopping = [
		// This try sends what is left.
		{ name: 'a failure that an earlier try reported', first: { known: lost } },
		{ name: 'an earlier failure that an attempt returns', first: { answers: [earlier(lost)] } },
		{
			name: 'an earlier refusal that an attempt returns',
			first: { answers: [earlier(refused())] },
		},
		{ name: 'an answer', first: { answers: [one] } },
		{
			name: 'a refusal that is tried again',
			first: { answers: [refused(), one], rateLimitRetries: 1 },
		},
		{
			name: 'an unknown outcome that is tried again',
			first: { answers: [lost, one], transientRetries: 1 },
		},
	];
	test.each(continuing)('go on after $name even if failures stop the run', async ({ first }) => {
		const { outcomes } = await deliverOneByOne([first, next], true);
		expect(outcomes).toEqual([first.known ?? first.answers?.at(-1), two]);
	});

	const unspecified = (retryAfterMs: number) => failed('unspecified', { retryAfterMs });
	test.each<{ name: string; answer: Outcome<string>; sleeps: number[] }>([
		{ name: 'an unknown outcome: after growing pauses', answer: lost, sleeps: [237.5, 950] },
		{
			name: 'an unspecified failure: after growing pauses',
			answer: failed('unspecified'),
			sleeps: [237.5, 950],
		},
		{
			name: 'a failure with Retry-After: after that time',
			answer: unspecified(60_000),
			sleeps: [60_000, 60_000],
		},
		{ name: 'a failure with Retry-After 0: at once', answer: unspecified(0), sleeps: [0, 0] },
		{
			name: 'an unknown outcome with Retry-After: after that time',
			answer: failed('x', { outcome: 'unknown', retryAfterMs: 9 }),
			sleeps: [9, 9],
		},
	])('are tried again after $name', async ({ answer, sleeps }) => {
		const sketch = { answers: [answer, answer, one], transientRetries: 2 };
		const run = await deliverOneByOne([sketch], false);
		expect([run.sleeps, run.outcomes]).toEqual([sleeps, [one]]);
		const once = await deliverOneByOne([{ ...sketch, transientRetries: 0 }], false);
		expect(once.outcomes).toEqual([answer]);
	});

	test.each<{ name: string; answer: Outcome<string> }>([
		{ name: 'a failure with Retry-After of more than ten minutes', answer: unspecified(600_001) },
		{ name: 'a failure that would come again', answer: bad },
	])('are not tried again after $name', async ({ answer }) => {
		const sketch = { answers: [answer, one], transientRetries: 2 };
		const run = await deliverOneByOne([sketch], false);
		expect([run.sleeps, run.outcomes]).toEqual([[], [answer]]);
	});
});

test.each([
	{ name: 'is not started if that failure stops the run', stopOnFailure: true, first: notStarted },
	{ name: 'is tried again if failures stop nothing', stopOnFailure: false, first: one },
])('a refused item that waits while another one fails $name', async ({ stopOnFailure, first }) => {
	const clock = new SimulatedClock();
	const again = { answers: [refused(), one], rateLimitRetries: 1 };
	const jobs = jobsOf([again, { answers: [bad] }], [], async (answer) => {
		if (answer === bad) await clock.sleep(100);
	});
	const run = runJobs(jobs, { ...optionsOf(clock), stopOnFailure });
	expect(await clock.run(run)).toEqual([first, bad]);
});

test('an outcome that the service was not asked for is not tried again and does not change the pace', async () => {
	const clock = new SimulatedClock();
	const asked: number[] = [];
	const sketch = { answers: [earlier(refused(600_000))], rateLimitRetries: 5 };
	const jobs = jobsOf(
		Array.from({ length: 30 }, () => sketch),
		asked,
	);
	await clock.run(runJobs(jobs, { ...optionsOf(clock), maxConcurrency: 2 }));
	expect(asked).toHaveLength(30);
	expect(clock.now()).toBe(0);
});

test.each([
	{
		name: 'stays in front with one request at a time',
		maxConcurrency: 1,
		order: [0, 0, 0, 1, 1, 2],
	},
	{
		name: 'goes to the end of the queue with two requests at a time',
		maxConcurrency: 2,
		order: [0, 1, 2, 0, 1, 0],
	},
])('a refused item $name', async ({ maxConcurrency, order }) => {
	const clock = new SimulatedClock();
	const asked: number[] = [];
	const sketches = [[refused(10), refused(10), one], [refused(10), two], [one]];
	const jobs = jobsOf(
		sketches.map((answers) => ({ answers, rateLimitRetries: 5 })),
		asked,
	);
	await clock.run(runJobs(jobs, { ...optionsOf(clock), maxConcurrency }));
	expect(asked).toEqual(order);
});

test('after ten starts Node.js gets a turn to write the requests out', async () => {
	const asked: number[] = [];
	const startedBefore: Array<[started: number, milliseconds: number]> = [];
	const sketches = Array.from({ length: 25 }, () => ({ answers: [one] }));
	await runJobs(jobsOf(sketches, asked), {
		...optionsOf(new SimulatedClock()),
		sleep: async (milliseconds) => {
			startedBefore.push([asked.length, milliseconds]);
			await Promise.resolve();
		},
	});
	expect(startedBefore).toEqual([
		[10, 0],
		[20, 0],
	]);
});

test('an error that an attempt throws starts nothing more, and is thrown once nothing is in flight', async () => {
	const clock = new SimulatedClock();
	const asked: number[] = [];
	const sketches = ['one', 'two', 'three'].map((name) => ({ answers: [done(name)] }));
	const jobs = jobsOf(sketches, asked, async (_answer, index) => {
		await clock.sleep(index === 0 ? 10 : 50);
		if (index === 0) throw new Error('No database');
	});
	const run = runJobs(jobs, { ...optionsOf(clock), maxConcurrency: 2 });
	await expect(clock.run(run)).rejects.toThrow('No database');
	expect(clock.now()).toBe(50);
	expect(asked).toEqual([0, 1]);
});

const anyAnswer = fc.constantFrom<Outcome<string>>(
	one,
	refused(),
	refused(30_000),
	failed('unspecified', { retryAfterMs: 30_000 }),
	lost,
	bad,
);
const anyJob = fc.record({
	answers: fc.array(anyAnswer, { minLength: 1, maxLength: 4 }),
	rateLimitRetries: fc.nat({ max: 3 }),
	transientRetries: fc.nat({ max: 2 }),
});

test('after a stop nothing starts any more, whatever it waits for, and known outcomes are returned', async () => {
	const latencyMs = 40;
	await fc.assert(
		fc.asyncProperty(
			fc.array(anyJob, { minLength: 1, maxLength: 12 }),
			fc.constantFrom(1, 3, 100),
			fc.integer({ min: -1, max: 100_000 }),
			fc.boolean(),
			async (sketches, maxConcurrency, stoppedAt, stopOnFailure) => {
				const clock = new SimulatedClock();
				const stop = new AbortController();
				if (stoppedAt < 0) stop.abort();
				else clock.at(stoppedAt, () => stop.abort());
				const asked: number[] = [];
				const last: Array<Outcome<string>> = [];
				const jobs = jobsOf(sketches, asked, async (answer, index) => {
					expect(clock.now()).toBeLessThanOrEqual(stoppedAt);
					await clock.sleep(latencyMs);
					last[index] = answer;
				});
				const { signal } = stop;
				const options = { ...optionsOf(clock), maxConcurrency, stopOnFailure, signal };
				const outcomes = await clock.run(runJobs(jobs, options));
				expect(clock.now()).toBeLessThanOrEqual(Math.max(0, stoppedAt + latencyMs));
				outcomes.forEach((outcome, index) => {
					const known = last[index];
					if (known === undefined) expect(['notStarted', 'failed']).toContain(outcome.kind);
					else if (known.kind === 'done' || !stopOnFailure) expect(outcome).toEqual(known);
					else expect([known, notStarted]).toContainEqual(outcome);
				});
				expect(getEventListeners(signal, 'abort')).toEqual([]);
			},
		),
	);
});

describe('a job that somebody else holds', () => {
	const held = { kind: 'held', otherwise: lost } as const;
	/** A job that is held so often, then done. */
	const heldFor = (times: number, asked: number[]): Job<string> => ({
		rateLimitRetries: 0,
		transientRetries: 0,
		attempt: async () => {
			asked.push(times);
			return await Promise.resolve(asked.length > times ? one : held);
		},
	});

	test('holds up no other, one at a time, and is tried again after pauses until it is done', async () => {
		const clock = new SimulatedClock();
		const asked: number[] = [];
		const others: number[] = [];
		const jobs = [heldFor(5, asked), ...jobsOf([next, next], others)];
		const outcomes = await clock.run(runJobs(jobs, { ...optionsOf(clock), maxConcurrency: 1 }));
		expect(outcomes).toEqual([one, two, two]);
		expect([asked.length, others.length]).toEqual([6, 2]);
		// 100 ms, then longer and longer.
		expect(clock.now()).toBeGreaterThan(1_000);
	});

	test('ends otherwise if the run is over before', async () => {
		const clock = new SimulatedClock();
		const stop = new AbortController();
		const run = runJobs([heldFor(Infinity, [])], { ...optionsOf(clock), signal: stop.signal });
		clock.at(500, () => stop.abort());
		expect(await clock.run(run)).toEqual([lost]);
	});
});
