import type { IDataObject, INode, NodeExecutionHint } from 'n8n-workflow';

import type { Job } from '../delivery/job';
import type { Outcome } from '../delivery/outcome';
import type { ItemFailure } from '../operations/operation';
import type { RunEnd } from './tally';
import type { Connection } from './transport';

/** What is to become of an item, known before anything is requested. */
export type ItemJob<Value> = Job<Value> & {
	/** Missing if nothing is requested for the item. */
	readonly maxParallel?: number;
	/** The item that is returned. Missing if the parameters are not valid. */
	readonly toJson?: (value: Value) => IDataObject;
	/** The item that is returned if it failed and the node continues. Throws nothing. */
	readonly toFailedJson: (failure: ItemFailure) => IDataObject;
};

/** Makes the jobs of a run, and knows how to end it. */
export interface JobFactory<Value> {
	/** @throws InvalidInput */
	create(itemIndex: number, connection: Connection): Promise<ItemJob<Value>>;
	/**
	 * Makes the job of an item that can't be sent as it is. Throws nothing.
	 * @param thrown why not
	 */
	createInvalid(itemIndex: number, thrown: unknown): ItemJob<Value>;
	/** Called once, when every item has its job and before the first is run. */
	review(jobs: ReadonlyArray<ItemJob<Value>>): ReadonlyArray<ItemJob<Value>>;
	/** Called when no job runs any more, also if one of them threw. */
	close(): Promise<void>;
	/**
	 * Called when all items have their outcome.
	 * @returns the outcomes as they are reported, and what else is known of the run's end
	 */
	end(outcomes: ReadonlyArray<Outcome<Value>>): Pick<RunEnd, 'counts' | 'hasKeys'> & {
		readonly outcomes: ReadonlyArray<Outcome<Value>>;
		/** What the editor says of the run. */
		readonly hints?: () => Promise<NodeExecutionHint[]>;
	};
}

/** Whether the node runs as the tool of an AI agent. */
export const isTool = (node: INode) => node.type.endsWith('Tool');
