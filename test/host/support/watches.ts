import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import {
	chain,
	connect,
	node,
	outputOf,
	pollEvery,
	pushCampaignTrigger,
	until,
	type Execution,
	type ExecutionSummary,
	type N8nClient,
	type WorkflowDraft,
} from '../../../host';
import type { Stage } from './stage';

const counterNames = {
	totalAttempts: 'total_attempts',
	successfullySent: 'successfully_sent',
	failedToSend: 'failed_to_send',
	delivered: 'delivered',
	clicked: 'clicked',
	closed: 'closed',
} as const;

const by = z.number().nullable();
/** By how much each number of a campaign has moved; what else is in an item is left out. */
const eventSchema = z.object({
	campaignId: z.string(),
	totalAttemptsBy: by,
	successfullySentBy: by,
	failedToSendBy: by,
	deliveredBy: by,
	clickedBy: by,
	closedBy: by,
});

/** An item that a trigger emitted. */
type Event = z.infer<typeof eventSchema>;

type Source = Pick<Stage, 'client'>;
type Service = Pick<Stage, 'simulator'>;

/** What switches n8n's durable engine on for polling triggers. */
export const durableEngine = {
	N8N_SCHEDULER_ENABLED: 'true',
	N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
	N8N_USE_WORKFLOW_PUBLICATION_SERVICE: 'true',
	N8N_POLLER_DURABLE_CURSORS_ENABLED: 'true',
};

/** A trigger that polls every few seconds; its ID stays the same whatever its name is. */
export function watch(
	{ credential }: Pick<Stage, 'credential'>,
	campaignIds: readonly string[],
	parameters: INodeParameters = {},
	name = 'Trigger',
	id = 'trigger',
): INode {
	const usual = { campaignIds: campaignIds.join(', '), pollTimes: pollEvery(2) };
	return { ...pushCampaignTrigger({ ...usual, ...parameters }, { name, credential }), id };
}

/** A workflow that does nothing, started by these triggers. */
export function watchWorkflow(...triggers: INode[]): WorkflowDraft {
	const alone = chain('Watch', [node('End', 'n8n-nodes-base.noOp')]);
	const whole = { ...alone, nodes: [...alone.nodes, ...triggers] };
	return triggers.reduce((draft, { name }) => connect(draft, name, 'End'), whole);
}

/** All executions of a workflow, the oldest first. */
export async function allExecutions(
	client: N8nClient,
	workflowId: string,
	status?: string[],
): Promise<ExecutionSummary[]> {
	const found = new Map<string, ExecutionSummary>();
	// n8n lists them by when they started and turns pages by their IDs: what overtook others would be on none.
	let startedBefore: string | undefined;
	for (;;) {
		const filter = {
			workflowId,
			...(status && { status }),
			...(startedBefore && { startedBefore }),
		};
		const page = await client.executions(filter);
		const known = found.size;
		for (const each of page) {
			found.set(each.id, each);
			startedBefore = each.startedAt ?? startedBefore;
		}
		// One that begins between two pages is found last.
		if (found.size === known) return [...found.values()].sort((one, other) => +one.id - +other.id);
	}
}

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

/** What an execution began with: the items of the trigger that started it, also if it came to no end. */
function begunBy(execution: Execution, trigger: string): Event[] {
	const { nodeExecutionStack } = stackSchema.parse(execution.data.executionData ?? {});
	const waiting = nodeExecutionStack.find(({ node: { name } }) => name === trigger)?.data.main[0];
	const items = waiting ?? outputOf(execution, trigger);
	// One that only reports a campaign that can't be read holds no event.
	return items.flatMap(({ json }) => eventSchema.safeParse(json).data ?? []);
}

/** What was emitted at once. */
type Emission = readonly Event[];

/** Executions that have ended stay as they are: each is read once. */
const savedOf = new WeakMap<object, Map<string, Execution>>();

/** All emissions of a workflow's triggers, the oldest first: a list for each trigger. */
export async function emissionsOf(
	{ client }: Source,
	workflowId: string,
	triggers: readonly string[],
): Promise<Emission[][]> {
	const saved = savedOf.get(client) ?? new Map<string, Execution>();
	savedOf.set(client, saved);
	const all: Execution[] = [];
	for (const { id, status } of await allExecutions(client, workflowId)) {
		const execution = saved.get(id) ?? (await client.execution(id));
		if (['success', 'error', 'crashed'].includes(status)) saved.set(id, execution);
		all.push(execution);
	}
	return triggers.map((trigger) =>
		all.map((each) => begunBy(each, trigger)).filter((emission) => emission.length > 0),
	);
}

/** All events of a trigger, whatever it is called, the oldest first. */
export async function eventsOf(
	source: Source,
	workflowId: string,
	...names: string[]
): Promise<Event[]> {
	const emissions = await emissionsOf(source, workflowId, names.length > 0 ? names : ['Trigger']);
	return emissions.flat(2);
}

/** What the service shows of campaigns now: `<campaign> <counter>` and its number, of those above 0. */
export function countersOf(
	{ simulator }: Service,
	campaignIds: readonly string[],
): Record<string, number> {
	const found: Record<string, number> = {};
	for (const id of campaignIds) {
		for (const [name, serviceName] of Object.entries(counterNames)) {
			const value = simulator.campaign(id)?.counters[serviceName] ?? 0;
			if (value > 0) found[`${id} ${name}`] = value;
		}
	}
	return found;
}

/** The sums of the moves in all events: `<campaign> <counter>` and its number, of those above 0. */
export function sumsOf(events: readonly Event[]): Record<string, number> {
	const sums: Record<string, number> = {};
	for (const { campaignId, ...moves } of events) {
		for (const [name, move] of Object.entries(moves)) {
			const counter = `${campaignId} ${name.slice(0, -'By'.length)}`;
			if (move) sums[counter] = (sums[counter] ?? 0) + move;
		}
	}
	return sums;
}

/** Raises every counter of the campaigns. */
export function moveCounters({ simulator }: Service, campaignIds: readonly string[]): void {
	campaignIds.forEach((id, index) => {
		const counters = simulator.campaign(id)?.counters;
		simulator.setCounters(id, {
			total_attempts: (counters?.total_attempts ?? 0) + 7 + (index % 5),
			delivered: (counters?.delivered ?? 0) + 4,
			clicked: (counters?.clicked ?? 0) + 3,
			closed: (counters?.closed ?? 0) + 1,
		});
	});
}

/** Waits until the events of a trigger reach all counters. They may be more: that is for the test. */
export async function untilCaughtUp(
	stage: Source & Service,
	workflowId: string,
	campaignIds: readonly string[],
	...names: string[]
): Promise<void> {
	await until(
		async () => sumsOf(await eventsOf(stage, workflowId, ...names)),
		(sums) =>
			Object.entries(countersOf(stage, campaignIds)).every(
				([counter, value]) => (sums[counter] ?? 0) >= value,
			),
		{ within: 400_000, every: 500, late: (sums) => `Emitted so far: ${JSON.stringify(sums)}` },
	);
}

/** The messages of a workflow's failed executions, the oldest first. */
export async function errorsOf({ client }: Source, workflowId: string): Promise<string[]> {
	const failed = await allExecutions(client, workflowId, ['error', 'crashed']);
	const messages: string[] = [];
	for (const { id } of failed) {
		const { error } = (await client.execution(id)).data.resultData;
		messages.push(error?.message ?? '');
	}
	return messages;
}

/** Waits until a workflow has so many failed executions; gives their messages. */
export async function untilErrors(
	source: Source,
	workflowId: string,
	count: number,
): Promise<string[]> {
	return await until(
		() => errorsOf(source, workflowId),
		(errors) => errors.length >= count,
		{ within: 400_000, every: 500, late: (errors) => `${errors.length} of ${count} failed` },
	);
}
