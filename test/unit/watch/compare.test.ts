import * as fc from 'fast-check';
import type { CounterName, Counters } from '../../../nodes/PushCampaign/service/answers';
import { counterNames } from '../../../nodes/PushCampaign/service/answers';
import type { Baseline } from '../../../nodes/PushCampaign/watch/baseline';
import { moveBaseline, zeroCounters } from '../../../nodes/PushCampaign/watch/baseline';
import type { Observation } from '../../../nodes/PushCampaign/watch/compare';
import {
	findChanges,
	isWorthAnEvent,
	findEvents,
	toEvent,
} from '../../../nodes/PushCampaign/watch/compare';

const counters = (change: Partial<Baseline['counters']> = {}): Baseline['counters'] => ({
	...zeroCounters,
	...change,
});
const seen = (change: Partial<Counters>, more: Partial<Observation> = {}): Observation => ({
	campaignId: '1001',
	status: 'Sent',
	counters: { ...zeroCounters, ...change },
	readAt: 100,
	observedAt: 200,
	...more,
});
const all = { counters: counterNames, minimumChange: 1 };

describe('changes', () => {
	test('hold every watched counter that moved', () => {
		const from = counters({ clicked: 3, closed: 5, delivered: 7 });
		const to = counters({ clicked: 9, closed: 4, delivered: 7 });
		expect(findChanges(from, to, counterNames)).toEqual({
			clicked: { from: 3, to: 9, by: 6 },
			closed: { from: 5, to: 4, by: -1 },
		});
		expect(findChanges(from, to, ['clicked', 'delivered'])).toEqual({
			clicked: { from: 3, to: 9, by: 6 },
		});
		expect(findChanges(from, from, counterNames)).toEqual({});
		expect(findChanges(from, to, [])).toEqual({});
	});

	test.each([
		[1, true],
		[5, true],
		[6, true],
		[7, false],
	])('of 6 and -5 with a minimum of %d: %s', (minimumChange, isWorth) => {
		const clicked = { from: 0, to: 6, by: 6 };
		const closed = { from: 5, to: 0, by: -5 };
		expect(isWorthAnEvent({ closed, clicked }, minimumChange)).toBe(isWorth);
		expect(isWorthAnEvent({ closed }, 5)).toBe(true);
		expect(isWorthAnEvent({ closed }, 6)).toBe(false);
		expect(isWorthAnEvent({}, minimumChange)).toBe(false);
	});

	test('hold no counter that the service does not give', () => {
		const from = counters({ clicked: 3, closed: 5 });
		const to = { ...counters({ closed: 6 }), clicked: null };
		expect(findChanges(from, to, counterNames)).toEqual({ closed: { from: 5, to: 6, by: 1 } });
		expect(moveBaseline({ counters: from, readAt: 1 }, { counters: to, readAt: 2 })).toEqual({
			counters: counters({ clicked: 3, closed: 6 }),
			readAt: 2,
		});
		expect(moveBaseline(undefined, { counters: to, readAt: 2 }).counters).toEqual(
			counters({ closed: 6 }),
		);
	});

	test('start from zeros that nobody can change', () => {
		expect(Object.keys(zeroCounters)).toEqual([...counterNames]);
		expect(Object.isFrozen(zeroCounters)).toBe(true);
		expect(new Set(Object.values(zeroCounters))).toEqual(new Set([0]));
	});
});

describe('an event', () => {
	test('counts from zero when the campaign is seen first', () => {
		expect(toEvent(seen({ clicked: 2 }, { observedAt: 0 }), undefined, counterNames)).toEqual({
			campaignId: '1001',
			status: 'Sent',
			counters: counters({ clicked: 2 }),
			deliveryRate: null,
			clickRate: null,
			changes: { clicked: { from: 0, to: 2, by: 2 } },
			firstSeen: true,
			observedAt: '1970-01-01T00:00:00.000Z',
		});
	});

	test('counts from the baseline after that', () => {
		const baseline = { counters: counters({ clicked: 2 }), readAt: 1 };
		expect(toEvent(seen({ clicked: 5 }), baseline, ['clicked'])).toMatchObject({
			changes: { clicked: { from: 2, to: 5, by: 3 } },
			firstSeen: false,
		});
	});

	test('comes for the campaigns that moved far enough', () => {
		const observations = [
			seen({ clicked: 5 }, { campaignId: 'a' }),
			seen({ clicked: 1 }, { campaignId: 'b' }),
			seen({ closed: 9 }, { campaignId: 'c' }),
			seen({}, { campaignId: 'd' }),
		];
		const options = { counters: ['clicked'] as const, minimumChange: 3 };
		const found = findEvents(observations, {}, options, 200);
		expect(found.map(({ event }) => event.campaignId)).toEqual(['a']);
		expect(found[0]?.observation).toBe(observations[0]);
	});

	test.each([
		[99, true],
		[100, true],
		[101, false],
		[200, false],
		// By another poll, while this one still waited for other campaigns.
		[201, false],
		[300, false],
		// From a clock that was wrong.
		[301, true],
	])(
		'against a baseline read at %d, when it was read from 100 to 200 by a poll until 300: %s',
		(readAt, isEmitted) => {
			const baselines = { '1001': { counters: counters({ clicked: 1 }), readAt } };
			const found = findEvents([seen({ clicked: 2 })], baselines, all, 300);
			expect(found).toHaveLength(isEmitted ? 1 : 0);
		},
	);
});

describe('over any sequence of polls', () => {
	const count = fc.option(fc.nat(50), { freq: 8 });
	const record = fc.record({
		totalAttempts: count,
		successfullySent: count,
		failedToSend: count,
		delivered: count,
		clicked: count,
		closed: count,
	});
	const watched = fc.subarray([...counterNames], { minLength: 1 });

	test("the sum of all events' changes is the last emitted counter, and the rest is below the minimum", () => {
		fc.assert(
			fc.property(
				fc.array(record, { minLength: 1, maxLength: 20 }),
				watched,
				fc.integer({ min: 1, max: 30 }),
				(records, names, minimumChange) => {
					const sums = new Map<CounterName, number>();
					let baseline: Baseline | undefined;
					records.forEach((state, index) => {
						const observation = seen(state, { readAt: index, observedAt: index });
						const baselines = baseline === undefined ? {} : { '1001': baseline };
						const options = { counters: names, minimumChange };
						const [found] = findEvents([observation], baselines, options, index);
						if (found === undefined) {
							for (const name of names) {
								const from = baseline?.counters[name] ?? 0;
								const now: number | null = state[name];
								expect(Math.abs((now ?? from) - from)).toBeLessThan(minimumChange);
							}
							return;
						}
						expect(found.event.firstSeen).toBe(baseline === undefined);
						for (const name of counterNames) {
							const change = found.event.changes[name];
							if (!names.includes(name) || state[name] === null) expect(change).toBeUndefined();
							sums.set(name, (sums.get(name) ?? 0) + (change?.by ?? 0));
						}
						baseline = moveBaseline(baseline, observation);
					});
					for (const name of names) {
						expect(sums.get(name) ?? 0).toBe(baseline?.counters[name] ?? 0);
					}
				},
			),
		);
	});
});
