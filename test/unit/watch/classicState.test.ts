import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { jsonParse, ObservableObject } from 'n8n-workflow';
import { openClassicState, readClassicState } from '../../../nodes/PushCampaign/watch/classicState';
import type { TriggerData } from '../../../nodes/PushCampaign/watch/triggerState';
import { newState } from '../../../nodes/PushCampaign/watch/triggerState';
import {
	baselinesOf,
	clickedIn,
	commonSteps,
	newWorkflow,
	PollEngine,
	site,
	stepOf,
} from './stateSupport';

const field = 'n8n-nodes-push-campaign.pushCampaignTrigger';
const watching = (data: IDataObject = {}): IDataObject => ObservableObject.create(data);
/** What n8n has saved and loaded again. */
const reloaded = (data: IDataObject) => watching(jsonParse<IDataObject>(JSON.stringify(data)));

/** n8n's classic engine: static data live in the process, and are saved with an emission. */
class ClassicEngine extends PollEngine {
	private saved: IDataObject = {};
	private readonly older: IDataObject[] = [];
	private live = watching();

	/** The trigger lets no second poll of an activation begin while one is in flight. */
	begin(): void {
		if (this.polls.some(({ data }) => data.global === this.live)) return;
		this.beginWith({ node: {}, global: this.live }, openClassicState);
	}

	finish(which = 0, isSlow = false): void {
		const given = this.end(which, isSlow);
		// n8n discards what a poll returns whose workflow was deactivated meanwhile.
		if (given?.data.global !== this.live) return;
		this.emitted.push(...given.items);
		this.older.push(this.saved);
		this.saved = reloaded(this.live);
	}

	/** Deactivates and activates the workflow. Polls in flight go on. */
	activate(): void {
		this.live = reloaded(this.saved);
	}

	/** An execution ends that began earlier and changed the workflow's static data. */
	restoreOlder(which: number): void {
		// An emission counts from the next poll on.
		this.begin();
		this.saved = this.older[which % Math.max(1, this.older.length)] ?? this.saved;
	}

	protected settle(): void {
		this.polls = [];
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
						if (one.kind === 'activate') engine.activate();
						else if (one.kind === 'restoreOlder') engine.restoreOlder(one.which);
						else engine.act(one);
					}
					engine.expectEachChangeOnce();
				}),
			);
		},
	);
});

/** The data of an activation. */
const dataOf = (data: Partial<TriggerData> = {}): TriggerData => ({
	workflowId: newWorkflow(),
	nodeId: 'a',
	nodeName: 'Trigger',
	node: {},
	global: watching(),
	...data,
});
/** The same trigger in another process, after n8n saved its data. */
const inNewProcess = ({ global, ...data }: TriggerData): TriggerData => ({
	...data,
	workflowId: newWorkflow(),
	global: reloaded(global),
});

describe('the saved state', () => {
	test('is loaded again as it was saved, and n8n notices that it changed', () => {
		const data = dataOf();
		openClassicState(data).save(site, baselinesOf(3));
		expect(data.global).toHaveProperty('__dataChanged', true);
		const later = inNewProcess(data);
		const baselines = Object.fromEntries(baselinesOf(3));
		expect(openClassicState(later).load()).toEqual({ revision: 1, site, baselines });
		openClassicState(later).save('another site', new Map());
		const last = { revision: 2, site: 'another site', baselines: {} };
		expect(openClassicState(inNewProcess(later)).load()).toEqual(last);
	});

	test('is empty at first for an ID that every object has a property of', () => {
		expect(openClassicState(dataOf({ nodeId: 'constructor' })).load()).toEqual(newState);
	});

	test('belongs to the node’s ID: a renamed trigger goes on, and a new one with its old name has none', () => {
		const data = dataOf();
		openClassicState(data).save(site, baselinesOf(3));
		const renamed = { ...inNewProcess(data), nodeName: 'Renamed' };
		expect(clickedIn(openClassicState(renamed))).toBe(3);
		const successor = { ...inNewProcess(data), nodeId: 'b' };
		expect(openClassicState(successor).load()).toEqual(newState);
	});

	test('leaves the workflow’s other static data alone', () => {
		const data = dataOf({ global: watching({ mine: 1 }) });
		openClassicState(data).save(site, baselinesOf(3));
		expect(Object.keys(data.global)).toEqual(['mine', field]);
		expect(data.global['mine']).toBe(1);
	});

	test('is empty, and written again, if a Code node overwrote it', () => {
		const data = dataOf({ global: watching({ [field]: { a: 7 } }) });
		const state = openClassicState(data);
		expect(state.load()).toEqual(newState);
		state.save(site, baselinesOf(4));
		expect(readClassicState(data).baselines).toEqual(Object.fromEntries(baselinesOf(4)));
	});

	test('is kept for the hundred triggers that were written last', () => {
		const global = watching();
		const write = (nodeId: string) =>
			openClassicState(dataOf({ nodeId, global })).save(site, baselinesOf(1));
		for (let count = 0; count < 100; count += 1) write(`node ${count}`);
		write('node 0');
		write('node 100');
		const isKept = (nodeId: string) => readClassicState({ nodeId, global }).revision > 0;
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
		openClassicState(data).save(site, baselinesOf(1));
		const older = reloaded(data.global);
		openClassicState(data).save(site, baselinesOf(2));
		openClassicState(data);
		expect(clickedIn(openClassicState({ ...data, global: older }))).toBe(2);
	});

	test('does not count an emission that n8n discarded, because its workflow was deactivated', () => {
		const data = dataOf();
		openClassicState(data).save(site, baselinesOf(1));
		const saved = reloaded(data.global);
		openClassicState(data).save(site, baselinesOf(2));
		expect(clickedIn(openClassicState({ ...data, global: saved }))).toBe(1);
	});

	test('gives way to a state of the same revision that another main instance saved', () => {
		const data = dataOf();
		const idsIn = (id: string) => {
			const state = { revision: 3, site, baselines: Object.fromEntries(baselinesOf(1, id)) };
			const global = watching({ [field]: { a: state } });
			return Object.keys(openClassicState({ ...data, global }).load().baselines);
		};
		expect([idsIn('1001'), idsIn('1002')]).toEqual([['1001'], ['1002']]);
	});

	test('makes a poll of an older activation stale as soon as a newer one polls', () => {
		const data = dataOf();
		const older = openClassicState(data);
		expect(older.isStale()).toBe(false);
		const newer = openClassicState({ ...data, global: watching() });
		expect([older.isStale(), newer.isStale()]).toEqual([true, false]);
	});

	test('is written for the workflow’s other triggers, as far as n8n has taken it over', () => {
		const workflowId = newWorkflow();
		/** n8n 2 activates each trigger with a copy of the workflow's data. */
		const activated = (nodeId: string) => dataOf({ workflowId, nodeId });
		const [dataOfOne, dataOfTwo] = [activated('1'), activated('2')];
		const revisionOf = (nodeId: string) => readClassicState({ ...dataOfTwo, nodeId }).revision;
		const [one, two] = [openClassicState(dataOfOne), openClassicState(dataOfTwo)];
		one.save(site, baselinesOf(1));
		two.save(site, baselinesOf(1));
		expect(['1', '2', '3'].map(revisionOf)).toEqual([1, 1, 0]);
		// n8n discards this emission: it activates the trigger again, with what it saved before.
		one.save(site, baselinesOf(2));
		openClassicState(activated('1'));
		two.save(site, baselinesOf(2));
		expect(['1', '2'].map(revisionOf)).toEqual([1, 2]);
	});

	test('is written with another trigger’s emission where older data were loaded', () => {
		const workflowId = newWorkflow();
		const data = dataOf({ workflowId, nodeId: '1' });
		openClassicState(data).save(site, baselinesOf(1));
		openClassicState(data);
		// A slow execution has saved the data as they were before.
		openClassicState(dataOf({ workflowId, nodeId: '1' }));
		const other = dataOf({ workflowId, nodeId: '2' });
		openClassicState(other).save(site, baselinesOf(1));
		expect(readClassicState({ ...other, nodeId: '1' }).revision).toBe(1);
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
		const common = { workflowId, global };
		return [
			dataOf({ ...common, nodeName: 'One' }),
			dataOf({ ...common, nodeName: 'Two' }),
		] as const;
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
		openClassicState(first).save(site, baselinesOf(3));
		expect(() => openClassicState(second)).toThrow('same node ID');
		const state = openClassicState(first);
		expect([clickedIn(state), state.isStale()]).toEqual([3, false]);
	});

	test('are not one trigger that was renamed and activated again', () => {
		const [first, renamed] = shared();
		openClassicState(first).save(site, baselinesOf(3));
		const activated = { ...renamed, global: reloaded(first.global) };
		expect(clickedIn(openClassicState(activated))).toBe(3);
	});

	test('have separate baselines if they are in two copies of a workflow', () => {
		const [first, second] = shared();
		openClassicState(first).save(site, baselinesOf(3));
		const copy = { ...second, workflowId: newWorkflow(), global: watching() };
		expect(openClassicState(copy).load()).toEqual(newState);
	});
});
