import {
	ObservableObject,
	UserError,
	Workflow,
	type IDataObject,
	type IExecuteFunctions,
	type IGetNodeParameterOptions,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeTypes,
	type IPollFunctions,
	type NodeExecutionHint,
	type NodeParameterValueType,
} from 'n8n-workflow';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { fixedMark, fixedMarkOf, settingNames } from '../../../nodes/PushCampaign/service/settings';

/** A full response, as n8n's HTTP helper gives it. */
export interface Answer {
	readonly statusCode?: number;
	readonly headers?: Record<string, string>;
	readonly body: unknown;
}

/** Answers a request; what it throws is what n8n's HTTP helper throws. */
export type Service = (options: IHttpRequestOptions) => Answer | Promise<Answer>;

const fields = {
	baseUrl: 'https://push.example',
	apiKey: 'the-key-of-the-site',
	authToken: 'the-token-of-the-site',
};

const marks = (names: readonly string[]) =>
	Object.fromEntries(names.map((name) => [fixedMarkOf(name), true]));

/** What n8n gives of a credential without expressions. */
export const credential = { ...fields, ...marks(Object.keys(settingNames)), [fixedMark]: true };

/** The same if these fields are expressions, with what they give for an item. */
export const withExpressions = (given: Partial<typeof fields>) => ({
	...fields,
	...marks(Object.keys(settingNames).filter((name) => !(name in given))),
	...given,
});

export const created = (id: number): Answer => ({
	body: JSON.stringify({ status: 'success', description: 'Campaign created', ID: id }),
});
export const failure = (type: string): Answer => ({
	body: JSON.stringify({ status: 'failure', type, description: 'No' }),
});

/** Specification, Campaign status record; counters that are left out are 0. */
export const statusRecord = (id: string, counters: Readonly<Record<string, number>> = {}) => ({
	notification_status: 'Sent',
	notification_id: id,
	count: {
		total_attempts: '0',
		successfully_sent: '0',
		failed_to_send: '0',
		delivered: '0',
		clicked: '0',
		closed: '0',
		...Object.fromEntries(Object.entries(counters).map(([name, value]) => [name, String(value)])),
	},
});
export const statusAnswer = (...record: Parameters<typeof statusRecord>): Answer => ({
	body: JSON.stringify(statusRecord(...record)),
});

export const lost = (): never => {
	throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
};

/** What n8n's helper was asked for, with the credential that it was to use. */
export interface Asked {
	readonly options: IHttpRequestOptions;
	readonly credentialType: string;
	readonly more: unknown;
}

interface Common {
	readonly service?: Service;
	/** What `getCredentials` gives; an error is thrown. */
	readonly credentials?: object;
	/** The same, where it depends on what `getCredentials` is called with. */
	readonly credentialsFor?: (...args: readonly unknown[]) => object;
	readonly node?: Partial<INode>;
}

const nodeOf = (type: string, node: Partial<INode> = {}): INode => ({
	id: 'node-1',
	name: 'Push Campaign',
	type: `n8n-nodes-push-campaign.${type}`,
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
	credentials: { pushCampaignApi: { id: '7', name: 'Shop' } },
	...node,
});

function common({
	service = () => created(1001),
	credentials = credential,
	credentialsFor = () => credentials,
}: Common) {
	const asked: Asked[] = [];
	const functions = {
		getCredentials: async (...args: readonly unknown[]) => {
			const data = credentialsFor(...args);
			if (data instanceof Error) throw data;
			return await Promise.resolve(data);
		},
		helpers: {
			async httpRequestWithAuthentication(
				this: unknown,
				credentialType: string,
				options: IHttpRequestOptions,
				more: unknown,
			) {
				if (this === undefined) throw new TypeError('The helper needs its context');
				asked.push({ options, credentialType, more });
				return { statusCode: 200, headers: {}, ...(await service(options)) };
			},
		},
	};
	return { asked, functions };
}

/** What is kept for the node alone, not for the workflow. */
function onlyNode(type: string, kept: IDataObject): IDataObject {
	if (type !== 'node') throw new TypeError(`Kept for ${type}`);
	return kept;
}

const isExecuteFunctions = (value: object): value is IExecuteFunctions => 'getInputData' in value;
const isPollFunctions = (value: object): value is IPollFunctions => 'getActivationMode' in value;

export interface ExecuteOptions extends Common {
	readonly items?: INodeExecutionData[];
	/** As written: a text that begins with `=` is an expression, which n8n works out for each item. */
	readonly parameters?: INodeParameters;
	readonly continueOnFail?: boolean;
	/** What n8n keeps for the node while the execution lasts. */
	readonly kept?: IDataObject;
	readonly runIndex?: unknown;
	/** n8n's ID of the execution; 'Retry' is another one. */
	readonly executionId?: string;
	readonly signal?: AbortSignal;
	readonly addExecutionHints?: (...hints: NodeExecutionHint[]) => void;
	/** n8n's store of what was processed. */
	readonly store?: DeduplicationStore;
}

type Deduplication = Pick<
	IExecuteFunctions['helpers'],
	'checkProcessedAndRecord' | 'removeProcessed'
>;

let stores = 0;

/** n8n's deduplication of one node as it works: entries in order, read, changed and written whole. */
export class DeduplicationStore implements Deduplication {
	entries: string[] = [];
	/** The node whose it is. */
	readonly nodeId = `node-${(stores += 1)}`;
	/** How often the entries were written. */
	writes = 0;
	/** Thrown by the next accesses. */
	refusals: Error[] = [];
	/** Called before entries are recorded. */
	beforeRecord: () => unknown = () => undefined;

	checkProcessedAndRecord: Deduplication['checkProcessedAndRecord'] = async (
		items,
		scope,
		{ mode, maxEntries = 0 },
	) => {
		await this.beforeRecord();
		const entries = await this.read(scope, mode);
		const processed = items.filter((item) => entries.includes(String(item)));
		const fresh = items.filter((item) => !entries.includes(String(item)));
		await this.write([...entries, ...fresh.map(String)].slice(-maxEntries));
		return { new: fresh, processed };
	};

	removeProcessed: Deduplication['removeProcessed'] = async (items, scope, { mode }) => {
		const entries = await this.read(scope, mode);
		await this.write(entries.filter((entry) => !items.includes(entry)));
	};

	private async read(scope: string, mode: string): Promise<string[]> {
		if (scope !== 'node' || mode !== 'entries') throw new TypeError(`${scope}, ${mode}`);
		const entries = [...this.entries];
		await new Promise((resolve) => setImmediate(resolve));
		const refusal = this.refusals.shift();
		if (refusal !== undefined) throw refusal;
		return entries;
	}

	private async write(entries: string[]): Promise<void> {
		await new Promise((resolve) => setImmediate(resolve));
		this.entries = entries;
		this.writes += 1;
	}
}

const nodeTypes: INodeTypes = {
	getByName: () => new PushCampaign(),
	getByNameAndVersion: () => new PushCampaign(),
	getKnownTypes: () => ({}),
};

/** What n8n hands to a node that runs; without the engine, so that a test reaches every corner. */
export function executeFunctions(options: ExecuteOptions) {
	const { items = [{ json: {} }], parameters = {}, kept = {}, runIndex = 0 } = options;
	const { asked, functions } = common(options);
	const warnings: string[] = [];
	const { addExecutionHints, store = new DeduplicationStore() } = options;
	const node = nodeOf('pushCampaign', {
		id: store.nodeId,
		parameters,
		...options.node,
	});
	const { expression: written } = new Workflow({
		id: 'workflow-1',
		nodes: [node],
		connections: {},
		active: true,
		nodeTypes,
	});
	/** Works out what is written, for an item: n8n's own expressions, with what this workflow holds. */
	const evaluate = (value: NodeParameterValueType, itemIndex: number): unknown => {
		const run = typeof runIndex === 'number' ? runIndex : 0;
		return written.getParameterValue(value, null, run, itemIndex, node.name, items, 'trigger', {});
	};
	const context = {
		...functions,
		helpers: {
			...functions.helpers,
			checkProcessedAndRecord: store.checkProcessedAndRecord,
			removeProcessed: store.removeProcessed,
		},
		...(addExecutionHints === undefined ? {} : { addExecutionHints }),
		logger: { warn: (message: string) => warnings.push(message) },
		getWorkflow: () => ({ id: 'workflow-1', name: 'Workflow', active: true }),
		getInputData: () => items,
		// As n8n's NodeExecutionContext does it, but for what a node can ask for and this one does not.
		getNodeParameter: (
			name: string,
			itemIndex: number,
			fallback?: NodeParameterValueType,
			more?: IGetNodeParameterOptions,
		) => {
			const value = parameters[name] === undefined ? fallback : parameters[name];
			if (value === undefined) throw new UserError(`Could not get parameter "${name}"`);
			return more?.rawExpressions === true ? value : evaluate(value, itemIndex);
		},
		getNode: () => node,
		getExecutionId: () => options.executionId ?? '10',
		getTimezone: () => 'UTC',
		continueOnFail: () => options.continueOnFail ?? false,
		getContext: (type: string) => onlyNode(type, kept),
		getExecutionCancelSignal: () => options.signal,
		evaluateExpression: (expression: string, itemIndex: number) =>
			expression === '{{ $runIndex }}' ? runIndex : evaluate(`=${expression}`, itemIndex),
	};
	if (!isExecuteFunctions(context)) throw new TypeError('Not what n8n hands to a node');
	return { context, asked, warnings };
}

export interface PollOptions extends Common {
	readonly parameters?: IDataObject;
	/** The node's; a plain object stands for the durable engine's copy. */
	readonly staticData?: IDataObject;
	readonly mode?: 'manual' | 'trigger';
	readonly activation?: string;
	/** Milliseconds; `absent` as in n8n 1. */
	readonly budgetMs?: number | 'absent';
}

/** What n8n hands to a trigger that polls. */
export function pollFunctions(options: PollOptions) {
	const { parameters = {}, mode = 'trigger', budgetMs = 60_000 } = options;
	// The classic engine hands out data that watch for changes.
	const { staticData = ObservableObject.create({}) } = options;
	const globalData = ObservableObject.create({});
	const { asked, functions } = common(options);
	const errors: Error[] = [];
	const node = nodeOf('pushCampaignTrigger', options.node);
	const context = {
		...functions,
		getNodeParameter: (name: string, fallback: unknown) => parameters[name] ?? fallback,
		getNode: () => node,
		getWorkflow: () => ({ id: 'workflow-1', name: 'Workflow', active: true }),
		getWorkflowStaticData: (type: string) =>
			type === 'global' ? globalData : onlyNode(type, staticData),
		getMode: () => mode,
		getActivationMode: () => options.activation ?? 'init',
		__emitError: (error: Error) => errors.push(error),
		...(budgetMs === 'absent' ? {} : { getPollBudgetMs: () => budgetMs }),
	};
	if (!isPollFunctions(context)) throw new TypeError('Not what n8n hands to a trigger');
	return { context, asked, errors, staticData };
}
