import { isDeepStrictEqual } from 'node:util';
import { PollContext } from 'n8n-core';
import {
	deepCopy,
	type IDataObject,
	type INodeExecutionData,
	type INodeParameters,
	type IPollFunctions,
	type WorkflowActivateMode,
} from 'n8n-workflow';
import { additionalDataOf } from './additionalData';
import { credentialsOf, loadWorkflow, type Surroundings } from './run';
import { nodeFrom, type NodeSketch } from './workflow';

export interface PollOptions extends Surroundings {
	/** `manual` is 'Fetch Test Event', `trigger` (the default) an active workflow. */
	mode?: 'manual' | 'trigger';
	/** What `getActivationMode()` says; `manual` in manual mode, else `activate`. */
	activation?: WorkflowActivateMode;
	/** What n8n has saved: the node's cursor in the durable engine, the workflow's static data in the classic one. */
	saved?: IDataObject;
	/**
	 * `classic` shares one `this` and one static data object between polls; `durable` gives each poll a
	 * new `this` and a copy of the cursor, committed when the poll ends.
	 */
	engine?: 'classic' | 'durable';
	/**
	 * What `getPollBudgetMs()` answers, in milliseconds; `absent` leaves it out, as n8n 1.x does. As the
	 * engine has it when left out.
	 */
	budgetMs?: number | 'absent';
	/** More of the node, such as another type or its `onError`. */
	node?: Partial<NodeSketch>;
}

/** What one poll gave. */
export interface PollOutcome {
	items: INodeExecutionData[] | null;
	/** What the poll reported by `__emitError` while it went on. */
	errors: Error[];
}

const TRIGGER = 'n8n-nodes-push-campaign.pushCampaignTrigger';
const CREDENTIAL = 'pushCampaignApi';
const durableBudgetMs = 36_000;

// n8n-core leaves a workflow's name optional where the interface for nodes promises one.
class NamedPollContext extends PollContext {
	override getWorkflow() {
		const { name = 'Workflow', ...workflow } = super.getWorkflow();
		return { ...workflow, name };
	}
}

/** What one process knows of a trigger it keeps under the workflow's ID: here each poller is a process. */
let pollers = 0;

/** A trigger node in an active workflow, polled by hand. */
export class Poller {
	/** Every error that was reported by `__emitError` so far. */
	readonly errors: Error[] = [];
	/** Every item that was emitted so far. */
	readonly emitted: INodeExecutionData[] = [];

	private readonly workflow;
	private readonly node;
	private readonly credentials;
	private saved: IDataObject;
	private shared: IPollFunctions | undefined;

	constructor(
		private readonly parameters: INodeParameters,
		private readonly options: PollOptions,
	) {
		this.node = nodeFrom({
			id: 'trigger',
			name: 'Trigger',
			type: TRIGGER,
			credentials: { [CREDENTIAL]: { id: '1', name: 'Test' } },
			...options.node,
			parameters,
		});
		this.credentials = credentialsOf(options);
		this.workflow = loadWorkflow(
			{ nodes: [this.node], connections: {}, settings: {} },
			this.mode === 'trigger',
			`poller ${(pollers += 1)}`,
		);
		this.saved = deepCopy(options.saved ?? {});
		if (options.engine === 'durable') return;
		Object.assign(this.workflow.getStaticData('global'), deepCopy(this.saved));
		this.workflow.staticData['__dataChanged'] = false;
	}

	/** Polls once. Rejects with what the node throws; polls may overlap. */
	async poll(): Promise<PollOutcome> {
		const reported = this.errors.length;
		const staged = this.options.engine === 'durable' ? deepCopy(this.saved) : undefined;
		const seed = deepCopy(staged);
		const context = this.contextOf(staged);
		const { poll } = this.workflow.nodeTypes.getByNameAndVersion(this.node.type);
		if (poll === undefined) throw new Error(`${this.node.type} does not poll`);
		const [items = []] = (await poll.call(context)) ?? [null];
		if (items !== null) this.emitted.push(...items);
		// The classic engine saves static data together with an emission alone, a manual run never; the durable
		// engine commits each poll's own copy if the poll changed it.
		if (staged !== undefined) {
			if (!isDeepStrictEqual(staged, seed)) this.save(staged);
		} else if (items !== null && this.workflow.staticData['__dataChanged'] === true) {
			// n8n does not see what changes below the first level, and saves nothing then.
			this.save(this.workflow.getStaticData('global'));
			this.workflow.staticData['__dataChanged'] = false;
		}
		return { items, errors: this.errors.slice(reported) };
	}

	/** The same node after the server was killed and started again: only what was saved is left. */
	restarted(): Poller {
		return new Poller(this.parameters, {
			...this.options,
			activation: 'init',
			saved: this.saved,
		});
	}

	private get mode() {
		return this.options.mode ?? 'trigger';
	}

	private save(data: IDataObject): void {
		if (this.mode !== 'manual') this.saved = deepCopy(data);
	}

	private contextOf(staged: IDataObject | undefined): IPollFunctions {
		if (staged !== undefined) return this.newContext('update', () => staged);
		const { activation = this.mode === 'manual' ? 'manual' : 'activate' } = this.options;
		this.shared ??= this.newContext(activation, () =>
			this.workflow.getStaticData('node', this.node),
		);
		return this.shared;
	}

	private newContext(
		activation: WorkflowActivateMode,
		staticData: () => IDataObject,
	): IPollFunctions {
		const { engine, budgetMs = engine === 'durable' ? durableBudgetMs : undefined } = this.options;
		const context = new NamedPollContext(
			this.workflow,
			this.node,
			additionalDataOf(
				{ nodes: [this.node], connections: {} },
				this.mode,
				'poll',
				this.credentials,
			),
			this.mode,
			activation,
			undefined,
			(error) => void this.errors.push(error),
			undefined,
			undefined,
			staticData,
			typeof budgetMs === 'number' ? () => budgetMs : undefined,
		);
		if (budgetMs === 'absent') Object.assign(context, { getPollBudgetMs: undefined });
		return context;
	}
}

/** Polls a trigger node once; see {@link Poller} for several polls of one node. */
export const runPoll = async (
	parameters: INodeParameters,
	options: PollOptions,
): Promise<PollOutcome> => await new Poller(parameters, options).poll();
