import type { IDataObject, INode } from 'n8n-workflow';

import type { Job, Outcome } from '../delivery/runJobs';
import type { Tally } from './errors';
import type { Connection } from './transport';

/** What is to become of an item, known before anything is requested. */
export interface ItemJob<Value> {
	/** Promised where others must be asked first whether anything is to be requested. */
	readonly job: Job<Value> | Promise<Job<Value>>;
	/** Missing where nothing is requested for the item. */
	readonly maxParallel?: number;
	/** The item that is put out. */
	readonly toJson: (value: Value) => IDataObject;
}

/** Makes the jobs of a run, and knows how to end it. */
export interface JobFactory<Value> {
	/** @throws InvalidInput */
	readonly create: (itemIndex: number, connection: Connection) => ItemJob<Value>;
	/** Called when all items have their outcome; gives the outcomes as they are told. */
	readonly end?: (
		outcomes: ReadonlyArray<Outcome<Value>>,
	) => Promise<ReadonlyArray<Outcome<Value>>>;
	/** Counts how the items ended, where an error is to say it. */
	readonly tally?: (outcomes: ReadonlyArray<Outcome<Value>>) => Tally;
}

/** Whether the node runs as the tool of an AI agent. */
export const isTool = (node: INode) => node.type.endsWith('Tool');
