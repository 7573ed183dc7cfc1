import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

import { InvalidInput } from '../service/invalidInput';
import { TriggerMemories } from './memory';
import type { PollState, TriggerData, TriggerState } from './triggerState';
import { newState, nextState, triggerStateSchema } from './triggerState';

// The state of a trigger in n8n's classic engine, which keeps a node's static data by its *name*: another trigger may
// have it by now. So the state is in the workflow's static data, by the node's ID. The engine loads these data when it
// activates a trigger (n8n 2: a copy for each), and saves them with an emission. So does an execution whose Code node
// writes static data, as they were when it began: then what this process knows is newer than what is saved.

/** Of the workflow's static data, only this field is ours: the states of its triggers, by node ID. */
const statesField = 'n8n-nodes-push-campaign.pushCampaignTrigger';
const statesSchema = z.record(z.unknown()).catch({});
/** Deleted triggers leave their states behind: the ones that were written last are kept. */
const mostStates = 100;

/** An activation of a trigger: its copy of the workflow's static data, and the name under which it knows the node. */
type Activation = Pick<TriggerData, 'global' | 'nodeName'>;

interface ClassicMemory {
	/** The activation that polled last. */
	live: Activation;
	/** The newest state that n8n certainly has: the data of an activation held it when a poll began. */
	confirmed: TriggerState;
	/** The highest revision that this process has given. */
	newestRevision: number;
}

const memories = new TriggerMemories<ClassicMemory>(() => ({
	live: { global: {}, nodeName: '' },
	confirmed: newState,
	newestRevision: 0,
}));

const savedIn = (global: IDataObject) =>
	new Map(Object.entries(statesSchema.parse(global[statesField])));

const toState = (saved: unknown): TriggerState =>
	triggerStateSchema.safeParse(saved).data ?? newState;

/** @returns the state of a trigger in a workflow's static data */
export const readClassicState = ({
	nodeId,
	global,
}: Pick<TriggerData, 'nodeId' | 'global'>): TriggerState => toState(savedIn(global).get(nodeId));

/** Of several states of a trigger the newest, the first of those that have the same revision. */
const newestOf = (...states: readonly [TriggerState, ...TriggerState[]]): TriggerState =>
	states.reduce((newest, state) => (state.revision > newest.revision ? state : newest));

const sharedIdAdvice =
	'Copy and paste this trigger in the editor, then delete the original: n8n gives the copy an ID of its own.';

/**
 * Opens the state for one poll.
 * @throws InvalidInput if another trigger of the workflow has the same node ID
 */
export function openClassicState(data: TriggerData): PollState {
	const { workflowId, nodeId, nodeName, global } = data;
	const memory = memories.ofTrigger(workflowId, nodeId);
	// One activation, two nodes: n8n 1 accepts that, and their baselines would be one. n8n 2 gives the second node
	// an ID of its own (n8n 2.41.1: packages/cli/src/workflows/publication/heal-node-ids.ts).
	if (memory.live.global === global && memory.live.nodeName !== nodeName) {
		throw new InvalidInput('Another trigger of this workflow has the same node ID', sharedIdAdvice);
	}
	memory.live = { global, nodeName };

	// An emission counts from the next poll of its activation on, and not before: n8n discards what a poll returns
	// whose workflow was deactivated meanwhile (n8n 2.41.1: packages/core/src/execution-engine/
	// poll-trigger-executor.ts, create).
	// If the revisions are the same, another main instance may have written the one in the data.
	const state = newestOf(readClassicState(data), memory.confirmed);
	memory.confirmed = state;

	return {
		load: () => state,

		// A newer activation polls. n8n 1 still accepts what this poll returns: both would emit the same.
		isStale: () => memory.live.global !== global,

		save(site, baselines) {
			// Never a revision that a discarded emission had.
			memory.newestRevision = Math.max(state.revision, memory.newestRevision) + 1;
			writeState(data, nextState(site, baselines, memory.newestRevision));
		},
	};
}

/**
 * Writes the state of a trigger, and the newest ones of the workflow's other triggers: of their copies of the data,
 * n8n 2 saves one over the others.
 */
function writeState({ workflowId, nodeId, global }: TriggerData, state: TriggerState): void {
	const states = new Map([...savedIn(global)].map(([id, saved]) => [id, toState(saved)]));
	for (const [id, { live, confirmed }] of memories.ofWorkflow(workflowId)) {
		const copied = states.get(id) ?? newState;
		const held = readClassicState({ nodeId: id, global: live.global });
		states.set(id, newestOf(copied, held, confirmed));
	}
	// Last, among the newest.
	states.delete(nodeId);
	states.set(nodeId, state);
	// A whole value at the first level: n8n does not notice, and does not save, what changes below it (n8n 2.41.1:
	// packages/workflow/src/observable-object.ts, create).
	global[statesField] = structuredClone(Object.fromEntries([...states].slice(-mostStates)));
}
