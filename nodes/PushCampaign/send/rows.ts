// Rows of this package's own in n8n's database.
//
// n8n gives each node one row for what it has processed: table `processed_data`, primary key workflow ID and
// `n:<node ID>`. A second insert of a row that is there fails, whichever process makes it: the only thing that
// n8n's database does atomically for a node. To have a row for each purpose, a node needs more than one ID.
//
// So its ID is another one for a moment. n8n's helpers hold the node as an object, and make the row's name from
// its ID before they wait for anything; then the ID is put back, before any other code runs. In n8n 2.41.1 and
// 1.123.81: n8n-core, `deduplication-helper-functions.js`; n8n, `deduplication/deduplication-helper.js`,
// `createContext`. Nothing promises that it stays so. That is why it is tried where it runs (`areUsable`).

import { randomUUID } from 'crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import { messageOf } from '../service/invalidInput';

/** All rows begin with this, so that an administrator finds them: `n:push-campaign-…` in n8n's table. */
const prefix = 'push-campaign-';
const scope = 'node';
const options = { mode: 'entries' } as const;
/** n8n counts a row's entries, and a row without any looks like none. */
const onlyEntry = ['1'];

/** What SQLite, PostgreSQL and MySQL say if a row is there already. PostgreSQL's words are in its own language. */
const collision = /UNIQUE constraint|duplicate key|Duplicate entry/i;
const postgresCollision = '23505';

function isCollision(error: unknown): boolean {
	const code = typeof error === 'object' && error !== null && 'code' in error && error.code;
	return code === postgresCollision || collision.test(messageOf(error));
}

/** The node as n8n's helpers hold it. `getNode` gives a copy. */
function nodeOf(context: IExecuteFunctions, name: string): { id: string } | undefined {
	const { node } = context.getExecuteData();
	if (node.name === name) return node;
	// An older agent's tool runs with the agent's data: n8n's own object then (`node-execution-context.js`, `node`).
	const own: unknown = Reflect.get(context, 'node');
	return isNodeNamed(own, name) ? own : undefined;
}

const isNodeNamed = (value: unknown, name: string): value is { id: string } =>
	typeof value === 'object' &&
	value !== null &&
	'id' in value &&
	typeof value.id === 'string' &&
	'name' in value &&
	value.name === name;

/** Whether rows can be used, by the class of the context: a tool runs in another one than a workflow's node. */
const usable = new WeakMap<object, Promise<boolean>>();

/** The rows of one node. All throw what n8n's database throws. */
export class Rows {
	readonly nodeId: string;
	private readonly node: { id: string } | undefined;
	private readonly helpers: IExecuteFunctions['helpers'];
	private readonly contextClass: object;

	constructor(context: IExecuteFunctions) {
		const { id, name } = context.getNode();
		this.nodeId = id;
		this.node = nodeOf(context, name);
		this.helpers = context.helpers;
		this.contextClass = context.constructor;
	}

	/** Tries once in a process, for each class of context, whether this version of n8n lets a node have rows. */
	async areUsable(): Promise<boolean> {
		const known = usable.get(this.contextClass);
		if (known !== undefined) return await known;
		const trial = this.tryOut();
		usable.set(this.contextClass, trial);
		// A database that is down says nothing about the version.
		trial.catch(() => usable.delete(this.contextClass));
		return await trial;
	}

	/** @returns whether this call inserted the row; `false` if it was there already */
	async insert(name: string): Promise<boolean> {
		const added = await this.record(name, onlyEntry).catch((error: unknown) => {
			if (isCollision(error)) return new Set();
			throw error;
		});
		return added.size > 0;
	}

	/** Only reads. */
	async isThere(name: string): Promise<boolean> {
		return (await this.count(name)) > 0;
	}

	async delete(name: string): Promise<void> {
		await this.call(name, async () => await this.helpers.clearAllProcessedItems(scope, options));
	}

	/**
	 * Adds entries to a row, and inserts it if it is not there. For rows that one process alone writes.
	 * @returns the entries that were not there before
	 */
	async record(name: string, entries: readonly string[]): Promise<ReadonlySet<string>> {
		const { new: added } = await this.call(
			name,
			async () => await this.helpers.checkProcessedAndRecord([...entries], scope, options),
		);
		return new Set(added.map(String));
	}

	/** Takes entries out of a row. */
	async remove(name: string, entries: readonly string[]): Promise<void> {
		await this.call(
			name,
			async () => await this.helpers.removeProcessed([...entries], scope, options),
		);
	}

	private async count(name: string): Promise<number> {
		return await this.call(
			name,
			async () => await this.helpers.getProcessedDataCount(scope, options),
		);
	}

	/** Two entries that are recorded under a made-up name must be there, and nowhere else. */
	private async tryOut(): Promise<boolean> {
		if (this.node === undefined) return false;
		const name = `trial:${randomUUID()}`;
		await this.record(name, ['1', '2']);
		const [here, elsewhere] = [await this.count(name), await this.count(`${name}:other`)];
		await this.delete(name);
		return here === 2 && elsewhere === 0;
	}

	private async call<Value>(name: string, access: () => Promise<Value>): Promise<Value> {
		const { node } = this;
		if (node === undefined) throw new Error('n8n does not show the node to itself');
		const { id } = node;
		node.id = `${prefix}${name}`;
		let answer: Promise<Value>;
		try {
			// Not awaited here: n8n has made the row's name when this call returns.
			answer = access();
		} finally {
			node.id = id;
		}
		return await answer;
	}
}
