import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import type { Baselines } from '../../../nodes/PushCampaign/watch/compare';
import { finishPoll, memoryOf } from '../../../nodes/PushCampaign/watch/finishPoll';
import type { PollState, TriggerData } from '../../../nodes/PushCampaign/watch/triggerState';
import type { TriggerRule } from '../../../nodes/PushCampaign/watch/watched';
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

const ids = ['1001', '1002'];
const names = ['delivered', 'clicked'];
type Counters = Readonly<Record<string, number>>;
const zero: Counters = { delivered: 0, clicked: 0 };

/** A workflow that no other test has polled. */
let workflows = 0;
export const newWorkflow = () => `workflow ${(workflows += 1)}`;

/** Baselines that hold one number for a campaign. */
export const baselinesOf = (clicked: number, id = '1001'): Baselines =>
	new Map([[id, { counters: { clicked }, reached: {}, status: 'Sent' }]]);
export const clickedIn = (state: PollState, id = '1001') =>
	state.load().baselines[id]?.counters['clicked'];
export const site = 'the site';

interface PollInFlight {
	readonly data: TriggerData;
	readonly state: PollState;
	readonly startedAt: number;
	/** The counters at its start. */
	readonly seen: ReadonlyMap<string, Counters>;
}

/** What can happen to a trigger in either engine. */
type CommonStep =
	| { readonly kind: 'move'; readonly id: string; readonly name: string; readonly by: number }
	| { readonly kind: 'begin'; readonly ageMs: number }
	| { readonly kind: 'finish'; readonly which: number; readonly isSlow: boolean }
	| { readonly kind: 'toggle'; readonly id: string }
	| { readonly kind: 'watch'; readonly list: readonly string[] };

/** A service whose counters move, and a process that polls it in one of n8n's engines. */
export abstract class PollEngine {
	protected readonly workflowId = newWorkflow();
	/** What n8n took over, in order. */
	protected readonly emitted: IDataObject[] = [];
	protected polls: PollInFlight[] = [];
	private readonly counters = new Map<string, Counters>(ids.map((id) => [id, zero]));
	private readonly failing = new Set<string>();
	private watched: readonly string[] = ids;
	/** Campaigns that were off the list: they may count from zero. */
	private readonly removed = new Set<string>();

	constructor(private minimumChange = 1) {}

	/** Begins a poll. @param ageMs how long ago n8n read the saved data that it starts from */
	abstract begin(ageMs?: number): void;

	/** Ends one of the polls in flight. @param isSlow whether it read the counters when it began */
	abstract finish(which?: number, isSlow?: boolean): void;

	/** Lets everything in flight end. */
	protected abstract settle(): void;

	act(step: CommonStep): void {
		if (step.kind === 'move') this.move(step.id, step.name, step.by);
		else if (step.kind === 'begin') this.begin(step.ageMs);
		else if (step.kind === 'finish') this.finish(step.which, step.isSlow);
		else if (step.kind === 'watch') this.watch(step.list);
		else if (!this.failing.delete(step.id)) this.failing.add(step.id);
	}

	/** Never back to zero: of a removed campaign there would be nothing to emit. */
	move(id: string, name: string, by: number): void {
		const before = this.counters.get(id) ?? zero;
		this.counters.set(id, { ...before, [name]: Math.max(1, (before[name] ?? 0) + by) });
	}

	/** Changes the list of campaigns. */
	private watch(list: readonly string[]): void {
		for (const id of ids) if (!list.includes(id)) this.removed.add(id);
		this.watched = list;
	}

	protected beginWith(
		data: Pick<TriggerData, 'node' | 'global'>,
		open: (data: TriggerData) => PollState,
	) {
		const all = { workflowId: this.workflowId, nodeId: 'node', nodeName: 'Trigger', ...data };
		const seen = new Map(this.counters);
		this.polls.push({ data: all, state: open(all), startedAt: clock.now, seen });
	}

	/** @returns what the poll returned, and the data that it started with, if it emits */
	protected end(which: number, isSlow: boolean) {
		const [poll] = this.polls.splice(which % Math.max(1, this.polls.length), 1);
		if (poll === undefined) return undefined;
		const { data, state, seen } = poll;
		const now = isSlow ? seen : this.counters;
		const observations = this.watched
			.filter((id) => !this.failing.has(id))
			.map((id) => observationOf(now.get(id) ?? zero, { id }));
		const { minimumChange } = this;
		const rule: TriggerRule = {
			startsOn: 'change',
			counters: names,
			isStatusWatched: false,
			minimumChange,
		};
		const memory = memoryOf(this.workflowId, 'node');
		const readings = { site, observations, failures: new Map<string, never>(), unread: [] };
		const watched = { ids: this.watched, rule };
		const { items } = finishPoll(state, memory, watched, readings, false);
		return items.length === 0 ? undefined : { data, items };
	}

	/**
	 * Polls all campaigns once more when nothing is in flight. Then each event begins where the one before it ended,
	 * and the last one ends where the counters are.
	 */
	expectEachChangeOnce(): void {
		this.failing.clear();
		this.watched = ids;
		this.settle();
		this.minimumChange = 1;
		this.begin();
		this.finish();
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
const name = fc.constantFrom(...names);
const which = fc.nat(9);
/** A poll may have waited 40 s for its turn, and n8n may have taken 30 s to save what was emitted before. */
const ageMs = fc.integer({ min: 0, max: 70_000 });
/** What can happen to a trigger in either engine, in any order. */
export const commonSteps = [
	{
		weight: 4,
		arbitrary: fc.record({ kind: is('move'), id, name, by: fc.integer({ min: -3, max: 9 }) }),
	},
	{ weight: 4, arbitrary: fc.record({ kind: is('begin'), ageMs }) },
	{ weight: 5, arbitrary: fc.record({ kind: is('finish'), which, isSlow: fc.boolean() }) },
	{ weight: 1, arbitrary: fc.record({ kind: is('toggle'), id }) },
	{
		weight: 1,
		arbitrary: fc.record({ kind: is('watch'), list: fc.subarray(ids, { minLength: 1 }) }),
	},
] as const;
export const stepOf = { is, which };
