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

/** How many start at a moment without waiting. */
function startsAt(pace: Pace, now: number): number {
	let started = 0;
	for (; pace.waitMs(now) === 0; started += 1) pace.started(now);
	return started;
}

/** The pace in requests per second. */
function perSecond(pace: Pace, now: number): number {
	startsAt(pace, now);
	const before = pace.waitMs(now);
	pace.started(now);
	return 1000 / (pace.waitMs(now) - before);
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
	test('does not count before the first refusal, which measures it: by three answers at least', () => {
		const pace = paceOf();
		times(1000, () => pace.started(0));
		expect(pace.waitMs(0)).toBe(0);
		expect(refusedOnce().waitMs(1000)).toBe(0);
		expect(perSecond(refusedOnce(), 1000)).toBeCloseTo(50, 5);
		pace.wasRefused(refusal(0), 60, 0, 0);
		expect(perSecond(pace, 60)).toBeCloseTo(50, 5);
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
		const grown = 50 + accepted * 0.05;
		pace.wasRefused(refusal(0), 1000 + withinMs, 1000, 0);
		expect(perSecond(pace, 1000 + withinMs) / grown).toBeCloseTo(left, 1);
	});

	test('is not cut by one refusal for twenty that were accepted, unless others came late', () => {
		const after = (late: number) => {
			const pace = refusedOnce();
			times(late, () => pace.wasRefused(refusal(), 1001, 999, 0));
			times(20, () => pace.wasAccepted(1000));
			pace.wasRefused(refusal(0), 2000, 1000, 0);
			return perSecond(pace, 2000);
		};
		expect(after(0)).toBeGreaterThan(50);
		expect(after(1)).toBeLessThan(33);
	});

	test('grows with good answers, ever faster, from when the last pause is over', () => {
		const growth = (retryAfterMs: number, from: number) => {
			const pace = refusedOnce(retryAfterMs);
			return [0, 1000, 2000].map((ms) => {
				times(100, () => pace.wasAccepted(from + ms));
				return Math.round(perSecond(pace, from + ms + 500));
			});
		};
		expect(growth(0, 1000)).toEqual([55, 70, 95]);
		expect(growth(9000, 10_000)).toEqual([55, 70, 95]);
		// In the pause itself only little.
		const pausing = refusedOnce(9000);
		times(100, () => pausing.wasAccepted(9000));
		expect(Math.round(perSecond(pausing, 10_000))).toBe(55);
	});

	test('makes up for a timer that fires late, but not for a long silence', () => {
		expect([1000, 1060, 90_000].map((now) => startsAt(refusedOnce(), now))).toEqual([1, 4, 6]);
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
		let now = 0;
		for (const [index, waitMs] of [250, 1000, 4000, 16_000, 64_000, 64_000].entries()) {
			pace.started(now);
			expect(pace.wasRefused(refusal(), now, now, 0)).toBe(index + 1);
			expect(roomOf(pace)).toBe(1);
			expect(pace.waitMs(now)).toBe(waitMs);
			now += waitMs;
		}
		// What started before the last refusal is no news: it is no further one in a row, and no pause.
		expect(pace.wasRefused(refusal(), now, -1, 9)).toBe(0);
		pace.wasAccepted(now);
		expect(roomOf(pace)).toBe(4);
		// Something was accepted: the next one is no refusal in a row.
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
