const longestQuote = 300;

/** Cuts a text from outside that is longer than anyone reads. */
export function cut(text: string): string {
	if (text.length <= longestQuote) return text;
	// Half of a surrogate pair is no character.
	return `${text.slice(0, longestQuote).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Shortens text from outside so that it fits into a message, on one line. */
export const clip = (text: string) => cut(text.replace(/\s+/g, ' ').trim());

export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const units = [
	['day', 24 * 60 * 60_000],
	['hour', 60 * 60_000],
	['minute', 60_000],
] as const;

/**
 * A time that someone is to wait, never shorter than it is: in the largest unit that says it exactly, or of
 * which it has more than two.
 */
export function describeWait(milliseconds: number): string {
	const [unit, unitMs] = units.find(
		([, ms]) => milliseconds % ms === 0 || milliseconds > 2 * ms,
	) ?? ['second', 1000];
	const count = Math.ceil(milliseconds / unitMs);
	return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Characters as the limits count them: code points, of which a flag or a family has several. Specification, Limits. */
export function countCharacters(text: string): number {
	return Array.from(text).length;
}
