import { z } from 'zod/v3';

import { quote } from './text';

/**
 * A whole number within bounds. Text of digits counts as one: expressions give a table's numbers as text.
 * @param to without an upper bound if it is left out
 */
export function wholeNumber(from: number, to = Infinity) {
	const range = to === Infinity ? `from ${from}` : `from ${from} to ${to}`;
	return z.unknown().transform((given, context): number => {
		const isDigits = typeof given === 'string' && /^\s*\d+\s*$/.test(given);
		const number: unknown = isDigits ? Number(given) : given;
		// Beyond 2^53 a number has lost digits.
		const isWhole = typeof number === 'number' && Number.isSafeInteger(number);
		if (isWhole && number >= from && number <= to) return number;
		const isGiven = given !== null && given !== undefined;
		const message = isGiven ? `is not a whole number ${range}: ${quote(given)}` : 'is empty';
		context.addIssue({ code: 'custom', message });
		return z.NEVER;
	});
}
