import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import type { Baselines } from '../../../nodes/PushCampaign/watch/compare';
import { finishPoll, memoryOf } from '../../../nodes/PushCampaign/watch/finishPoll';
import type { PollState, TriggerData } from '../../../nodes/PushCampaign/watch/triggerState';
import type { Rule } from '../../../nodes/PushCampaign/watch/watched';
import { changesIn, idIn, observationOf } from './support';

/** The clock of the process, which moves only when a test moves it. */
export const clock = { now: 0 };
export function useClock(): void {
	beforeEach(() => {
		clock.now = 1_000;
		jest.spyOn(performance, 'now').mockImplementation(() => clock.now);
	});
	afterEach(() => void jest.restoreAllMocks());
}

export const ids = ['1001', '1002'];
const names = ['delivered', 'clicked'];
type Counters = Readonly<Record<string, number>>;
const zero: Counters = { delivered: 0, clicked: 0 };

/** A workflow that no other test has polled. */
let workflows = 0;
export const newWorkflow = () => `workflow ${(workflows += 1)}`;

/** Baselines that hold one number for a campaign. */
export const baselinesOf = (clicked: number, id = '1001'): Baselines =>
	new Map([[id, { numbers: { clicked }, reached: {}, status: 'Sent' }]]);
export const clickedIn = (state: PollState, id = '1001') =>
	state.load().baselines[id]?.numbers['clicked'];
export const site = 'the site';

interface Emission {
	readonly data: TriggerData;
	readonly items: readonly IDataObject[];
	/** Whether the poll changed the static data. */
	readonly isChanged: boolean;
}

interface PollInFlight {
	readonly data: TriggerData;
	readonly state: PollState;
	readonly startedAt: number;
	/** The counters at its start. */
	readonly seen: ReadonlyMap<string, Counters>;
	/** The static data at its start. */
	readonly before: string;
}

/** A service whose counters move, and a process that polls it in one of n8n's engines. */
export class World {
	readonly workflowId = newWorkflow();
	readonly counters = new Map<string, Counters>(ids.map((id) => [id, zero]));
	/** What n8n took over, in order. */
	readonly emitted: IDataObject[] = [];
	polls: PollInFlight[] = [];
	private readonly failing = new Set<string>();
	private watched: readonly string[] = ids;
	/** Campaigns that were off the list: they may count from zero. */
	private readonly removed = new Set<string>();

	constructor(
		private readonly open: (data: TriggerData) => PollState,
		private readonly minimumChange: number,
	) {}

	/** Never back to zero: of a removed campaign there would be nothing to emit. */
	move(id: string, name: string, by: number): void {
		const before = this.counters.get(id) ?? zero;
		this.counters.set(id, { ...before, [name]: Math.max(1, (before[name] ?? 0) + by) });
	}

	/** Lets a campaign fail, or heals it. */
	toggle(id: string): void {
		if (!this.failing.delete(id)) this.failing.add(id);
	}

	/** Changes the list of campaigns. */
	watch(list: readonly string[]): void {
		for (const id of ids) if (!list.includes(id)) this.removed.add(id);
		this.watched = list;
	}

	heal(): void {
		this.failing.clear();
		this.watched = ids;
	}

	/** @param node the cursor, in the durable engine; @param global the workflow's data, in the classic one */
	begin(node: IDataObject, global: IDataObject = {}): void {
		const { workflowId } = this;
		const data = { workflowId, nodeId: 'node', nodeName: 'Trigger', node, global };
		this.polls.push({
			data,
			state: this.open(data),
			startedAt: clock.now,
			seen: new Map(this.counters),
			before: JSON.stringify(node),
		});
	}

	/** Ends one of the polls in flight. */
	finish(which: number, isSlow: boolean, minimumChange = this.minimumChange): Emission | undefined {
		const [poll] = this.polls.splice(which % Math.max(1, this.polls.length), 1);
		if (poll === undefined) return undefined;
		const { data, state, seen, before } = poll;
		const now = isSlow ? seen : this.counters;
		const observations = this.watched
			.filter((id) => !this.failing.has(id))
			.map((id) => observationOf(now.get(id) ?? zero, { id }));
		const rule: Rule = {
			startsOn: 'change',
			counters: names,
			isStatusWatched: false,
			minimumChange,
		};
		const memory = memoryOf(this.workflowId, 'node');
		const readings = { site, observations, failures: new Map<string, never>(), unread: [] };
		const watched = { ids: this.watched, rule };
		const { items } = finishPoll(state, memory, watched, readings, false);
		return { data, items, isChanged: before !== JSON.stringify(data.node) };
	}

	/** Each event begins where the one before it ended, and the last one ends where the counters are. */
	expectEachChangeOnce(): void {
		const reached = new Map<string, unknown>();
		for (const item of this.emitted) {
			const id = idIn(item);
			if (item['firstSeen'] === true && this.removed.has(id)) {
				for (const name of names) reached.delete(`${id} ${name}`);
			}
			for (const [name, { from, to }] of Object.entries(changesIn(item))) {
				const counter = `${id} ${name}`;
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

const is = fc.constant;
const id = fc.constantFrom(...ids);
const which = fc.nat(9);
/** What can happen to a trigger in either engine, in any order. */
export const commonSteps = [
	{
		weight: 4,
		arbitrary: fc.record({
			kind: is('move'),
			id,
			name: fc.constantFrom(...names),
			by: fc.integer({ min: -3, max: 9 }),
		}),
	},
	{
		weight: 4,
		arbitrary: fc.record({ kind: is('begin'), afterMs: fc.integer({ min: 0, max: 40_000 }) }),
	},
	{ weight: 5, arbitrary: fc.record({ kind: is('finish'), which, isSlow: fc.boolean() }) },
	{ weight: 1, arbitrary: fc.record({ kind: is('toggle'), id }) },
	{
		weight: 1,
		arbitrary: fc.record({ kind: is('watch'), list: fc.subarray(ids, { minLength: 1 }) }),
	},
] as const;
export const stepOf = { is, which };
