import { z } from 'zod/v3';

import { invalid } from './fields';

const idArray = z.array(
	z.union([
		z.string().refine((id) => id.trim() !== ''),
		z.number().int().nonnegative().refine(Number.isSafeInteger),
	]),
);

/**
 * Reads a list of IDs: an array is taken as it is, text is split at its commas, and an ID that is
 * written twice in it counts once.
 * @throws InvalidInput naming the parameter
 */
export function parseIdList(value: unknown, displayName: string): Array<string | number> {
	if (typeof value === 'string') {
		const ids = value.split(',').map((id) => id.trim());
		return [...new Set(ids.filter((id) => id !== ''))];
	}
	if (!Array.isArray(value)) throw invalid(displayName, 'is neither text nor an array');
	const result = idArray.safeParse(value);
	if (!result.success) {
		throw invalid(
			displayName,
			'holds an ID that is neither text nor a whole number',
			'IDs beyond 2^53 lose digits as numbers: give them as text.',
		);
	}
	return result.data;
}
