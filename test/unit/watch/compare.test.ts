import * as fc from 'fast-check';
import type { Baselines, Observation, Emission } from '../../../nodes/PushCampaign/watch/compare';
import { findEmissions, toPresentItem } from '../../../nodes/PushCampaign/watch/compare';
import type { TriggerRule } from '../../../nodes/PushCampaign/watch/watched';
import { changesIn, observationOf } from './support';

const watchedNames = ['delivered', 'clicked', 'closed'];
const changedBy = (minimumChange = 1, counters: readonly string[] = watchedNames): TriggerRule => ({
	startsOn: 'change',
	counters,
	isStatusWatched: false,
	minimumChange,
});
const statusChanged: TriggerRule = {
	startsOn: 'change',
	counters: [],
	isStatusWatched: true,
	minimumChange: 1,
};
const clickedReaches = (target: number): TriggerRule => ({
	startsOn: 'reach',
	counter: 'clicked',
	target,
});

/** Compares one observation after another, each with the baselines that the ones before left. */
function emissionsOf(
	observations: readonly Observation[],
	rule: TriggerRule,
): Array<Emission | undefined> {
	let baselines: Baselines = new Map();
	return observations.map((observation) => {
		const found = findEmissions([observation], baselines, rule);
		baselines = found.baselines;
		expect(found.emissions.length).toBeLessThanOrEqual(1);
		return found.emissions[0];
	});
}
const itemsOf = (observations: readonly Observation[], rule: TriggerRule) =>
	emissionsOf(observations, rule).map((event) => event?.item);
const changesOf = (observations: readonly Observation[], rule: TriggerRule) =>
	emissionsOf(observations, rule).map((event) => event && changesIn(event.item));

describe('an item', () => {
	test('holds the fields of the reading, then what changed, in a fixed order', () => {
		const [item] = itemsOf([observationOf({ clicked: 2 })], changedBy());
		expect(Object.keys(item ?? {})).toEqual([
			'campaignId',
			'status',
			'clicked',
			'changes',
			'firstSeen',
			'observedAt',
		]);
		expect(item).toEqual({
			campaignId: '1001',
			status: 'Sent',
			clicked: 2,
			changes: { clicked: { from: 0, to: 2, by: 2 } },
			firstSeen: true,
			observedAt: '1970-01-01T00:00:00.000Z',
		});
	});

	test('counts from the last event once there was one', () => {
		const seen = [observationOf({ clicked: 2 }), observationOf({ clicked: 5 })];
		expect(itemsOf(seen, changedBy())[1]).toMatchObject({
			changes: { clicked: { from: 2, to: 5, by: 3 } },
			firstSeen: false,
		});
	});

	test('has a negative change when the service takes something back', () => {
		const seen = [observationOf({ clicked: 5 }), observationOf({ clicked: 4 })];
		expect(changesOf(seen, changedBy())[1]).toEqual({ clicked: { from: 5, to: 4, by: -1 } });
	});

	test('has changes of what is watched alone', () => {
		const seen = [observationOf({ clicked: 5, closed: 3 })];
		expect(changesOf(seen, changedBy(1, ['closed']))).toEqual([
			{ closed: { from: 0, to: 3, by: 3 } },
		]);
	});

	test('of the present state is that of a campaign that is seen for the first time', () => {
		expect(toPresentItem(observationOf({ clicked: 3 }), clickedReaches(100))).toMatchObject({
			clicked: 3,
			changes: { clicked: { from: 0, to: 3, by: 3 } },
			firstSeen: true,
		});
	});
});

test('two counters that each moved by less than the minimum start nothing, whatever they add up to', () => {
	const seen = [observationOf({ clicked: 3, closed: 3 }), observationOf({ clicked: 4, closed: 5 })];
	expect(changesOf(seen, changedBy(5))).toEqual([
		undefined,
		{ clicked: { from: 0, to: 4, by: 4 }, closed: { from: 0, to: 5, by: 5 } },
	]);
});

describe('a number that the service does not give', () => {
	test('starts nothing, and is compared with its older value once it is back', () => {
		const seen = [{ clicked: 3 }, { clicked: null }, { clicked: 3 }, { clicked: 4 }];
		expect(
			changesOf(
				seen.map((counters) => observationOf(counters)),
				changedBy(),
			),
		).toEqual([
			{ clicked: { from: 0, to: 3, by: 3 } },
			undefined,
			undefined,
			{ clicked: { from: 3, to: 4, by: 1 } },
		]);
	});

	test('keeps its place in the baseline while another number moves', () => {
		const seen = [
			{ clicked: 3, closed: 1 },
			{ clicked: null, closed: 2 },
			{ clicked: 5, closed: 2 },
		];
		expect(
			changesOf(
				seen.map((counters) => observationOf(counters)),
				changedBy(),
			)[2],
		).toEqual({
			clicked: { from: 3, to: 5, by: 2 },
		});
	});
});

describe('a watched status', () => {
	const statuses = (...given: Array<string | null>) =>
		given.map((status) => observationOf({}, { status }));

	test('changes from null at first, then from the status of the last event', () => {
		expect(changesOf(statuses('Scheduled', 'Scheduled', 'Sent'), statusChanged)).toEqual([
			{ status: { from: null, to: 'Scheduled' } },
			undefined,
			{ status: { from: 'Scheduled', to: 'Sent' } },
		]);
	});

	test('that the service does not give starts nothing, and the next one is compared with the last event', () => {
		const given = statuses(null, 'Scheduled', null, 'Scheduled', 'Sent');
		expect(changesOf(given, statusChanged)).toEqual([
			undefined,
			{ status: { from: null, to: 'Scheduled' } },
			undefined,
			undefined,
			{ status: { from: 'Scheduled', to: 'Sent' } },
		]);
		const moved = observationOf({ clicked: 1 }, { status: null });
		const rule: TriggerRule = { ...statusChanged, counters: ['clicked'] };
		expect(changesOf([...statuses('Sent'), moved, ...statuses('Sent')], rule)).toEqual([
			{ status: { from: null, to: 'Sent' } },
			{ clicked: { from: 0, to: 1, by: 1 } },
			undefined,
		]);
	});

	test('starts the workflow whatever the minimum change is, with the small changes beside it', () => {
		const rule: TriggerRule = { ...statusChanged, counters: ['clicked'], minimumChange: 50 };
		const seen = [
			observationOf({ clicked: 0 }, { status: 'Scheduled' }),
			observationOf({ clicked: 7 }, { status: 'Scheduled' }),
			observationOf({ clicked: 8 }, { status: 'Sent' }),
		];
		expect(changesOf(seen, rule).slice(1)).toEqual([
			undefined,
			{ status: { from: 'Scheduled', to: 'Sent' }, clicked: { from: 0, to: 8, by: 8 } },
		]);
	});

	test('stands before the counters in the changes', () => {
		const rule: TriggerRule = { ...statusChanged, counters: ['clicked'] };
		const [changes] = changesOf([observationOf({ clicked: 1 })], rule);
		expect(Object.keys(changes ?? {})).toEqual(['status', 'clicked']);
	});

	test('that is watched from now on is compared with the last event', () => {
		const first = findEmissions([observationOf({ clicked: 1 })], new Map(), changedBy());
		expect(
			findEmissions([observationOf({ clicked: 1 })], first.baselines, statusChanged).emissions,
		).toEqual([]);
	});

	test('that is not watched starts nothing', () => {
		const seen = [
			observationOf({ clicked: 1 }, { status: 'Scheduled' }),
			observationOf({ clicked: 1 }, { status: 'Sent' }),
		];
		expect(emissionsOf(seen, changedBy())[1]).toBeUndefined();
	});
});

describe('a number that is reached', () => {
	const clicks = (...given: Array<number | null>) =>
		given.map((clicked) => observationOf({ clicked, closed: 0 }));
	interface Row {
		readonly name: string;
		readonly given: Observation[];
		readonly when: TriggerRule;
		/** The positions of the readings that start the workflow. */
		readonly then: number[];
	}
	const rows: Row[] = [
		{
			name: 'starts the workflow once when the counter comes up to it',
			given: clicks(99, 100, 101),
			when: clickedReaches(100),
			then: [1],
		},
		{
			name: 'starts the workflow once if the counter is above it when it is first read',
			given: clicks(500, 501),
			when: clickedReaches(100),
			then: [0],
		},
		{
			name: 'starts nothing again after the counter fell and rose',
			given: clicks(100, 90, 100, 120),
			when: clickedReaches(100),
			then: [0],
		},
		{
			name: 'starts nothing while the service does not give the counter',
			given: clicks(99, null, 100),
			when: clickedReaches(100),
			then: [2],
		},
	];
	test.each(rows)('$name', ({ given, when, then }) => {
		const started = emissionsOf(given, when).flatMap((event, index) => (event ? [index] : []));
		expect(started).toEqual(then);
	});

	test('starts the workflow when it is raised to one that no event has reported', () => {
		const { baselines } = findEmissions(clicks(150), new Map(), clickedReaches(100));
		expect(findEmissions(clicks(160), baselines, clickedReaches(160)).emissions).toHaveLength(1);
		expect(findEmissions(clicks(160), baselines, clickedReaches(150)).emissions).toHaveLength(0);
	});

	test('starts the workflow though it was reached by another counter, or reported by another event', () => {
		const seen = [observationOf({ clicked: 150, closed: 120 })];
		const closedReaches: TriggerRule = { startsOn: 'reach', counter: 'closed', target: 100 };
		const rules = [clickedReaches(100), closedReaches, closedReaches];
		let { baselines } = findEmissions(seen, new Map(), changedBy());
		const started = rules.map((rule) => {
			const found = findEmissions(seen, baselines, rule);
			baselines = found.baselines;
			return found.emissions.map(({ item }) => changesIn(item));
		});
		// Nothing moved since the first event.
		expect(started).toEqual([[{}], [{}], []]);
	});

	test.each([
		{
			name: 'reported a lower counter',
			given: [{ clicked: 100 }, { clicked: 90 }, { clicked: 100 }],
		},
		{
			name: 'came without the counter',
			given: [{ clicked: 100 }, { clicked: null, closed: 2 }, { clicked: 101 }],
		},
	])('counts as reached though a later event $name', ({ given }) => {
		const rules = [clickedReaches(100), changedBy(), clickedReaches(100)];
		let baselines: Baselines = new Map();
		const started = given.map((counters, index) => {
			const observation = observationOf(counters);
			const found = findEmissions([observation], baselines, rules[index] ?? changedBy());
			baselines = found.baselines;
			return found.emissions.length;
		});
		expect(started).toEqual([1, 1, 0]);
	});

	test('has the change of its own counter alone', () => {
		const seen = [observationOf({ clicked: 100, closed: 7 })];
		expect(changesOf(seen, clickedReaches(100))).toEqual([
			{ clicked: { from: 0, to: 100, by: 100 } },
		]);
	});
});

describe('whatever a campaign does', () => {
	const count = fc.option(fc.nat(50), { freq: 8 });
	const names = ['delivered', 'clicked', 'closed'];
	const reading = fc.record({ delivered: count, clicked: count, closed: count });
	const readings = fc.array(reading, { minLength: 1, maxLength: 20, size: 'max' });
	const someNames = fc.subarray(names, { minLength: 1 });
	const minimum = fc.integer({ min: 1, max: 30 });

	test('the changes of all events add up to the last emitted counter, and the rest is below the minimum', () => {
		fc.assert(
			fc.property(readings, someNames, minimum, (all, watched, minimumChange) => {
				const rule = changedBy(minimumChange, watched);
				const emitted = new Map<string, number>(names.map((name) => [name, 0]));
				const events = emissionsOf(
					all.map((counters) => observationOf(counters)),
					rule,
				);
				for (const [index, event] of events.entries()) {
					const now = new Map(Object.entries(all[index] ?? {}));
					const moves = watched.map((name) => {
						const before = emitted.get(name) ?? 0;
						return Math.abs((now.get(name) ?? before) - before);
					});
					expect(event !== undefined).toBe(Math.max(...moves) >= minimumChange);
					for (const [name, { by = 0 }] of Object.entries(event ? changesIn(event.item) : {})) {
						emitted.set(name, (emitted.get(name) ?? 0) + by);
						expect(emitted.get(name)).toBe(now.get(name));
					}
				}
			}),
		);
	});

	test('a number is reached at most once', () => {
		fc.assert(
			fc.property(readings, fc.integer({ min: 1, max: 60 }), (all, target) => {
				const events = emissionsOf(
					all.map((counters) => observationOf(counters)),
					clickedReaches(target),
				);
				const first = all.findIndex(({ clicked }) => clicked !== null && clicked >= target);
				expect(events.flatMap((event, index) => (event ? [index] : []))).toEqual(
					first < 0 ? [] : [first],
				);
			}),
		);
	});
});
