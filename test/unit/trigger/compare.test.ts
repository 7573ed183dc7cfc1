import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import type { Baselines, Reading, Rule } from '../../../nodes/PushCampaign/trigger/compare';
import { compare } from '../../../nodes/PushCampaign/trigger/compare';
import { movesIn, readingOf } from './support';

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
const movesOf = (polls: readonly Poll[]) => itemsOf(polls).map((item) => item && movesIn(item));

/** Polls under one rule. */
const under = (rule: Rule, ...readings: Array<Reading['counters']>): Poll[] =>
	readings.map((counters) => [readingOf(counters), rule]);
/** The positions of the polls that start the workflow. */
const startsOf = (polls: readonly Poll[]) =>
	itemsOf(polls).flatMap((item, index) => (item === undefined ? [] : [index]));

describe('an item', () => {
	test('is flat, and has behind each number by how much it has moved since the last item', () => {
		const rule = changed(['status', 'clicked', 'delivered']);
		const poll = (status: string, clicked: number): Poll => [
			{
				...readingOf({ delivered: null, clicked, closed: 9 }, { status }),
				rates: { clickRate: 0.5 },
			},
			rule,
		];
		const common = { campaignId: '1001', observedAt: '1970-01-01T00:00:00.000Z', clickRate: 0.5 };
		const unknown = { delivered: null, deliveredBy: null };
		const notWatched = { closed: 9, closedBy: null };
		const items = itemsOf([poll('Sending', 2), poll('Sent', 5), poll('Gone', 5)]);
		expect(items).toEqual([
			{
				...{ ...common, ...unknown, ...notWatched, firstSeen: true, clicked: 2, clickedBy: 2 },
				...{ status: 'Sending', statusBefore: null },
			},
			{
				...{ ...common, ...unknown, ...notWatched, firstSeen: false, clicked: 5, clickedBy: 3 },
				...{ status: 'Sent', statusBefore: 'Sending' },
			},
			{
				...{ ...common, ...unknown, ...notWatched, firstSeen: false, clicked: 5, clickedBy: 0 },
				...{ status: 'Gone', statusBefore: 'Sent' },
			},
		]);
		expect(Object.keys(items[0] ?? {})).toEqual([
			...['campaignId', 'status', 'statusBefore', 'firstSeen', 'delivered', 'deliveredBy'],
			...['clicked', 'clickedBy', 'closed', 'closedBy', 'clickRate', 'observedAt'],
		]);
	});

	test('has no status before it if the status is not watched', () => {
		const items = itemsOf(under(changed(), { clicked: 2 }, { clicked: 5 }));
		expect(items).toMatchObject([{ statusBefore: null }, { status: 'Sent', statusBefore: null }]);
	});
});

describe('a watched status', () => {
	const rule = changed(['status', 'clicked'], 50);
	const statuses = (...given: Array<string | null>): Poll[] =>
		given.map((status) => [readingOf({ clicked: 8 }, { status }), rule]);

	test('starts the workflow whatever the minimum is', () => {
		expect(startsOf(statuses('Scheduled', 'Scheduled', 'Sent'))).toEqual([0, 2]);
	});

	test('that the service does not give starts nothing, and the next one is compared with the last item', () => {
		expect(startsOf(statuses(null, 'Sent', null, 'Sent', 'Gone'))).toEqual([1, 4]);
		const withoutStatus: Poll = [readingOf({ clicked: 60 }, { status: null }), rule];
		const after: Poll = [readingOf({ clicked: 60 }), rule];
		expect(startsOf([...statuses('Sent'), withoutStatus, after])).toEqual([0, 1]);
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

	test('with a move of 0 if the counter stood above a higher number already', () => {
		const polls = [
			...under(reached(100), { clicked: 170 }),
			...under(reached(160), { clicked: 170 }),
		];
		expect(movesOf(polls)).toEqual([{ clicked: 170 }, { clicked: 0 }]);
	});

	test('with the move of its own counter alone', () => {
		expect(movesOf(under(reached(100), { clicked: 100, closed: 7 }))).toEqual([{ clicked: 100 }]);
	});
});

describe('whatever a campaign does', () => {
	const count = fc.option(fc.nat(50), { freq: 8 });
	const reading = fc.record({ delivered: count, clicked: count, closed: count });
	const readings = fc.array(reading, { minLength: 1, maxLength: 20, size: 'max' });

	test('the moves of all items add up to the counters, and what is in none is below the minimum', () => {
		const watchedNames = fc.subarray(names, { minLength: 1 });
		const minimum = fc.integer({ min: 1, max: 30 });
		fc.assert(
			fc.property(readings, watchedNames, minimum, (all, watched, minimumChange) => {
				const told = new Map<string, number>();
				const polls = under(changed(watched, minimumChange), ...all);
				for (const [index, found] of movesOf(polls).entries()) {
					const now = new Map(Object.entries(all[index] ?? {}));
					const moves = watched.map((name) => {
						const before = told.get(name) ?? 0;
						return Math.abs((now.get(name) ?? before) - before);
					});
					expect(found !== undefined).toBe(Math.max(...moves) >= minimumChange);
					for (const [name, by] of Object.entries(found ?? {})) {
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
