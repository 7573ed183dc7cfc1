import * as fc from 'fast-check';
import type { CounterName, Counters } from '../../../nodes/PushCampaign/service/answers';
import { counterNames, mapCounters } from '../../../nodes/PushCampaign/service/answers';
import type { Observation, Watched } from '../../../nodes/PushCampaign/watch/compare';
import { findEvent, moveBaseline, toEvent } from '../../../nodes/PushCampaign/watch/compare';
import type { Baseline } from '../../../nodes/PushCampaign/watch/state';

const zero = mapCounters(() => 0);
const seen = (change: Partial<Counters>): Observation => ({
	campaignId: '1001',
	status: 'Sent',
	counters: { ...zero, ...change },
	observedAt: 0,
});
const watching = (change: Partial<Watched> = {}): Watched => ({
	campaignIds: ['1001'],
	counters: counterNames,
	minimumChange: 1,
	...change,
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
	const baseline = { counters: { ...zero, clicked: 2, closed: 5 }, highest: zero };
	const later = seen({ clicked: 5, closed: 4, delivered: null });
	const clicked = { from: 2, to: 5, by: 3 };
	expect(toEvent(later, baseline, counterNames)).toMatchObject({
		changes: { clicked, closed: { from: 5, to: 4, by: -1 } },
		firstSeen: false,
	});
	expect(toEvent(later, baseline, ['clicked', 'delivered']).changes).toEqual({ clicked });
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
