import { z } from 'zod';
import {
	executionSummarySchema,
	outputOf,
	until,
	type Execution,
	type ExecutionSummary,
	type N8nClient,
	type WorkflowDraft,
} from '../../../host';
import type { Counters } from '../../../simulator';
import { untilRequests } from './reliabilityWorkflow';
import type { Stage } from './stage';

const eventSchema = z.object({
	campaignId: z.string(),
	firstSeen: z.boolean(),
	changes: z.record(z.object({ from: z.number(), to: z.number(), by: z.number() })),
	observedAt: z.string(),
});

/** An item that a trigger emitted. */
export type Event = z.infer<typeof eventSchema>;

type Source = Pick<Stage, 'client'>;
type Service = Pick<Stage, 'simulator'>;

const pageSchema = z.object({ results: z.array(executionSummarySchema) });
const pageSize = 100;

/** All executions of a workflow (of all workflows, where none is named), the oldest first. */
export async function allExecutions(
	client: N8nClient,
	filter: { workflowId?: string; status?: string[] },
): Promise<ExecutionSummary[]> {
	const found = new Map<string, ExecutionSummary>();
	// n8n lists them by when they started and turns pages by their IDs: what overtook others would be on none.
	let startedBefore: string | undefined;
	for (;;) {
		const query = new URLSearchParams({
			filter: JSON.stringify({ ...filter, startedBefore }),
			limit: String(pageSize),
		});
		const answer = await client.request('GET', `executions?${query.toString()}`);
		const { results } = pageSchema.parse(answer);
		const known = found.size;
		for (const each of results) {
			found.set(each.id, each);
			startedBefore = each.startedAt ?? startedBefore;
		}
		if (results.length < pageSize || found.size === known) return [...found.values()].reverse();
	}
}

/** So many are asked for at the same time: a busy n8n lets each wait. */
const readAtOnce = 8;

/** What `read` makes of each, in the order of `all`. */
async function readEach<From, To>(
	all: readonly From[],
	read: (from: From) => Promise<To>,
): Promise<To[]> {
	const found: To[] = [];
	while (found.length < all.length) {
		const next = all.slice(found.length, found.length + readAtOnce);
		found.push(...(await Promise.all(next.map(read))));
	}
	return found;
}

/** What a trigger emitted at once. */
export type Emission = readonly Event[];

const stackSchema = z.object({
	nodeExecutionStack: z
		.array(
			z.object({
				node: z.object({ name: z.string() }),
				data: z.object({ main: z.array(z.array(z.object({ json: z.unknown() })).nullable()) }),
			}),
		)
		.default([]),
});

/** What an execution began with: the items of the trigger that started it. */
function begunBy(execution: Execution, trigger: string): Emission {
	const { nodeExecutionStack } = stackSchema.parse(execution.data.executionData ?? {});
	const waiting = nodeExecutionStack.find(({ node }) => node.name === trigger)?.data.main[0];
	const items = waiting ?? outputOf(execution, trigger);
	// One that only reports a campaign that can't be read holds no event.
	if (execution.status === 'error') {
		return items.flatMap(({ json }) => eventSchema.safeParse(json).data ?? []);
	}
	return items.map(({ json }) => eventSchema.parse(json));
}

const hasEnded = new Set(['success', 'crashed', 'error']);

/** Executions that are saved stay as they are, so each is asked for once. */
const saved = new WeakMap<object, Map<string, Execution>>();

/**
 * All emissions of a workflow's triggers, the oldest first, also those whose execution did not come to its
 * end: what n8n saved of it is what it began with.
 *
 * @returns one list for each trigger, in the order of `triggers`
 */
export async function emissionsBy(
	{ client }: Source,
	workflowId: string,
	triggers: readonly string[],
): Promise<Emission[][]> {
	const known = saved.get(client) ?? new Map<string, Execution>();
	saved.set(client, known);
	const executions = await allExecutions(client, { workflowId });
	const all = await readEach(executions, async ({ id, status }) => {
		const execution = known.get(id) ?? (await client.execution(id));
		if (hasEnded.has(status)) known.set(id, execution);
		return execution;
	});
	return triggers.map((trigger) =>
		all.map((each) => begunBy(each, trigger)).filter((emission) => emission.length > 0),
	);
}

/** Everything that a trigger of a workflow emitted, the oldest first. */
export async function emittedBy(
	source: Source,
	workflowId: string,
	trigger = 'Trigger',
): Promise<Event[]> {
	return (await emissionsBy(source, workflowId, [trigger])).flat(2);
}

/**
 * What becomes of a trigger's numbers, one emission after another. Each begins where the ones before it ended, or
 * further on, because one was lost, or further back, because one was made again.
 *
 * @returns how many emissions begin elsewhere, and the last number of each counter that moved
 */
export function followChain(given: readonly Emission[]): {
	lost: number;
	repeated: number;
	reached: Record<string, number>;
} {
	const reached: Record<string, number> = {};
	let lost = 0;
	let repeated = 0;
	for (const emission of given) {
		const breaks = emission.flatMap(({ campaignId, changes }) =>
			Object.entries(changes).map(([name, { from, to }]) => {
				const counter = `${campaignId} ${name}`;
				const gap = from - (reached[counter] ?? 0);
				reached[counter] = to;
				return gap;
			}),
		);
		if (breaks.some((gap) => gap > 0)) lost += 1;
		else if (breaks.some((gap) => gap < 0)) repeated += 1;
	}
	return { lost, repeated, reached };
}

/** The sum of a campaign's changes, by counter; those that never moved are 0. */
export function changesOf(events: readonly Event[], campaignId: string): Record<string, number> {
	const sums = byOutputName(() => 0);
	for (const event of events) {
		if (event.campaignId !== campaignId) continue;
		for (const [name, { by }] of Object.entries(event.changes)) {
			sums[name] = (sums[name] ?? 0) + by;
		}
	}
	return sums;
}

/** A value for each counter, under the trigger's names. */
function byOutputName(valueOf: (name: keyof Counters) => number): Record<string, number> {
	return {
		totalAttempts: valueOf('total_attempts'),
		successfullySent: valueOf('successfully_sent'),
		failedToSend: valueOf('failed_to_send'),
		delivered: valueOf('delivered'),
		clicked: valueOf('clicked'),
		closed: valueOf('closed'),
	};
}

function campaignCounters({ simulator }: Service, campaignId: string): Readonly<Counters> {
	const counters = simulator.campaign(campaignId)?.counters;
	if (counters === undefined) throw new Error(`There is no campaign ${campaignId}`);
	return counters;
}

/** What the service shows of a campaign now, under the trigger's names. */
export function countersOf(service: Service, campaignId: string): Record<string, number> {
	const counters = campaignCounters(service, campaignId);
	return byOutputName((name) => counters[name]);
}

/** Moves every counter of the campaigns, each by another number. */
export function moveCounters(service: Service, campaignIds: readonly string[]): void {
	campaignIds.forEach((campaignId, campaign) => {
		const counters = campaignCounters(service, campaignId);
		service.simulator.setCounters(campaignId, {
			total_attempts: counters.total_attempts + 7 + campaign,
			successfully_sent: counters.successfully_sent + 5 + campaign,
			failed_to_send: counters.failed_to_send + 2,
			delivered: counters.delivered + 4 + campaign,
			clicked: counters.clicked + 3,
			closed: counters.closed + 1,
		});
	});
}

/** Waits until a trigger has emitted all that moved. It may have emitted more: that is for the test. */
export async function untilCaughtUp(
	stage: Source & Service,
	workflowId: string,
	campaignIds: readonly string[],
	trigger = 'Trigger',
): Promise<void> {
	const isBehind = (events: readonly Event[]) =>
		campaignIds.filter((id) => {
			const emitted = changesOf(events, id);
			return Object.entries(countersOf(stage, id)).some(
				([name, value]) => (emitted[name] ?? 0) < value,
			);
		});
	await until(
		async () => isBehind(await emittedBy(stage, workflowId, trigger)),
		(behind) => behind.length === 0,
		{
			within: 300_000,
			every: 250,
			late: (behind) => `Not emitted in time: ${behind.join(', ')}`,
		},
	);
}

/** Waits until a workflow has so many failed executions. It may have more: that is for the test. */
export async function untilErrors(
	source: Source,
	workflowId: string,
	count: number,
): Promise<void> {
	await until(
		() => errorsOf(source, workflowId),
		(errors) => errors.length >= count,
		{ within: 300_000, every: 250, late: (errors) => `${errors.length} of ${count} failed` },
	);
}

/** The messages of a workflow's failed executions, the oldest first. */
export async function errorsOf({ client }: Source, workflowId: string): Promise<string[]> {
	const failed = await allExecutions(client, { workflowId, status: ['error', 'crashed'] });
	return await Promise.all(
		failed.map(async ({ id }) => {
			const { error } = (await client.execution(id)).data.resultData;
			return error?.message ?? '';
		}),
	);
}

/** The workflows that the tests of a `describe` watch campaigns with: inactive after each test. */
export function useWatches(stage: () => Stage) {
	const active = new Set<string>();
	afterEach(async () => {
		for (const id of active) await stage().client.deactivate(id);
		active.clear();
	});
	return {
		/** @returns the workflow's ID, once it is active */
		add: async (draft: WorkflowDraft): Promise<string> => {
			const { id } = await stage().client.createWorkflow(draft);
			active.add(id);
			await stage().client.activate(id);
			return id;
		},
		publish: async (id: string, draft: WorkflowDraft): Promise<void> => {
			await stage().client.updateWorkflow(id, draft);
			await stage().client.activate(id);
		},
		/** @returns the IDs of new campaigns */
		addCampaigns: (count: number): string[] =>
			Array.from({ length: count }, () =>
				stage().simulator.addCampaign({ counters: { total_attempts: 10, successfully_sent: 9 } }),
			),
		/**
		 * Expects, a few polls later, that what was emitted of a campaign adds up to its counters.
		 * @returns of each of its events whether it was the first
		 */
		eachChangeOnce: async (
			id: string,
			campaignId: string,
			trigger?: string,
		): Promise<boolean[]> => {
			await untilRequests(stage(), 4);
			const events = await emittedBy(stage(), id, trigger);
			expect(changesOf(events, campaignId)).toEqual(countersOf(stage(), campaignId));
			return events
				.filter((event) => event.campaignId === campaignId)
				.map(({ firstSeen }) => firstSeen);
		},
	};
}
