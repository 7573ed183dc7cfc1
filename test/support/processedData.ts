import type {
	DeduplicationItemTypes,
	ICheckProcessedContextData,
	IDataDeduplicator,
	IExecuteFunctions,
	INode,
} from 'n8n-workflow';

/** One query to the table, with the row that it is about. */
export interface Query {
	readonly kind: 'find' | 'insert' | 'update' | 'delete';
	readonly row: string;
}

/** What PostgreSQL says if a row is there already. */
const collision = () =>
	Object.assign(new Error('duplicate key value violates unique constraint'), { code: '23505' });

const workflowId = 'workflow-1';

/**
 * n8n's table `processed_data`, and n8n's deduplication on it, query by query (n8n 2.41.1:
 * `deduplication/deduplication-helper.js`): the name of a row is made before anything is waited for, a row is read,
 * changed and written back whole, an insert fails if the row is there, and an update of none does nothing.
 */
export class ProcessedData implements IDataDeduplicator {
	/** Entries by row: the workflow's ID and the context, such as `n:` and the node's ID. */
	readonly rows = new Map<string, readonly string[]>();
	readonly queries: Query[] = [];
	/** Called before each query: may wait, throw, or never end. */
	beforeQuery: (query: Query) => unknown = () => undefined;

	async checkProcessedAndRecord(
		items: DeduplicationItemTypes[],
		_scope: string,
		context: ICheckProcessedContextData,
	) {
		const row = rowOf(context);
		const values = items.map(String);
		const found = await this.find(row);
		if (found === undefined) {
			await this.query('insert', row);
			if (this.rows.has(row)) throw collision();
			this.rows.set(row, values);
			return { new: items, processed: [] };
		}
		const added = items.filter((item) => !found.includes(String(item)));
		await this.update(row, [...found, ...added.map(String)]);
		return { new: added, processed: items.filter((item) => !added.includes(item)) };
	}

	async removeProcessed(
		items: DeduplicationItemTypes[],
		_scope: string,
		context: ICheckProcessedContextData,
	) {
		const row = rowOf(context);
		const found = await this.find(row);
		if (found === undefined) return;
		await this.update(
			row,
			found.filter((entry) => !items.includes(entry)),
		);
	}

	async clearAllProcessedItems(_scope: string, context: ICheckProcessedContextData) {
		const row = rowOf(context);
		await this.query('delete', row);
		this.rows.delete(row);
	}

	async getProcessedDataCount(_scope: string, context: ICheckProcessedContextData) {
		return (await this.find(rowOf(context)))?.length ?? 0;
	}

	/** n8n's helpers for a node, which hold it as an object (`deduplication-helper-functions.js`). */
	helpersOf(node: INode) {
		const context = { node, workflow: { id: workflowId, active: true } };
		return {
			checkProcessedAndRecord: async (items, scope) =>
				await this.checkProcessedAndRecord(items, scope, context),
			removeProcessed: async (items, scope) => await this.removeProcessed(items, scope, context),
			clearAllProcessedItems: async (scope) => await this.clearAllProcessedItems(scope, context),
			getProcessedDataCount: async (scope) => await this.getProcessedDataCount(scope, context),
		} satisfies Partial<IExecuteFunctions['helpers']>;
	}

	/** The rows of this package, by the part of their names that says what they are for. */
	rowsOf(purpose: 'key' | 'journal'): string[] {
		return [...this.rows.keys()].filter((row) => row.includes(`n:push-campaign-${purpose}:`));
	}

	private async find(row: string): Promise<readonly string[] | undefined> {
		await this.query('find', row);
		return this.rows.get(row);
	}

	private async update(row: string, entries: readonly string[]): Promise<void> {
		await this.query('update', row);
		if (this.rows.has(row)) this.rows.set(row, entries);
	}

	private async query(kind: Query['kind'], row: string): Promise<void> {
		const query = { kind, row };
		this.queries.push(query);
		await this.beforeQuery(query);
		await Promise.resolve();
	}
}

function rowOf({ node, workflow }: ICheckProcessedContextData): string {
	if (node === undefined) throw new Error('No node');
	return `${workflow.id} n:${node.id}`;
}
