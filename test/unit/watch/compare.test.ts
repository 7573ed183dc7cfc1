import * as fc from 'fast-check';
import type { CounterName, Counters } from '../../../nodes/PushCampaign/service/answers';
import { counterNames, mapCounters } from '../../../nodes/PushCampaign/service/answers';
import type { Observation, Watched } from '../../../nodes/PushCampaign/watch/compare';
import {
	findChanges,
	findEvent,
	moveBaseline,
	toEvent,
} from '../../../nodes/PushCampaign/watch/compare';
import type { Baseline } from '../../../nodes/PushCampaign/watch/state';

const zero = mapCounters(() => 0);
const seen = (change: Partial<Counters>): Observation => ({
	campaignId: '1001',
	status: 'Sent',
	counters: { ...zero, ...change },
	readAt: 100,
	observedAt: 0,
});
const watching = (change: Partial<Watched> = {}): Watched => ({
	campaignIds: ['1001'],
	counters: counterNames,
	minimumChange: 1,
	...change,
});

test('changes hold every watched counter that moved, and that the service gives', () => {
	const from = { ...zero, clicked: 3, closed: 5, delivered: 7 };
	const to = { ...zero, clicked: 9, closed: 4, delivered: 7 };
	const clicked = { from: 3, to: 9, by: 6 };
	const closed = { from: 5, to: 4, by: -1 };
	expect(findChanges(from, to, counterNames)).toEqual({ clicked, closed });
	expect(findChanges(from, to, ['clicked', 'delivered'])).toEqual({ clicked });
	expect(findChanges(from, { ...to, clicked: null }, counterNames)).toEqual({ closed });
	expect(findChanges(from, to, [])).toEqual({});
});

test('an event counts from zero when the campaign is seen first, and from its baseline then', () => {
	expect(toEvent(seen({ clicked: 2 }), undefined, counterNames)).toEqual({
		campaignId: '1001',
		status: 'Sent',
		counters: { ...zero, clicked: 2 },
		deliveryRate: null,
		clickRate: null,
		changes: { clicked: { from: 0, to: 2, by: 2 } },
		firstSeen: true,
		observedAt: '1970-01-01T00:00:00.000Z',
	});
	const baseline = { counters: { ...zero, clicked: 2 }, highest: {} };
	expect(toEvent(seen({ clicked: 5 }), baseline, ['clicked'])).toMatchObject({
		changes: { clicked: { from: 2, to: 5, by: 3 } },
		firstSeen: false,
	});
});

test('a baseline keeps the place of what the service does not give, and the most of what fell', () => {
	const before = { counters: { ...zero, clicked: 3, closed: 5 }, highest: { delivered: 4 } };
	const now = { ...zero, clicked: null, closed: 2, delivered: 3 };
	expect(moveBaseline(before, now)).toEqual({
		counters: { ...zero, clicked: 3, closed: 2, delivered: 3 },
		highest: { closed: 5, delivered: 4 },
	});
	expect(moveBaseline(before, { ...zero, closed: 6, delivered: 4, clicked: 9 }).highest).toEqual(
		{},
	);
	expect(moveBaseline(undefined, now)).toEqual({
		counters: { ...zero, closed: 2, delivered: 3 },
		highest: {},
	});
});

const count = fc.option(fc.nat(50), { freq: 8 });
const record = fc.record(mapCounters(() => count));
const records = fc.array(record, { minLength: 1, maxLength: 20, size: 'max' });
const someCounters = fc.subarray([...counterNames], { minLength: 1 });

/** Polls that each read one of the records; gives what was emitted, and where each counter is then. */
function follow(all: readonly Counters[], watched: Watched) {
	let baseline: Baseline | undefined;
	const sums = new Map<CounterName, number>();
	return all.map((counters) => {
		const before = baseline;
		const event = findEvent(seen(counters), before, watched);
		if (event !== undefined) {
			expect(event.firstSeen).toBe(before === undefined);
			for (const name of counterNames) {
				const change = event.changes[name];
				if (!watched.counters.includes(name) || counters[name] === null) {
					expect(change).toBeUndefined();
				}
				sums.set(name, (sums.get(name) ?? 0) + (change?.by ?? 0));
			}
			baseline = moveBaseline(before, counters);
			for (const name of watched.counters) expect(sums.get(name)).toBe(baseline.counters[name]);
		}
		return { event, from: (before ?? { counters: zero }).counters, counters };
	});
}

test("the sum of all events' changes is the last emitted counter, and the rest is below the minimum", () => {
	fc.assert(
		fc.property(records, someCounters, fc.integer({ min: 1, max: 30 }), (all, names, minimum) => {
			const watched = watching({ counters: names, minimumChange: minimum });
			for (const { event, from, counters } of follow(all, watched)) {
				const moves = names.map((name) => Math.abs((counters[name] ?? from[name]) - from[name]));
				expect(event !== undefined).toBe(Math.max(...moves) >= minimum);
			}
		}),
	);
});

test('a number is reached once by each campaign and counter, however the counters rise and fall', () => {
	fc.assert(
		fc.property(records, someCounters, fc.integer({ min: 1, max: 60 }), (all, names, reaches) => {
			const watched = watching({ counters: names, minimumChange: 70, reaches });
			const reached = new Set<CounterName>();
			for (const { event, counters } of follow(all, watched)) {
				const news = names.filter((name) => (counters[name] ?? 0) >= reaches && !reached.has(name));
				expect(event !== undefined).toBe(news.length > 0);
				for (const name of news) reached.add(name);
			}
		}),
	);
});
