import type { INode, INodeParameters } from 'n8n-workflow';
import {
	node,
	outputOf,
	pushCampaign,
	until,
	webhookWorkflow,
	type Execution,
} from '../../../host';
import type { Fault } from '../../../simulator';
import type { Stage } from './stage';
import { publish, type Item, type PublishedWorkflow } from './workflows';

type Settings = Partial<Pick<INode, 'name' | 'retryOnFail' | 'maxTries' | 'onError'>>;

export interface SendWorkflowOptions {
	/** Options of the action node, such as `idempotencyKey`. */
	options?: INodeParameters;
	/** Parameters of the action node that win over the usual ones. */
	parameters?: INodeParameters;
	/** Settings of the action node, such as `retryOnFail`. */
	settings?: Settings;
}

type Source = Pick<Stage, 'client' | 'credential'>;
type Service = Pick<Stage, 'simulator'>;

const sender = 'Push Campaign';

/** The action node as it sends to all; an item's title is its input's `title`. */
export const sendNode = (
	{ credential }: Pick<Stage, 'credential'>,
	parameters: INodeParameters = {},
	settings: Settings = {},
): INode =>
	pushCampaign(
		{
			operation: 'sendToAll',
			title: '={{ $json.title }}',
			message: 'Twenty percent off',
			targetUrl: 'https://shop.example/sale',
			...parameters,
		},
		{ credential, waitBetweenTries: 100, ...settings },
	);

/** Creates and publishes a workflow of this node alone: it sends one campaign for each item of a call. */
export const sendWorkflow = async (
	stage: Source,
	{ options = {}, parameters, settings }: SendWorkflowOptions = {},
): Promise<PublishedWorkflow> =>
	await publish(stage, (path) =>
		webhookWorkflow(path, [sendNode(stage, { options, ...parameters }, settings)]),
	);

/** Edit Fields: each item becomes what this text or expression gives. */
export const setNode = (name: string, jsonOutput: string): INode =>
	node(name, 'n8n-nodes-base.set', { mode: 'raw', jsonOutput }, { typeVersion: 3.4 });

/** Nodes that give these items, whatever starts them. */
export const listOf = (items: Item[]): INode[] => [
	setNode('List', JSON.stringify({ items })),
	node('Items', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'items', options: {} }),
];

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

/** Every send arrives, and none is answered. */
export const neverAnswered: Fault = {
	match: { method: 'POST' },
	times: 0,
	action: { kind: 'hang', process: true },
};

/** The titles of the campaigns that the service accepted, in their order. */
export function acceptedTitles({ simulator }: Service): string[] {
	return [...simulator.campaigns.values()].map(({ body }) => String(body['title']));
}

/** Expects that the service has accepted these titles, each as often as it is here. */
export const expectSent = (service: Service, ...titles: readonly string[]): void =>
	expect(acceptedTitles(service).sort()).toEqual(titles.toSorted());

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
export function wordsOf({ data }: Execution): string {
	const { message = '', description = '' } = data.resultData.error ?? {};
	return `${message}\n${description ?? ''}`;
}

/** How the rest goes out, in the words that the user reads. */
export const restGoesOut =
	"n8n's 'Retry' of this execution, in the list of executions, sends only what was not sent, and goes on.";

/** The words of a Retry that is not the first to send. */
export const notTheFirst =
	/^An earlier run of this execution has begun to send\. This one sent nothing\.\nIf that one failed, retry it\. If it was stopped, or n8n ended, nobody knows what it has sent: look in the dashboard of your push service\.$/;

/** Does what an execution's words say about the rest, and only if they say it. */
export async function retryAsItSays(
	{ client }: Pick<Stage, 'client'>,
	failed: Execution,
): Promise<Execution> {
	expect(failed.status).toBe('error');
	expect(wordsOf(failed)).toContain(restGoesOut);
	return await client.retryExecution(failed.id);
}

/** Does what an execution's words say about the rest. It works, and the service has accepted these titles by then. */
export async function expectRetrySendsRest(
	stage: Pick<Stage, 'client'> & Service,
	failed: Execution,
	...titles: readonly string[]
): Promise<Execution> {
	const retried = await retryAsItSays(stage, failed);
	expect(retried.status).toBe('success');
	expectSent(stage, ...titles);
	return retried;
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
