import { RateController } from '../../../nodes/PushCampaign/delivery/rateController';
import { refusalBackoffMs } from '../../../nodes/PushCampaign/delivery/retry';

// By this chance pauses are as long as they are written down.
const paceOf = (ceiling = 100, random = 1, startsFast = false) =>
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

describe('how many are under way', () => {
	test('20 at first, and 3 more for each good answer, up to the ceiling', () => {
		const pace = paceOf();
		expect(fill(pace)).toBe(20);
		pace.ended(true);
		expect(fill(pace)).toBe(4);
		times(23, () => pace.ended(true));
		expect(fill(pace)).toBe(92);
		times(3, () => pace.ended(true));
		expect(fill(pace)).toBe(100 - 89);
		pace.ended(true);
		expect(fill(pace)).toBe(1);
	});

	test('from the ceiling on where it is low, or is known to be taken', () => {
		expect(fill(paceOf(7))).toBe(7);
		expect(fill(paceOf(100, 1, true))).toBe(100);
		expect(fill(paceOf(7, 1, true))).toBe(7);
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

/** Of 20 that started at 0, ten are accepted; one of the others is refused at 100 ms. */
function refusedOnce(random?: number, retryAfterMs?: number): RateController {
	const pace = paceOf(100, random);
	fill(pace);
	times(10, () => pace.ended(true));
	pace.refused(100, retryAfterMs);
	return pace;
}
/** Requests per millisecond: what was accepted, and half of the refused one. */
const firstPace = 10.5 / 100;

describe('a first refusal', () => {
	test.each([
		[0, 0.9 * 250],
		[0.5, 0.95 * 250],
		[0.9, 0.99 * 250],
	])('stops all for a moment that differs by chance (%d): %d ms', (random, pauseMs) => {
		const pace = refusedOnce(random);
		expect(pace.wasRefused).toBe(true);
		expect(pace.waitMs(100)).toBeCloseTo(pauseMs);
		expect(pace.waitMs(100 + pauseMs / 2)).toBeCloseTo(pauseMs / 2);
		expect(pace.waitMs(10_000)).toBe(0);
	});

	test('stops all for as long as the service asks', () => {
		expect(refusedOnce(0.9, 7000).waitMs(100)).toBe(7000);
	});

	test('halves how many are under way, and each good answer adds one', () => {
		const pace = refusedOnce();
		times(10, () => pace.ended(false));
		expect(fill(pace, 5000)).toBe(5);
		times(2, () => pace.ended(true));
		expect(fill(pace, 5000)).toBe(4);
	});

	test('leaves a single one under way where nothing was accepted', () => {
		const pace = paceOf();
		fill(pace);
		pace.refused(100);
		times(20, () => pace.ended(false));
		expect(fill(pace, 5000)).toBe(1);
	});

	test('spaces what follows by what was accepted', () => {
		const pace = refusedOnce();
		pace.started(350);
		expect(pace.waitMs(350)).toBeCloseTo(1 / firstPace);
		pace.started(360);
		expect(pace.waitMs(360)).toBeCloseTo(2 / firstPace - 10);
	});

	test('where no time has passed counts as one millisecond', () => {
		const pace = paceOf();
		fill(pace, 50);
		pace.refused(50);
		pace.started(300);
		expect(pace.waitMs(300)).toBeCloseTo(1 / 0.5);
	});

	test('is no news from what was under way before: only its own wish counts', () => {
		const pace = refusedOnce();
		times(9, () => {
			pace.refused(120);
			pace.ended(false);
		});
		expect(pace.waitMs(120)).toBeCloseTo(230);
		pace.started(350);
		expect(pace.waitMs(350)).toBeCloseTo(1 / firstPace);
		pace.refused(360, 1000);
		expect(pace.waitMs(360)).toBe(1000);
	});
});

/** The share by which a learned pace has grown after some seconds. */
const grown = (growth: number, seconds: number) => Math.exp(growth * (seconds + seconds ** 2));

/** How long after a moment the next has to wait when `starts` have started at it, with 100 ms made up for. */
const waitAfter = (pace: RateController, now: number, starts: number) => {
	times(starts, () => pace.started(now));
	return pace.waitMs(now);
};

describe('a learned pace', () => {
	// A first guess from ten answers may be too low by a tenth.
	const firstGrowth = 0.03 + 1 / 11;

	/** Refused at 100 ms, allowed again at 350 ms; none of the old ones is under way any more. */
	function recovering(accepted: number): RateController {
		const pace = refusedOnce();
		times(10, () => pace.ended(false));
		times(accepted, () => {
			pace.started(350);
			pace.ended(true);
		});
		return pace;
	}

	test('grows with time, ever faster', () => {
		expect(waitAfter(recovering(90), 1350, 40)).toBeCloseTo(
			40 / (firstPace * grown(firstGrowth, 1)) - 100,
		);
		expect(waitAfter(recovering(90), 2350, 80)).toBeCloseTo(
			80 / (firstPace * grown(firstGrowth, 2)) - 100,
		);
	});

	test('grows only as far as requests are accepted: ten are worth a second', () => {
		expect(waitAfter(recovering(5), 60_350, 40)).toBeCloseTo(
			40 / (firstPace * grown(firstGrowth, 0.5)) - 100,
		);
		expect(waitAfter(recovering(0), 60_350, 40)).toBeCloseTo(40 / firstPace - 100);
	});

	test('never goes beyond ten in a millisecond', () => {
		expect(waitAfter(recovering(200), 20_350, 2000)).toBeCloseTo(2000 / 10 - 100);
	});

	test('that is refused, too, falls between that and what was accepted', () => {
		const pace = recovering(10);
		pace.refused(1350);
		expect(pace.waitMs(1350)).toBe(250);
		const refused = firstPace * grown(firstGrowth, 1);
		const measured = 10.5 / (1350 - 100);
		const second = Math.sqrt(refused * measured);
		times(10, () => {
			pace.started(1600);
			pace.ended(true);
		});
		expect(pace.waitMs(1600)).toBeCloseTo(10 / second);
		expect(waitAfter(pace, 60_000, 40)).toBeCloseTo(40 / (second * grown(0.03, 1)) - 100);
	});
});

test('refusals without an answer in between wait four times as long each time, about a minute at most', () => {
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
	expect(waits).toEqual([250, 1000, 4000, 16_000, 64_000, 64_000, 64_000]);
	expect(pace.refusals).toBe(7);
	pace.started(now);
	pace.ended(true);
	expect(pace.refusals).toBe(0);
	pace.started(now);
	pace.refused(now);
	expect(pace.waitMs(now)).toBe(250);
});

test('a service that accepts nothing for a while is not taken for a slow one', () => {
	const pace = refusedOnce();
	times(10, () => pace.ended(false));
	const before = waitAfter(pace, 100_000, 40);
	pace.refused(100_000);
	times(40, () => pace.ended(false));
	pace.refused(200_000);
	expect(waitAfter(pace, 300_000, 40)).toBeCloseTo(before);
});

test('a refusal that comes late never pulls the next start forward', () => {
	const pace = refusedOnce();
	times(9, () => pace.ended(false));
	pace.started(400);
	times(30, () => pace.started(400));
	const next = 400 + pace.waitMs(400);
	// The last of those that were under way at the first refusal.
	const late = paceOf();
	fill(late);
	late.refused(0);
	times(30, () => late.started(10_000));
	const nextOfLate = 10_000 + late.waitMs(10_000);
	late.refused(10_000);
	expect(10_000 + late.waitMs(10_000)).toBeGreaterThanOrEqual(nextOfLate);
	expect(next).toBeGreaterThan(400);
});

test('what was learned from single items is forgotten', () => {
	const pace = refusedOnce();
	pace.forget(200);
	expect(pace.wasRefused).toBe(false);
	expect(pace.refusals).toBe(0);
	expect(pace.waitMs(200)).toBe(0);
	times(10, () => pace.ended(false));
	expect(fill(pace, 200)).toBeGreaterThanOrEqual(20);
});

test('how long to wait grows fourfold, and differs by chance a little', () => {
	expect(
		[1, 2, 3, 4, 5, 6].map((refusals) => Math.round(refusalBackoffMs(refusals, 0.999_999))),
	).toEqual([250, 1000, 4000, 16_000, 64_000, 64_000]);
	expect(refusalBackoffMs(1, 0)).toBe(225);
});
