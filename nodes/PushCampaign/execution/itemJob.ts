import type { IDataObject, INode } from 'n8n-workflow';

import type { Job, Outcome } from '../delivery/runJobs';
import type { Connection } from './transport';

/** What is to become of an item, known before anything is requested. */
export interface ItemJob<Value> {
	readonly job: Job<Value>;
	/** Missing where nothing is requested for the item. */
	readonly maxParallel?: number;
	/** Whether nothing is sent whatever comes of it. */
	readonly isDryRun?: boolean;
	/** The item that is put out. */
	readonly toJson: (value: Value) => IDataObject;
}

/** Makes the jobs of a run, and knows how to end it. */
export interface JobFactory<Value> {
	/** @throws InvalidInput */
	readonly create: (itemIndex: number, connection: Connection) => ItemJob<Value>;
	/** Called when all items have their outcome. */
	readonly end?: (outcomes: ReadonlyArray<Outcome<Value>>) => Promise<void>;
}

/** Whether the node runs as the tool of an AI agent. */
export const isTool = (node: INode) => node.type.endsWith('Tool');
