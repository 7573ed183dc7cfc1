import { z } from 'zod';
import {
	executionSummarySchema,
	outputOf,
	until,
	type Execution,
	type ExecutionSummary,
	type N8nClient,
} from '../../../host';
import type { Counters } from '../../../simulator';
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

/** The counters by the trigger's names. */
const outputNames: Record<keyof Counters, string> = {
	total_attempts: 'totalAttempts',
	successfully_sent: 'successfullySent',
	failed_to_send: 'failedToSend',
	delivered: 'delivered',
	clicked: 'clicked',
	closed: 'closed',
};

const pageSchema = z.object({ results: z.array(executionSummarySchema) });
const pageSize = 100;
const mostPages = 100;

/** All executions of a workflow (of all workflows, where none is named), the oldest first. */
export async function allExecutions(
	client: N8nClient,
	filter: { workflowId?: string; status?: string[] },
): Promise<ExecutionSummary[]> {
	const found: ExecutionSummary[] = [];
	for (let page = 0; page < mostPages; page++) {
		const lastId = found.at(-1)?.id;
		const query = new URLSearchParams({
			filter: JSON.stringify(filter),
			limit: String(pageSize),
			...(lastId === undefined ? {} : { lastId }),
		});
		const { results } = pageSchema.parse(
			await client.request('GET', `executions?${query.toString()}`),
		);
		found.push(...results);
		if (results.length < pageSize) return found.reverse();
	}
	throw new Error(`More than ${pageSize * mostPages} executions`);
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

/** Executions end and stay as they are, so each is asked for once. */
const ended = new WeakMap<object, Map<string, Event[]>>();

/** Everything that a trigger of a workflow emitted, the oldest first. */
export async function emittedBy(
	{ client }: Source,
	workflowId: string,
	trigger = 'Trigger',
): Promise<Event[]> {
	const known = ended.get(client) ?? new Map<string, Event[]>();
	ended.set(client, known);
	const executions = await allExecutions(client, { workflowId, status: ['success'] });
	const events = await readEach(executions, async ({ id }) => {
		const key = `${id} ${trigger}`;
		const emitted =
			known.get(key) ??
			outputOf(await client.execution(id), trigger).map(({ json }) => eventSchema.parse(json));
		known.set(key, emitted);
		return emitted;
	});
	return events.flat();
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

/** Statuses of executions that were saved; those that a kill ended hold what they were to begin with. */
const settled = new Set(['success', 'crashed']);
const begun = new WeakMap<object, Map<string, Begun>>();

/** What an execution began with: the items of the trigger that started it, by the trigger's name. */
type Begun = ReadonlyMap<string, Emission>;

function begunBy(execution: Execution, triggers: readonly string[]): Begun {
	const { nodeExecutionStack } = stackSchema.parse(execution.data.executionData ?? {});
	const emitted = triggers.map((trigger): [string, Emission] => {
		const waiting = nodeExecutionStack.find(({ node }) => node.name === trigger)?.data.main[0];
		const items = waiting ?? outputOf(execution, trigger);
		return [trigger, items.map(({ json }) => eventSchema.parse(json))];
	});
	return new Map(emitted.filter(([, emission]) => emission.length > 0));
}

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
	const known = begun.get(client) ?? new Map<string, Begun>();
	begun.set(client, known);
	const executions = await allExecutions(client, { workflowId });
	// The report of a campaign that can't be read: nothing was emitted.
	const started = executions.filter(({ status }) => status !== 'error');
	const all = await readEach(started, async ({ id, status }) => {
		const key = JSON.stringify([id, triggers]);
		const execution = known.get(key) ?? begunBy(await client.execution(id), triggers);
		if (settled.has(status)) known.set(key, execution);
		return execution;
	});
	return triggers.map((trigger) =>
		all.map((each) => each.get(trigger)).filter((emission) => emission !== undefined),
	);
}

/**
 * How many emissions begin elsewhere than where the ones before them ended: further on, because one was
 * lost, or further back, because one was made again.
 */
export function brokenChains(given: readonly Emission[]): { lost: number; repeated: number } {
	const reached = new Map<string, number>();
	let lost = 0;
	let repeated = 0;
	for (const emission of given) {
		const breaks = emission.flatMap(({ campaignId, changes }) =>
			Object.entries(changes).map(([name, { from, to }]) => {
				const counter = `${campaignId} ${name}`;
				const gap = from - (reached.get(counter) ?? 0);
				reached.set(counter, to);
				return gap;
			}),
		);
		if (breaks.some((gap) => gap > 0)) lost += 1;
		else if (breaks.some((gap) => gap < 0)) repeated += 1;
	}
	return { lost, repeated };
}

/** The sum of a campaign's changes, by counter; those that never moved are 0. */
export function changesOf(events: readonly Event[], campaignId: string): Record<string, number> {
	const sums = Object.fromEntries(Object.values(outputNames).map((name) => [name, 0]));
	for (const event of events) {
		if (event.campaignId !== campaignId) continue;
		for (const [name, { by }] of Object.entries(event.changes)) {
			sums[name] = (sums[name] ?? 0) + by;
		}
	}
	return sums;
}

/** What the service shows of a campaign now, under the trigger's names. */
export function countersOf({ simulator }: Service, campaignId: string): Record<string, number> {
	const counters = simulator.campaign(campaignId)?.counters;
	if (counters === undefined) throw new Error(`There is no campaign ${campaignId}`);
	return Object.fromEntries(
		Object.entries(counters).map(([name, value]) => [
			z.record(z.string()).parse(outputNames)[name] ?? name,
			value,
		]),
	);
}

/** Moves every counter of the campaigns, each by another number. */
export function moveCounters({ simulator }: Service, campaignIds: readonly string[]): void {
	campaignIds.forEach((campaignId, campaign) => {
		const counters = simulator.campaign(campaignId)?.counters;
		if (counters === undefined) throw new Error(`There is no campaign ${campaignId}`);
		simulator.setCounters(campaignId, {
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
	patienceMs = 300_000,
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
			within: patienceMs,
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
