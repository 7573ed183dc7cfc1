import * as fc from 'fast-check';
import { ObservableObject, type IDataObject } from 'n8n-workflow';
import type { Counters } from '../../../nodes/PushCampaign/service/answers';
import { mapCounters } from '../../../nodes/PushCampaign/service/answers';
import { type Problem, explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import type { CampaignEvent, Observation } from '../../../nodes/PushCampaign/watch/compare';
import { emitChanges } from '../../../nodes/PushCampaign/watch/emit';
import type { RunningPoll } from '../../../nodes/PushCampaign/watch/memory';
import {
	Memories,
	quietWriteMs,
	staleCursorMs,
	TriggerMemory,
} from '../../../nodes/PushCampaign/watch/memory';
import type { Store } from '../../../nodes/PushCampaign/watch/state';
import { loadState } from '../../../nodes/PushCampaign/watch/state';

const clock = { now: 0 };
beforeEach(() => {
	clock.now = 1_000;
	jest.spyOn(performance, 'now').mockImplementation(() => clock.now);
});

const ids = ['1001', '1002'];
const names = ['delivered', 'clicked'] as const;
type Name = (typeof names)[number];
const refusal = explain(
	reasons.failure(
		{ status: 'failure', type: 'invalid_value' },
		{
			isOfCampaign: true,
		},
	),
	'read',
);
const zero: Counters = mapCounters(() => 0);

interface Running {
	readonly poll: RunningPoll;
	readonly store: Store;
	readonly read: ReadonlyMap<string, Counters>;
}

interface Given {
	readonly data: IDataObject;
	readonly events: readonly CampaignEvent[];
	readonly isChanged: boolean;
}

/** A service whose counters move, and a process that polls it. */
class World {
	readonly counters = new Map<string, Counters>(ids.map((id) => [id, zero]));
	readonly told: CampaignEvent[] = [];
	failuresTold = 0;
	memory = new Memories().of('workflow', 'node');
	private readonly broken = new Set<string>();
	polls: Running[] = [];

	constructor(readonly minimumChange: number) {}

	move(id: string, name: Name, by: number): void {
		const before = this.counters.get(id) ?? zero;
		this.counters.set(id, { ...before, [name]: Math.max(0, (before[name] ?? 0) + by) });
	}

	toggle(id: string): void {
		if (!this.broken.delete(id)) this.broken.add(id);
	}

	heal(): void {
		this.broken.clear();
	}

	begin(node: IDataObject, isCursor: boolean, global: IDataObject = {}): void {
		const poll = this.memory.begin(node, 45_000);
		if (poll === undefined) return;
		const store = { nodeId: 'node', node, global, isCursor };
		this.memory.catchUp(store);
		this.polls.push({ poll, store, read: new Map(this.counters) });
	}

	finish(which: number, readsOld: boolean, minimumChange = this.minimumChange): Given | undefined {
		const [running] = this.polls.splice(which % Math.max(1, this.polls.length), 1);
		if (running === undefined) return undefined;
		const { poll, store, read } = running;
		poll.end();
		if (!store.isCursor && poll.isSuperseded()) return undefined;
		const observations: Observation[] = [];
		const failures = new Map<string, Problem>();
		for (const id of ids) {
			if (this.broken.has(id)) failures.set(id, refusal);
			else {
				observations.push({
					campaignId: id,
					status: 'Sent',
					counters: (readsOld ? read : this.counters).get(id) ?? zero,
					readAt: readsOld ? poll.startedAt : clock.now,
					observedAt: 0,
				});
			}
		}
		const before = JSON.stringify(store.node);
		const { events, failures: news } = emitChanges(
			store,
			{ campaignIds: ids, counters: names, minimumChange },
			{ observations, failures, unread: [] },
			this.memory,
			{ startedAt: poll.startedAt, atOnce: false },
		);
		this.failuresTold += news.size;
		return { data: store.node, events, isChanged: before !== JSON.stringify(store.node) };
	}

	/** Each event begins where the one before it ended, and the last ends where the counters are. */
	expectChain(): void {
		const reached = new Map<string, number>();
		for (const { campaignId, changes } of this.told) {
			for (const [name, { from, to }] of Object.entries(changes)) {
				const counter = `${campaignId} ${name}`;
				expect({ counter, from }).toEqual({ counter, from: reached.get(counter) ?? 0 });
				reached.set(counter, to);
			}
		}
		for (const id of ids) {
			for (const name of names) {
				expect(reached.get(`${id} ${name}`) ?? 0).toBe(this.counters.get(id)?.[name]);
			}
		}
	}
}

const id = fc.constantFrom(...ids);
const isTrue = fc.boolean();
const which = fc.nat(9);
const by = fc.integer({ min: -3, max: 9 });
const move = { kind: fc.constant('move' as const), id, name: fc.constantFrom(...names), by };
const common = [
	{ weight: 4, arbitrary: fc.record(move) },
	{
		weight: 4,
		arbitrary: fc.record({
			kind: fc.constant('begin' as const),
			afterMs: fc.integer({ min: 0, max: 40_000 }),
		}),
	},
	{
		weight: 5,
		arbitrary: fc.record({ kind: fc.constant('finish' as const), which, readsOld: isTrue }),
	},
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('break' as const), id }) },
] as const;

// What n8n does with the polls of one trigger in its durable engine, in any order. Times in milliseconds.
const longestPollMs = 45_000;
const longestCommitMs = 30_000;
/** A poll that emitted nothing is committed by two short queries. */
const longestQuietCommitMs = 9_000;

class DurableEngine {
	readonly world: World;
	/** What n8n has saved, and when. */
	private readonly saved: Array<{ readonly at: number; readonly cursor: IDataObject }> = [];
	private commits: Array<Given & { readonly until: number }> = [];

	constructor(minimumChange: number) {
		this.world = new World(minimumChange);
	}

	/** What n8n had saved a while ago. */
	cursor(beforeMs = 0): IDataObject {
		return this.saved.filter(({ at }) => at <= clock.now - beforeMs).at(-1)?.cursor ?? {};
	}

	/** @param afterMs for how long it waited for its turn, with its cursor */
	begin(afterMs = 0): void {
		this.world.begin(structuredClone(this.cursor(afterMs)), true);
	}

	finish(which = 0, readsOld = false, minimumChange?: number): void {
		const given = this.world.finish(which, readsOld, minimumChange);
		if (given?.isChanged !== true) return;
		const ms = given.events.length > 0 ? longestCommitMs : longestQuietCommitMs;
		this.commits.push({ ...given, until: clock.now + ms });
	}

	/** Saves what a poll gave, or does not. */
	commit(which: number, isSaved: boolean): void {
		const [commit] = this.commits.splice(which % Math.max(1, this.commits.length), 1);
		if (commit === undefined || !isSaved) return;
		this.saved.push({ at: clock.now, cursor: structuredClone(commit.data) });
		this.world.told.push(...commit.events);
	}

	poll(isSaved = true): void {
		this.begin();
		this.finish();
		this.commit(0, isSaved);
	}

	wait(ms: number): void {
		const { world } = this;
		const until = clock.now + ms;
		while (clock.now < until) {
			clock.now = Math.min(until, clock.now + 1_000);
			for (const [index, commit] of [...this.commits.entries()].reverse()) {
				if (commit.until <= clock.now) this.commit(index, true);
			}
			// n8n abandons a poll that takes too long.
			world.polls = world.polls.filter(({ poll }) => {
				const isLate = clock.now - poll.startedAt >= longestPollMs;
				if (isLate) poll.end();
				return !isLate;
			});
		}
	}

	/** Lets everything end that is under way, and polls once more when nothing is recent. */
	settle(): void {
		this.world.heal();
		this.wait(staleCursorMs);
		this.begin();
		this.finish(0, false, 1);
		this.commit(0, true);
	}
}

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 100);

describe('in the durable engine', () => {
	const step = fc.oneof(
		...common,
		{
			weight: 5,
			arbitrary: fc.record({ kind: fc.constant('commit' as const), which, isSaved: isTrue }),
		},
		{
			weight: 3,
			arbitrary: fc.record({
				kind: fc.constant('wait' as const),
				ms: fc.integer({ min: 1, max: 50_000 }),
			}),
		},
	);

	test.each([1, 5])(
		'from a minimum change of %d, what n8n saved of all polls adds up to the counters',
		(minimumChange) => {
			fc.assert(
				fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
					const engine = new DurableEngine(minimumChange);
					for (const one of steps) {
						if (one.kind === 'move') engine.world.move(one.id, one.name, one.by);
						else if (one.kind === 'begin') engine.begin(one.afterMs);
						else if (one.kind === 'finish') engine.finish(one.which, one.readsOld);
						else if (one.kind === 'commit') engine.commit(one.which, one.isSaved);
						else if (one.kind === 'wait') engine.wait(one.ms);
						else engine.world.toggle(one.id);
					}
					engine.settle();
					engine.world.expectChain();
				}),
				{ numRuns },
			);
		},
	);

	test('an emission that n8n could not save is made again after two minutes, and not before', () => {
		const engine = new DurableEngine(1);
		engine.world.move('1001', 'clicked', 3);
		engine.poll(false);
		engine.world.move('1001', 'clicked', 2);
		engine.wait(staleCursorMs - 1);
		engine.poll();
		expect(engine.world.told).toEqual([]);
		engine.wait(1);
		engine.poll();
		expect(engine.world.told.map(({ changes }) => changes)).toEqual([
			{ clicked: { from: 0, to: 5, by: 5 } },
		]);
	});

	test('a poll that began while an emission was recent is behind to its end', () => {
		const engine = new DurableEngine(1);
		engine.world.move('1001', 'clicked', 3);
		engine.poll(false);
		engine.wait(staleCursorMs - 1);
		engine.begin();
		clock.now += 1_000;
		engine.finish();
		engine.commit(0, true);
		expect(engine.world.told).toEqual([]);
	});

	test('a poll that has waited long with its cursor is behind, also where another change came since', () => {
		const engine = new DurableEngine(1);
		engine.world.move('1001', 'clicked', 1);
		engine.poll();
		engine.world.toggle('1002');
		engine.poll();
		engine.wait(quietWriteMs);
		engine.begin(quietWriteMs + 1);
		engine.finish();
		engine.commit(0, true);
		expect(engine.world.told).toHaveLength(1);
	});

	test('another change that n8n did not save holds back what comes for ten seconds, and is not told again', () => {
		const engine = new DurableEngine(1);
		engine.world.move('1001', 'clicked', 1);
		engine.world.toggle('1002');
		engine.poll();
		engine.poll(false);
		expect(engine.world.failuresTold).toBe(1);
		engine.world.move('1001', 'clicked', 3);
		engine.wait(quietWriteMs - 1);
		engine.poll();
		expect(engine.world.told).toHaveLength(1);
		engine.wait(1);
		engine.poll();
		engine.poll();
		expect([engine.world.told.length, engine.world.failuresTold]).toEqual([2, 1]);
		expect(Object.keys(loadState({ ...store(engine.cursor()), isCursor: true }).failing)).toEqual([
			'1002',
		]);
	});

	test('of polls that start from the same cursor one emits, and one reports a failure', () => {
		const engine = new DurableEngine(1);
		engine.world.toggle('1002');
		engine.poll();
		engine.world.move('1001', 'clicked', 3);
		for (let count = 0; count < 5; count += 1) engine.begin();
		for (let count = 0; count < 5; count += 1) {
			engine.finish();
			// Committed before the next begins to compare: they need not overlap.
			engine.commit(0, true);
		}
		expect([engine.world.told.length, engine.world.failuresTold]).toEqual([1, 1]);
	});
});

function store(node: IDataObject, global: IDataObject = {}, nodeId = 'node'): Store {
	return { nodeId, node, global, isCursor: false };
}

/** What n8n does in its classic engine: the data live in the process, and are saved with an emission. */
class ClassicEngine {
	readonly world: World;
	private saved = { node: {}, global: {} };
	private readonly before: Array<ClassicEngine['saved']> = [];
	private live = this.activated();

	constructor(minimumChange: number) {
		this.world = new World(minimumChange);
	}

	begin(): void {
		this.world.begin(this.live.node, false, this.live.global);
	}

	finish(which = 0, readsOld = false, minimumChange?: number): void {
		const given = this.world.finish(which, readsOld, minimumChange);
		// What a poll gives whose workflow was deactivated meanwhile is thrown away.
		if (given === undefined || given.data !== this.live.node || given.events.length === 0) return;
		this.world.told.push(...given.events);
		this.before.push(this.saved);
		this.saved = structuredClone(this.plain());
	}

	/** Deactivates and activates: polls that are under way go on. */
	activate(): void {
		this.live = this.activated();
	}

	/** An execution ends that began a while ago and changed the workflow's data. */
	turnBack(which: number): void {
		// What was emitted counts from the next poll on.
		this.begin();
		this.saved = this.before[which % Math.max(1, this.before.length)] ?? this.saved;
	}

	settle(): void {
		this.world.heal();
		for (const { poll } of this.world.polls.splice(0)) poll.end();
		this.begin();
		this.finish(0, false, 1);
	}

	private plain() {
		return { node: { ...this.live.node }, global: { ...this.live.global } };
	}

	private activated(): { node: IDataObject; global: IDataObject } {
		const { node, global } = structuredClone(this.saved);
		return { node: ObservableObject.create(node), global: ObservableObject.create(global) };
	}
}

describe('in the classic engine', () => {
	const step = fc.oneof(
		...common,
		{ weight: 2, arbitrary: fc.record({ kind: fc.constant('activate' as const) }) },
		{ weight: 2, arbitrary: fc.record({ kind: fc.constant('turnBack' as const), which }) },
	);

	test.each([1, 5])(
		'from a minimum change of %d, what is emitted adds up to the counters, however often the data are turned back',
		(minimumChange) => {
			fc.assert(
				fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
					const engine = new ClassicEngine(minimumChange);
					for (const one of steps) {
						clock.now += 10;
						if (one.kind === 'move') engine.world.move(one.id, one.name, one.by);
						else if (one.kind === 'begin') engine.begin();
						else if (one.kind === 'finish') engine.finish(one.which, one.readsOld);
						else if (one.kind === 'activate') engine.activate();
						else if (one.kind === 'turnBack') engine.turnBack(one.which);
						else engine.world.toggle(one.id);
					}
					clock.now += 10;
					engine.settle();
					engine.world.expectChain();
				}),
				{ numRuns },
			);
		},
	);
});

describe('polls of one context', () => {
	test('two are under way at once, but for those over their budget', () => {
		const memory = new TriggerMemory(new Map());
		const context = {};
		expect(memory.isNew(context)).toBe(true);
		const first = memory.begin(context, 100);
		memory.begin(context, 200);
		expect([memory.isNew(context), memory.begin(context, 100)]).toEqual([false, undefined]);
		expect(memory.begin({}, 100)).toBeDefined();
		clock.now += 100;
		expect(memory.begin(context, 100)).toBeDefined();
		expect(memory.begin(context, 100)).toBeUndefined();
		first?.end();
		clock.now += 100;
		expect(memory.begin(context, 100)).toBeDefined();
	});

	test('are superseded by one of another context, until there is another one', () => {
		const memory = new TriggerMemory(new Map());
		const [before, after] = [{}, {}];
		const poll = memory.begin(before, 100);
		expect(poll?.isSuperseded()).toBe(false);
		memory.begin(after, 100);
		expect(poll?.isSuperseded()).toBe(true);
		memory.begin(before, 100);
		expect(poll?.isSuperseded()).toBe(false);
	});

	test('a reading is overtaken by a later one that was emitted, as long as polls are under way', () => {
		const memory = new TriggerMemory(new Map());
		const polls = [memory.begin({}, 100), memory.begin({}, 100)];
		memory.noteEmitted('1', 50);
		expect([49, 50, 51].map((at) => memory.isOvertaken('1', at))).toEqual([true, false, false]);
		expect(memory.isOvertaken('2', 49)).toBe(false);
		polls[0]?.end();
		expect(memory.isOvertaken('1', 49)).toBe(true);
		polls[1]?.end();
		expect(memory.isOvertaken('1', 49)).toBe(false);
	});
});

test('a trigger is remembered by its workflow and node, the workflows that polled last', () => {
	const memories = new Memories();
	const memory = memories.of('a', '1');
	expect(memories.of('a', '1')).toBe(memory);
	expect(memories.of('a', '2')).not.toBe(memory);
	expect(memories.of('b', '1')).not.toBe(memory);
	for (let count = 0; count < 998; count += 1) memories.of(`other ${count}`, '1');
	expect(memories.of('a', '1')).toBe(memory);
	const second = memories.of('b', '1');
	for (let count = 0; count < 999; count += 1) memories.of(`another ${count}`, '1');
	expect(memories.of('b', '1')).toBe(second);
	expect(memories.of('a', '1')).not.toBe(memory);
});

test('what n8n saves with one trigger holds what is known of the others of its workflow', () => {
	const memories = new Memories();
	const [one, two] = [memories.of('a', '1'), memories.of('a', '2')];
	const state = { revision: 0, baselines: {}, failing: {}, unread: ['x'] };
	const before = store(ObservableObject.create({}), ObservableObject.create({}), '1');
	one.save(before, state, true);
	const other = store(ObservableObject.create({}), ObservableObject.create({}), '2');
	two.save(other, state, true);
	const seen = (nodeId: string) => loadState({ ...other, node: {}, nodeId });
	expect([seen('1'), seen('3').revision]).toEqual([{ ...state, revision: 1 }, 0]);
	// Thrown away by n8n, which activates the workflow anew from what it saved before.
	one.save(before, { ...state, revision: 1 }, true);
	one.catchUp(store(ObservableObject.create({}), ObservableObject.create({}), '1'));
	two.save(other, { ...state, revision: 1 }, true);
	expect(seen('1').revision).toBe(1);
});

test('what was told of a campaign is known also after a poll that did not reach it', () => {
	const memory = new TriggerMemory(new Map());
	const data = store(ObservableObject.create({}), ObservableObject.create({}));
	const watched = { campaignIds: ids, counters: names, minimumChange: 1 };
	const failures = new Map([['1001', refusal]]);
	const polls = [
		{ failures, unread: [] },
		{ failures, unread: [] },
		{ failures: new Map(), unread: ['1001'] },
		{ failures, unread: [] },
	].map((readings) => {
		const poll = { startedAt: clock.now, atOnce: false };
		const news = emitChanges(data, watched, { observations: [], ...readings }, memory, poll);
		return [...news.failures.keys()];
	});
	expect(polls).toEqual([[], ['1001'], [], []]);
});
