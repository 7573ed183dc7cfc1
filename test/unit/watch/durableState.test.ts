import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { openDurableState, staleCursorMs } from '../../../nodes/PushCampaign/watch/durableState';
import type { TriggerData } from '../../../nodes/PushCampaign/watch/triggerState';
import { newState } from '../../../nodes/PushCampaign/watch/triggerState';
import {
	baselinesOf,
	clickedIn,
	clock,
	commonSteps,
	newWorkflow,
	site,
	stepOf,
	useClock,
	World,
} from './stateSupport';
import { changesIn } from './support';

useClock();

const open = (data: TriggerData) => openDurableState(data, newState);

/** n8n abandons a poll after this time. */
const longestPollMs = 45_000;
const longestCommitMs = 30_000;

/** What n8n's durable engine does with the polls of one trigger. Times in milliseconds. */
class DurableEngine {
	readonly world: World;
	/** What n8n has saved, and when. */
	private readonly saved: Array<{ readonly at: number; readonly cursor: IDataObject }> = [];
	private commits: Array<{
		readonly cursor: IDataObject;
		readonly items: readonly IDataObject[];
		readonly until: number;
	}> = [];

	constructor(minimumChange = 1) {
		this.world = new World(open, minimumChange);
	}

	/** @param afterMs how long the poll waited for its turn, with its cursor */
	begin(afterMs = 0): void {
		const known = this.saved.filter(({ at }) => at <= clock.now - afterMs).at(-1);
		this.world.begin(structuredClone(known?.cursor ?? {}));
	}

	finish(which = 0, isSlow = false, minimumChange?: number): void {
		const given = this.world.finish(which, isSlow, minimumChange);
		if (given?.isChanged !== true) return;
		const { data, items } = given;
		this.commits.push({ cursor: data.node, items, until: clock.now + longestCommitMs });
	}

	/** n8n saves what a poll gave, or fails to. */
	commit(which: number, isSaved: boolean): void {
		const [commit] = this.commits.splice(which % Math.max(1, this.commits.length), 1);
		if (commit === undefined || !isSaved) return;
		this.saved.push({ at: clock.now, cursor: structuredClone(commit.cursor) });
		this.world.emitted.push(...commit.items);
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
			world.polls = world.polls.filter(({ startedAt }) => clock.now - startedAt < longestPollMs);
		}
	}

	/** Lets everything in flight end, and polls once more when no emission is recent. */
	settle(): void {
		this.world.heal();
		this.wait(staleCursorMs);
		this.begin();
		this.finish(0, false, 1);
		this.commit(0, true);
	}

	changes() {
		return this.world.emitted.map(changesIn);
	}
}

describe('the durable engine, whatever it does with the polls of a trigger', () => {
	const { is, which } = stepOf;
	const step = fc.oneof(
		...commonSteps,
		{
			weight: 5,
			arbitrary: fc.record({ kind: is('commit'), which, isSaved: fc.boolean() }),
		},
		{
			weight: 3,
			arbitrary: fc.record({ kind: is('wait'), ms: fc.integer({ min: 0, max: 40_000 }) }),
		},
	);

	test.each([{ minimumChange: 1 }, { minimumChange: 5 }])(
		'saves every change once, with a minimum change of $minimumChange',
		({ minimumChange }) => {
			fc.assert(
				fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
					const engine = new DurableEngine(minimumChange);
					for (const one of steps) {
						if (one.kind === 'move') engine.world.move(one.id, one.name, one.by);
						else if (one.kind === 'begin') engine.begin(one.afterMs);
						else if (one.kind === 'finish') engine.finish(one.which, one.isSlow);
						else if (one.kind === 'commit') engine.commit(one.which, one.isSaved);
						else if (one.kind === 'wait') engine.wait(one.ms);
						else if (one.kind === 'watch') engine.world.watch(one.list);
						else engine.world.toggle(one.id);
					}
					engine.settle();
					engine.world.expectEachChangeOnce();
				}),
			);
		},
	);
});

test('an emission that n8n could not save is made again after two minutes, and not before', () => {
	const engine = new DurableEngine();
	engine.world.move('1001', 'clicked', 3);
	engine.poll(false);
	engine.world.move('1001', 'clicked', 2);
	engine.wait(staleCursorMs - 1);
	engine.poll();
	expect(engine.changes()).toEqual([]);
	engine.wait(1);
	engine.poll();
	engine.world.move('1001', 'clicked', 1);
	engine.poll();
	expect(engine.changes()).toEqual([
		{ clicked: { from: 0, to: 5, by: 5 } },
		{ clicked: { from: 5, to: 6, by: 1 } },
	]);
});

test('a poll that began while an emission was recent stays stale to its end', () => {
	const engine = new DurableEngine();
	engine.world.move('1001', 'clicked', 3);
	engine.poll(false);
	engine.wait(staleCursorMs - 1);
	engine.begin();
	clock.now += 1_000;
	engine.finish();
	engine.commit(0, true);
	expect(engine.changes()).toEqual([]);
});

test('one of several polls that start from the same cursor emits, though they never overlap', () => {
	const engine = new DurableEngine();
	engine.world.move('1001', 'clicked', 3);
	for (let count = 0; count < 5; count += 1) engine.begin();
	for (let count = 0; count < 5; count += 1) {
		engine.finish();
		engine.commit(0, true);
	}
	expect(engine.changes()).toHaveLength(1);
});

describe('the state in a cursor', () => {
	const workflowId = newWorkflow();
	const dataOf = (node: IDataObject, nodeId = 'a'): TriggerData => ({
		workflowId,
		nodeId,
		nodeName: 'Trigger',
		node,
		global: {},
	});

	test('is loaded again as it was saved', () => {
		const cursor: IDataObject = {};
		const state = open(dataOf(cursor));
		const baselines = baselinesOf(3);
		state.save(site, baselines);
		expect(open(dataOf(structuredClone(cursor))).load()).toEqual({
			revision: 1,
			site,
			baselines: Object.fromEntries(baselines),
		});
		// n8n puts marks of its own into what it is given.
		expect(cursor['baselines']).not.toBe(Object.fromEntries(baselines));
	});

	test('is the initial one if the cursor is empty or not readable', () => {
		const initial = { revision: 4, site, baselines: Object.fromEntries(baselinesOf(7)) };
		for (const node of [{}, { revision: 1, baselines: 'x' }]) {
			expect(clickedIn(openDurableState(dataOf(node, 'new'), initial))).toBe(7);
		}
	});

	test('is its own once it has one, also an empty one', () => {
		const initial = { revision: 4, site, baselines: Object.fromEntries(baselinesOf(7)) };
		expect(clickedIn(openDurableState(dataOf({ ...newState }, 'own'), initial))).toBeUndefined();
	});

	test('gets a higher revision than every emission before, also one that was lost', () => {
		const cursor: IDataObject = {};
		const revisions = [1, 2].map(() => {
			const copy = structuredClone(cursor);
			open(dataOf(copy, 'lost')).save(site, baselinesOf(1));
			return copy['revision'];
		});
		expect(revisions).toEqual([1, 2]);
	});

	test('leaves the workflow’s static data alone', () => {
		const data = dataOf({}, 'alone');
		open(data).save(site, baselinesOf(1));
		expect(data.global).toEqual({});
	});

	test('of a copied workflow is never stale because of the original', () => {
		open(dataOf({}, 'copied')).save(site, baselinesOf(1));
		expect(open(dataOf({}, 'copied')).isStale()).toBe(true);
		expect(open({ ...dataOf({}, 'copied'), workflowId: newWorkflow() }).isStale()).toBe(false);
	});
});
