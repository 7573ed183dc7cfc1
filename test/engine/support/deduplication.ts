import { DataDeduplicationService } from 'n8n-core';
import type { ICheckProcessedContextData, IDataDeduplicator } from 'n8n-workflow';

/** What n8n's database keeps, by workflow and node; each write is a turn of its own, as there. */
const rows = new Map<string, string[]>();

const rowOf = ({ workflow, node }: ICheckProcessedContextData) =>
	`${workflow.id} ${node?.id ?? ''}`;

async function change<Value>(
	context: ICheckProcessedContextData,
	write: (entries: readonly string[]) => { entries: string[]; value: Value },
): Promise<Value> {
	const { entries, value } = write(rows.get(rowOf(context)) ?? []);
	await new Promise((resolve) => setImmediate(resolve));
	rows.set(rowOf(context), entries);
	return value;
}

const unused = async (): Promise<never> => {
	throw new Error('Not part of the engine tests');
};

const deduplicator: IDataDeduplicator = {
	checkProcessedAndRecord: async (items, _scope, context, { maxEntries = 0 }) =>
		await change(context, (entries) => {
			const known = new Set(entries);
			const fresh = items.filter((item) => !known.has(String(item)));
			const processed = items.filter((item) => known.has(String(item)));
			const all = [...entries, ...fresh.map(String)];
			return { entries: all.slice(-maxEntries), value: { new: fresh, processed } };
		}),
	removeProcessed: async (items, _scope, context) =>
		await change(context, (entries) => ({
			entries: entries.filter((entry) => !items.includes(entry)),
			value: undefined,
		})),
	clearAllProcessedItems: unused,
	getProcessedDataCount: unused,
};

let isReady: Promise<void> | undefined;

/** Gives n8n's engine a store of what was processed, in the place of the server's database. */
export async function provideDeduplication(): Promise<void> {
	isReady ??= DataDeduplicationService.init(deduplicator);
	await isReady;
}

/** Forgets all that was processed. */
export const forgetProcessed = (): void => rows.clear();
