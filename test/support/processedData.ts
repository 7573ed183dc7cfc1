import assert from 'node:assert/strict';
import type {
	DeduplicationItemTypes,
	ICheckProcessedContextData,
	IDataDeduplicator,
} from 'n8n-workflow';

/** One query to the table, and the row that it is about. */
export interface Query {
	readonly kind: 'find' | 'insert' | 'update';
	readonly row: string;
}

const unused = async (): Promise<never> => {
	throw new Error('Rows are only inserted and asked for');
};

/**
 * n8n's table `processed_data`, and n8n's deduplication on it, query by query (n8n 2.41.1:
 * `deduplication/deduplication-helper.js`): the name of a row is made before anything is waited for, a row is read,
 * changed and written back whole, and an insert fails if the row is there.
 */
export class ProcessedData implements IDataDeduplicator {
	/** Entries by row: the workflow's ID and the context, such as `n:` and the node's ID. */
	readonly rows = new Map<string, readonly string[]>();
	queries: Query[] = [];
	/** Called before each query: may wait, or throw what a database would. */
	beforeQuery: (query: Query) => unknown = () => undefined;
	/** What the name of a row is made of. */
	contextOf = (node: { id: string }) => `n:${node.id}`;

	/** As it is in a new n8n. */
	reset(): void {
		Object.assign(this, { ...new ProcessedData(), rows: this.rows });
		this.rows.clear();
	}

	/** The rows of keys, without what stands before the name and after it: `claim:1`, `sent`. */
	get keyRows(): string[] {
		const names = [...this.rows.keys()].filter((row) => row.includes('n:push-campaign-key:'));
		return names.map((row) => row.split(':').slice(3).join(':'));
	}

	async checkProcessedAndRecord(
		items: DeduplicationItemTypes[],
		_scope: string,
		context: ICheckProcessedContextData,
	) {
		const row = this.rowOf(context);
		const found = await this.find(row);
		if (found === undefined) {
			await this.query('insert', row);
			if (this.rows.has(row)) throw new Error('UNIQUE constraint failed');
			this.rows.set(row, items.map(String));
			return { new: items, processed: [] };
		}
		const added = items.filter((item) => !found.includes(String(item)));
		await this.query('update', row);
		this.rows.set(row, [...found, ...added.map(String)]);
		return { new: added, processed: items.filter((item) => !added.includes(item)) };
	}

	async getProcessedDataCount(_scope: string, context: ICheckProcessedContextData) {
		return (await this.find(this.rowOf(context)))?.length ?? 0;
	}

	readonly removeProcessed = unused;
	readonly clearAllProcessedItems = unused;

	private rowOf({ node, workflow }: ICheckProcessedContextData): string {
		assert.ok(node);
		assert.ok(workflow.id);
		return `${workflow.id} ${this.contextOf(node)}`;
	}

	private async find(row: string): Promise<readonly string[] | undefined> {
		await this.query('find', row);
		return this.rows.get(row);
	}

	private async query(kind: Query['kind'], row: string): Promise<void> {
		const query = { kind, row };
		this.queries.push(query);
		await this.beforeQuery(query);
		await Promise.resolve();
	}
}
