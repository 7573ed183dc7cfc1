import { z } from 'zod/v3';

import { parseJson } from '../service/json';
import { clip } from '../service/text';
import { invalid } from './parameters';

const idArray = z.array(
	z.union([
		z.string().refine((id) => id.trim() !== ''),
		z.number().int().nonnegative().refine(Number.isSafeInteger),
	]),
);

/** What stands between IDs or around them, and never in one: more than one ID was meant, or JSON. */
const separatorInside = /[\s()[\]{}"'`“”„‘’«»]/;

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
 * @throws InvalidInput naming the parameter
 */
export function parseIdList(value: unknown, displayName: string): Array<string | number> {
	const array = toArray(value);
	if (!Array.isArray(array)) {
		throw invalid(displayName, 'is neither text, nor a number, nor an array');
	}
	const result = idArray.safeParse(array);
	if (!result.success) {
		throw invalid(
			displayName,
			'holds an ID that is neither text nor a whole number',
			'IDs beyond 2^53 lose digits as numbers: give them as text.',
		);
	}
	const wrong = result.data.find((id) => separatorInside.test(String(id).trim()));
	if (wrong !== undefined) {
		throw invalid(
			displayName,
			`holds an ID with a blank, a bracket or a quote inside: ${clip(String(wrong))}`,
			'Separate IDs by commas, semicolons or line breaks, or give an array by an expression.',
		);
	}
	return result.data;
}
