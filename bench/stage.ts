import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import {
	node,
	packPackage,
	pushCampaign,
	pushCampaignTrigger,
	startStage,
	webhookWorkflow,
	chain,
	type Stage as HostStage,
	collectorVariables,
	type Collecting,
} from '../host';
import type { SimulatorControl } from '../simulator';
import type { PlainRequest } from './plain';
import { startSimulatorProcess, type SimulatorProcess } from './simulatorProcess';

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

/** A workflow behind a webhook that a measurement calls. */
export interface Bench {
	run(items: ReadonlyArray<Record<string, unknown>>): Promise<Run>;
}

const access = { apiKey: 'demo-key', authToken: 'demo-token' };
const nodeName = 'Measured';

const sendPath = '/v1/notification/send/all';

/** What a send says. */
interface Texts extends INodeParameters {
	readonly title: string;
	readonly message: string;
	readonly targetUrl: string;
	readonly name?: string;
}

const plain: Texts = {
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

/** The real n8n with the packed package in it, and the simulator beside it. */
export class Stage {
	private constructor(
		private readonly stage: HostStage<SimulatorProcess>,
		readonly tarball: string,
		private readonly folder: string,
	) {}

	static async start(): Promise<Stage> {
		const { tarball } = await packPackage();
		const folder = await mkdtemp(join(tmpdir(), 'push-campaign-bench-'));
		const env = collectorVariables(join(folder, 'memory'));
		const startService = startSimulatorProcess;
		const stage = await startStage({ major: '2', tarball, env, access, startService });
		return new Stage(stage, tarball, folder);
	}

	async stop(): Promise<void> {
		await this.stage.close();
		await rm(this.folder, { recursive: true, force: true });
	}

	get simulator(): SimulatorControl {
		return this.stage.simulator.control;
	}

	/** The server as what can be told to collect its garbage. */
	get collecting(): Collecting {
		return { pid: this.stage.server.pid, memoryFile: join(this.folder, 'memory') };
	}

	/** A send to all subscribers for each item, with texts as given or around expressions. */
	async sends(contestant: Contestant, texts: Texts = plain): Promise<Bench> {
		const { name, targetUrl, ...rest } = texts;
		const additionalFields = name === undefined ? {} : { name };
		const fields = { ...rest, target_url: targetUrl, ...additionalFields };
		return await this.bench(
			contestant === 'ours'
				? this.oursSending({ ...rest, targetUrl, additionalFields })
				: this.httpSending(
						Object.entries(fields).map(([field, value]) => ({ name: field, value })),
					),
		);
	}

	/** The same by this package's node, each item with its field `key` as its idempotency key. */
	async keyedSends(): Promise<Bench> {
		return await this.bench(
			this.oursSending({ ...plain, options: { idempotencyKey: '={{ $json.key }}' } }),
		);
	}

	/** The same by this package's node with 'Continue' on fail. */
	async continuingSends(): Promise<Bench> {
		return await this.bench({ ...this.oursSending(plain), onError: 'continueRegularOutput' });
	}

	/** Watches campaigns, and polls every five seconds, until `end` is called. */
	async watch(campaignIds: readonly string[]): Promise<{ end: () => Promise<void> }> {
		const trigger = pushCampaignTrigger(
			{ campaignIds: campaignIds.join(',') },
			{ credential: this.stage.credential },
		);
		const { id } = await this.stage.client.createWorkflow(
			chain('Watch', [trigger, node('Nothing', 'n8n-nodes-base.noOp')]),
		);
		await this.stage.client.activate(id);
		return { end: async () => await this.stage.client.deactivate(id) };
	}

	/** The same sends without n8n. */
	plainSends(items: ReadonlyArray<Record<string, unknown>>): PlainRequest[] {
		return items.map(({ title, message, targetUrl }) => ({
			method: 'POST',
			url: `${this.stage.simulator.url}${sendPath}`,
			headers: this.headers,
			body: JSON.stringify({ title, message, target_url: targetUrl }),
		}));
	}

	/** The same reads without n8n. */
	plainReads(campaignIds: readonly string[]): PlainRequest[] {
		return campaignIds.map((id) => ({
			method: 'GET',
			url: `${this.stage.simulator.url}/v1/notification/status/id/${id}`,
			headers: this.headers,
		}));
	}

	private get headers(): Record<string, string> {
		return {
			'content-type': 'application/json',
			serviceKey: access.apiKey,
			serviceAuthToken: access.authToken,
		};
	}

	private oursSending(parameters: INodeParameters): INode {
		return pushCampaign(
			{ resource: 'campaign', operation: 'sendToAll', ...parameters },
			{ name: nodeName, credential: this.stage.credential },
		);
	}

	private httpSending(parameters: INodeParameters[]): INode {
		return node(
			nodeName,
			'n8n-nodes-base.httpRequest',
			{
				method: 'POST',
				url: `${this.stage.simulator.url}${sendPath}`,
				authentication: 'predefinedCredentialType',
				nodeCredentialType: 'pushCampaignApi',
				sendBody: true,
				contentType: 'json',
				specifyBody: 'keypair',
				bodyParameters: { parameters },
				options: {},
			},
			{ typeVersion: 4.2, credential: this.stage.credential, onError: 'continueRegularOutput' },
		);
	}

	private benches = 0;

	private async bench(measured: INode): Promise<Bench> {
		this.benches += 1;
		const path = `bench-${this.benches}`;
		const { id } = await this.stage.client.createWorkflow(webhookWorkflow(path, [measured]));
		await this.stage.client.activate(id);
		let runs = 0;
		return {
			run: async (items) => {
				runs += 1;
				const from = performance.now();
				const { status, json } = await this.stage.client.runWebhook(path, { items });
				const callMs = performance.now() - from;
				const answered = z.array(z.unknown()).safeParse(json);
				return {
					nodeMs: await this.nodeTime(id, runs),
					callMs,
					status,
					items: answered.success ? answered.data : [],
				};
			},
		};
	}

	private async nodeTime(workflowId: string, runs: number): Promise<number> {
		const [latest] = await this.stage.client.waitForExecutions({ workflowId, count: runs });
		if (latest === undefined) throw new Error('n8n has recorded no execution');
		const { data } = await this.stage.client.execution(latest.id);
		const run = data.resultData.runData[nodeName]?.at(-1);
		return z.object({ executionTime: z.number() }).parse(run).executionTime;
	}
}
