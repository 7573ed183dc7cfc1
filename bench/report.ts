/** What several measurements of the same thing came to. */
export interface Summary {
	readonly median: number;
	readonly lowest: number;
	readonly highest: number;
	readonly runs: number;
}

/** What one case came to. Times in milliseconds. */
export interface Measured {
	readonly ours: Summary;
	readonly other?: Summary;
	/** What can be done at all, and by what that is known. */
	readonly limit?: { readonly name: string; readonly ms: number };
	readonly measure: string;
	readonly value: string;
	/** Missing where the value is told, and not judged. */
	readonly target?: string;
	readonly passed?: boolean;
	readonly notes: readonly string[];
}

export interface Result extends Measured {
	readonly title: string;
}

/** The value in the middle; the mean of the two in the middle where their number is even. */
export function median(values: readonly number[]): number {
	const sorted = [...values].sort((one, other) => one - other);
	const half = sorted.length / 2;
	const upper = sorted[Math.floor(half)] ?? NaN;
	const lower = sorted[Math.ceil(half) - 1] ?? NaN;
	return (lower + upper) / 2;
}

export const summarize = (values: readonly number[]): Summary => ({
	median: median(values),
	lowest: Math.min(...values),
	highest: Math.max(...values),
	runs: values.length,
});

function time(ms: number): string {
	if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
	return `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
}

const spread = (summary?: Summary) =>
	summary === undefined
		? ''
		: `${time(summary.median)} (${time(summary.lowest)} to ${time(summary.highest)})`;

const headings = ['Case', 'Push Campaign', 'HTTP Request', 'Limit', 'Ratio', 'Target', ''];

const verdictOf = ({ passed }: Result) =>
	passed === undefined ? '' : passed ? 'met' : '**missed**';

const cellsOf = (result: Result) => [
	result.title,
	spread(result.ours),
	spread(result.other),
	result.limit === undefined ? '' : `${time(result.limit.ms)}, ${result.limit.name}`,
	`${result.value} ${result.measure}`,
	result.target ?? 'none',
	verdictOf(result),
];

const row = (texts: readonly string[]) => `| ${texts.join(' | ')} |`;

/** The results as Markdown: a table, and a line of notes for each case. */
export function toMarkdown(results: readonly Result[], machine: string, at: Date): string {
	const date = at.toISOString().slice(0, 10);
	const runs = results.map(({ ours }) => ours.runs);
	const noted = results.filter(({ notes }) => notes.length > 0);
	return [
		`Measured ${date} on ${machine}. Median of ${Math.min(...runs)} to ${Math.max(...runs)} runs (lowest to highest).`,
		'',
		row(headings),
		row(headings.map(() => '---')),
		...results.map((result) => row(cellsOf(result))),
		'',
		...noted.map((result) => `- ${result.title}: ${result.notes.join('; ')}.`),
	].join('\n');
}

/** One result in lines for the terminal. */
export function toLines(result: Result): string {
	const [title, ours, other, limit, ratio, target, verdict] = cellsOf(result);
	const notes = result.notes.map((note) => `    ${note}\n`).join('');
	return `  ${title}: ${ratio} (target: ${target} ${verdict})\n    ${ours}; HTTP Request: ${other || 'none'}; ${limit}\n${notes}`;
}
