import * as fc from 'fast-check';
import { Pace } from '../../../nodes/PushCampaign/delivery/pace';
import { refusal } from './support';

// By this chance pauses are as long as they are written down.
const paceOf = (ceiling = 100) => new Pace(ceiling, () => 1);
const times = (count: number, action: () => void) => {
	for (let done = 0; done < count; done += 1) action();
};

/** How many may be under way. */
function roomOf(pace: Pace): number {
	let underWay = 0;
	while (pace.hasRoom(underWay)) underWay += 1;
	return underWay;
}

/** What separates two that start one after another, in milliseconds. */
function gapOf(pace: Pace, now: number): number {
	while (pace.waitMs(now) === 0) pace.started(now);
	const before = pace.waitMs(now);
	pace.started(now);
	return pace.waitMs(now) - before;
}

/** Of 60 requests that started at 0, 50 were accepted within a second, and then one was refused. */
function refusedOnce(retryAfterMs?: number): Pace {
	const pace = paceOf();
	times(60, () => pace.started(0));
	times(50, () => pace.wasAccepted(500));
	pace.wasRefused(refusal(retryAfterMs), 1000, 0, 0);
	return pace;
}

test('few are under way at first, three more after each good answer, never more than the ceiling', () => {
	expect([7, 20, 100].map((ceiling) => roomOf(paceOf(ceiling)))).toEqual([7, 20, 20]);
	const pace = paceOf(30);
	pace.wasAccepted(0);
	expect(roomOf(pace)).toBe(23);
	times(9, () => pace.wasAccepted(0));
	expect(roomOf(pace)).toBe(30);
});

describe('the pace', () => {
	test('does not count before the first refusal, which measures it', () => {
		const pace = paceOf();
		times(1000, () => pace.started(0));
		expect(pace.waitMs(0)).toBe(0);
		expect(refusedOnce().waitMs(1000)).toBe(0);
		expect(gapOf(refusedOnce(), 1000)).toBeCloseTo(20, 5);
	});

	test('is no lower than of three answers where fewer were there: others are on their way', () => {
		const pace = paceOf();
		pace.started(0);
		pace.wasRefused(refusal(0), 60, 0, 0);
		expect(gapOf(pace, 60)).toBeCloseTo(20, 5);
	});

	test.each<[accepted: number, withinMs: number, left: number]>([
		// To what was accepted, yet at least by 8 % and at most to a quarter.
		[10, 400, 0.5],
		[19, 100, 0.92],
		[1, 1000, 0.25],
		// Nothing was: that measures nothing.
		[0, 1000, 0.7],
	])('is cut after %d accepted within %d ms to %d of itself', (accepted, withinMs, left) => {
		const pace = refusedOnce();
		times(accepted, () => pace.wasAccepted(1000));
		// As it is by then: each good answer made it a little faster.
		const perMs = 0.05 + accepted * 0.00005;
		pace.wasRefused(refusal(0), 1000 + withinMs, 1000, 0);
		expect(1 / gapOf(pace, 1000 + withinMs) / perMs).toBeCloseTo(left, 1);
	});

	test('is not cut by one refusal for twenty that were accepted, unless others came late', () => {
		const gapAfter = (late: number) => {
			const pace = refusedOnce();
			times(late, () => pace.wasRefused(refusal(), 1001, 999, 0));
			times(20, () => pace.wasAccepted(1000));
			pace.wasRefused(refusal(0), 2000, 1000, 0);
			return gapOf(pace, 2000);
		};
		expect(gapAfter(0)).toBeLessThan(20);
		expect(gapAfter(1)).toBeGreaterThan(30);
	});

	test('grows with good answers, ever faster, from when the last pause is over', () => {
		const gapsOf = (pace: Pace, from: number) =>
			[0, 1, 2, 3].map((second) => {
				times(100, () => pace.wasAccepted(from + second * 1000));
				return 1 / gapOf(pace, from + second * 1000 + 500);
			});
		const [first = 0, second = 0, third = 0, fourth = 0] = gapsOf(refusedOnce(), 1000);
		expect(first).toBeCloseTo(0.055, 3);
		expect(second - first).toBeCloseTo(0.015, 3);
		expect(third - second).toBeCloseTo(0.025, 3);
		expect(fourth - third).toBeCloseTo(0.035, 3);
		expect(gapsOf(refusedOnce(9000), 10_000)[3]).toBeCloseTo(fourth, 5);
		// In the pause itself only little.
		const pausing = refusedOnce(9000);
		times(100, () => pausing.wasAccepted(9000));
		expect(1 / gapOf(pausing, 10_000)).toBeCloseTo(0.055, 3);
	});

	test('means nothing beyond two in a millisecond, and is measured anew', () => {
		const pace = refusedOnce();
		times(300, () => pace.wasAccepted(101_000));
		pace.started(101_000);
		expect(pace.waitMs(101_000)).toBe(0);
		times(500, () => pace.started(101_000));
		expect(pace.waitMs(101_000)).toBe(0);
		pace.wasRefused(refusal(), 101_000, 101_000, 0);
		expect(gapOf(pace, 101_000)).toBeCloseTo(100_000 / 300, 5);
	});

	test('makes up for a timer that fires late, but not for a long silence', () => {
		const startsAt = (now: number) => {
			const pace = refusedOnce();
			let started = 0;
			for (; pace.waitMs(now) === 0; started += 1) pace.started(now);
			return started;
		};
		expect([1000, 1060, 90_000].map(startsAt)).toEqual([1, 4, 6]);
	});
});

describe('a pause', () => {
	test('is as long as the service asks, also where that is no news', () => {
		const pace = refusedOnce(7000);
		expect(pace.waitMs(1000)).toBe(7000);
		pace.wasRefused(refusal(3000), 2000, 0, 0);
		expect(pace.waitMs(2000)).toBe(6000);
		pace.wasRefused(refusal(9000), 2000, 0, 0);
		expect(pace.waitMs(2000)).toBe(9000);
	});

	test('grows while nothing is accepted in between, with one at a time', () => {
		const pace = paceOf();
		const waits: number[] = [];
		let now = 0;
		times(6, () => {
			pace.started(now);
			expect(pace.wasRefused(refusal(), now, now, 0)).toBe(waits.length + 1);
			expect(roomOf(pace)).toBe(1);
			waits.push(pace.waitMs(now));
			now += pace.waitMs(now);
		});
		expect(waits).toEqual([250, 1000, 4000, 16_000, 64_000, 64_000]);
		// What started before the last refusal is no news: it is no further one in a row, and no pause.
		const waitMs = pace.waitMs(now);
		expect(pace.wasRefused(refusal(), now, -1, 9)).toBe(0);
		expect(pace.waitMs(now)).toBe(waitMs);
		pace.wasAccepted(now);
		expect(roomOf(pace)).toBe(4);
		// The next one is no refusal in a row, and what started before it no news.
		expect(pace.wasRefused(refusal(), now + 1, now, 3)).toBe(0);
		expect(pace.wasRefused(refusal(), now + 2, now, 3)).toBe(0);
		expect(roomOf(pace)).toBe(4);
		expect(pace.waitMs(now + 2)).toBe(0);
	});

	test('is that of the item where no other goes ahead of it, and differs by chance', () => {
		const pace = new Pace(100, () => 0);
		pace.started(0);
		expect(pace.wasRefused(refusal(), 0, 0, 4)).toBe(4);
		expect(pace.waitMs(0)).toBeCloseTo(0.9 * 16_000, 5);
	});
});

const events = fc.array(
	fc.record({
		kind: fc.constantFrom('start', 'start', 'accept', 'refuse', 'late'),
		ms: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 100_000 })),
		asks: fc.option(fc.integer({ max: 600_000, min: 0 }), { nil: undefined }),
	}),
	{ maxLength: 150 },
);

test('whatever is answered: never more than the ceiling, always one, and soon enough', () => {
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 40 }), events, (ceiling, steps) => {
			const pace = paceOf(ceiling);
			let [now, asked] = [0, 0];
			for (const { kind, ms, asks } of steps) {
				now += ms;
				if (kind === 'start') pace.started((now += pace.waitMs(now)));
				else if (kind === 'accept') pace.wasAccepted(now);
				else {
					pace.wasRefused(refusal(asks), now, kind === 'late' ? now - 1 : now, 0);
					asked = Math.max(asked, now + (asks ?? 0));
				}
				expect(pace.hasRoom(0)).toBe(true);
				expect(pace.hasRoom(ceiling)).toBe(false);
				expect(now + pace.waitMs(now)).toBeGreaterThanOrEqual(asked);
				expect(pace.waitMs(now)).toBeLessThan(Infinity);
			}
		}),
	);
});
