import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { jsonParse, ObservableObject } from 'n8n-workflow';
import { openClassicState, readClassicState } from '../../../nodes/PushCampaign/watch/classicState';
import type { TriggerData } from '../../../nodes/PushCampaign/watch/triggerState';
import {
	baselinesOf,
	clickedIn,
	clock,
	commonSteps,
	newWorkflow,
	stepOf,
	useClock,
	World,
} from './stateSupport';

useClock();

const field = 'n8n-nodes-push-campaign.pushCampaignTrigger';
const watching = (data: IDataObject = {}): IDataObject => ObservableObject.create(data);
/** What n8n has saved and loaded again. */
const reloaded = (data: IDataObject) => watching(jsonParse<IDataObject>(JSON.stringify(data)));

/** What n8n's classic engine does: static data live in the process, and are saved with an emission. */
class ClassicEngine {
	readonly world: World;
	private saved: Pick<TriggerData, 'node' | 'global'> = { node: {}, global: {} };
	private readonly older: Array<ClassicEngine['saved']> = [];
	private live = this.loaded();

	constructor(minimumChange: number) {
		this.world = new World(openClassicState, minimumChange);
	}

	/** The trigger lets no second poll of an activation begin while one is in flight. */
	begin(): void {
		const { node, global } = this.live;
		if (this.world.polls.some(({ data }) => data.node === node)) return;
		this.world.begin(node, global);
	}

	finish(which = 0, isSlow = false, minimumChange?: number): void {
		const given = this.world.finish(which, isSlow, minimumChange);
		if (given === undefined || given.items.length === 0) return;
		// n8n discards what a poll returns whose workflow was deactivated meanwhile.
		if (given.data.node !== this.live.node) return;
		this.world.emitted.push(...given.items);
		this.older.push(this.saved);
		this.saved = { node: reloaded(this.live.node), global: reloaded(this.live.global) };
	}

	/** Deactivates and activates the workflow. Polls in flight go on. */
	activate(): void {
		this.live = this.loaded();
	}

	/** An execution ends that began earlier and changed the workflow's static data. */
	restoreOlder(which: number): void {
		// An emission counts from the next poll on.
		this.begin();
		this.saved = this.older[which % Math.max(1, this.older.length)] ?? this.saved;
	}

	settle(): void {
		this.world.heal();
		this.world.polls = [];
		this.begin();
		this.finish(0, false, 1);
	}

	private loaded(): ClassicEngine['saved'] {
		return { node: reloaded(this.saved.node), global: reloaded(this.saved.global) };
	}
}

describe('the classic engine, whatever it does with the polls of a trigger', () => {
	const { is, which } = stepOf;
	const step = fc.oneof(
		...commonSteps,
		{ weight: 2, arbitrary: fc.record({ kind: is('activate') }) },
		{ weight: 2, arbitrary: fc.record({ kind: is('restoreOlder'), which }) },
	);

	test.each([{ minimumChange: 1 }, { minimumChange: 5 }])(
		'emits every change once, with a minimum change of $minimumChange, though executions restore old static data',
		({ minimumChange }) => {
			fc.assert(
				fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
					const engine = new ClassicEngine(minimumChange);
					for (const one of steps) {
						clock.now += 10;
						if (one.kind === 'move') engine.world.move(one.id, one.name, one.by);
						else if (one.kind === 'begin') engine.begin();
						else if (one.kind === 'finish') engine.finish(one.which, one.isSlow);
						else if (one.kind === 'activate') engine.activate();
						else if (one.kind === 'restoreOlder') engine.restoreOlder(one.which);
						else if (one.kind === 'watch') engine.world.watch(one.list);
						else engine.world.toggle(one.id);
					}
					clock.now += 10;
					engine.settle();
					engine.world.expectEachChangeOnce();
				}),
			);
		},
	);
});

/** The data of an activation. */
const dataOf = (data: Partial<TriggerData> = {}): TriggerData => ({
	workflowId: newWorkflow(),
	nodeId: 'a',
	node: watching(),
	global: watching(),
	...data,
});
/** The same trigger in another process, after n8n saved its data. */
const inNewProcess = ({ nodeId, node, global }: TriggerData): TriggerData =>
	dataOf({ nodeId, node: reloaded(node), global: reloaded(global) });

describe('the saved state', () => {
	test('is loaded again as it was saved, and n8n notices that it changed', () => {
		const data = dataOf();
		openClassicState(data).save(baselinesOf(3));
		expect(data.node).toHaveProperty('__dataChanged', true);
		expect(data.global).toHaveProperty('__dataChanged', true);
		const later = inNewProcess(data);
		expect(openClassicState(later).load()).toEqual(baselinesOf(3));
		openClassicState(later).save(new Map());
		expect(openClassicState(inNewProcess(later)).load()).toEqual(new Map());
	});

	test('is empty if what is there is not readable', () => {
		const node = watching({ revision: 1, baselines: 'x' });
		expect(openClassicState(dataOf({ node })).load()).toEqual(new Map());
	});

	test('is empty at first for an ID that every object has a property of', () => {
		expect(openClassicState(dataOf({ nodeId: 'constructor' })).load()).toEqual(new Map());
	});

	test('is found by the ID of a renamed node', () => {
		const data = dataOf();
		openClassicState(data).save(baselinesOf(3));
		const renamed = { ...inNewProcess(data), node: watching() };
		expect(clickedIn(openClassicState(renamed))).toBe(3);
	});

	test('is not the one under the node’s name if that name was another trigger’s', () => {
		const one = dataOf({ nodeId: 'one' });
		openClassicState(one).save(baselinesOf(1));
		const two = { ...one, nodeId: 'two', node: watching(), global: reloaded(one.global) };
		openClassicState({ ...two, workflowId: newWorkflow() }).save(baselinesOf(2));
		const swapped = dataOf({
			nodeId: 'two',
			node: reloaded(one.node),
			global: reloaded(two.global),
		});
		expect(clickedIn(openClassicState(swapped))).toBe(2);
	});

	test('is the one under the node’s name if a program gave the node another ID', () => {
		const data = dataOf();
		openClassicState(data).save(baselinesOf(3));
		expect(clickedIn(openClassicState({ ...inNewProcess(data), nodeId: 'b' }))).toBe(3);
	});

	test('leaves the workflow’s other static data alone', () => {
		const data = dataOf({ global: watching({ mine: 1 }) });
		openClassicState(data).save(baselinesOf(3));
		expect(Object.keys(data.global)).toEqual(['mine', field]);
		expect(data.global['mine']).toBe(1);
	});

	test('is read, and written again, though a Code node overwrote it', () => {
		const data = dataOf();
		openClassicState(data).save(baselinesOf(3));
		const broken = { ...inNewProcess(data), global: watching({ [field]: { a: 7 } }) };
		const state = openClassicState(broken);
		expect(clickedIn(state)).toBe(3);
		state.save(baselinesOf(4));
		expect(readClassicState({ ...broken, node: {} })?.baselines).toEqual(
			Object.fromEntries(baselinesOf(4)),
		);
	});

	test('is kept for the hundred triggers that were written last', () => {
		const global = watching();
		const write = (nodeId: string) =>
			openClassicState(dataOf({ nodeId, global })).save(baselinesOf(1));
		for (let count = 0; count < 100; count += 1) write(`node ${count}`);
		write('node 0');
		write('node 100');
		const isKept = (nodeId: string) => readClassicState(dataOf({ nodeId, global })) !== undefined;
		expect(['node 0', 'node 1', 'node 2', 'node 100'].map(isKept)).toEqual([
			true,
			false,
			true,
			true,
		]);
	});
});

describe('what this process knows', () => {
	test('counts if an execution restored an older state before the next activation', () => {
		const data = dataOf();
		openClassicState(data).save(baselinesOf(1));
		const older = { node: reloaded(data.node), global: reloaded(data.global) };
		openClassicState(data).save(baselinesOf(2));
		openClassicState(data);
		expect(clickedIn(openClassicState({ ...data, ...older }))).toBe(2);
	});

	test('does not count an emission that n8n discarded, because its workflow was deactivated', () => {
		const data = dataOf();
		openClassicState(data).save(baselinesOf(1));
		const saved = { node: reloaded(data.node), global: reloaded(data.global) };
		openClassicState(data).save(baselinesOf(2));
		expect(clickedIn(openClassicState({ ...data, ...saved }))).toBe(1);
	});

	test('gives way to a state of the same revision that another main instance saved', () => {
		const data = dataOf();
		const stateOf = (id: string) => ({
			revision: 3,
			baselines: Object.fromEntries(baselinesOf(1, id)),
		});
		const idsIn = (node: IDataObject) => [
			...openClassicState({ ...data, node: watching(node), global: watching() })
				.load()
				.keys(),
		];
		expect([idsIn(stateOf('1001')), idsIn(stateOf('1002'))]).toEqual([['1001'], ['1002']]);
	});

	test('makes a poll of an older activation stale as soon as a newer one polls', () => {
		const data = dataOf();
		const older = openClassicState(data);
		expect(older.isStale()).toBe(false);
		const newer = openClassicState({ ...data, node: watching(), global: watching() });
		expect([older.isStale(), newer.isStale()]).toEqual([true, false]);
	});

	test('is written for the workflow’s other triggers, as far as n8n has taken it over', () => {
		const workflowId = newWorkflow();
		/** n8n 2 activates each trigger with a copy of the workflow's data. */
		const activated = (nodeId: string) => dataOf({ workflowId, nodeId });
		const [dataOfOne, dataOfTwo] = [activated('1'), activated('2')];
		const revisionOf = (nodeId: string) =>
			readClassicState({ ...dataOfTwo, node: {}, nodeId })?.revision;
		const [one, two] = [openClassicState(dataOfOne), openClassicState(dataOfTwo)];
		one.save(baselinesOf(1));
		two.save(baselinesOf(1));
		expect(['1', '2', '3'].map(revisionOf)).toEqual([1, 1, undefined]);
		// n8n discards this emission: it activates the trigger again, with what it saved before.
		one.save(baselinesOf(2));
		openClassicState(activated('1'));
		two.save(baselinesOf(2));
		expect(['1', '2'].map(revisionOf)).toEqual([1, 2]);
	});
});

function errorOf(action: () => unknown): unknown {
	try {
		action();
	} catch (error) {
		return error;
	}
	return undefined;
}

describe('two triggers of one workflow with the same node ID', () => {
	const shared = () => {
		const [workflowId, global] = [newWorkflow(), watching()];
		return [dataOf({ workflowId, global }), dataOf({ workflowId, global })] as const;
	};

	test('are refused for the second one, with words that say how to get another ID', () => {
		const [first, second] = shared();
		openClassicState(first);
		expect(errorOf(() => openClassicState(second))).toMatchObject({
			message: 'Another trigger of this workflow has the same node ID',
			advice:
				'Copy and paste this trigger in the editor, then delete the original: n8n gives the copy an ID of its own.',
		});
	});

	test('leave the first one its own baselines', () => {
		const [first, second] = shared();
		openClassicState(first).save(baselinesOf(3));
		expect(() => openClassicState(second)).toThrow('same node ID');
		const state = openClassicState(first);
		expect([clickedIn(state), state.isStale()]).toEqual([3, false]);
	});

	test('are told from one trigger that was renamed and activated again', () => {
		const [first, renamed] = shared();
		openClassicState(first).save(baselinesOf(3));
		const activated = { ...renamed, global: reloaded(first.global) };
		expect(clickedIn(openClassicState(activated))).toBe(3);
	});

	test('have separate baselines if they are in two copies of a workflow', () => {
		const [first, second] = shared();
		openClassicState(first).save(baselinesOf(3));
		const copy = { ...second, workflowId: newWorkflow(), global: watching() };
		expect(openClassicState(copy).load()).toEqual(new Map());
	});
});
