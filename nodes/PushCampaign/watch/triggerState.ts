import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { Baselines } from './compare';
import { baselineSchema } from './compare';

/** What n8n saves of a trigger. */
export const triggerStateSchema = z.object({
	/** Grows with each emission: of two states, the one with the higher revision is newer. 0: nothing was emitted. */
	revision: z.number(),
	/** A digest of the site that the baselines belong to. */
	site: z.string(),
	/** What was emitted last, by ID. */
	baselines: z.record(baselineSchema),
});
export type TriggerState = Readonly<z.infer<typeof triggerStateSchema>>;

/** The state of a trigger that has emitted nothing. */
export const newState: TriggerState = { revision: 0, site: '', baselines: {} };

/** What n8n hands to a poll of a trigger. */
export interface TriggerData {
	readonly workflowId: string;
	/** Copies of a workflow share the IDs of its nodes. */
	readonly nodeId: string;
	readonly nodeName: string;
	/** The node's static data: the classic engine keeps them by the node's name, the durable one by its ID. */
	readonly node: IDataObject;
	/** The workflow's static data. */
	readonly global: IDataObject;
}

/** A trigger's state during one poll. Each of n8n's engines has a file that makes it. */
export interface PollState {
	/** What this poll compares with. */
	readonly load: () => TriggerState;
	/** Whether this poll must emit and report nothing: another poll of the trigger knows more. */
	readonly isStale: () => boolean;
	/** Hands the baselines of a site to n8n, which saves them together with what the poll emits. */
	readonly save: (site: string, baselines: Baselines) => void;
}

/** @returns the state after an emission */
export const nextState = (site: string, baselines: Baselines, revision: number): TriggerState => ({
	revision,
	site,
	baselines: Object.fromEntries(baselines),
});
