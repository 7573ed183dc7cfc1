import { z } from 'zod';

const entriesSchema = z.array(z.unknown()).min(1);
const objectSchema = z.record(z.unknown());

/**
 * Decodes the form in which n8n stores an execution's data: one JSON array whose first entry is the
 * root, and in which every text inside an object or array is the index of the entry that is meant.
 * What was one object stays one object, cycles included.
 *
 * @throws when the text is not in that form
 */
export function decodeFlatted(text: string): unknown {
	const entries = entriesSchema.parse(JSON.parse(text));
	const decoded = new Map<number, unknown>();

	const entryAt = (index: number): unknown => {
		if (!Number.isInteger(index) || index < 0 || index >= entries.length) {
			throw new Error(`No entry ${index} in this flattened data`);
		}
		if (decoded.has(index)) return decoded.get(index);
		const entry = entries[index];
		if (Array.isArray(entry)) {
			const list: unknown[] = [];
			decoded.set(index, list);
			for (const member of entry) list.push(resolve(member));
			return list;
		}
		if (typeof entry === 'object' && entry !== null) {
			const object: Record<string, unknown> = {};
			decoded.set(index, object);
			for (const [key, member] of Object.entries(objectSchema.parse(entry))) {
				object[key] = resolve(member);
			}
			return object;
		}
		decoded.set(index, entry);
		return entry;
	};
	const resolve = (member: unknown): unknown =>
		typeof member === 'string' ? entryAt(Number(member)) : member;

	return entryAt(0);
}
