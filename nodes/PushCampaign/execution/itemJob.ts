import type { IDataObject, INode, NodeExecutionHint } from 'n8n-workflow';

import type { Outcome } from '../delivery/outcome';
import type { Job } from '../delivery/runJobs';
import type { ItemFailure } from '../operations/operation';
import type { Connection } from './transport';

/** What is to become of an item, known before anything is requested. */
export type ItemJob<Value> = Job<Value> & {
	/** Missing where nothing is requested for the item. */
	readonly maxParallel?: number;
	/** The item that is returned. Missing if the parameters are not valid. */
	readonly toJson?: (value: Value) => IDataObject;
	/** The item that is returned if it failed and the node continues. */
	readonly toFailedJson?: (failure: ItemFailure) => IDataObject;
};

/** How the items of a run ended that was to change something. */
export interface Tally {
	readonly items: number;
	/** Now, or in an earlier try of this execution. */
	readonly done: number;
	/** By others, under their idempotency keys. */
	readonly doneEarlier: number;
	/** Also what never started. */
	readonly notDone: number;
	readonly unknown: number;
}

/** Makes the jobs of a run, and knows how to end it. */
export interface JobFactory<Value> {
	/** @throws InvalidInput */
	create(itemIndex: number, connection: Connection): Promise<ItemJob<Value>>;
	/** The item that is returned if it failed before it had a job. Throws nothing. */
	toInvalidJson(itemIndex: number, failure: ItemFailure): IDataObject;
	/** Called once, when every item has its job and before the first is run. */
	review(jobs: ReadonlyArray<ItemJob<Value>>): ReadonlyArray<ItemJob<Value>>;
	/** Called when no job runs any more, also if one of them threw. */
	close(): Promise<void>;
	/**
	 * Called when all items have their outcome.
	 * @returns the outcomes as they are told, with their counts where an error is to say them
	 */
	end(outcomes: ReadonlyArray<Outcome<Value>>): {
		readonly outcomes: ReadonlyArray<Outcome<Value>>;
		readonly counts?: Tally;
		/** What the editor says of the run. */
		readonly hints?: () => Promise<NodeExecutionHint[]>;
	};
}

/** Whether the node runs as the tool of an AI agent. */
export const isTool = (node: INode) => node.type.endsWith('Tool');
