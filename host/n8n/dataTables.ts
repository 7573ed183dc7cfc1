import type { INode } from 'n8n-workflow';
import { z } from 'zod';
import type { N8nSession } from './rest';
import { node } from './workflows';

export type ColumnType = 'string' | 'number' | 'boolean' | 'date';

export type Row = Record<string, string | number | boolean | null>;

/** A data table of n8n: its columns in their order, and rows to begin with. */
export interface DataTable {
	name: string;
	columns: Record<string, ColumnType>;
	rows?: Row[];
}

const withId = z.object({ id: z.string() });
const tablesSchema = z.object({ data: z.array(withId.extend({ name: z.string() })) });

/**
 * Creates a data table in the owner's own project and fills it; does nothing if one of that name is there.
 *
 * @returns its ID
 */
export async function createDataTable(
	client: N8nSession,
	{ name, columns, rows = [] }: DataTable,
): Promise<string> {
	const project = withId.parse(await client.request('GET', 'projects/personal'));
	const path = `projects/${project.id}/data-tables`;
	const filter = encodeURIComponent(JSON.stringify({ name }));
	const similar = tablesSchema.parse(await client.request('GET', `${path}?filter=${filter}`)).data;
	const present = similar.find((table) => table.name === name);
	if (present !== undefined) return present.id;
	const typed = Object.entries(columns).map(([column, type]) => ({ name: column, type }));
	const body = { name, columns: typed };
	const { id } = withId.parse(await client.request('POST', path, body));
	if (rows.length > 0) await client.request('POST', `${path}/${id}/insert`, { data: rows });
	return id;
}

/** The node that adds a row for each item to a data table, its columns mapped by their names. */
export const insertInto = (tableId: string): INode =>
	node(
		'Table',
		'n8n-nodes-base.dataTable',
		{
			resource: 'row',
			operation: 'insert',
			dataTableId: { __rl: true, mode: 'id', value: tableId },
			columns: { mappingMode: 'autoMapInputData', value: null },
			options: {},
		},
		{ typeVersion: 1.1 },
	);
