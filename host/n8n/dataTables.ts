import { z } from 'zod';
import type { N8nClient } from './client';

export type ColumnType = 'string' | 'number' | 'boolean' | 'date';

export type Row = Record<string, string | number | boolean | null>;

/** A data table of n8n: its columns in their order, and rows to begin with. */
export interface DataTable {
	name: string;
	columns: Record<string, ColumnType>;
	rows?: Row[];
}

const withId = z.object({ id: z.string() });
const tablesSchema = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) });
const rowsSchema = z.object({ data: z.array(z.record(z.unknown())) });

/** The data tables of the logged-in owner's own project. */
export class DataTables {
	private constructor(
		private readonly client: N8nClient,
		/** Below n8n's `/rest`. */
		readonly path: string,
	) {}

	static async of(client: N8nClient): Promise<DataTables> {
		const { id } = withId.parse(await client.request('GET', 'projects/personal'));
		return new DataTables(client, `projects/${id}/data-tables`);
	}

	/** The ID of the table of exactly this name; undefined if there is none. */
	async find(name: string): Promise<string | undefined> {
		const filter = encodeURIComponent(JSON.stringify({ name }));
		const answer = await this.client.request('GET', `${this.path}?filter=${filter}`);
		return tablesSchema.parse(answer).data.find((table) => table.name === name)?.id;
	}

	/** Creates a table and fills it; gives its ID. */
	async create({ name, columns, rows = [] }: DataTable): Promise<string> {
		const typed = Object.entries(columns).map(([column, type]) => ({ name: column, type }));
		const body = { name, columns: typed };
		const { id } = withId.parse(await this.client.request('POST', this.path, body));
		if (rows.length > 0) await this.insert(id, rows);
		return id;
	}

	/** Adds rows; columns that a row leaves out stay empty. */
	async insert(id: string, data: Row[]): Promise<void> {
		await this.client.request('POST', `${this.path}/${id}/insert`, { data });
	}

	/** All rows, the oldest first. */
	async rows(id: string): Promise<Array<Record<string, unknown>>> {
		const path = `${this.path}/${id}/rows?take=1000&sortBy=id:asc`;
		return rowsSchema.parse(await this.client.request('GET', path)).data;
	}
}
