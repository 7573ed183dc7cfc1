// Rows of this package's own in n8n's database.
//
// n8n gives each node one row for what it has processed: table `processed_data`, primary key workflow ID and
// `n:<node ID>`. A row that is not there can be inserted once, whichever process does it: the only thing that n8n's
// database does atomically for a node. To have a row for each purpose, a node needs more than one ID.
//
// So its ID is another one for a moment. n8n's helpers hold the node as an object, and make the row's name from its ID
// before they wait for anything; then the ID is put back, before any other code runs (n8n 2.41.1 and 1.123.81: n8n-core,
// `deduplication-helper-functions.js`; n8n, `deduplication-helper.js`, `createContext`). Nothing promises that it stays
// so. That is why it is tried where it runs.

import { randomUUID } from 'crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import { messageOf, Unavailable } from '../service/thrown';

/** All rows begin with this, so that an administrator finds them: `n:push-campaign-…`. */
const prefix = 'push-campaign-';
const scope = 'node';
const options = { mode: 'entries' } as const;

/** The node as n8n's helpers hold it. `getNode` gives a copy: where there is no other one, the trial fails. */
function nodeOf(context: IExecuteFunctions): { id: string } {
	const copy = context.getNode();
	const { name } = copy;
	const { node } = context.getExecuteData();
	if (node.name === name) return node;
	// The tool of an older agent runs with the agent's data. Its own node is this one (n8n-core 2.41.1:
	// `node-execution-context.js`, `node`).
	const own: unknown = Reflect.get(context, 'node');
	return hasIdAndName(own) && own.name === name ? own : copy;
}

const hasIdAndName = (value: unknown): value is { id: string; name: string } =>
	typeof value === 'object' &&
	value !== null &&
	'id' in value &&
	typeof value.id === 'string' &&
	'name' in value &&
	typeof value.name === 'string';

/** Whether rows can be used, by the class of the context: a tool runs in another one than a workflow's node. */
const trials = new WeakMap<object, Promise<boolean>>();

/** What keys need of a database. */
export interface KeyRows {
	/** Inserts a row: one of any number of callers does. @returns whether it was this one */
	insert(name: string): Promise<boolean>;
	/** Only reads. */
	isThere(name: string): Promise<boolean>;
}

/** The rows of one node. All throw Unavailable if n8n's database does not answer. */
export class Rows implements KeyRows {
	private readonly node: { id: string };

	constructor(private readonly context: IExecuteFunctions) {
		this.node = nodeOf(context);
	}

	/** Tries once in a process whether this version of n8n lets a node have rows of its own. */
	async areUsable(): Promise<boolean> {
		const { constructor } = this.context;
		const trial = trials.get(constructor) ?? this.tryOut();
		trials.set(constructor, trial);
		// A database that is down says nothing about the version.
		trial.catch(() => trials.delete(constructor));
		return await trial;
	}

	async insert(name: string): Promise<boolean> {
		const recorded = await this.record(name, ['1']).catch(async (error: unknown) => {
			// Each database has words of its own for a row that somebody else inserted, so a look decides.
			if (await this.isThere(name)) return 0;
			throw error;
		});
		return recorded > 0;
	}

	async isThere(name: string): Promise<boolean> {
		return (await this.count(name)) > 0;
	}

	/** Two entries that are recorded under a made-up ID must be there, and nowhere else. */
	private async tryOut(): Promise<boolean> {
		const name = `trial:${randomUUID()}`;
		await this.record(name, ['1', '2']);
		return (await this.count(name)) === 2 && (await this.count(`${name}:other`)) === 0;
	}

	/** @returns how many entries were not there before */
	private async record(name: string, entries: string[]): Promise<number> {
		const { helpers } = this.context;
		const recorded = await this.underName(name, () =>
			helpers.checkProcessedAndRecord(entries, scope, options),
		);
		return recorded.new.length;
	}

	private async count(name: string): Promise<number> {
		const { helpers } = this.context;
		return await this.underName(name, () => helpers.getProcessedDataCount(scope, options));
	}

	private async underName<Value>(name: string, call: () => Promise<Value>): Promise<Value> {
		const { node } = this;
		const { id } = node;
		node.id = `${prefix}${name}`;
		let answer: Promise<Value>;
		try {
			// Not awaited here: n8n has made the row's name when this call returns.
			answer = call();
		} finally {
			node.id = id;
		}
		return await answer.catch((error: unknown) => {
			throw new Unavailable(
				`n8n's database did not answer: ${messageOf(error)}`,
				'Check that n8n can reach its database.',
			);
		});
	}
}
