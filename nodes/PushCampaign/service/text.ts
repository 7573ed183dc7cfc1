const longestQuote = 300;

/** Shortens text from outside so that it fits into a message, on one line. */
export function clip(text: string): string {
	const oneLine = text.replace(/\s+/g, ' ').trim();
	return oneLine.length > longestQuote ? `${oneLine.slice(0, longestQuote)}…` : oneLine;
}

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
