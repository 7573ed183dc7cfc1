import { PollContext } from 'n8n-core';
import type {
	IDataObject,
	INode,
	INodeExecutionData,
	INodeParameters,
	IPollFunctions,
	WorkflowActivateMode,
} from 'n8n-workflow';
import { additionalDataOf } from './additionalData';
import { credentialsOf, loadWorkflow, type Surroundings } from './run';
import { nodeFrom } from './workflow';

export interface PollOptions extends Surroundings {
	/** `manual` is 'Fetch Test Event', `trigger` (the default) an active workflow. */
	mode?: 'manual' | 'trigger';
	/** What `getActivationMode()` says. */
	activation?: WorkflowActivateMode;
	/** What `getPollBudgetMs()` answers, in milliseconds; as n8n 2 has it when left out, and null as in n8n 1: nothing. */
	budgetMs?: number | null;
	/** The trigger's static data, to be shared by several contexts of one trigger; its own when left out. */
	staticData?: IDataObject;
	/** The workflow's ID, likewise: what a process knows of a trigger it keeps under it. */
	workflowId?: string;
}

/** What one poll gave. */
export interface PollOutcome {
	items: INodeExecutionData[] | null;
	/** What the poll reported while it went on. */
	errors: Error[];
}

// n8n-core leaves a workflow's name optional where the interface for nodes promises one.
class NamedPollContext extends PollContext {
	override getWorkflow() {
		const { name = 'Workflow', ...workflow } = super.getWorkflow();
		return { ...workflow, name };
	}
}

let workflows = 0;

/** The ID of a workflow that no other test has polled: it stands for a process that knows nothing of the trigger. */
export const newWorkflowId = (): string => `workflow ${(workflows += 1)}`;

/** The trigger with these parameters. */
export const triggerNode = (parameters: INodeParameters): INode =>
	nodeFrom({
		id: 'trigger',
		name: 'Trigger',
		type: 'n8n-nodes-push-campaign.pushCampaignTrigger',
		credentials: { pushCampaignApi: { id: '1', name: 'Test' } },
		parameters,
	});

/**
 * The trigger in a workflow, on one of the contexts that n8n's engine makes.
 * @returns what polls it, and rejects with what the node throws
 */
export function pollerOf(
	parameters: INodeParameters,
	options: PollOptions,
): () => Promise<PollOutcome> {
	const { mode = 'trigger', activation = 'activate', budgetMs, staticData } = options;
	const node = triggerNode(parameters);
	const json = { nodes: [node], connections: {} };
	const workflow = loadWorkflow(json, mode === 'trigger', options.workflowId ?? newWorkflowId());
	const reported: Error[] = [];
	const context: IPollFunctions = new NamedPollContext(
		workflow,
		node,
		additionalDataOf(json, mode, 'poll', credentialsOf(options)),
		mode,
		activation,
		undefined,
		(error) => void reported.push(error),
		undefined,
		undefined,
		staticData === undefined ? undefined : () => staticData,
		typeof budgetMs === 'number' ? () => budgetMs : undefined,
	);
	if (budgetMs === null) Reflect.deleteProperty(context, 'getPollBudgetMs');
	const { poll } = workflow.nodeTypes.getByNameAndVersion(node.type);
	if (poll === undefined) throw new Error(`${node.type} does not poll`);
	return async () => {
		const items = await poll.call(context);
		return { items: items?.flat() ?? null, errors: reported.splice(0) };
	};
}
