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
	PollEngine,
	site,
	stepOf,
	useClock,
} from './stateSupport';
import { changesIn } from './support';

useClock();

const open = (data: TriggerData) => openDurableState(data, newState);

/** n8n abandons a poll after this time. */
const longestPollMs = 45_000;

/** n8n's durable engine: each poll gets a copy of what is saved, and the copy is saved with what the poll emits. */
class DurableEngine extends PollEngine {
	/** What n8n has saved, and when. */
	private readonly saved: Array<{ readonly at: number; readonly cursor: IDataObject }> = [];

	begin(ageMs = 0): void {
		const known = this.saved.filter(({ at }) => at <= clock.now - ageMs).at(-1);
		this.beginWith({ node: structuredClone(known?.cursor ?? {}), global: {} }, open);
	}

	finish(which = 0, isSlow = false): void {
		const given = this.end(which, isSlow);
		if (given === undefined) return;
		this.saved.push({ at: clock.now, cursor: structuredClone(given.data.node) });
		this.emitted.push(...given.items);
	}

	/** Ends a poll, and n8n fails to save what it gave. */
	lose(which = 0): void {
		this.end(which, false);
	}

	wait(ms: number): void {
		clock.now += ms;
		this.polls = this.polls.filter(({ startedAt }) => clock.now - startedAt < longestPollMs);
	}

	/** Until no emission is recent. */
	protected settle(): void {
		this.wait(staleCursorMs);
	}

	changes() {
		return this.emitted.map(changesIn);
	}
}

describe('the durable engine, whatever it does with the polls of a trigger', () => {
	const { is, which } = stepOf;
	const step = fc.oneof(
		...commonSteps,
		{ weight: 2, arbitrary: fc.record({ kind: is('lose'), which }) },
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
						if (one.kind === 'lose') engine.lose(one.which);
						else if (one.kind === 'wait') engine.wait(one.ms);
						else engine.act(one);
					}
					engine.expectEachChangeOnce();
				}),
			);
		},
	);
});

test('an emission that n8n could not save is made again after two minutes, and not before', () => {
	const engine = new DurableEngine();
	const poll = () => {
		engine.begin();
		engine.finish();
	};
	engine.move('1001', 'clicked', 3);
	engine.begin();
	engine.lose();
	engine.move('1001', 'clicked', 2);
	engine.wait(staleCursorMs - 1);
	poll();
	expect(engine.changes()).toEqual([]);
	engine.wait(1);
	poll();
	engine.move('1001', 'clicked', 1);
	poll();
	expect(engine.changes()).toEqual([
		{ clicked: { from: 0, to: 5, by: 5 } },
		{ clicked: { from: 5, to: 6, by: 1 } },
	]);
});

test('a poll that began while an emission was recent stays stale to its end', () => {
	const engine = new DurableEngine();
	engine.move('1001', 'clicked', 3);
	engine.begin();
	engine.lose();
	engine.wait(staleCursorMs - 1);
	engine.begin();
	engine.wait(1_000);
	engine.finish();
	expect(engine.changes()).toEqual([]);
});

test('one of several polls that start from the same cursor emits, though they never overlap', () => {
	const engine = new DurableEngine();
	engine.move('1001', 'clicked', 3);
	for (let count = 0; count < 5; count += 1) engine.begin();
	for (let count = 0; count < 5; count += 1) engine.finish();
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
