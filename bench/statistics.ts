/** What several measurements of the same thing came to. */
export interface Summary {
	readonly median: number;
	readonly lowest: number;
	readonly highest: number;
	readonly runs: number;
}

/** The value in the middle; the mean of the two in the middle where their number is even. */
export function median(values: readonly number[]): number {
	const sorted = [...values].sort((one, other) => one - other);
	const half = sorted.length / 2;
	const upper = sorted[Math.floor(half)] ?? NaN;
	const lower = sorted[Math.ceil(half) - 1] ?? NaN;
	return (lower + upper) / 2;
}

export function summarize(values: readonly number[]): Summary {
	return {
		median: median(values),
		lowest: Math.min(...values),
		highest: Math.max(...values),
		runs: values.length,
	};
}
