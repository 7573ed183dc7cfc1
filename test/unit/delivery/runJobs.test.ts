import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { runJobs, type Job, type Outcome } from '../../../nodes/PushCampaign/delivery/runJobs';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';
import { optionsOf, refusal, SimulatedClock, withoutWaiting } from './support';

const failed = (type: string, more: Partial<Problem> = {}) =>
	({
		kind: 'failed',
		problem: {
			type,
			outcome: 'notDone',
			message: 'No',
			description: '',
			cause: 'temporarily-unavailable',
			...more,
		},
	}) as const satisfies Outcome<string>;
const done = (value: string) => ({ kind: 'done', value }) as const;
const refused = (retryAfterMs?: number) =>
	({ kind: 'failed', problem: refusal(retryAfterMs) }) as const;
const lost = failed('network', { outcome: 'unknown' });
const invalid = {
	kind: 'invalid',
	invalid: new InvalidInput('Send At is too soon', 'Choose a later date.'),
} as const;
const notStarted = { kind: 'notStarted' } as const;

interface Sketch {
	/** What each attempt gives, the last one again and again. */
	readonly answers: ReadonlyArray<Outcome<string>>;
	readonly rateLimitRetries?: number;
	readonly transientRetries?: number;
	readonly dedupeKey?: string;
}

/** Jobs as sketched; `asked` gets the place of each that is attempted, before it takes its time. */
const jobsOf = (
	sketches: ReadonlyArray<Sketch | { known: Outcome<string> }>,
	asked: number[],
	take: (answer: Outcome<string>, index: number) => Promise<void> = async () => undefined,
) =>
	sketches.map((sketch, index): Job<string> => {
		if ('known' in sketch) return sketch;
		const { answers, rateLimitRetries = 0, transientRetries = 0, ...rest } = sketch;
		let attempts = 0;
		return {
			...rest,
			rateLimitRetries,
			transientRetries,
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
async function deliverOneByOne(
	sketches: ReadonlyArray<Sketch | { known: Outcome<string> }>,
	stopOnFailure: boolean,
) {
	const asked: number[] = [];
	const sleeps: number[] = [];
	const options = withoutWaiting(async (milliseconds) => {
		sleeps.push(milliseconds);
		await Promise.resolve();
	});
	const outcomes = await runJobs(jobsOf(sketches, asked), { ...options, stopOnFailure });
	return { outcomes, asked, sleeps };
}

describe('what is known already is no request, keeps its place', () => {
	test.each<[known: Outcome<string>, stopOnFailure: boolean, next: Outcome<string>]>([
		[done('one'), true, done('two')],
		// Nothing is sent before all is valid.
		[invalid, true, notStarted],
		[invalid, false, done('two')],
		// It failed in an earlier try: this one sends what is left.
		[lost, true, done('two')],
		[lost, false, done('two')],
	])('(%j, stopping: %p)', async (known, stopOnFailure, next) => {
		const sketches = [{ known }, { answers: [done('two')] }];
		const { outcomes, asked } = await deliverOneByOne(sketches, stopOnFailure);
		expect(outcomes).toEqual([known, next]);
		expect(asked).toEqual(next === notStarted ? [] : [1]);
	});
});

test('a key is one request, and one outcome for all', async () => {
	const { outcomes, asked } = await deliverOneByOne(
		[
			{ answers: [done('one')], dedupeKey: 'a' },
			{ answers: [refused(0), failed('bad_request')], dedupeKey: '', rateLimitRetries: 1 },
			{ answers: [done('never')], dedupeKey: 'a' },
			{ known: lost },
			{ answers: [done('never')], dedupeKey: '' },
			{ answers: [done('other')] },
		],
		false,
	);
	const bad = failed('bad_request');
	expect(outcomes).toEqual([done('one'), bad, done('one'), lost, bad, done('other')]);
	expect(asked).toEqual([0, 1, 1, 5]);
});

describe('a failure keeps the rest from starting where it stops the run', () => {
	test.each<[what: string, outcome: Outcome<string>, isStopping: boolean]>([
		['one of the service', failed('bad_request'), true],
		['a refusal for good', refused(), true],
		['an unknown one', lost, true],
		['what is refused before it leaves', invalid, true],
		['what was cut short', notStarted, true],
		['one that the service was not asked for', { ...lost, wasRequested: false }, false],
		['a refusal of an earlier time', { ...refused(), wasRequested: false }, false],
		['an answer of an earlier time', { ...done('one'), wasRequested: false }, false],
	])('%s', async (_what, outcome, isStopping) => {
		const retries = { transientRetries: 0, rateLimitRetries: 0 };
		const sketches = [{ answers: [outcome], ...retries }, { answers: [done('two')] }];
		const stopping = await deliverOneByOne(sketches, true);
		expect(stopping.outcomes).toEqual([outcome, isStopping ? notStarted : done('two')]);
		const going = await deliverOneByOne(sketches, false);
		expect(going.outcomes).toEqual([outcome, done('two')]);
		expect(going.asked).toEqual([0, 1]);
	});

	test.each([
		[true, notStarted],
		[false, done('one')],
	])('and what waits to be tried again is not the news (%p)', async (stopOnFailure, first) => {
		const clock = new SimulatedClock();
		const again = { answers: [refused(), done('one')], rateLimitRetries: 1 };
		const bad = failed('bad_request');
		const jobs = jobsOf([again, { answers: [bad] }], [], async (answer) => {
			if (answer === bad) await clock.sleep(100);
		});
		const run = runJobs(jobs, { ...optionsOf(clock), stopOnFailure });
		expect(await clock.run(run)).toEqual([first, bad]);
	});
});

test('what the service was not asked for is not tried again, and tells nothing of its pace', async () => {
	const clock = new SimulatedClock();
	const earlier = { ...refused(600_000), wasRequested: false };
	const sketch = { answers: [earlier], rateLimitRetries: 5, transientRetries: 5 };
	const asked: number[] = [];
	const sketches = Array.from({ length: 30 }, () => sketch);
	await clock.run(runJobs(jobsOf(sketches, asked), { ...optionsOf(clock), ceiling: 2 }));
	expect(asked).toHaveLength(30);
	expect(clock.now()).toBe(0);
});

describe('a refusal for too many requests', () => {
	test.each([
		[0, 1],
		[2, 3],
	])('is retried %d times', async (rateLimitRetries, attempts) => {
		const sketch = { answers: [refused()], rateLimitRetries };
		const { outcomes, asked } = await deliverOneByOne([sketch], false);
		expect(outcomes).toEqual([refused()]);
		expect(asked).toHaveLength(attempts);
	});

	test('without retries is that item’s alone, and a second in a row the service’s', async () => {
		const no = { answers: [refused()] };
		const yes = { answers: [done('taken')] };
		const { outcomes, asked } = await deliverOneByOne([no, yes, no, no, no, no, yes], false);
		expect(asked).toEqual([0, 1, 2, 3, 4]);
		expect(outcomes[5]).toMatchObject({ problem: { type: 'rate_limit', httpCode: '429' } });
	});

	test.each<[what: string, answer: Outcome<string>]>([
		['an answer', done('one')],
		['a plain failure', failed('bad_request')],
	])('is in a row no more after %s', async (_what, answer) => {
		const no = { answers: [refused()] };
		const sketches = [no, { answers: [answer] }, no, { answers: [answer] }, no, no];
		expect((await deliverOneByOne(sketches, false)).asked).toHaveLength(6);
	});

	test.each([
		[600_000, 2],
		[600_001, 1],
	])('that asks to wait for %d ms is attempted %d times', async (retryAfterMs, attempts) => {
		const sketch = { answers: [refused(retryAfterMs)], rateLimitRetries: 1 };
		const rest = { answers: [done('two')] };
		const { outcomes, asked } = await deliverOneByOne([sketch, rest], false);
		expect(asked).toEqual(Array.from({ length: attempts }, () => 0));
		// Nothing further is requested, and all that is left fails as that did.
		expect(outcomes).toMatchObject([
			refused(retryAfterMs),
			{ kind: 'failed', problem: { type: 'rate_limit', httpCode: '429' } },
		]);
		expect(JSON.stringify(outcomes[1])).toContain('It was not requested any more');
		expect((await deliverOneByOne([sketch, rest], true)).outcomes[1]).toEqual(notStarted);
	});

	test('sends an item to the end of the line, and one at a time it stays in front', async () => {
		for (const [ceiling, order] of [
			[1, [0, 0, 0, 1, 1, 2]],
			[2, [0, 1, 2, 0, 1, 0]],
		] as const) {
			const clock = new SimulatedClock();
			const asked: number[] = [];
			const again = { rateLimitRetries: 5 };
			const jobs = jobsOf(
				[
					{ answers: [refused(10), refused(10), done('one')], ...again },
					{ answers: [refused(10), done('two')], ...again },
					{ answers: [done('three')] },
				],
				asked,
			);
			await clock.run(runJobs(jobs, { ...optionsOf(clock), ceiling }));
			expect(asked).toEqual(order);
		}
	});
});

describe('what may come later', () => {
	const asks = (type: string, retryAfterMs: number) => failed(type, { retryAfterMs });
	test.each<[what: string, answer: Outcome<string>, sleeps: number[]]>([
		['an unknown outcome', lost, [375, 750]],
		['an unspecified failure', failed('unspecified'), [375, 750]],
		['one that says when', asks('unspecified', 60_000), [60_000, 60_000]],
		['one that says at once', asks('unspecified', 0), [0, 0]],
		[
			'an unknown one that says when',
			failed('network', { ...lost.problem, retryAfterMs: 9 }),
			[9, 9],
		],
		['one in more than ten minutes', asks('unspecified', 600_001), []],
		['a plain failure', failed('bad_request'), []],
	])('%s is asked for again, ever later or as the service says', async (_what, answer, sleeps) => {
		const sketch = { answers: [answer, answer, done('one')], transientRetries: 2 };
		const run = await deliverOneByOne([sketch], false);
		expect(run.sleeps).toEqual(sleeps);
		expect(run.outcomes).toEqual([sleeps.length > 0 ? done('one') : answer]);
		const once = await deliverOneByOne([{ ...sketch, transientRetries: 0 }], false);
		expect(once.outcomes).toEqual([answer]);
	});

	test('is asked for as often, however often it was refused for too many requests', async () => {
		const answers = [refused(), lost, refused(), lost, done('one')];
		const sketch = { answers, transientRetries: 2, rateLimitRetries: 2 };
		expect((await deliverOneByOne([sketch], false)).outcomes).toEqual([done('one')]);
	});
});

test('what was started leaves before more is started: after each ten', async () => {
	const asked: number[] = [];
	const startedBefore: Array<[started: number, milliseconds: number]> = [];
	const sketches = Array.from({ length: 25 }, () => ({ answers: [done('one')] }));
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

test('what an attempt throws is thrown once nothing is under way, and nothing more starts', async () => {
	const clock = new SimulatedClock();
	const asked: number[] = [];
	const sketches = ['one', 'two', 'three'].map((name) => ({ answers: [done(name)] }));
	const jobs = jobsOf(sketches, asked, async (_answer, index) => {
		await clock.sleep(index === 0 ? 10 : 50);
		if (index === 0) throw new Error('No database');
	});
	const run = runJobs(jobs, { ...optionsOf(clock), ceiling: 2 });
	await expect(clock.run(run)).rejects.toThrow('No database');
	expect(clock.now()).toBe(50);
	expect(asked).toEqual([0, 1]);
});

const anyAnswer = fc.constantFrom<Outcome<string>>(
	done('one'),
	refused(),
	refused(30_000),
	failed('unspecified', { retryAfterMs: 30_000 }),
	lost,
	failed('bad_request'),
);
const anyJob = fc.record({
	answers: fc.array(anyAnswer, { minLength: 1, maxLength: 4 }),
	rateLimitRetries: fc.nat({ max: 3 }),
	transientRetries: fc.nat({ max: 2 }),
});

test('when the user stops, nothing starts any more whatever it waits for, and what is known is told', async () => {
	const latencyMs = 40;
	await fc.assert(
		fc.asyncProperty(
			fc.array(anyJob, { minLength: 1, maxLength: 12 }),
			fc.constantFrom(1, 3, 100),
			fc.integer({ min: -1, max: 100_000 }),
			fc.boolean(),
			async (sketches, ceiling, stoppedAt, stopOnFailure) => {
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
				const options = { ...optionsOf(clock), ceiling, stopOnFailure, signal };
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
