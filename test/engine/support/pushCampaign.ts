import type { IDataObject, INodeExecutionData, INodeParameters, IRun } from 'n8n-workflow';
import type { Fault, Simulator, SimulatorOptions } from '../../../simulator';
import { startSimulator } from '../../../simulator';
import type { ProcessedData } from '../../support/processedData';
import type { CredentialData } from './credentials';
import { itemsOf, runWorkflow } from './run';
import type { NodeSketch, WorkflowJson } from './workflow';
import { chain } from './workflow';

/** The name of the node under test in every workflow of the engine tests. */
export const NODE = 'Push Campaign';

/** The content that every send needs. */
export const content = {
	title: 'Summer sale',
	message: 'Everything must go',
	targetUrl: 'https://shop.example.com/sale',
};

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

export const continuing = { onError: 'continueRegularOutput' } as const;
export const toErrorOutput = { onError: 'continueErrorOutput' } as const;

/** The credential that opens a simulator with its default key and token. */
export const credentialsFor = (
	{ url }: Pick<Simulator, 'url'>,
	changes: CredentialData = {},
): { pushCampaignApi: CredentialData } => ({
	pushCampaignApi: { baseUrl: url, apiKey: 'demo-key', authToken: 'demo-token', ...changes },
});

/** A simulator for the tests of a file, as new before each of them; its counters stand still. */
export function useSimulator(options: SimulatorOptions = {}): () => Simulator {
	let running: Simulator | undefined;
	const current = (): Simulator => {
		if (running === undefined) throw new Error('The simulator is not running');
		return running;
	};
	beforeAll(async () => {
		running = await startSimulator({ lifeSpeed: 0, ...options });
	});
	beforeEach(() => current().reset());
	afterAll(async () => await current().close());
	return current;
}

/** Runs of the action node alone, against a simulator: with these parameters, input items and settings of the node. */
export const runsAt =
	(simulator: () => Simulator) =>
	async (parameters: INodeParameters = {}, input = inputOf({}), more: Partial<NodeSketch> = {}) =>
		await runWorkflow(workflowOf(parameters, more), {
			credentials: credentialsFor(simulator()),
			input,
		});

/** The headers of every request to a simulator. */
export const sentHeaders = {
	servicekey: 'demo-key',
	serviceauthtoken: 'demo-token',
	'content-type': 'application/json',
	accept: 'application/json',
};

declare global {
	var processedData: ProcessedData;
}

/** n8n's table for deduplication, as new before each test of a file. */
export function useDatabase(): ProcessedData {
	beforeEach(() => globalThis.processedData.reset());
	return globalThis.processedData;
}

/** In an expected object: a text that matches. */
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** What the service answers to some sends: all of them, or those with a text in their body. */
export const faultFor = (bodyIncludes: string | undefined, action: Fault['action']): Fault => ({
	times: 0,
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

export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null;

/** Input items made of plain objects. */
export const inputOf = (...objects: IDataObject[]): INodeExecutionData[] =>
	objects.map((json) => ({ json }));

/** Input items that differ in their title alone. */
export const titled = (...titles: string[]): INodeExecutionData[] =>
	inputOf(...titles.map((title) => ({ title })));

/** What the node under test returned. */
export const outputOf = (run: IRun, runIndex = -1): IDataObject[] =>
	itemsOf(run, NODE, 0, runIndex).map(({ json }) => json);

/** The hints above the output of the node under test. */
export const hintsOf = (run: IRun): string[] =>
	(run.data.resultData.runData[NODE]?.at(-1)?.hints ?? []).map(({ message }) => message);

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
