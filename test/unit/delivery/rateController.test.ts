import * as fc from 'fast-check';
import { RateController } from '../../../nodes/PushCampaign/delivery/rateController';
import { refusalBackoffMs } from '../../../nodes/PushCampaign/delivery/retry';

// By this chance pauses are as long as they are written down.
const longest = 1;
const paceOf = (ceiling = 100, random = longest, startsFast = false) =>
	new RateController(ceiling, () => random, startsFast);

const times = (count: number, action: () => void) => {
	for (let done = 0; done < count; done += 1) action();
};

/** Starts as many as have room. */
function fill(pace: RateController, now = 0): number {
	let started = 0;
	for (; pace.hasRoom(); started += 1) pace.started(now);
	return started;
}

/** Starts what waits as soon as it may, each accepted at once, and gives how many there were. */
function acceptedWithin(pace: RateController, from: number, ms: number): number {
	let accepted = 0;
	for (let now = from + pace.waitMs(from); now < from + ms; now += pace.waitMs(now)) {
		pace.started(now);
		pace.ended(true);
		accepted += 1;
	}
	return accepted;
}

/** What separates two that start one after another, as requests per millisecond. */
function paceNow(pace: RateController, now: number): number {
	while (pace.waitMs(now) === 0) pace.started(now);
	const before = pace.waitMs(now);
	pace.started(now);
	return 1 / (pace.waitMs(now) - before);
}

/** How far two numbers are from each other, as a factor. */
const ratio = (one: number, other: number) => Math.max(one / other, other / one);

describe('how many are under way', () => {
	test('few at first, and after two rounds of good answers as many as the ceiling', () => {
		const pace = paceOf();
		const first = fill(pace);
		expect(first).toBeLessThan(50);
		times(first, () => pace.ended(true));
		const second = fill(pace);
		expect(second).toBeGreaterThan(first);
		expect(second).toBeLessThan(100);
		times(second, () => pace.ended(true));
		expect(fill(pace)).toBe(100);
	});

	test('as many as the ceiling at once where it is low, or is known to be taken', () => {
		expect(fill(paceOf(7))).toBe(7);
		expect(fill(paceOf(100, longest, true))).toBe(100);
		expect(fill(paceOf(7, longest, true))).toBe(7);
	});

	test('no more after an answer that teaches nothing', () => {
		const pace = paceOf();
		fill(pace);
		times(3, () => pace.ended(false));
		expect(fill(pace)).toBe(3);
	});

	test('without a refusal none has to wait, however many start', () => {
		const pace = paceOf();
		fill(pace, 1000);
		expect(pace.waitMs(1000)).toBe(0);
		expect(pace.wasRefused).toBe(false);
	});
});

/** Of 200 that started at 0, 99 are accepted within a second, and then one of the others is refused. */
function refusedOnce(random?: number, retryAfterMs?: number): RateController {
	const pace = paceOf(200, random, true);
	fill(pace);
	times(99, () => pace.ended(true));
	pace.refused(1000, retryAfterMs);
	return pace;
}
/** Requests per millisecond: what was accepted, and half of the refused one. */
const firstPace = 99.5 / 1000;
/** When they may start again. */
const resumed = 1000 + refusalBackoffMs(1, longest);

describe('a first refusal', () => {
	test.each([0, 0.5, 0.9])('stops all for a moment that differs by chance: %d', (random) => {
		const pace = refusedOnce(random);
		const pauseMs = refusalBackoffMs(1, random);
		expect(pace.wasRefused).toBe(true);
		expect(pace.waitMs(1000)).toBeCloseTo(pauseMs);
		expect(pace.waitMs(1000 + pauseMs / 2)).toBeCloseTo(pauseMs / 2);
		expect(pace.waitMs(10_000)).toBe(0);
	});

	test('stops all for as long as the service asks', () => {
		expect(refusedOnce(0.9, 7000).waitMs(1000)).toBe(7000);
	});

	test('halves how many are under way, and each good answer adds one', () => {
		const pace = refusedOnce();
		times(101, () => pace.ended(false));
		expect(fill(pace, 5000)).toBe(50);
		times(2, () => pace.ended(true));
		expect(fill(pace, 5000)).toBe(4);
	});

	test('leaves a single one under way where nothing was accepted', () => {
		const pace = paceOf();
		const started = fill(pace);
		pace.refused(100);
		times(started, () => pace.ended(false));
		expect(fill(pace, 5000)).toBe(1);
	});

	test('spaces what follows by what was accepted', () => {
		expect(ratio(paceNow(refusedOnce(), resumed), firstPace)).toBeLessThan(1.01);
	});

	test.each([0, 100])('after %d ms without an answer spaces what follows, too', (ms) => {
		const pace = paceOf();
		fill(pace);
		pace.refused(ms);
		const now = ms + pace.waitMs(ms);
		pace.started(now);
		expect(pace.waitMs(now)).toBeGreaterThan(1);
		expect(pace.waitMs(now)).toBeLessThan(10_000);
	});

	test('is no news from what was under way before: only its own wish counts', () => {
		const pace = refusedOnce();
		pace.ended(false);
		times(99, () => {
			pace.refused(1020);
			pace.ended(false);
		});
		expect(pace.waitMs(1020)).toBeCloseTo(resumed - 1020);
		expect(pace.refusals).toBe(1);
		pace.refused(1030, 1000);
		expect(pace.waitMs(1030)).toBe(1000);
		pace.ended(false);
		expect(pace.refusals).toBe(1);
		expect(ratio(paceNow(pace, 2030), firstPace)).toBeLessThan(1.01);
		// What started afterwards is.
		pace.refused(2030);
		expect(pace.refusals).toBe(2);
	});
});

describe('a learned pace', () => {
	/** Refused once; none of the old ones is under way any more, and new ones are accepted as soon as allowed. */
	function recovering(accepted: number, retryAfterMs?: number): RateController {
		const pace = refusedOnce(longest, retryAfterMs);
		times(101, () => pace.ended(false));
		times(accepted, () => {
			pace.started(1000 + (retryAfterMs ?? resumed - 1000));
			pace.ended(true);
		});
		return pace;
	}

	/** Refused twice: now the pace lies between what was accepted and what was refused. */
	function refusedTwice(): RateController {
		const pace = recovering(10);
		pace.started(2250);
		pace.refused(2250);
		pace.ended(false);
		return pace;
	}

	test('grows slowly in the first second, ever faster, and has doubled within six', () => {
		const pace = refusedTwice();
		const from = 2250 + pace.waitMs(2250);
		const seconds = [0, 1, 2, 3, 4, 5].map((second) =>
			acceptedWithin(pace, from + second * 1000, 1000),
		);
		const [first = 0, second = 0, , , , last = 0] = seconds;
		expect(seconds).toEqual([...seconds].sort((one, other) => one - other));
		expect(second / first).toBeLessThan(1.15);
		expect(last / (seconds[4] ?? 0)).toBeGreaterThan(second / first);
		expect(last / first).toBeGreaterThan(2);
	});

	test('grows faster while it is a guess from few answers', () => {
		const growthOf = (accepted: number) => {
			const guess = () => {
				const pace = paceOf(200, longest, true);
				fill(pace);
				times(accepted, () => pace.ended(true));
				pace.refused(accepted * 10);
				times(200 - accepted, () => pace.ended(false));
				times(10, () => {
					pace.started(10_000);
					pace.ended(true);
				});
				return pace;
			};
			return paceNow(guess(), 60_000) / paceNow(guess(), accepted * 10);
		};
		expect(growthOf(3) / growthOf(150)).toBeGreaterThan(1.2);
	});

	test('grows only as far as requests are accepted, and with time', () => {
		const long = 60_000;
		const none = paceNow(recovering(0), long);
		const few = paceNow(recovering(5), long);
		expect(ratio(none, firstPace)).toBeLessThan(1.01);
		expect(few / none).toBeGreaterThan(1.01);
		expect(few / none).toBeLessThan(1.2);
		expect(paceNow(recovering(90), resumed + 1000) / none).toBeLessThan(1.2);
		expect(paceNow(recovering(90), resumed + 5000) / none).toBeGreaterThan(1.5);
	});

	test('does not grow while all wait because the service asked for it', () => {
		expect(ratio(paceNow(recovering(90, 20_000), 21_000), firstPace)).toBeLessThan(1.01);
	});

	test('never goes beyond ten in a millisecond', () => {
		expect(paceNow(recovering(500), 60_000)).toBeLessThan(10.1);
	});

	test('makes up for a timer that fires late, but not for a long silence', () => {
		const startsAt = (now: number) => {
			const pace = recovering(0);
			let started = 0;
			for (; pace.waitMs(now) === 0; started += 1) pace.started(now);
			return started;
		};
		expect(startsAt(resumed)).toBe(1);
		expect(startsAt(resumed + 50)).toBeGreaterThan(4);
		expect(startsAt(resumed + 60_000)).toBeLessThan(20);
	});

	test('that is refused, too, is as far above what was accepted as below what was refused', () => {
		const refused = paceNow(recovering(10), 2250);
		const measured = 10.5 / (2250 - 1000);
		const pace = refusedTwice();
		const next = paceNow(pace, 2250 + pace.waitMs(2250));
		expect(ratio(next / measured, refused / next)).toBeLessThan(1.05);
	});

	test('stays where the service accepts nothing for a while: it is not taken for a slow one', () => {
		const pace = recovering(0);
		const before = paceNow(recovering(0), 100_000);
		for (const now of [100_000, 200_000]) {
			pace.started(now);
			pace.refused(now);
			pace.ended(false);
		}
		expect(ratio(paceNow(pace, 400_000), before)).toBeLessThan(1.01);
	});
});

test('refusals without an answer in between wait longer each time, until one is accepted', () => {
	const pace = paceOf(1);
	const waits: number[] = [];
	let now = 0;
	times(7, () => {
		pace.started(now);
		pace.refused(now);
		pace.ended(false);
		waits.push(pace.waitMs(now));
		now += pace.waitMs(now);
	});
	expect(waits).toEqual([1, 2, 3, 4, 5, 6, 7].map((count) => refusalBackoffMs(count, longest)));
	expect(pace.refusals).toBe(7);
	pace.started(now);
	pace.ended(true);
	expect(pace.refusals).toBe(0);
	pace.started(now);
	pace.refused(now);
	pace.ended(false);
	expect(pace.waitMs(now)).toBe(refusalBackoffMs(1, longest));
	expect(pace.hasRoom()).toBe(true);
});

test('a pause is four times the last one; five outlast a minute, and none is much longer', () => {
	const pauses = [1, 2, 3, 4, 5, 6, 7].map((refusals) => refusalBackoffMs(refusals, longest));
	const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, ...others] = pauses;
	expect(first).toBeLessThan(1000);
	expect([second, third, fourth, fifth]).toEqual([first * 4, second * 4, third * 4, fourth * 4]);
	expect(first + second + third + fourth + fifth).toBeGreaterThan(60_000);
	expect(others).toEqual([fifth, fifth]);
	// Executions that were refused together do not come back together.
	expect(refusalBackoffMs(1, 0)).toBeLessThan(first);
	expect(refusalBackoffMs(1, 0)).toBeGreaterThan(first * 0.8);
});

describe('what was learned from single items is forgotten', () => {
	test('and as many start at once as before', () => {
		const pace = refusedOnce();
		pace.forget(1100);
		expect([pace.wasRefused, pace.refusals, pace.waitMs(1100)]).toEqual([false, 0, 0]);
		times(101, () => pace.ended(false));
		expect(fill(pace, 1100)).toBe(50);

		for (const ceiling of [7, 100]) {
			const [slow, fresh] = [paceOf(ceiling), paceOf(ceiling)];
			const started = fill(slow);
			slow.refused(0);
			slow.forget(10);
			times(started, () => slow.ended(false));
			expect(fill(slow, 10)).toBe(fill(fresh));
		}
	});

	test('and nothing of it counts for the next refusal', () => {
		const pace = refusedOnce(longest, 600_000);
		times(101, () => pace.ended(false));
		pace.forget(100_000);
		times(20, () => pace.started(100_000));
		times(19, () => pace.ended(true));
		pace.refused(100_200);
		expect(pace.waitMs(100_200)).toBe(refusalBackoffMs(1, longest));
		expect(ratio(paceNow(pace, 100_450), 19.5 / 200)).toBeLessThan(1.01);
	});
});

type Step = { kind: 'start' | 'well' | 'badly' } | { kind: 'refused' | 'wait'; ms: number };
const step: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 6, arbitrary: fc.constant<Step>({ kind: 'start' }) },
	{ weight: 3, arbitrary: fc.constantFrom<Step>({ kind: 'well' }, { kind: 'badly' }) },
	{
		weight: 2,
		arbitrary: fc.record({
			kind: fc.constantFrom('refused' as const, 'wait' as const),
			ms: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 100_000 })),
		}),
	},
);

test('whatever is answered: never more than the ceiling, always one, and no start is pulled forward', () => {
	fc.assert(
		fc.property(
			fc.integer({ min: 1, max: 40 }),
			fc.double({ min: 0, max: 0.99, noNaN: true }),
			fc.boolean(),
			fc.array(step, { maxLength: 150 }),
			(ceiling, random, startsFast, steps) => {
				const pace = paceOf(ceiling, random, startsFast);
				let [now, underWay, notBefore] = [0, 0, 0];
				for (const one of steps) {
					if (one.kind === 'wait') now += one.ms;
					else if (one.kind === 'start') {
						if (!pace.hasRoom()) continue;
						now += pace.waitMs(now);
						pace.started(now);
						underWay += 1;
					} else if (underWay > 0) {
						// With 0 the service does not say how long.
						if (one.kind === 'refused') pace.refused(now, one.ms === 0 ? undefined : one.ms);
						if (one.kind === 'refused') notBefore = Math.max(notBefore, now + one.ms);
						pace.ended(one.kind === 'well');
						underWay -= 1;
					}
					const next = now + pace.waitMs(now);
					expect(underWay).toBeLessThanOrEqual(ceiling);
					expect(underWay > 0 || pace.hasRoom()).toBe(true);
					expect(next).toBeGreaterThanOrEqual(Math.max(now, notBefore - 0.001));
					expect(next).toBeLessThan(Infinity);
					notBefore = next;
				}
			},
		),
	);
});
