import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { Baselines } from './compare';
import { baselineSchema } from './compare';

/** What n8n saves of a trigger. */
export const triggerStateSchema = z.object({
	/** Grows with each emission: of two states, the one with the higher revision is newer. */
	revision: z.number(),
	/** What was emitted last, by ID. */
	baselines: z.record(baselineSchema),
});
export type TriggerState = Readonly<z.infer<typeof triggerStateSchema>>;

/** The state of a trigger that has emitted nothing. */
export const newState: TriggerState = { revision: 0, baselines: {} };

/** What n8n hands to a poll of a trigger. */
export interface TriggerData {
	readonly workflowId: string;
	/** Copies of a workflow share the IDs of its nodes. */
	readonly nodeId: string;
	/** The node's static data. */
	readonly node: IDataObject;
	/** The workflow's static data. */
	readonly global: IDataObject;
}

/** A trigger's state during one poll. Each of n8n's engines has a file that makes it. */
export interface PollState {
	/** The baselines that this poll compares with. */
	readonly load: () => Baselines;
	/** Whether this poll must emit and report nothing: another poll of the trigger knows more. */
	readonly isStale: () => boolean;
	/** Hands the baselines to n8n, which saves them together with what the poll emits. */
	readonly save: (baselines: Baselines) => void;
}

/** @returns the state after an emission */
export const nextState = (baselines: Baselines, revision: number): TriggerState => ({
	revision,
	baselines: Object.fromEntries(baselines),
});

export const toBaselines = ({ baselines }: TriggerState): Baselines =>
	new Map(Object.entries(baselines));
