import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import type { Outcome } from '../../../nodes/PushCampaign/delivery/outcome';
import { runJobs, type Job } from '../../../nodes/PushCampaign/delivery/runJobs';
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

/** Jobs as sketched; `asked` gets the place of each that is attempted, before it takes its time. */
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

describe('one after another', () => {
	test.each<[what: string, jobs: Sketch[], ends: unknown[], asked: number[]]>([
		[
			'what is known keeps its place',
			[{ known: invalid }, next, { known: lost }],
			[invalid, two, lost],
			[1],
		],
		[
			'a key is one request, and one outcome for all',
			[{ answers: [one], dedupeKey: 'a' }, shared, { ...next, dedupeKey: 'a' }, shared, next],
			[one, bad, one, bad, two],
			[0, 1, 1, 4],
		],
		['a refusal is not tried again without retries', [no], [refused()], [0]],
		['a refusal is tried again', [{ ...no, rateLimitRetries: 2 }], [refused()], [0, 0, 0]],
		[
			'without retries it is that item’s alone, and a second in a row the service’s',
			[no, next, no, no, no, no, next],
			[refused(), two, refused(), refused(), refused(), left(), left()],
			[0, 1, 2, 3, 4],
		],
		[
			'after an answer it is in a row no more, nor after a plain failure',
			[no, { answers: [bad] }, no, next, no, no, next],
			[refused(), bad, refused(), two, refused(), refused(), two],
			[0, 1, 2, 3, 4, 5, 6],
		],
		[
			'one that asks for ten minutes is waited for',
			[asksFor(600_000), next],
			[refused(600_000), left(600_000)],
			[0, 0],
		],
		[
			'one that asks for more is not, and all that is left fails as that did',
			[asksFor(600_001), next],
			[refused(600_001), left(600_001)],
			[0],
		],
		[
			'refusals and what may come later are counted for themselves',
			[
				{
					answers: [refused(), lost, refused(), lost, one],
					transientRetries: 2,
					rateLimitRetries: 2,
				},
			],
			[one],
			[0, 0, 0, 0, 0],
		],
	])('%s', async (_what, jobs, ends, asked) => {
		const delivered = await deliverOneByOne(jobs, false);
		expect(delivered).toMatchObject({ outcomes: ends, asked });
	});

	test.each<[what: string, first: Sketch, isStopping: boolean]>([
		['a failure of the service', { answers: [bad] }, true],
		['a refusal for good', no, true],
		['a refusal that makes the run give up', asksFor(600_001), true],
		['an unknown outcome', { answers: [lost] }, true],
		['what is refused before it leaves', { answers: [invalid] }, true],
		['what was cut short', { answers: [notStarted] }, true],
		// Nothing is sent before all is valid.
		['what is known to be invalid', { known: invalid }, true],
		// It failed in an earlier try: this one sends what is left.
		['what failed in an earlier try', { known: lost }, false],
		['a failure that the service was not asked for', { answers: [earlier(lost)] }, false],
		['a refusal of an earlier time', { answers: [earlier(refused())] }, false],
		['an answer', { answers: [one] }, false],
	])('%s keeps the rest from starting where it should', async (_what, first, isStopping) => {
		const { outcomes } = await deliverOneByOne([first, next], true);
		const own = first.known ?? first.answers?.[0];
		expect(outcomes).toEqual([own, isStopping ? notStarted : two]);
	});

	test.each<[what: string, answer: Outcome<string>, sleeps: number[]]>([
		['an unknown outcome', lost, [237.5, 950]],
		['an unspecified failure', failed('unspecified'), [237.5, 950]],
		['one that says when', failed('unspecified', { retryAfterMs: 60_000 }), [60_000, 60_000]],
		['one that says at once', failed('unspecified', { retryAfterMs: 0 }), [0, 0]],
		['an unknown one that says when', failed('x', { outcome: 'unknown', retryAfterMs: 9 }), [9, 9]],
		['but not in more than ten minutes', failed('unspecified', { retryAfterMs: 600_001 }), []],
		['nor a plain failure', bad, []],
	])('what may come later is asked for again: %s', async (_what, answer, sleeps) => {
		const sketch = { answers: [answer, answer, one], transientRetries: 2 };
		const run = await deliverOneByOne([sketch], false);
		expect(run.sleeps).toEqual(sleeps);
		expect(run.outcomes).toEqual([sleeps.length > 0 ? one : answer]);
		const once = await deliverOneByOne([{ ...sketch, transientRetries: 0 }], false);
		expect(once.outcomes).toEqual([answer]);
	});
});

test.each([
	[true, notStarted],
	[false, one],
])(
	'what waits to be tried again is not the news where a failure stops the run (%p)',
	async (stopOnFailure, first) => {
		const clock = new SimulatedClock();
		const again = { answers: [refused(), one], rateLimitRetries: 1 };
		const jobs = jobsOf([again, { answers: [bad] }], [], async (answer) => {
			if (answer === bad) await clock.sleep(100);
		});
		const run = runJobs(jobs, { ...optionsOf(clock), stopOnFailure });
		expect(await clock.run(run)).toEqual([first, bad]);
	},
);

test('what the service was not asked for is not tried again, and tells nothing of its pace', async () => {
	const clock = new SimulatedClock();
	const asked: number[] = [];
	const sketch = { answers: [earlier(refused(600_000))], rateLimitRetries: 5 };
	const jobs = jobsOf(
		Array.from({ length: 30 }, () => sketch),
		asked,
	);
	await clock.run(runJobs(jobs, { ...optionsOf(clock), ceiling: 2 }));
	expect(asked).toHaveLength(30);
	expect(clock.now()).toBe(0);
});

test.each([
	['one at a time stays in front', 1, [0, 0, 0, 1, 1, 2]],
	['among others goes to the end of the line', 2, [0, 1, 2, 0, 1, 0]],
])('an item that is refused %s', async (_what, ceiling, order) => {
	const clock = new SimulatedClock();
	const asked: number[] = [];
	const sketches = [[refused(10), refused(10), one], [refused(10), two], [one]];
	const jobs = jobsOf(
		sketches.map((answers) => ({ answers, rateLimitRetries: 5 })),
		asked,
	);
	await clock.run(runJobs(jobs, { ...optionsOf(clock), ceiling }));
	expect(asked).toEqual(order);
});

test('what was started leaves before more is started: after each ten', async () => {
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
