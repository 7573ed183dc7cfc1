import { parseJson } from '../service/json';
import type { segments } from '../service/schemas';
import { idList } from '../service/schemas';
import { check } from './parameters';

/** Text that is a JSON array is read as one; what an expression gives as an array is one already. */
function toArray(value: unknown): unknown {
	if (typeof value === 'number') return [value];
	if (typeof value !== 'string') return value;
	const parsed = /^\s*\[/.test(value) ? parseJson(value) : undefined;
	if (Array.isArray(parsed)) return parsed;
	const ids = value.split(/[,;\r\n]/).map((id) => id.trim());
	return [...new Set(ids.filter((id) => id !== ''))];
}

/**
 * Reads a list of IDs. Text is split at its commas, semicolons and line breaks, and an ID that is written
 * twice in it counts once; an array, also one that is written as JSON, is taken as it is; a number is one
 * ID.
 * @param schema what the list has to be beside that
 * @throws InvalidInput naming the parameter
 */
export function parseIdList(
	value: unknown,
	displayName: string,
	schema: typeof idList | typeof segments = idList,
): Array<string | number> {
	return check(schema, toArray(value), displayName);
}
