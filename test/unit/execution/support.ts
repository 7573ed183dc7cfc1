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
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { triggerProperties } from '../../../nodes/PushCampaign/operations/triggerPanel';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { digest } from '../../../nodes/PushCampaign/send/digest';
import { fixedMark, fixedMarkOf, settingNames } from '../../../nodes/PushCampaign/service/settings';
import { ProcessedData } from '../../support/processedData';

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
	readonly mode?: WorkflowExecuteMode;
	/** How the execution began, of which this is a try; default as `mode`. */
	readonly source?: WorkflowExecuteMode;
	/** The workflow's; default UTC. */
	readonly timezone?: string;
	/** What an execution has in common with its Retries; n8n 1 has none. */
	readonly resumeToken?: string | undefined;
	/** n8n's table of what was processed. */
	readonly database?: ProcessedData;
	/** What n8n calls when it has saved the execution. */
	readonly whenSaved?: Array<(run: unknown) => Promise<void>>;
}

/** The names of a key's rows in n8n's table, by what comes last in them: `claim:1`, `sent`. */
export const keyRow = (key: string, what: string) =>
	`workflow-1 n:push-campaign-key:node-1:${digest(key)}:${what}`;

/** A table in which these keys were sent, and these are claimed by an execution that does not run any more. */
export function databaseWith({ sent = [], claimed = [] }: KeyStates): ProcessedData {
	const database = new ProcessedData();
	for (const key of [...sent, ...claimed]) database.rows.set(keyRow(key, 'claim:1'), ['1']);
	for (const key of sent) database.rows.set(keyRow(key, 'sent'), ['1']);
	return database;
}

/** How keys stand; those that are not named are free. */
export interface KeyStates {
	readonly sent?: readonly string[];
	readonly claimed?: readonly string[];
}

/** How these keys stand in a table. */
export function keyStatesIn({ rows }: ProcessedData, keys: readonly string[]): KeyStates {
	const isSent = (key: string) => rows.has(keyRow(key, 'sent'));
	const isClaimed = (key: string) => rows.has(keyRow(key, 'claim:1'));
	return {
		sent: keys.filter((key) => isSent(key) && isClaimed(key)),
		claimed: keys.filter((key) => isClaimed(key) && !isSent(key)),
	};
}

const nodeTypes: INodeTypes = {
	getByName: () => new PushCampaign(),
	getByNameAndVersion: () => new PushCampaign(),
	getKnownTypes: () => ({}),
};

/** What stands in a value at a place: at `button[0].title` of `actionButtons`. */
const inside = (value: unknown, names: readonly string[]): unknown =>
	names.reduce<unknown>(
		(outer, name) =>
			typeof outer === 'object' && outer !== null ? Reflect.get(outer, name) : undefined,
		value,
	);

/** What n8n hands to a node that runs; without the engine, so that a test reaches every corner. */
export function executeFunctions(options: ExecuteOptions) {
	const { items = [{ json: {} }], parameters = {}, kept = {}, runIndex = 0 } = options;
	const { asked, functions } = common(options);
	const warnings: string[] = [];
	const { resumeToken } = options;
	const { addExecutionHints, database = new ProcessedData(), mode = 'trigger' } = options;
	const node = nodeOf('pushCampaign', { parameters, ...options.node });
	const { expression } = new Workflow({
		id: 'workflow-1',
		nodes: [node],
		connections: {},
		active: true,
		nodeTypes,
	});
	const address = `https://n8n.example/?signature=${resumeToken}`;
	const $execution = {
		id: '10',
		mode: 'production',
		resumeUrl: address,
		resumeFormUrl: address,
	} as const;
	const keys = resumeToken === undefined ? {} : { $execution };
	/** Works out what is written, for an item: n8n's own expressions, with what this workflow holds. */
	const evaluate = (value: NodeParameterValueType, itemIndex: number): unknown => {
		const run = typeof runIndex === 'number' ? runIndex : 0;
		return expression.getParameterValue(value, null, run, itemIndex, node.name, items, mode, keys);
	};
	const context = {
		...functions,
		helpers: {
			...functions.helpers,
			...database.helpersOf(node),
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
			const [outer = '', ...names] = name.split(/[.[\]]+/).filter((each) => each !== '');
			const written = parameters[outer] === undefined ? fallback : parameters[outer];
			if (written === undefined) throw new UserError(`Could not get parameter "${name}"`);
			return inside(more?.rawExpressions === true ? written : evaluate(written, itemIndex), names);
		},
		getNode: () => structuredClone(node),
		getExecuteData: () => ({ node }),
		getMode: () => mode,
		getExecutionContext: () => ({ version: 1, establishedAt: 0, source: options.source ?? mode }),
		additionalData: { hooks: { handlers: { workflowExecuteAfter: options.whenSaved ?? [] } } },
		getExecutionId: () => options.executionId ?? '10',
		getTimezone: () => options.timezone ?? 'UTC',
		continueOnFail: () => options.continueOnFail ?? false,
		getContext: (type: string) => onlyNode(type, kept),
		getExecutionCancelSignal: () => options.signal,
		evaluateExpression: (expression: string, itemIndex: number) =>
			expression === '{{ $runIndex }}' ? runIndex : evaluate(`=${expression}`, itemIndex),
	};
	if (!isExecuteFunctions(context)) throw new TypeError('Not what n8n hands to a node');
	return { context, asked, warnings };
}

/** What n8n fills in for the fields of a trigger that nobody changed. */
export function withDefaults(parameters: IDataObject): IDataObject {
	const event = typeof parameters['event'] === 'string' ? parameters['event'] : 'campaignChanged';
	const shown = triggerProperties.filter(
		({ type, displayOptions }) =>
			type !== 'hidden' && (displayOptions?.show?.['event']?.includes(event) ?? true),
	);
	const defaults = Object.fromEntries(shown.map(({ name, default: value }) => [name, value]));
	return { ...defaults, ...parameters };
}

/** The budget of a poll to which n8n gave none. */
export const noBudgetMs = 300_000;

export interface PollOptions extends Common {
	/** Without the fields that have their defaults. */
	readonly parameters?: IDataObject;
	/**
	 * What the engine keeps the trigger's state in: in the classic engine the workflow's static data, which watch for
	 * changes; a plain object is the durable engine's copy of the node's.
	 */
	readonly staticData?: IDataObject;
	/** The static data in which the engine keeps no state. */
	readonly otherData?: IDataObject;
	readonly mode?: 'manual' | 'trigger';
	readonly activation?: string;
	/** Milliseconds; `absent` as in n8n 1. In the durable engine an update without one is a scheduled poll. */
	readonly budgetMs?: number | 'absent';
}

/** What n8n hands to a trigger that polls. */
export function pollFunctions(options: PollOptions) {
	const { mode = 'trigger', activation = 'init' } = options;
	const parameters = withDefaults(options.parameters ?? {});
	const { staticData = ObservableObject.create({}), otherData = ObservableObject.create({}) } =
		options;
	const isClassic = '__dataChanged' in staticData;
	const { budgetMs = isClassic || activation !== 'update' ? noBudgetMs : 36_000 } = options;
	const { asked, functions } = common(options);
	const errors: Error[] = [];
	const node = nodeOf('pushCampaignTrigger', options.node);
	const context = {
		...functions,
		getNodeParameter: (name: string, fallback: unknown) => parameters[name] ?? fallback,
		getNode: () => node,
		getWorkflow: () => ({ id: 'workflow-1', name: 'Workflow', active: true }),
		getWorkflowStaticData: (type: string) =>
			(type === 'global') === isClassic ? staticData : otherData,
		getMode: () => mode,
		getActivationMode: () => activation,
		__emitError: (error: Error) => errors.push(error),
		...(budgetMs === 'absent' ? {} : { getPollBudgetMs: () => budgetMs }),
	};
	if (!isPollFunctions(context)) throw new TypeError('Not what n8n hands to a trigger');
	return { context, asked, errors, staticData };
}
