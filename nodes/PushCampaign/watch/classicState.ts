import { z } from 'zod/v3';

import { InvalidInput } from '../service/invalidInput';
import { TriggerMemories } from './memory';
import type { PollState, TriggerData, TriggerState } from './triggerState';
import { newState, nextState, triggerStateSchema } from './triggerState';

/** Of the workflow's static data, only this field is ours: the states of its triggers, by node ID. */
const statesField = 'n8n-nodes-push-campaign.pushCampaignTrigger';
const statesSchema = z.record(triggerStateSchema).catch({});
/** Deleted triggers leave their states behind: the ones that were written last are kept. */
const mostStates = 100;

interface ClassicMemory {
	/**
	 * The activation that polled last, by its copy of the workflow's static data, and the name under which it knows
	 * the trigger. Each activation loads a copy from the database (n8n 2.41.1: packages/workflow/src/workflow.ts,
	 * constructor).
	 */
	live?: Pick<TriggerData, 'global' | 'nodeName'>;
	/** The state that n8n certainly has: the live data held it when the last poll began. */
	confirmed: TriggerState;
	/** The state in the live data: the confirmed one, or the one of an emission after it. */
	current: TriggerState;
	/** The highest revision that this process has seen or given. */
	newestRevision: number;
}

const memories = new TriggerMemories<ClassicMemory>(() => ({
	confirmed: newState,
	current: newState,
	newestRevision: 0,
}));

/** The states that n8n saved, by the IDs of their nodes. */
const statesIn = (global: TriggerData['global']) =>
	new Map(Object.entries(statesSchema.parse(global[statesField])));

/** @returns the state of a trigger that the workflow's static data hold, if there is one */
export const readClassicState = ({ nodeId, global }: TriggerData): TriggerState | undefined =>
	statesIn(global).get(nodeId);

/**
 * Writes the state of a trigger, and what is known of the workflow's other triggers: n8n 2 activates each
 * trigger with a copy of the workflow's data, and the copy that it saves last replaces the others.
 * A whole value at the first level: n8n does not notice, and does not save, what changes below it (n8n 2.41.1:
 * packages/workflow/src/observable-object.ts, create).
 */
function writeState({ workflowId, nodeId, global }: TriggerData, state: TriggerState): void {
	const states = statesIn(global);
	for (const [id, { current }] of memories.ofWorkflow(workflowId)) {
		if (current.revision > (states.get(id)?.revision ?? 0)) states.set(id, current);
	}
	// Deleted first, so that it stands last, among the newest.
	states.delete(nodeId);
	states.set(nodeId, state);
	global[statesField] = structuredClone(Object.fromEntries([...states].slice(-mostStates)));
}

const sharedIdAdvice =
	'Copy and paste this trigger in the editor, then delete the original: n8n gives the copy an ID of its own.';

/**
 * Opens the state of a trigger in n8n's classic engine, for one poll.
 *
 * The engine keeps static data by a node's *name*, which another trigger may have by now. So the state is kept in
 * the workflow's static data, by the node's ID.
 *
 * The engine loads the static data of a workflow when it activates it, polls with them, and saves them
 * together with an emission. An execution whose Code node writes static data saves all of them as they were
 * when it began. So an activation can load baselines that are older than what this process emitted: then the
 * process's own count.
 * @throws InvalidInput if another trigger of the workflow has the same node ID
 */
export function openClassicState(data: TriggerData): PollState {
	const { workflowId, nodeId, nodeName, global } = data;
	const memory = memories.ofTrigger(workflowId, nodeId);
	// One activation, two nodes: n8n 1 accepts that, and their baselines would be one. n8n 2 gives the second node
	// an ID of its own (n8n 2.41.1: packages/cli/src/workflows/publication/heal-node-ids.ts).
	if (memory.live?.global === global && memory.live.nodeName !== nodeName) {
		throw new InvalidInput('Another trigger of this workflow has the same node ID', sharedIdAdvice);
	}
	memory.live = { global, nodeName };

	const saved = readClassicState(data) ?? newState;
	// An emission is confirmed by the next poll, and not before: n8n discards what a poll returns whose
	// workflow was deactivated meanwhile (n8n 2.41.1: packages/core/src/execution-engine/
	// poll-trigger-executor.ts, create).
	// If the revisions are the same, another main instance may have written the saved state.
	if (saved.revision >= memory.confirmed.revision) memory.confirmed = saved;
	const state = memory.confirmed;
	memory.current = state;
	memory.newestRevision = Math.max(memory.newestRevision, state.revision);

	return {
		load: () => state,

		// A newer activation polls. n8n 1 still accepts what this poll returns: both would emit the same.
		isStale: () => memory.live?.global !== global,

		save(site, baselines) {
			memory.newestRevision += 1;
			memory.current = nextState(site, baselines, memory.newestRevision);
			writeState(data, memory.current);
		},
	};
}
