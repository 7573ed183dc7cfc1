import type { IDataObject, INodeExecutionData, INodeParameters, IRun } from 'n8n-workflow';
import type { Fault, Simulator, SimulatorOptions } from '../../../simulator';
import { startSimulator } from '../../../simulator';
import type { ProcessedData } from '../../support/processedData';
import type { CredentialData } from './credentials';
import { itemsOf, retryRun, runWorkflow, type RunOptions } from './run';
import { chain, connect, nodeFrom, type NodeSketch, type WorkflowJson } from './workflow';

/** The name of the node under test in every workflow of the engine tests. */
export const NODE = 'Push Campaign';

/** The content that every send needs. */
export const content = {
	title: 'Summer sale',
	message: 'Everything must go',
	targetUrl: 'https://shop.example.com/sale',
};

/** Parameters that read the items of {@link titled}. */
export const byTitle = { title: '={{ $json.title }}' };

/** A send to one subscriber, whose ID is in the item. */
export const toOne = { operation: 'sendToSubscriber', subscriberId: '={{ $json.id }}' };

/** The action node; what is not given is the smallest send to all. */
export const push = (
	parameters: INodeParameters = {},
	more: Partial<NodeSketch> = {},
): NodeSketch => ({
	name: NODE,
	type: 'n8n-nodes-push-campaign.pushCampaign',
	parameters: { resource: 'campaign', operation: 'sendToAll', ...content, ...parameters },
	credentials: { pushCampaignApi: { id: '1', name: 'Test' } },
	...more,
});

/** A workflow with the action node alone behind its start. */
export const workflowOf = (
	parameters: INodeParameters = {},
	more: Partial<NodeSketch> = {},
): WorkflowJson => chain([push(parameters, more)], { timezone: 'Europe/Berlin' });

/** The action node in a loop of two rounds, of which the second one may begin with what failed. */
export function loopOf(node: NodeSketch, backFrom: 'output' | 'error output' = 'output') {
	const json = chain([{ name: 'Loop', type: 'test.loopTwice' }]);
	json.nodes.push(nodeFrom(node));
	connect(json, 'Loop', NODE, 1);
	connect(json, NODE, 'Loop', backFrom === 'output' ? 0 : 1);
	return json;
}

/** The action node behind two branches, which come to it one after the other with the same items. */
export function branchesTo(node: NodeSketch): WorkflowJson {
	const json = chain([{ name: 'One', type: 'n8n-nodes-base.noOp' }, node]);
	json.nodes.push(nodeFrom({ name: 'Other', type: 'n8n-nodes-base.noOp' }));
	connect(json, 'Start', 'Other');
	connect(json, 'Other', NODE);
	return json;
}

export const continuing = { onError: 'continueRegularOutput' } as const;
export const toErrorOutput = { onError: 'continueErrorOutput' } as const;

/** The credential that opens a simulator with its default key and token. */
export const credentialsFor = (
	{ url }: Pick<Simulator, 'url'>,
	changes: CredentialData = {},
): { pushCampaignApi: CredentialData } => ({
	pushCampaignApi: { baseUrl: url, apiKey: 'demo-key', authToken: 'demo-token', ...changes },
});

declare global {
	var processedData: ProcessedData;
}

/** n8n's table for deduplication. */
export const database = globalThis.processedData;

/** A simulator for the tests of a file, as new before each of them, like the table; its counters stand still. */
export function useSimulator(options: SimulatorOptions = {}): () => Simulator {
	let running: Simulator | undefined;
	const current = (): Simulator => {
		if (running === undefined) throw new Error('The simulator is not running');
		return running;
	};
	beforeAll(async () => {
		running = await startSimulator({ lifeSpeed: 0, ...options });
	});
	beforeEach(() => {
		current().reset();
		database.reset();
	});
	afterAll(async () => await current().close());
	return current;
}

/**
 * Runs of the action node alone, against a simulator: with these parameters, input items, settings of the node, and
 * whatever else differs from a production execution with the simulator's credential.
 */
export const runsAt =
	(simulator: () => Simulator) =>
	async (
		parameters: INodeParameters = {},
		input = inputOf({}),
		more: Partial<NodeSketch> = {},
		options: Partial<RunOptions> = {},
	) =>
		await runWorkflow(workflowOf(parameters, more), {
			...{ credentials: credentialsFor(simulator()), input },
			...options,
		});

/** Retries of such runs, with what is saved by then. */
export const retriesAt =
	(simulator: () => Simulator) =>
	async (
		failed: IRun,
		parameters: INodeParameters = {},
		more: Partial<NodeSketch> = {},
		options: Partial<RunOptions> = {},
	) =>
		await retryRun(failed, workflowOf(parameters, more), {
			...{ credentials: credentialsFor(simulator()) },
			...options,
		});

/** The headers of every request to a simulator. */
export const sentHeaders = {
	servicekey: 'demo-key',
	serviceauthtoken: 'demo-token',
	'content-type': 'application/json',
	accept: 'application/json',
};

/** In an expected object: a text that matches. */
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** An answer that is lost: whether the send was processed is not known. */
export const lost = { kind: 'reset-after' } as const;

/** What the service answers to some sends, always or so many times: to all of them, or to those with a text in their body. */
export const faultFor = (
	bodyIncludes: string | undefined,
	action: Fault['action'],
	times = 0,
): Fault => ({
	times,
	match: { path: '/send/', ...(bodyIncludes === undefined ? {} : { bodyIncludes }) },
	action,
});

/** A failure of the service; one without a type is the generic one. */
export const failure = (type?: string, more: { status?: number } = {}): Fault['action'] => ({
	kind: 'failure',
	...(type === undefined ? {} : { type }),
	description: 'Just as the service says it',
	...more,
});

/** The titles that arrived, oldest first. */
export const titlesAt = ({ requests }: Simulator): unknown[] =>
	requests.map(({ json }) => (isObject(json) ? json['title'] : undefined));

/** The last part of each path that was asked, oldest first: of a send, its audience. */
export const pathsAt = ({ requests }: Simulator): unknown[] =>
	requests.map(({ path }) => path.split('/').at(-1));

export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null;

/** Input items made of plain objects. */
export const inputOf = (...objects: IDataObject[]): INodeExecutionData[] =>
	objects.map((json) => ({ json }));

/** Input items that differ in their title alone. */
export const titled = (...titles: string[]): INodeExecutionData[] =>
	inputOf(...titles.map((title) => ({ title })));

/** As many, with the titles `No 0`, `No 1` and so on. */
export const numbered = (count: number): INodeExecutionData[] =>
	titled(...Array.from({ length: count }, (_, index) => `No ${index}`));

/** What the node under test returned. */
export const outputOf = (run: IRun, runIndex = -1): IDataObject[] =>
	itemsOf(run, NODE, 0, runIndex).map(({ json }) => json);

/** The hints above the last output of a node. */
export const hintsOf = (run: IRun, node = NODE): string[] =>
	(run.data.resultData.runData[node]?.at(-1)?.hints ?? []).map(({ message }) => message);

/** What n8n's error says, in one object that a test can compare. */
export function failureOf(run: IRun) {
	const { error } = run.data.resultData;
	if (error === undefined) throw new Error('The run has no error');
	const { name, message, description } = error;
	return {
		name,
		message,
		description: description ?? '',
		httpCode: 'httpCode' in error ? error.httpCode : undefined,
		itemIndex: 'context' in error ? error.context['itemIndex'] : undefined,
		cause: 'failure' in error ? error.failure?.cause : undefined,
	};
}
