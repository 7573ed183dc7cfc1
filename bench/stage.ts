import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import {
	chain,
	collectorVariables,
	node,
	packPackage,
	pushCampaign,
	pushCampaignTrigger,
	startStage as startHostStage,
	webhookWorkflow,
	type Stage as HostStage,
} from '../host';
import { getPlainly } from './plain';
import { SimulatorProcess } from './simulatorProcess';

/** Whose time is taken: this package's node, or what a user would take instead. */
export type Contestant = 'ours' | 'other';

export interface Run {
	/** What n8n recorded as the time of the node, in milliseconds. */
	readonly nodeMs: number;
	/** From the call of the webhook to its answer, in milliseconds. */
	readonly callMs: number;
	readonly status: number;
	/** The items that the workflow answered with. */
	readonly items: readonly unknown[];
}

/** Runs a workflow behind a webhook with these items. */
export type Bench = (items: ReadonlyArray<Record<string, unknown>>) => Promise<Run>;

/** The real n8n with the packed package in it, and the simulator beside it. */
export type Stage = HostStage<SimulatorProcess>;

const access = { apiKey: 'demo-key', authToken: 'demo-token' };

export async function startStage(): Promise<Stage> {
	const { tarball } = await packPackage();
	const env = collectorVariables;
	const startService = () => SimulatorProcess.start();
	return await startHostStage({ major: '2', tarball, env, access, startService });
}

const nodeName = 'Measured';

/** What a send says. */
interface Texts extends INodeParameters {
	readonly title: string;
	readonly message: string;
	readonly targetUrl: string;
	readonly name?: string;
}

export const plain: Texts = {
	title: '={{ $json.title }}',
	message: '={{ $json.message }}',
	targetUrl: '={{ $json.targetUrl }}',
};

/** Texts around expressions, as in a notification that greets its reader. */
export const personal: Texts = {
	title: '=Hello {{ $json.name }}, this is for you',
	message: '=Your offer in {{ $json.city }} ends tonight',
	targetUrl: '=https://example.com/offers/{{ $json.offer }}/today',
	name: '=October, group {{ $json.group }}',
};

/** This package's node, sending to all subscribers for each item. */
export async function ours(
	stage: Stage,
	{ name, ...texts }: Texts = plain,
	options: INodeParameters = {},
	settings: Pick<INode, 'onError'> = {},
): Promise<Bench> {
	const additionalFields = name === undefined ? {} : { name };
	const parameters = { operation: 'sendToAll', ...texts, additionalFields, options };
	const { credential } = stage;
	return await benchOf(
		stage,
		pushCampaign(parameters, { name: nodeName, credential, ...settings }),
	);
}

/** The same by the HTTP Request node. */
export async function other(stage: Stage, { targetUrl, ...texts }: Texts = plain): Promise<Bench> {
	const fields = Object.entries({ ...texts, target_url: targetUrl });
	const parameters = {
		method: 'POST',
		url: `${stage.simulator.url}/v1/notification/send/all`,
		authentication: 'predefinedCredentialType',
		nodeCredentialType: 'pushCampaignApi',
		sendBody: true,
		contentType: 'json',
		specifyBody: 'keypair',
		bodyParameters: { parameters: fields.map(([name, value]) => ({ name, value })) },
		options: {},
	};
	const { credential } = stage;
	const settings = { typeVersion: 4.2, credential, onError: 'continueRegularOutput' } as const;
	return await benchOf(stage, node(nodeName, 'n8n-nodes-base.httpRequest', parameters, settings));
}

/** Both, each in its own workflow. */
export const bothOf = async (stage: Stage, texts?: Texts): Promise<Record<Contestant, Bench>> => ({
	ours: await ours(stage, texts),
	other: await other(stage, texts),
});

async function benchOf({ client }: Stage, measured: INode): Promise<Bench> {
	const path = randomUUID();
	const { id: workflowId } = await client.createWorkflow(webhookWorkflow(path, [measured]));
	await client.activate(workflowId);
	let runs = 0;
	return async (items) => {
		runs += 1;
		const from = performance.now();
		const { status, json } = await client.runWebhook(path, { items });
		const callMs = performance.now() - from;
		const [latest] = await client.waitForExecutions({ workflowId, count: runs });
		if (latest === undefined) throw new Error('n8n has recorded no execution');
		const { data } = await client.execution(latest.id);
		const run = data.resultData.runData[nodeName]?.at(-1);
		const { executionTime: nodeMs } = z.object({ executionTime: z.number() }).parse(run);
		return { nodeMs, callMs, status, items: z.array(z.unknown()).catch([]).parse(json) };
	};
}

/** Watches campaigns, and polls every five seconds, until the function that it gives is called. */
export async function watch(
	{ client, credential }: Stage,
	campaignIds: readonly string[],
): Promise<() => Promise<void>> {
	const trigger = pushCampaignTrigger({ campaignIds: campaignIds.join(',') }, { credential });
	const workflow = chain('Watch', [trigger, node('Nothing', 'n8n-nodes-base.noOp')]);
	const { id } = await client.createWorkflow(workflow);
	await client.activate(id);
	return async () => await client.deactivate(id);
}

/** The same reads without n8n. */
export async function readPlainly(
	{ simulator }: Stage,
	campaignIds: readonly string[],
	parallel: number,
): Promise<void> {
	const headers = {
		'content-type': 'application/json',
		serviceKey: access.apiKey,
		serviceAuthToken: access.authToken,
	};
	const urls = campaignIds.map((id) => `${simulator.url}/v1/notification/status/id/${id}`);
	await getPlainly(urls, headers, parallel);
}
