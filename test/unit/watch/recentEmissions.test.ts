import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import type { Counters } from '../../../nodes/PushCampaign/service/answers';
import { failureProblem, type Problem } from '../../../nodes/PushCampaign/service/failures';
import { loadState, zeroCounters } from '../../../nodes/PushCampaign/watch/baseline';
import type { CampaignEvent, Observation } from '../../../nodes/PushCampaign/watch/compare';
import { emitChanges } from '../../../nodes/PushCampaign/watch/emit';
import type { PollMemory } from '../../../nodes/PushCampaign/watch/recentEmissions';
import { RecentEmissions, staleCursorMs } from '../../../nodes/PushCampaign/watch/recentEmissions';

const quietWriteMs = 10_000;
const empty = { baselines: {}, reported: {}, unread: [], version: {} };

/** A process whose clock a test sets, and polls in it that end when they are told to. */
function processOf(writer = 'main') {
	const clock = { now: 1_000 };
	const emissions = new RecentEmissions(writer, () => clock.now);
	function startPoll(trigger = 'trigger') {
		let end: (problem?: Error) => void = () => undefined;
		let memory: PollMemory | undefined;
		const done = emissions.during(trigger, async (given) => {
			memory = given;
			return await new Promise<string>((resolve, reject) => {
				end = (problem) => (problem === undefined ? resolve('done') : reject(problem));
			});
		});
		if (memory === undefined) throw new Error('The poll did not start at once');
		return { memory, done, end };
	}
	return { clock, startPoll };
}

describe('a poll whose cursor does not show', () => {
	test.each([
		['an emission', true, staleCursorMs],
		['another change', false, quietWriteMs],
	])('%s is behind, until it starts late enough', (_what, isEmission, spanMs) => {
		const { clock, startPoll } = processOf();
		const before = startPoll();
		const version = startPoll().memory.note(empty, isEmission);
		const poll = startPoll();
		clock.now += spanMs - 1;
		const late = startPoll();
		clock.now += 1;
		const tooLate = startPoll();
		for (const { memory } of [before, poll, late]) {
			expect([memory.isBehind({}), memory.isBehind(version)]).toEqual([true, false]);
		}
		expect(tooLate.memory.isBehind({})).toBe(false);
		// What was recent when a poll began stays so to its end.
		clock.now += spanMs;
		expect(late.memory.isBehind({})).toBe(true);
	});

	test('is told by number, whoever else wrote into it', () => {
		const { startPoll } = processOf();
		const { memory } = startPoll();
		const first = memory.note({ ...empty, version: { other: 9 } }, true);
		const second = memory.note({ ...empty, version: first }, true);
		expect(first).toEqual({ other: 9, main: 1 });
		expect(second).toEqual({ other: 9, main: 2 });
		expect(memory.isBehind(first)).toBe(true);
		expect(memory.isBehind({ ...second, third: 1 })).toBe(false);
		expect(memory.isBehind({ other: 99 })).toBe(true);
	});

	test('what another trigger emitted is not behind', () => {
		const { startPoll } = processOf();
		startPoll('one').memory.note(empty, true);
		expect(startPoll('two').memory.isBehind({})).toBe(false);
	});

	test('knows which failures were reported last', () => {
		const { clock, startPoll } = processOf();
		const { memory } = startPoll();
		expect(memory.reportedSince({})).toBeUndefined();
		const version = memory.note({ ...empty, reported: { '1': 'x' } }, false);
		memory.note({ ...empty, reported: { '2': 'y' }, version }, true);
		expect(memory.reportedSince({})).toEqual({ '2': 'y' });
		expect(memory.reportedSince(version)).toEqual({ '2': 'y' });
		expect(memory.reportedSince({ main: 2 })).toBeUndefined();
		clock.now += staleCursorMs;
		expect(startPoll().memory.reportedSince({})).toBeUndefined();
	});
});

test('a state names the processes that wrote into it last', () => {
	const version = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`w${index}`, index]));
	const { memory } = processOf('w3').startPoll();
	expect(Object.keys(memory.note({ ...empty, version }, true))).toEqual([
		'w1',
		'w2',
		'w4',
		'w5',
		'w6',
		'w7',
		'w8',
		'w3',
	]);
	const { memory: known } = processOf('new').startPoll();
	expect(Object.keys(known.note({ ...empty, version }, true))).toEqual([
		'w2',
		'w3',
		'w4',
		'w5',
		'w6',
		'w7',
		'w8',
		'new',
	]);
});

test('a poll gives what it gives, throws what it throws, and numbers go on', async () => {
	const { startPoll } = processOf();
	const [good, bad] = [startPoll(), startPoll()];
	good.memory.note(empty, true);
	good.end();
	bad.end(new Error('no answer'));
	expect(await good.done).toBe('done');
	await expect(bad.done).rejects.toThrow('no answer');
	expect(startPoll().memory.isBehind({})).toBe(true);
	expect(startPoll('another').memory.note(empty, true)).toEqual({ main: 2 });
});

test('a poll keeps its memory while it runs, though one of another trigger ends', async () => {
	const { startPoll } = processOf();
	const [first, other] = [startPoll('one'), startPoll('other')];
	other.end();
	await other.done;
	const second = startPoll('one');
	first.memory.note(empty, true);
	expect(second.memory.isBehind({})).toBe(true);
});

test('what no poll can ask for any more is let go of', async () => {
	setFlagsFromString('--expose-gc');
	const collectGarbage = z.function().parse(runInNewContext('gc'));
	const { clock, startPoll } = processOf();
	const reported = (() => {
		const poll = startPoll();
		const state = { ...empty, reported: { '1': 'x' } };
		poll.memory.note(state, true);
		poll.end();
		return { by: poll.done, left: new WeakRef(state.reported) };
	})();
	await reported.by;
	const isLeftAfter = async (ms: number) => {
		clock.now += ms;
		const { done, end } = startPoll('another');
		end();
		await done;
		await new Promise(setImmediate);
		collectGarbage();
		return reported.left.deref() !== undefined;
	};
	expect(await isLeftAfter(2 * staleCursorMs - 1)).toBe(true);
	expect(await isLeftAfter(1)).toBe(false);
});

// What n8n does with the polls of one trigger in its durable engine, in any order that it may happen.
// Times in milliseconds.
const longestPollMs = 45_000;
const longestCommitMs = 30_000;
/** A poll that emitted nothing is committed by two short queries. */
const longestQuietCommitMs = 9_000;

const ids = ['1001', '1002'];
const names = ['delivered', 'clicked'] as const;
const refusal = failureProblem({ status: 'failure', type: 'invalid_value' }, 'read');

type Step =
	| { kind: 'move'; id: string; name: (typeof names)[number]; by: number }
	| { kind: 'start' }
	| { kind: 'end'; which: number; readsOld: boolean }
	| { kind: 'commit'; which: number; isSaved: boolean }
	| { kind: 'wait'; ms: number }
	| { kind: 'break'; id: string };

const step: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({
			kind: fc.constant('move' as const),
			id: fc.constantFrom(...ids),
			name: fc.constantFrom(...names),
			by: fc.integer({ min: -3, max: 9 }),
		}),
	},
	{ weight: 4, arbitrary: fc.constant({ kind: 'start' as const }) },
	{
		weight: 5,
		arbitrary: fc.record({
			kind: fc.constant('end' as const),
			which: fc.nat(9),
			readsOld: fc.boolean(),
		}),
	},
	{
		weight: 5,
		arbitrary: fc.record({
			kind: fc.constant('commit' as const),
			which: fc.nat(9),
			isSaved: fc.boolean(),
		}),
	},
	{
		weight: 3,
		arbitrary: fc.record({
			kind: fc.constant('wait' as const),
			ms: fc.integer({ min: 1, max: 50_000 }),
		}),
	},
	{
		weight: 1,
		arbitrary: fc.record({ kind: fc.constant('break' as const), id: fc.constantFrom(...ids) }),
	},
);

interface RunningPoll {
	readonly cursor: IDataObject;
	readonly startedAt: number;
	readonly read: ReadonlyMap<string, Counters>;
	readonly memory: PollMemory;
	readonly end: () => void;
}

interface Commit {
	readonly cursor: IDataObject;
	readonly events: readonly CampaignEvent[];
	readonly until: number;
}

class Model {
	readonly counters = new Map<string, Counters>(ids.map((id) => [id, { ...zeroCounters }]));
	/** What n8n has saved. */
	cursor: IDataObject = {};
	readonly told: CampaignEvent[] = [];
	failuresTold = 0;
	private readonly broken = new Set<string>();
	private readonly world = processOf();
	private polls: RunningPoll[] = [];
	private commits: Commit[] = [];

	constructor(private readonly minimumChange: number) {}

	move(id: string, name: (typeof names)[number], by: number): void {
		const before = this.counters.get(id) ?? zeroCounters;
		this.counters.set(id, { ...before, [name]: Math.max(0, (before[name] ?? 0) + by) });
	}

	toggle(id: string): void {
		if (!this.broken.delete(id)) this.broken.add(id);
	}

	start(): void {
		const { memory, end } = this.world.startPoll();
		this.polls.push({
			cursor: structuredClone(this.cursor),
			startedAt: this.world.clock.now,
			read: new Map(this.counters),
			memory,
			end,
		});
	}

	end(which: number, readsOld: boolean, minimumChange = this.minimumChange): void {
		const [poll] = this.polls.splice(which % Math.max(1, this.polls.length), 1);
		if (poll === undefined) return;
		const read = readsOld ? poll.read : this.counters;
		const { now } = this.world.clock;
		const observations: Observation[] = [];
		const failures = new Map<string, Problem>();
		for (const id of ids) {
			if (this.broken.has(id)) failures.set(id, refusal);
			else {
				const counters = read.get(id) ?? zeroCounters;
				const readAt = readsOld ? poll.startedAt : now;
				observations.push({ campaignId: id, status: 'Sent', counters, readAt, observedAt: now });
			}
		}
		const seed = structuredClone(poll.cursor);
		const { events, failures: news } = emitChanges(
			poll.cursor,
			{ campaignIds: ids, counters: names, minimumChange },
			{ observations, failures, crowdedOut: new Set(), unread: [], endedAt: now },
			poll.memory,
		);
		this.failuresTold += news.length;
		poll.end();
		// n8n commits only what the poll has changed.
		if (JSON.stringify(seed) === JSON.stringify(poll.cursor)) return;
		const ms = events.length > 0 ? longestCommitMs : longestQuietCommitMs;
		this.commits.push({ cursor: poll.cursor, events, until: now + ms });
	}

	/** Saves what a poll gave, or does not. */
	commit(which: number, isSaved: boolean): void {
		const [commit] = this.commits.splice(which % Math.max(1, this.commits.length), 1);
		if (commit === undefined || !isSaved) return;
		this.cursor = commit.cursor;
		this.told.push(...commit.events);
	}

	wait(ms: number): void {
		const { clock } = this.world;
		const until = clock.now + ms;
		while (clock.now < until) {
			clock.now = Math.min(until, clock.now + 1_000);
			const { now } = clock;
			for (const [index, commit] of [...this.commits.entries()].reverse()) {
				if (commit.until <= now) this.commit(index, true);
			}
			// n8n abandons a poll that takes too long.
			for (const poll of this.polls) if (now - poll.startedAt >= longestPollMs) poll.end();
			this.polls = this.polls.filter(({ startedAt }) => now - startedAt < longestPollMs);
		}
	}

	/** Lets everything end that is under way, and polls once more when nothing is recent. */
	settle(): void {
		this.broken.clear();
		this.wait(staleCursorMs);
		this.start();
		this.end(0, false, 1);
		this.commit(0, true);
	}
}

function act(model: Model, one: Step): void {
	switch (one.kind) {
		case 'move':
			return model.move(one.id, one.name, one.by);
		case 'start':
			return model.start();
		case 'end':
			return model.end(one.which, one.readsOld);
		case 'commit':
			return model.commit(one.which, one.isSaved);
		case 'wait':
			return model.wait(one.ms);
		default:
			return model.toggle(one.id);
	}
}

test.each([1, 5])(
	'from a minimum change of %d, what n8n saved of all polls adds up to the counters, each event beginning where the one before it ended',
	(minimumChange) => {
		fc.assert(
			fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
				const model = new Model(minimumChange);
				for (const one of steps) act(model, one);
				model.settle();
				const reached = new Map<string, number>();
				for (const { campaignId, changes } of model.told) {
					for (const [name, change] of Object.entries(changes)) {
						const counter = `${campaignId} ${name}`;
						expect({ counter, from: change.from }).toEqual({
							counter,
							from: reached.get(counter) ?? 0,
						});
						reached.set(counter, change.to);
					}
				}
				for (const id of ids) {
					for (const name of names) {
						expect(reached.get(`${id} ${name}`) ?? 0).toBe(model.counters.get(id)?.[name]);
					}
				}
			}),
			{ numRuns: Number(process.env['FUZZ_RUNS'] ?? 400) },
		);
	},
);

test('an emission that n8n could not save is made again after two minutes, and not before', () => {
	const model = new Model(1);
	const poll = (isSaved: boolean) => {
		model.start();
		model.end(0, false);
		model.commit(0, isSaved);
	};
	model.move('1001', 'clicked', 3);
	poll(false);
	model.move('1001', 'clicked', 2);
	model.wait(staleCursorMs - 1);
	poll(true);
	expect(model.told).toEqual([]);
	model.wait(1);
	poll(true);
	expect(model.told.map(({ changes }) => changes)).toEqual([
		{ clicked: { from: 0, to: 5, by: 5 } },
	]);
});

test('another change that n8n did not save holds back what comes for ten seconds, and not longer', () => {
	const model = new Model(1);
	const poll = (isSaved: boolean) => {
		model.start();
		model.end(0, false);
		model.commit(0, isSaved);
	};
	model.toggle('1002');
	poll(false);
	expect(model.failuresTold).toBe(1);
	model.move('1001', 'clicked', 3);
	model.wait(quietWriteMs - 1);
	poll(true);
	expect(model.told).toEqual([]);
	model.wait(1);
	poll(true);
	expect(model.told).toHaveLength(1);
});

test('of polls that start from the same cursor one emits, and one reports a failure', () => {
	const model = new Model(1);
	model.toggle('1002');
	model.move('1001', 'clicked', 3);
	for (let count = 0; count < 5; count += 1) model.start();
	for (let count = 0; count < 5; count += 1) {
		model.end(0, false);
		// Committed before the next begins to compare: they need not overlap.
		model.commit(0, true);
	}
	expect(model.told).toHaveLength(1);
	expect(model.failuresTold).toBe(1);
	expect(Object.keys(loadState(model.cursor).reported)).toEqual(['1002']);

	// Without an emission the failure alone is what they have to tell.
	model.toggle('1001');
	for (let count = 0; count < 5; count += 1) model.start();
	for (let count = 0; count < 5; count += 1) {
		model.end(0, false);
		model.commit(0, true);
	}
	expect(model.failuresTold).toBe(2);
	model.wait(quietWriteMs);
	model.move('1001', 'clicked', 1);
	model.toggle('1001');
	model.start();
	model.end(0, false);
	model.commit(0, true);
	expect(model.told).toHaveLength(2);
});
