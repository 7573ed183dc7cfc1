import { PollContext } from 'n8n-core';
import type {
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
	/** What `getPollBudgetMs()` answers, in milliseconds; as n8n has it when left out. */
	budgetMs?: number;
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

/** What a process knows of a trigger it keeps under the workflow's ID: here each one is polled in a process of its own. */
let processes = 0;

/**
 * The trigger in a workflow, on one of the contexts that n8n's engine makes.
 * @returns what polls it, and rejects with what the node throws
 */
export function pollerOf(
	parameters: INodeParameters,
	{ mode = 'trigger', activation = 'activate', budgetMs, ...surroundings }: PollOptions,
): () => Promise<PollOutcome> {
	const node = nodeFrom({
		id: 'trigger',
		name: 'Trigger',
		type: 'n8n-nodes-push-campaign.pushCampaignTrigger',
		credentials: { pushCampaignApi: { id: '1', name: 'Test' } },
		parameters,
	});
	const json = { nodes: [node], connections: {} };
	processes += 1;
	const workflow = loadWorkflow(json, mode === 'trigger', `process ${processes}`);
	const reported: Error[] = [];
	const context: IPollFunctions = new NamedPollContext(
		workflow,
		node,
		additionalDataOf(json, mode, 'poll', credentialsOf(surroundings)),
		mode,
		activation,
		undefined,
		(error) => void reported.push(error),
		undefined,
		undefined,
		undefined,
		budgetMs === undefined ? undefined : () => budgetMs,
	);
	const { poll } = workflow.nodeTypes.getByNameAndVersion(node.type);
	if (poll === undefined) throw new Error(`${node.type} does not poll`);
	return async () => {
		const items = await poll.call(context);
		return { items: items?.flat() ?? null, errors: reported.splice(0) };
	};
}

/** Polls a trigger once. */
export const runPoll = async (...poller: Parameters<typeof pollerOf>): Promise<PollOutcome> =>
	await pollerOf(...poller)();
