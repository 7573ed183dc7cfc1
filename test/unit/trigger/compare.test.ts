import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import type { Baselines, Reading, Rule } from '../../../nodes/PushCampaign/trigger/compare';
import { compare, presentItem } from '../../../nodes/PushCampaign/trigger/compare';
import { changesIn, readingOf } from './support';

const names = ['delivered', 'clicked', 'closed'];
const changed = (watched: readonly string[] = names, minimumChange = 1): Rule => ({
	startsOn: 'change',
	watched,
	minimumChange,
});
const reached = (number: number, counter = 'clicked'): Rule => ({
	startsOn: 'reach',
	counter,
	number,
});

/** One poll: what it reads, and the rule that it compares by. */
type Poll = readonly [reading: Reading, rule: Rule];

/** Compares in one poll after another; each item, or nothing. */
function itemsOf(polls: readonly Poll[]): Array<IDataObject | undefined> {
	let baselines: Baselines = new Map();
	return polls.map(([reading, rule]) => {
		const found = compare([reading], baselines, rule);
		baselines = found.baselines;
		return found.items[0];
	});
}
const changesOf = (polls: readonly Poll[]) => itemsOf(polls).map((item) => item && changesIn(item));

/** Polls under one rule. */
const under = (rule: Rule, ...readings: Array<Reading['counters']>): Poll[] =>
	readings.map((counters) => [readingOf(counters), rule]);
/** The positions of the polls that start the workflow. */
const startsOf = (polls: readonly Poll[]) =>
	itemsOf(polls).flatMap((item, index) => (item === undefined ? [] : [index]));

describe('an item', () => {
	test('holds what changed since the last item right behind the status', () => {
		const items = itemsOf(under(changed(), { clicked: 2 }, { clicked: 5 }));
		expect(items).toEqual([
			{
				campaignId: '1001',
				status: 'Sent',
				clicked: 2,
				changes: { clicked: { from: 0, to: 2, by: 2 } },
				firstSeen: true,
				observedAt: '1970-01-01T00:00:00.000Z',
			},
			expect.objectContaining({
				changes: { clicked: { from: 2, to: 5, by: 3 } },
				firstSeen: false,
			}),
		]);
		const order = ['campaignId', 'status', 'changes', 'firstSeen', 'clicked', 'observedAt'];
		expect(Object.keys(items[0] ?? {})).toEqual(order);
	});

	test('of the site, which has no status, is seen for the first time once', () => {
		const site = (clicked: number): Poll => [readingOf({ clicked }, { status: null }), changed()];
		const items = itemsOf([site(2), site(5)]);
		expect(items.map((item) => item?.['firstSeen'])).toEqual([true, false]);
	});

	test('of the present state is that of a campaign that is seen for the first time', () => {
		expect(presentItem(readingOf({ clicked: 3 }), reached(100))).toMatchObject({
			changes: { clicked: { from: 0, to: 3, by: 3 } },
			firstSeen: true,
		});
	});
});

test('moves below the minimum start nothing, and are in the next item', () => {
	const polls = under(changed(names, 5), { clicked: 3, closed: 3 }, { clicked: 4, closed: 5 });
	expect(changesOf(polls)).toEqual([
		undefined,
		{ clicked: { from: 0, to: 4, by: 4 }, closed: { from: 0, to: 5, by: 5 } },
	]);
});

test('a number that the service does not give is not compared, and keeps its place in the baseline', () => {
	const polls = under(
		changed(),
		{ clicked: 3, closed: 1 },
		{ clicked: null, closed: 1 },
		{ clicked: null, closed: 2 },
		{ clicked: 5, closed: 2 },
	);
	expect(changesOf(polls)).toEqual([
		{ clicked: { from: 0, to: 3, by: 3 }, closed: { from: 0, to: 1, by: 1 } },
		undefined,
		{ closed: { from: 1, to: 2, by: 1 } },
		{ clicked: { from: 3, to: 5, by: 2 } },
	]);
});

test('a campaign that fails, or is off the list for a while, goes on from its last item', () => {
	const first = compare(
		[readingOf({ clicked: 3 }), readingOf({ clicked: 1 }, { id: '2' })],
		new Map(),
		changed(),
	);
	const second = compare([readingOf({ clicked: 4 }, { id: '2' })], first.baselines, changed());
	const third = compare([readingOf({ clicked: 5 })], second.baselines, changed());
	expect(third.items).toMatchObject([
		{ changes: { clicked: { from: 3, to: 5, by: 2 } }, firstSeen: false },
	]);
});

describe('a watched status', () => {
	const rule = changed(['status', 'clicked'], 50);
	const statuses = (...given: Array<string | null>): Poll[] =>
		given.map((status) => [readingOf({ clicked: 8 }, { status }), rule]);

	test('starts the workflow whatever the minimum is, from null at first, and stands first', () => {
		const changes = changesOf(statuses('Scheduled', 'Scheduled', 'Sent'));
		expect(changes).toEqual([
			{ status: { from: null, to: 'Scheduled' }, clicked: { from: 0, to: 8, by: 8 } },
			undefined,
			{ status: { from: 'Scheduled', to: 'Sent' } },
		]);
		expect(Object.keys(changes[0] ?? {})).toEqual(['status', 'clicked']);
	});

	test('that the service does not give starts nothing, and the next one is compared with the last item', () => {
		expect(startsOf(statuses(null, 'Sent', null, 'Sent', 'Gone'))).toEqual([1, 4]);
	});

	test('that is watched from now on is compared with the last item', () => {
		const reading = readingOf({ clicked: 1 });
		expect(
			startsOf([
				[reading, changed()],
				[reading, changed(['status'])],
			]),
		).toEqual([0]);
	});
});

// That it starts it once, whatever the counter does, is a property below.
describe('a number that is reached starts the workflow', () => {
	const rows: Array<{ name: string; polls: Poll[]; starts: number[] }> = [
		{
			name: 'once after it was raised, also to one that was exceeded already',
			polls: [
				...under(reached(100), { clicked: 170 }),
				...under(reached(160), { clicked: 170 }, { clicked: 170 }),
				...under(reached(180), { clicked: 170 }, { clicked: 180 }),
			],
			starts: [0, 1, 4],
		},
		{
			name: 'not after it was lowered',
			polls: [...under(reached(100), { clicked: 100 }), ...under(reached(50), { clicked: 100 })],
			starts: [0],
		},
		{
			name: 'once after another counter was chosen',
			polls: [
				...under(reached(100), { clicked: 150, closed: 120 }),
				...under(reached(100, 'closed'), { clicked: 150, closed: 120 }, { closed: 121 }),
			],
			starts: [0, 1],
		},
		{
			name: 'not again when a counter is chosen again that was reached before another one',
			polls: [
				...under(reached(100), { clicked: 100 }),
				...under(reached(100, 'closed'), { closed: 100 }),
				...under(reached(100), { clicked: 100 }),
			],
			starts: [0, 1],
		},
		{
			name: 'once after a change from another event, though nothing moved',
			polls: [
				...under(changed(), { clicked: 150 }),
				...under(reached(100), { clicked: 150 }, { clicked: 151 }),
			],
			starts: [0, 1],
		},
		{
			name: 'not if an item of this event told of it, whatever other events told since',
			polls: [
				...under(reached(100), { clicked: 100 }),
				...under(changed(), { clicked: 90 }),
				...under(reached(100), { clicked: 100 }),
			],
			starts: [0, 1],
		},
	];
	test.each(rows)('$name', ({ polls, starts }) => {
		expect(startsOf(polls)).toEqual(starts);
	});

	test('with no change if the counter stood above a higher number already', () => {
		const polls = [
			...under(reached(100), { clicked: 170 }),
			...under(reached(160), { clicked: 170 }),
		];
		expect(changesOf(polls)[1]).toEqual({});
	});

	test('with the change of its own counter alone', () => {
		expect(changesOf(under(reached(100), { clicked: 100, closed: 7 }))).toEqual([
			{ clicked: { from: 0, to: 100, by: 100 } },
		]);
	});
});

describe('whatever a campaign does', () => {
	const count = fc.option(fc.nat(50), { freq: 8 });
	const reading = fc.record({ delivered: count, clicked: count, closed: count });
	const readings = fc.array(reading, { minLength: 1, maxLength: 20, size: 'max' });

	test('each item begins where the one before ended, and what is in none is below the minimum', () => {
		const watchedNames = fc.subarray(names, { minLength: 1 });
		const minimum = fc.integer({ min: 1, max: 30 });
		fc.assert(
			fc.property(readings, watchedNames, minimum, (all, watched, minimumChange) => {
				const told = new Map<string, number>();
				const polls = under(changed(watched, minimumChange), ...all);
				for (const [index, changes] of changesOf(polls).entries()) {
					const now = new Map(Object.entries(all[index] ?? {}));
					const moves = watched.map((name) => {
						const before = told.get(name) ?? 0;
						return Math.abs((now.get(name) ?? before) - before);
					});
					expect(changes !== undefined).toBe(Math.max(...moves) >= minimumChange);
					for (const [name, { by = 0 }] of Object.entries(changes ?? {})) {
						expect(watched).toContain(name);
						told.set(name, (told.get(name) ?? 0) + by);
						expect(told.get(name)).toBe(now.get(name));
					}
				}
			}),
		);
	});

	test('a number is reached once', () => {
		fc.assert(
			fc.property(readings, fc.integer({ min: 1, max: 60 }), (all, number) => {
				const first = all.findIndex(({ clicked }) => clicked !== null && clicked >= number);
				expect(startsOf(under(reached(number), ...all))).toEqual(first < 0 ? [] : [first]);
			}),
		);
	});
});
