import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import {
	chain,
	connect,
	node,
	outputOf,
	pushCampaign,
	until,
	webhookWorkflow,
	type Execution,
} from '../../../host';
import type { Fault } from '../../../simulator';
import type { Stage } from '.';

export interface SendWorkflowOptions {
	/** Options of the action node, such as `idempotencyKey`. */
	options?: INodeParameters;
	/** Parameters of the action node that win over the usual ones. */
	parameters?: INodeParameters;
	/** Settings of the action node, such as `retryOnFail`. */
	settings?: Partial<
		Pick<INode, 'retryOnFail' | 'maxTries' | 'waitBetweenTries' | 'onError' | 'executeOnce'>
	>;
}

/** An active workflow that sends one campaign for each item of a call. */
export interface SendWorkflow {
	id: string;
	/** Starts an execution; resolves when n8n has answered the call. */
	call(items: Item[]): Promise<unknown>;
	/** Starts an execution and waits until it is saved. */
	run(items: Item[]): Promise<Execution>;
	/** Changes the action node and saves it: what is published stays as it was. */
	save(changes: SendWorkflowOptions): Promise<void>;
	/** Changes the action node and publishes the workflow. */
	change(changes: SendWorkflowOptions): Promise<void>;
}

type Item = Record<string, unknown>;
type Source = Pick<Stage, 'client' | 'credential'>;
type Service = Pick<Stage, 'simulator'>;

export const sender = 'Push Campaign';

/** Creates and activates a workflow that sends to all; an item's title is its input's `title`. */
export async function sendWorkflow(
	{ client, credential }: Source,
	first: SendWorkflowOptions = {},
): Promise<SendWorkflow> {
	const path = `send-${randomUUID()}`;
	const draft = ({ options = {}, parameters = {}, settings = {} }: SendWorkflowOptions) => {
		const usual = {
			operation: 'sendToAll',
			title: '={{ $json.title }}',
			message: 'Twenty percent off',
			targetUrl: 'https://shop.example/sale',
		};
		const action = pushCampaign(
			{ ...usual, options, ...parameters },
			{ credential, waitBetweenTries: 100, ...settings },
		);
		// An edit keeps a node's ID.
		const workflow = webhookWorkflow(path, [{ ...action, id: `${path}-action` }]);
		if (settings.onError !== 'continueErrorOutput') return workflow;
		const nodes = ['Sent', 'Not sent'].map((name) => node(name, 'n8n-nodes-base.noOp'));
		const whole = { ...workflow, nodes: [...workflow.nodes, ...nodes] };
		return connect(connect(whole, sender, 'Sent'), sender, 'Not sent', { output: 1 });
	};
	const { id } = await client.createWorkflow(draft(first));
	await client.activate(id);
	const call = async (items: Item[]) => await client.runWebhook(path, { items });
	const save = async (changes: SendWorkflowOptions) => {
		await client.updateWorkflow(id, draft({ ...first, ...changes }));
	};
	return {
		id,
		call,
		run: async (items) => await newExecution({ client }, id, () => call(items)),
		save,
		change: async (changes) => {
			await save(changes);
			await client.activate(id);
		},
	};
}

/** Nodes that give these items, whatever starts them. */
export function listOf(items: Item[]): INode[] {
	const jsonOutput = JSON.stringify({ items });
	const list = { mode: 'raw', jsonOutput, options: {} };
	return [
		node('List', 'n8n-nodes-base.set', list, { typeVersion: 3.4 }),
		node('Items', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'items', options: {} }),
	];
}

/** Runs nodes in the editor, one after another. */
export async function runInEditor(
	{ client }: Pick<Stage, 'client'>,
	nodes: INode[],
): Promise<Execution> {
	const start = node('Start', 'n8n-nodes-base.manualTrigger');
	const { id } = await client.createWorkflow(chain('In the editor', [start, ...nodes]));
	return await client.runManually(id, start.name);
}

/** Starts an execution of a workflow; gives it when it is saved. */
export async function newExecution(
	{ client }: Pick<Stage, 'client'>,
	workflowId: string,
	start: () => Promise<unknown>,
): Promise<Execution> {
	const before = new Set((await client.executions({ workflowId })).map(({ id }) => id));
	// n8n's executions tell, not its answer: a busy one leaves a call unanswered now and then.
	start().catch(() => undefined);
	const begun = await until(
		async () => (await client.executions({ workflowId })).find(({ id }) => !before.has(id)),
		(found) => found !== undefined,
		{ within: 120_000, late: () => 'n8n started no execution' },
	);
	return await client.waitForExecution(begun?.id ?? '');
}

/** Items with one title each: `<name> 1`, `<name> 2`, … */
export function titled(name: string, count: number): Array<{ title: string }> {
	return Array.from({ length: count }, (_, index) => ({ title: `${name} ${index + 1}` }));
}

export const titlesOf = (name: string, count: number): string[] =>
	titled(name, count).map(({ title }) => title);

/** A key of its own for each item. */
export const byTitle = { idempotencyKey: '={{ $json.title }}' };

export const goesOn = { onError: 'continueRegularOutput' } as const;

/** What becomes of the first request that sends this title. */
const forTitle = (title: string, action: Fault['action']): Fault => ({
	match: { method: 'POST', path: '/send/', bodyIncludes: `"${title}"` },
	action,
});
export const refusal = (title: string): Fault =>
	forTitle(title, { kind: 'failure', description: 'Something went wrong' });
export const lostAnswer = (title: string): Fault => forTitle(title, { kind: 'reset-after' });

/** The titles of the campaigns that the service accepted, in their order. */
export function acceptedTitles({ simulator }: Service): string[] {
	return [...simulator.campaigns.values()].map(({ body }) => String(body['title']));
}

/** The texts that are there more than once. */
export const repeated = (texts: readonly string[]): string[] =>
	texts.filter((text, index) => texts.indexOf(text) !== index);

/** What the action node returned. */
export function sentItems(execution: Execution): Item[] {
	return outputOf(execution, sender).map(({ json }) => json);
}

/** The statuses of the items that the action node returned. */
export const statusesOf = (execution: Execution): unknown[] =>
	sentItems(execution).map(({ status }) => status);

/** The message and the description that an execution failed with, as the user reads them. */
export function wordsOf(execution: Execution): string {
	const { message, description } = failureOf(execution);
	return `${message}\n${description}`;
}

/** What an execution failed with, in the words that the user reads. */
export function failureOf(execution: Execution): { message: string; description: string } {
	const { error } = execution.data.resultData;
	return { message: error?.message ?? '', description: error?.description ?? '' };
}

/** How the rest goes out, in the words that the user reads. */
export const restGoesOut =
	"'Retry with currently saved workflow', in the list of executions, sends only what was not sent, with the items of this execution.";

/** What no text may say: this node does not know what else the workflow has done, and where its items come from. */
const orders =
	/run (it|the workflow|them) again|once more|deactivate|send it later|with these items/i;

/** Does what an execution's words say about the rest, and only if they say it. */
export async function retryAsItSays(
	{ client }: Pick<Stage, 'client'>,
	failed: Execution,
): Promise<Execution> {
	expect(failed.status).toBe('error');
	const words = wordsOf(failed);
	expect(words).toMatch(/'Retry with currently saved workflow'/);
	expect(words).not.toMatch(orders);
	return await client.retryExecution(failed.id, { loadWorkflow: true });
}

const hintsSchema = z.array(z.object({ message: z.string() })).default([]);

/** What the editor shows above the output of a node's last run. */
export function hintsOf(execution: Execution, nodeName = sender): string {
	const run = execution.data.resultData.runData[nodeName]?.at(-1);
	const hints = hintsSchema.parse(run?.['hints']).map(({ message }) => message);
	expect(hints.join()).not.toMatch(orders);
	return hints.join('\n');
}

/** The subscribers to whom the service sent, in its order. */
export function subscribersReached({ simulator }: Service): string[] {
	return [...simulator.campaigns.values()].flatMap(({ body }) =>
		typeof body['sid'] === 'string' ? [body['sid']] : [],
	);
}

/** Waits until the service was asked `count` more times. */
export async function untilRequests({ simulator }: Service, count: number): Promise<void> {
	const before = simulator.requestCount;
	await until(
		() => simulator.requestCount - before,
		(came) => came >= count,
		{ within: 300_000, every: 20, late: (came) => `${came} of ${count} requests came` },
	);
}

/** Stops the newest execution of a workflow, as a user does; gives its ID when it has ended. */
export async function stopNewest(
	{ client }: Pick<Stage, 'client'>,
	workflowId: string,
): Promise<string> {
	const [running] = await client.executions({ workflowId });
	const id = running?.id ?? '';
	await client.stopExecution(id);
	expect((await client.waitForExecution(id)).status).toBe('canceled');
	return id;
}
