import * as fc from 'fast-check';
import { ObservableObject, type IDataObject, type INode } from 'n8n-workflow';
import { compare, type Baselines } from '../../../nodes/PushCampaign/trigger/compare';
import { staleCursorMs, TriggerState } from '../../../nodes/PushCampaign/trigger/state';
import { movesIn, readingOf } from './support';

/** The clock of the process, which moves only when a test moves it. */
const clock = { now: 0 };
beforeEach(() => {
	clock.now = 1_000;
	jest.spyOn(performance, 'now').mockImplementation(() => clock.now);
});
afterEach(() => void jest.restoreAllMocks());

const node: INode = {
	id: 'trigger',
	name: 'Trigger',
	type: 'n8n-nodes-push-campaign.pushCampaignTrigger',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};
const site = 'the shop';

/** What a process knows of a trigger it keeps under the workflow's ID: a new ID stands for a process that knows nothing. */
let processes = 0;
const newProcess = () => `process ${(processes += 1)}`;

const open = (data: IDataObject, id = newProcess()) =>
	new TriggerState({
		getNode: () => node,
		getWorkflow: () => ({ id, active: true }),
		getWorkflowStaticData: () => data,
	});

const baselinesOf = (clicked: number): Baselines =>
	new Map([['1001', { id: '1001', status: 'Sent', counters: { clicked }, reached: {} }]]);
const clickedIn = (data: IDataObject, of = site) =>
	open(data).baselinesOf(of).get('1001')?.counters['clicked'];

describe('the state of a trigger', () => {
	test('is saved in a format that stays as it is', () => {
		const saved = {
			revision: 7,
			site: 'AcjTqnFHKVgxVGVY',
			baselines: [
				{
					id: '1001',
					status: 'Sent',
					counters: { delivered: 40, clicked: 3 },
					reached: { clicked: 3 },
				},
				{ id: '1002', status: null, counters: {}, reached: {} },
			],
		};
		const data = structuredClone(saved);
		const state = open(data);
		const before = state.baselinesOf(saved.site);
		const readings = [
			readingOf({ delivered: 40, clicked: 5 }),
			readingOf({ clicked: 9 }, { id: '1003', status: null }),
		];
		const rule = { startsOn: 'reach', counter: 'clicked', number: 4 } as const;
		const { items, baselines } = compare(readings, before, rule);
		expect(items.map(movesIn)).toEqual([{ clicked: 2 }, { clicked: 9 }]);
		state.save(saved.site, baselines);
		expect(JSON.stringify(data)).toBe(
			'{"revision":8,"site":"AcjTqnFHKVgxVGVY","baselines":[' +
				'{"id":"1001","status":"Sent","counters":{"delivered":40,"clicked":5},"reached":{"clicked":4}},' +
				'{"id":"1002","status":null,"counters":{},"reached":{}},' +
				'{"id":"1003","status":null,"counters":{"clicked":9},"reached":{"clicked":4}}]}',
		);
	});

	test('reports the whole of a campaign again whose baseline can’t be read, and of no other', () => {
		const data: IDataObject = {};
		open(data).save(site, baselinesOf(3));
		const unreadable = [null, 'text', { id: '1002' }, { id: '1002', status: 1, counters: {} }];
		const baselines = [...unreadable, ...baselinesOf(3).values()];
		const state = open({ ...data, baselines });
		expect(state.isNew).toBe(false);
		expect(state.baselinesOf(site)).toEqual(baselinesOf(3));
	});

	test('belongs to its site: of another one nothing was emitted', () => {
		const data: IDataObject = {};
		expect(open(data).isNew).toBe(true);
		open(data).save(site, baselinesOf(3));
		expect(open(data).isNew).toBe(false);
		expect(clickedIn(data, 'another shop')).toBeUndefined();
		open(data).save('another shop', baselinesOf(1));
		expect(clickedIn(data)).toBeUndefined();
		expect(clickedIn(data, 'another shop')).toBe(1);
	});

	test.each([
		{ name: 'another node has written there', data: { lastTimeChecked: 1 } },
		{ name: 'a part is missing', data: { revision: 1, site } },
	])('counts as none if $name, and the next emission replaces it', ({ data }) => {
		const state = open(data);
		expect(state.isNew).toBe(true);
		state.save(site, baselinesOf(3));
		expect(clickedIn(data)).toBe(3);
	});

	test('is noticed by the static data of the classic engine, and read back from them', () => {
		const data = ObservableObject.create({});
		open(data).save(site, baselinesOf(3));
		expect(data['__dataChanged']).toBe(true);
		const loaded = ObservableObject.create(structuredClone({ ...data }));
		expect(clickedIn(loaded)).toBe(3);
		open(loaded).save(site, baselinesOf(4));
		expect(loaded['__dataChanged']).toBe(true);
		expect(clickedIn(loaded)).toBe(4);
	});
});

describe('a poll that begins with a cursor', () => {
	test('without the last emission of its process is stale for two minutes', () => {
		const id = newProcess();
		const old: IDataObject = {};
		open(structuredClone(old), id).save(site, baselinesOf(3));
		clock.now += 119_999;
		const late = open(structuredClone(old), id);
		expect(late.isStale).toBe(true);
		clock.now += 1;
		expect(late.isStale).toBe(true);
		expect(open(structuredClone(old), id).isStale).toBe(false);
	});

	test('that shows the last emission is not stale', () => {
		const id = newProcess();
		const data: IDataObject = {};
		open(data, id).save(site, baselinesOf(3));
		expect(open(structuredClone(data), id).isStale).toBe(false);
	});

	test('is stale as soon as another poll has emitted, though it began before', () => {
		const id = newProcess();
		const [one, two] = [open({}, id), open({}, id)];
		one.save(site, baselinesOf(3));
		expect(two.isStale).toBe(true);
	});

	test('of the revision of an emission that was lost does not pass for it', () => {
		const id = newProcess();
		open({}, id).save(site, baselinesOf(3));
		clock.now += staleCursorMs;
		const data: IDataObject = {};
		open(data, id).save(site, baselinesOf(4));
		expect(data['revision']).toBe(2);
	});

	test('of a copied workflow is never stale because of the original', () => {
		open({}, newProcess()).save(site, baselinesOf(3));
		expect(open({}, newProcess()).isStale).toBe(false);
	});
});

const names = ['delivered', 'clicked'];

/** One of n8n's processes after another, each polling one campaign in the durable engine. */
class DurableEngine {
	private process = newProcess();
	private counters: Readonly<Record<string, number>> = { delivered: 0, clicked: 0 };
	/** What n8n has saved, and when: the cursor together with its item. */
	private readonly saved: Array<{ at: number; cursor: IDataObject; item?: IDataObject }> = [
		{ at: 0, cursor: {} },
	];
	private polls: Array<{ cursor: IDataObject; state: TriggerState; startedAt: number }> = [];

	constructor(private minimumChange: number) {}

	move(name: string, by: number): void {
		const to = Math.max(0, (this.counters[name] ?? 0) + by);
		this.counters = { ...this.counters, [name]: to };
	}

	/** @param ageMs how long ago n8n read the cursor that the poll begins with */
	begin(ageMs: number): void {
		const newest = this.saved.filter(({ at }) => at <= clock.now - ageMs).at(-1);
		const cursor = structuredClone(newest?.cursor ?? {});
		this.polls.push({ cursor, state: open(cursor, this.process), startedAt: clock.now });
	}

	/** @param isSaved whether n8n manages to save what the poll gives */
	finish(which: number, isSaved: boolean): void {
		const [poll] = this.polls.splice(which % Math.max(1, this.polls.length), 1);
		if (poll === undefined || poll.state.isStale) return;
		const { minimumChange } = this;
		const rule = { startsOn: 'change', watched: names, minimumChange } as const;
		const before = poll.state.baselinesOf(site);
		const { items, baselines } = compare([readingOf(this.counters)], before, rule);
		const [item] = items;
		if (item === undefined) return;
		poll.state.save(site, baselines);
		if (isSaved) this.saved.push({ at: clock.now, cursor: structuredClone(poll.cursor), item });
	}

	/** n8n abandons a poll after 45 s. */
	wait(milliseconds: number): void {
		clock.now += milliseconds;
		this.polls = this.polls.filter(({ startedAt }) => clock.now - startedAt < 45_000);
	}

	/** A new process reads what is saved. */
	kill(): void {
		this.process = newProcess();
		this.polls = [];
		clock.now += 70_000;
	}

	/** Lets all settle and polls once more. Then the moves of all items add up to the counters. */
	expectEachMoveOnce(): void {
		this.wait(staleCursorMs);
		this.minimumChange = 1;
		this.begin(0);
		this.finish(0, true);
		const told = new Map(names.map((name) => [name, 0]));
		for (const { item } of this.saved) {
			for (const [name, by] of Object.entries(item ? movesIn(item) : {})) {
				told.set(name, (told.get(name) ?? 0) + by);
				expect({ name, now: item?.[name] }).toEqual({ name, now: told.get(name) });
			}
		}
		expect(Object.fromEntries(told)).toEqual(this.counters);
	}
}

type Step = (engine: DurableEngine) => void;
const stepOf = <Value>(
	weight: number,
	arbitrary: fc.Arbitrary<Value>,
	step: (engine: DurableEngine, value: Value) => void,
) => ({
	weight,
	arbitrary: arbitrary.map(
		(value): Step =>
			(engine) =>
				step(engine, value),
	),
});

describe('in the durable engine, whatever it does with the polls of a trigger', () => {
	const move = fc.tuple(fc.constantFrom(...names), fc.integer({ min: -3, max: 9 }));
	const step = fc.oneof(
		stepOf(4, move, (engine, [name, by]) => engine.move(name, by)),
		// A poll may have waited 40 s for its turn, and n8n may take 30 s to save what was emitted before.
		stepOf(4, fc.integer({ min: 0, max: 70_000 }), (engine, ageMs) => engine.begin(ageMs)),
		stepOf(5, fc.tuple(fc.nat(9), fc.boolean()), (engine, [which, isSaved]) =>
			engine.finish(which, isSaved),
		),
		stepOf(3, fc.integer({ min: 0, max: 40_000 }), (engine, time) => engine.wait(time)),
		stepOf(1, fc.constant(undefined), (engine) => engine.kill()),
	);
	const steps = fc.array(step, { maxLength: 100, size: 'max' });

	test.each([1, 5])('each change is saved once, with a minimum change of %i', (minimumChange) => {
		fc.assert(
			fc.property(steps, (all) => {
				const engine = new DurableEngine(minimumChange);
				for (const one of all) one(engine);
				engine.expectEachMoveOnce();
			}),
		);
	});
});
