import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import {
	chain,
	connect,
	node,
	outputOf,
	pollEvery,
	pushCampaign,
	pushCampaignTrigger,
	until,
	webhookWorkflow,
	type Credential,
	type Execution,
	type WebhookAnswer,
	type WorkflowDraft,
} from '../../../host';
import type { Fault } from '../../../simulator';
import type { Stage } from './stage';

export interface SendWorkflowOptions {
	/** Options of the action node, such as `resendUnknown`. */
	options?: INodeParameters;
	/** Parameters of the action node that win over the usual ones. */
	parameters?: INodeParameters;
	/** The action node's credential; left out: the stage's. */
	credential?: Credential;
	/** Settings of the action node, such as `retryOnFail`. */
	settings?: Partial<Pick<INode, 'retryOnFail' | 'maxTries' | 'waitBetweenTries' | 'onError'>>;
}

/** An active workflow that sends one campaign for each item of a call. */
export interface SendWorkflow {
	id: string;
	/** Starts an execution; resolves with the call's answer, which n8n gives when it has ended. */
	call(items: Array<Record<string, unknown>>): Promise<WebhookAnswer>;
	/** Starts an execution and waits until it is saved. */
	run(items: Array<Record<string, unknown>>): Promise<Execution>;
	/** Changes the action node of the saved workflow. */
	change(changed: SendWorkflowOptions): Promise<void>;
}

type Source = Pick<Stage, 'client' | 'credential'>;

export const sender = 'Push Campaign';

const draft = (
	stage: Source,
	path: string,
	{
		options = {},
		parameters = {},
		settings = {},
		credential = stage.credential,
	}: SendWorkflowOptions,
) => {
	const action = pushCampaign(
		{
			operation: 'sendToAll',
			title: '={{ $json.title }}',
			message: 'Twenty percent off',
			targetUrl: 'https://shop.example/sale',
			options,
			...parameters,
		},
		{ credential, waitBetweenTries: 100, ...settings },
	);
	// An edit keeps a node's id, by which n8n finds what was remembered for it.
	const workflow = webhookWorkflow(path, [{ ...action, id: `${path}-action` }]);
	if (settings.onError !== 'continueErrorOutput') return workflow;
	const nodes = ['Sent', 'Not sent'].map((name) => node(name, 'n8n-nodes-base.noOp'));
	const whole = { ...workflow, nodes: [...workflow.nodes, ...nodes] };
	return connect(connect(whole, sender, 'Sent'), sender, 'Not sent', { output: 1 });
};

/** Creates and activates a workflow that sends to all; an item's title is its input's `title`. */
export async function sendWorkflow(
	stage: Source,
	workflow: SendWorkflowOptions = {},
): Promise<SendWorkflow> {
	const { client } = stage;
	const path = `send-${randomUUID()}`;
	const { id } = await client.createWorkflow(draft(stage, path, workflow));
	await client.activate(id);
	const call = async (items: Array<Record<string, unknown>>) =>
		await client.runWebhook(path, { items });
	return {
		id,
		call,
		run: async (items) => {
			const before = await client.executions({ workflowId: id });
			// In queue mode a busy n8n leaves a call unanswered now and then, though its execution has ended.
			call(items).catch(() => undefined);
			const [newest] = await client.waitForExecutions({
				workflowId: id,
				count: before.length + 1,
				timeout: 300_000,
			});
			if (newest === undefined) throw new Error('n8n saved no execution');
			return await client.waitForExecution(newest.id);
		},
		change: async (changed) => {
			await client.updateWorkflow(id, draft(stage, path, { ...workflow, ...changed }));
		},
	};
}

/** Items with one title each: `<name> 1`, `<name> 2`, … */
export function titled(name: string, count: number): Array<{ title: string }> {
	return Array.from({ length: count }, (_, index) => ({ title: `${name} ${index + 1}` }));
}

export const titlesOf = (name: string, count: number): string[] =>
	titled(name, count).map(({ title }) => title);

/** The same end of so many items. */
export const times = (count: number, end: string): string[] =>
	Array.from({ length: count }, () => end);

/** A key of its own for each item. */
export const byTitle = { idempotencyKey: '={{ $json.title }}' };

export const goesOn = { onError: 'continueRegularOutput' } as const;

/** What becomes of the first request that sends this title. */
export const forTitle = (title: string, action: Fault['action']): Fault => ({
	match: { method: 'POST', path: '/send/', bodyIncludes: `"${title}"` },
	action,
});
export const refusal = (title: string): Fault =>
	forTitle(title, { kind: 'failure', description: 'Something went wrong' });
export const lostAnswer = (title: string): Fault => forTitle(title, { kind: 'reset-after' });

/** The same for all titles that begin with a name. */
export const lostAnswers = (name: string): Fault => ({
	match: { bodyIncludes: `"title":"${name} ` },
	times: 0,
	action: { kind: 'reset-after' },
});

/** The titles that the service accepted, in the order in which they came. */
export function acceptedTitles({ simulator }: Pick<Stage, 'simulator'>): unknown[] {
	return [...simulator.campaigns.values()].map(({ body }) => body['title']);
}

/** The members of a list that are there more than once. */
export function repeated(values: readonly unknown[]): unknown[] {
	return values.filter((value, index) => values.indexOf(value) !== index);
}

const itemEndSchema = z.union([
	z.object({ error: z.object({ outcome: z.string() }) }).transform(({ error }) => error.outcome),
	z.object({ status: z.string() }).transform(({ status }) => status),
]);

/** How each item ended: the receipt's `status` or the failure's `outcome`. Throws on any other item. */
export function endsOf(items: unknown): string[] {
	return z.array(itemEndSchema).parse(items);
}

/**
 * Calls a workflow with one batch of items after another.
 *
 * @param distanceMs how long after a call the next one comes, in milliseconds
 * @returns how all items ended, in the order of the alphabet. n8n's executions tell, not its answers to the calls:
 * in queue mode a busy n8n leaves one unanswered now and then, though its execution has ended.
 */
export async function endsOfCalls(
	{ client }: Source,
	{ id, call }: SendWorkflow,
	batches: ReadonlyArray<Array<Record<string, unknown>>>,
	distanceMs = 0,
): Promise<string[]> {
	const executions = async () => await client.executions({ workflowId: id });
	// The list is in the order of their starts, which of two at once is not that of their IDs.
	const newest = Math.max(0, ...(await executions()).map((each) => Number(each.id)));
	for (const [index, items] of batches.entries()) {
		if (index > 0) await sleep(distanceMs);
		call(items).catch(() => undefined);
	}
	const begun = await until(
		async () => (await executions()).filter((each) => Number(each.id) > newest),
		(seen) => seen.length >= batches.length,
		{ within: 180_000, every: 50, late: (seen) => JSON.stringify(seen) },
	);
	const ended = await Promise.all(begun.map((each) => client.waitForExecution(each.id)));
	return ended.flatMap((execution) => endsOf(sentItems(execution))).sort();
}

/** How many of a run's items ended in each way. */
export function countsOf(items: unknown): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const end of endsOf(items)) counts[end] = (counts[end] ?? 0) + 1;
	return counts;
}

/** What the action node returned. */
export function sentItems(execution: Execution): Array<Record<string, unknown>> {
	return outputOf(execution, sender).map(({ json }) => json);
}

/** What an execution failed with, in the words that the user reads. */
export function failureOf(execution: Execution): { message: string; description: string } {
	const { error } = execution.data.resultData;
	return { message: error?.message ?? '', description: error?.description ?? '' };
}

/** An execution of a workflow that sends `Item 1`, `Item 2`, …, and how it ends. */
export interface Step {
	/** How many items; left out: it is the 'Retry' of an earlier execution. */
	items?: number;
	/** Which execution is retried; 0 is the first. */
	retry?: number;
	/** The node's options from now on; a Retry is then one with the workflow as it is saved. */
	options?: INodeParameters;
	fault?: Fault;
	/** How its items end, all alike or one by one; left out: the execution fails. */
	ends?: string | string[];
	/** What the failure's message or description says. */
	says?: string;
}

/** Runs a workflow of sends step by step, and expects of each step how it ends. */
export async function runSteps(
	stage: Stage,
	options: SendWorkflowOptions,
	steps: readonly Step[],
): Promise<{ workflow: SendWorkflow; executions: Execution[] }> {
	const { client, simulator } = stage;
	const workflow = await sendWorkflow(stage, options);
	const executions: Execution[] = [];
	for (const { items, retry = 0, options: changed, fault, ends, says = '' } of steps) {
		if (fault !== undefined) simulator.addFault(fault);
		if (changed !== undefined) {
			await workflow.change({ options: changed });
			await client.activate(workflow.id);
		}
		const loadWorkflow = changed !== undefined;
		const execution =
			items === undefined
				? await client.retryExecution(executions[retry]?.id ?? '', { loadWorkflow })
				: await workflow.run(titled('Item', items));
		executions.push(execution);
		const { message, description } = failureOf(execution);
		expect(`${message}\n${description}`).toContain(says);
		expect(execution.status).toBe(ends === undefined ? 'error' : 'success');
		if (ends === undefined) continue;
		const given = sentItems(execution);
		expect(endsOf(given)).toEqual(typeof ends === 'string' ? given.map(() => ends) : ends);
		// Whenever it was sent, an item has the answer that it got then.
		for (const { campaignId, title } of given) {
			if (typeof campaignId !== 'string') continue;
			expect(simulator.campaign(campaignId)?.body['title']).toBe(title);
		}
	}
	return { workflow, executions };
}

/** What happens to one workflow of sends. */
export interface Story {
	what: string;
	workflow: SendWorkflowOptions;
	steps: Step[];
	/** The numbers of the items that the service accepted, in their order; left out: each item once. */
	accepted?: number[];
}

/** Makes a story happen, and expects what it tells. */
export async function expectStory(
	stage: Stage,
	{ workflow, steps, accepted }: Story,
): Promise<void> {
	await runSteps(stage, workflow, steps);
	const all = titlesOf('Item', Math.max(...steps.map(({ items = 0 }) => items)));
	expect(acceptedTitles(stage)).toEqual(accepted?.map((number) => `Item ${number}`) ?? all);
}

/** Stops the newest execution of a workflow, as a user does. */
export async function stopNewest({ client }: Stage, { id }: SendWorkflow): Promise<void> {
	const [running] = await client.executions({ workflowId: id });
	await client.stopExecution(running?.id ?? '');
	expect((await client.waitForExecution(running?.id ?? '')).status).toBe('canceled');
}

/** How often the triggers of `watchWorkflow` poll. */
export const pollSeconds = 2;

/** What switches n8n's durable engine on for polling triggers. */
export const durableVariables = {
	N8N_SCHEDULER_ENABLED: 'true',
	N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
	N8N_USE_WORKFLOW_PUBLICATION_SERVICE: 'true',
	N8N_POLLER_DURABLE_CURSORS_ENABLED: 'true',
};

/** The durable engine, in a hurry. */
export const durableEngine = {
	...durableVariables,
	// A poll of a dead server is taken over when its lease has ended: here in seconds, not minutes.
	N8N_SCHEDULER_EXECUTOR_INTERVAL: '1',
	N8N_SCHEDULER_LEASE_DURATION: '8',
	N8N_SCHEDULER_REAPER_INTERVAL: '3',
	N8N_SCHEDULER_MISFIRE_GRACE: '1',
};

/**
 * A workflow whose triggers, one for each name, all watch the same campaigns.
 *
 * @param seconds how often they poll
 * @param first the second of each minute with the first poll
 */
export function watchWorkflow(
	credential: Credential,
	campaignIds: readonly string[],
	names: readonly string[] = ['Trigger'],
	seconds = pollSeconds,
	first = 0,
): WorkflowDraft {
	return workflowOf(
		...names.map((name) => ({
			...pushCampaignTrigger(
				{ campaignIds: campaignIds.join(', '), pollTimes: pollEvery(seconds, first) },
				{ name, credential },
			),
			// A trigger is known by its id, which an edit in n8n keeps.
			id: `trigger-${name}`,
		})),
	);
}

/** A workflow that does nothing, started by these triggers. */
export function workflowOf(...triggers: INode[]): WorkflowDraft {
	const alone = chain('Watch', [node('End', 'n8n-nodes-base.noOp')]);
	const whole = { ...alone, nodes: [...alone.nodes, ...triggers] };
	return triggers.reduce((draft, { name }) => connect(draft, name, 'End'), whole);
}

/** Waits until the service was asked `count` more times. */
export async function untilRequests(
	{ simulator }: Pick<Stage, 'simulator'>,
	count: number,
): Promise<void> {
	const before = simulator.requestCount;
	await until(
		() => simulator.requestCount - before,
		(came) => came >= count,
		{ within: 300_000, every: 20, late: (came) => `${came} of ${count} requests came` },
	);
}
