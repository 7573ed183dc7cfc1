import * as fc from 'fast-check';
import { ObservableObject, type IDataObject } from 'n8n-workflow';
import { mapCounters, type Counters } from '../../../nodes/PushCampaign/service/answers';
import type { CampaignEvent, Observation } from '../../../nodes/PushCampaign/watch/compare';
import type { Poll } from '../../../nodes/PushCampaign/watch/memory';
import { memoryOf, staleCursorMs, TriggerMemory } from '../../../nodes/PushCampaign/watch/memory';
import { loadState, type Store } from '../../../nodes/PushCampaign/watch/state';

const clock = { now: 0 };
beforeEach(() => {
	clock.now = 1_000;
	jest.spyOn(performance, 'now').mockImplementation(() => clock.now);
});

const ids = ['1001', '1002'];
const names = ['delivered', 'clicked'] as const;
type Name = (typeof names)[number];
const zero: Counters = mapCounters(() => 0);

interface Given {
	readonly data: IDataObject;
	readonly events: readonly CampaignEvent[];
	readonly isChanged: boolean;
}

/** A service whose counters move, and a process that polls it. */
class World {
	readonly counters = new Map<string, Counters>(ids.map((id) => [id, zero]));
	readonly told: CampaignEvent[] = [];
	polls: Array<{ poll: Poll; read: ReadonlyMap<string, Counters>; before: string }> = [];
	private readonly memory = new TriggerMemory(new Map());
	private readonly broken = new Set<string>();
	private campaignIds = ids;
	/** Campaigns that were off the list: they may count from zero. */
	private readonly removed = new Set<string>();

	constructor(readonly minimumChange: number) {}

	/** Not back to zero: of a campaign that was forgotten there would be nothing to tell. */
	move(id: string, name: Name, by: number): void {
		const before = this.counters.get(id) ?? zero;
		this.counters.set(id, { ...before, [name]: Math.max(1, (before[name] ?? 0) + by) });
	}

	toggle(id: string): void {
		if (!this.broken.delete(id)) this.broken.add(id);
	}

	/** Changes the list of campaigns. */
	watch(campaignIds: string[]): void {
		for (const id of ids) if (!campaignIds.includes(id)) this.removed.add(id);
		this.campaignIds = campaignIds;
	}

	heal(): void {
		this.broken.clear();
		this.campaignIds = ids;
	}

	begin(node: IDataObject, isCursor: boolean, global: IDataObject = {}): void {
		const before = JSON.stringify(node);
		const store = { nodeId: 'node', node, global, isCursor };
		const poll = { ...store, startedAt: clock.now, isPublication: false };
		this.memory.begin(poll);
		this.polls.push({ poll, read: new Map(this.counters), before });
	}

	finish(which: number, readsOld: boolean, minimumChange = this.minimumChange): Given | undefined {
		const [running] = this.polls.splice(which % Math.max(1, this.polls.length), 1);
		if (running === undefined) return undefined;
		const { poll, read, before } = running;
		const { campaignIds } = this;
		const observations = campaignIds
			.filter((each) => !this.broken.has(each))
			.map((campaignId): Observation => {
				const counters = (readsOld ? read : this.counters).get(campaignId) ?? zero;
				return { campaignId, status: 'Sent', counters, observedAt: 0 };
			});
		const { node } = poll;
		const watched = { campaignIds, counters: names, minimumChange };
		const readings = { observations, failures: new Map(), unread: [] };
		const { events } = this.memory.emit(poll, watched, readings);
		return { data: node, events, isChanged: before !== JSON.stringify(node) };
	}

	/** Each event begins where the one before it ended, and the last ends where the counters are. */
	expectChain(): void {
		const reached = new Map<string, number>();
		for (const { campaignId, changes, firstSeen } of this.told) {
			if (firstSeen && this.removed.has(campaignId)) {
				for (const name of names) reached.delete(`${campaignId} ${name}`);
			}
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
const name = fc.constantFrom(...names);
const by = fc.integer({ min: -3, max: 9 });
const which = fc.nat(9);
const isTrue = fc.boolean();
const afterMs = fc.integer({ min: 0, max: 40_000 });
const campaignIds = fc.subarray(ids, { minLength: 1 });
const is = fc.constant;
const common = [
	{ weight: 4, arbitrary: fc.record({ kind: is('move'), id, name, by }) },
	{ weight: 4, arbitrary: fc.record({ kind: is('begin'), afterMs }) },
	{ weight: 5, arbitrary: fc.record({ kind: is('finish'), which, readsOld: isTrue }) },
	{ weight: 1, arbitrary: fc.record({ kind: is('break'), id }) },
	{ weight: 1, arbitrary: fc.record({ kind: is('watch'), campaignIds }) },
] as const;
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 100);

// What n8n does with the polls of one trigger in its durable engine, in any order. Times in milliseconds.
const longestPollMs = 45_000;
const longestCommitMs = 30_000;

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
		this.commits.push({ ...given, until: clock.now + longestCommitMs });
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
			world.polls = world.polls.filter(({ poll }) => clock.now - poll.startedAt < longestPollMs);
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

describe('in the durable engine', () => {
	const step = fc.oneof(
		...common,
		{ weight: 5, arbitrary: fc.record({ kind: is('commit'), which, isSaved: isTrue }) },
		{ weight: 3, arbitrary: fc.record({ kind: is('wait'), ms: afterMs }) },
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
						else if (one.kind === 'watch') engine.world.watch(one.campaignIds);
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
		engine.world.move('1001', 'clicked', 1);
		engine.poll();
		expect(engine.world.told.map(({ changes }) => changes)).toEqual([
			{ clicked: { from: 0, to: 5, by: 5 } },
			{ clicked: { from: 5, to: 6, by: 1 } },
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

	test('of polls that start from the same cursor one emits', () => {
		const engine = new DurableEngine(1);
		engine.world.move('1001', 'clicked', 3);
		for (let count = 0; count < 5; count += 1) engine.begin();
		for (let count = 0; count < 5; count += 1) {
			engine.finish();
			// Committed before the next begins to compare: they need not overlap.
			engine.commit(0, true);
		}
		expect(engine.world.told).toHaveLength(1);
	});
});

/** What n8n does in its classic engine: the data live in the process, and are saved with an emission. */
class ClassicEngine {
	readonly world: World;
	private saved = { node: {}, global: {} };
	private readonly before: Array<ClassicEngine['saved']> = [];
	private live = this.activated();

	constructor(minimumChange: number) {
		this.world = new World(minimumChange);
	}

	/** One poll at a time: the others leave it to that. */
	begin(): void {
		const { node, global } = this.live;
		if (this.world.polls.some(({ poll }) => poll.node === node)) return;
		this.world.begin(node, false, global);
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
		this.world.polls = [];
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
		{ weight: 2, arbitrary: fc.record({ kind: is('activate') }) },
		{ weight: 2, arbitrary: fc.record({ kind: is('turnBack'), which }) },
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
						else if (one.kind === 'watch') engine.world.watch(one.campaignIds);
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

test('a trigger is remembered by its workflow and node, the workflows that polled last', () => {
	const memory = memoryOf('a', '1');
	expect(memoryOf('a', '1')).toBe(memory);
	expect(memoryOf('a', '2')).not.toBe(memory);
	const second = memoryOf('b', '1');
	expect(second).not.toBe(memory);
	for (let count = 0; count < 998; count += 1) memoryOf(`other ${count}`, '1');
	expect(memoryOf('a', '1')).toBe(memory);
	expect(memoryOf('b', '1')).toBe(second);
	for (let count = 0; count < 999; count += 1) memoryOf(`another ${count}`, '1');
	expect(memoryOf('b', '1')).toBe(second);
	expect(memoryOf('a', '1')).not.toBe(memory);
});

test('what n8n saves with one trigger holds what is known of the others of its workflow', () => {
	const [one, two] = [memoryOf('shared', '1'), memoryOf('shared', '2')];
	memoryOf('shared', '3');
	/** The data of a trigger that n8n activates: its own copy of the workflow's. */
	const activated = (nodeId: string): Store => ({
		nodeId,
		node: ObservableObject.create({}),
		global: ObservableObject.create({}),
		isCursor: false,
	});
	const [dataOfOne, dataOfTwo] = [activated('1'), activated('2')];
	const revisionOf = (nodeId: string) => loadState({ ...dataOfTwo, node: {}, nodeId }).revision;
	one.begin(dataOfOne);
	two.begin(dataOfTwo);
	one.save(dataOfOne, loadState(dataOfOne));
	two.save(dataOfTwo, loadState(dataOfTwo));
	expect(['1', '2', '3'].map(revisionOf)).toEqual([1, 1, 0]);
	// What one emits now n8n throws away: it activates one anew, with what it saved before.
	one.save(dataOfOne, loadState(dataOfOne));
	one.begin(activated('1'));
	two.save(dataOfTwo, loadState(dataOfTwo));
	expect(['1', '2'].map(revisionOf)).toEqual([1, 2]);
});

test.each([
	['what another main instance saved under the same number counts', 3, false],
	['an old cursor stays as it is: saved late, it would replace a newer one', 2, true],
])('%s', (_what, second, isCursor) => {
	const memory = new TriggerMemory(new Map());
	const begin = (revision: number, campaignId: string) => {
		const baseline = { counters: mapCounters(() => 1), highest: mapCounters(() => 1) };
		const node = { revision, baselines: { [campaignId]: baseline } };
		const store = { nodeId: 'node', node, global: {}, isCursor };
		memory.begin(store);
		return Object.keys(loadState(store).baselines);
	};
	expect([begin(3, '1001'), begin(second, '1002')]).toEqual([['1001'], ['1002']]);
});
