import type { Report, Result } from './result';
import type { Summary } from './statistics';

function time(ms: number): string {
	if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
	return `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
}

const spread = ({ median, lowest, highest }: Summary) =>
	`${time(median)} (${time(lowest)} to ${time(highest)})`;

const headings = ['Case', 'Push Campaign', 'HTTP Request', 'Limit', 'Ratio', 'Target', ''];

function cells(result: Result): string[] {
	const { title, ours, other, limit, value, measure, target, passed } = result;
	return [
		title,
		spread(ours),
		other === undefined ? '' : spread(other),
		limit === undefined ? '' : `${time(limit.ms)}, ${limit.name}`,
		`${value} ${measure}`,
		target,
		passed ? 'met' : '**missed**',
	];
}

const row = (texts: readonly string[]) => `| ${texts.join(' | ')} |`;

/** The results as Markdown: a table, and a line of notes for each case. */
export function toMarkdown({ machine, date, results }: Report): string {
	const notes = results
		.filter((result) => result.notes.length > 0)
		.map((result) => `- ${result.title}: ${result.notes.join('; ')}.`);
	return [
		`Measured ${date} on ${machine}. Median of ${describeRuns(results)} (lowest to highest).`,
		'',
		row(headings),
		row(headings.map(() => '---')),
		...results.map((result) => row(cells(result))),
		'',
		...notes,
	].join('\n');
}

function describeRuns(results: readonly Result[]): string {
	const runs = results.map(({ ours }) => ours.runs);
	const [fewest, most] = [Math.min(...runs), Math.max(...runs)];
	return fewest === most ? `${most} runs` : `${fewest} to ${most} runs`;
}

/** One result in a line, for the terminal. */
export function toLine(result: Result): string {
	const [title, ours, other, limit, ratio, target] = cells(result);
	const parts = [ours, other && `HTTP Request ${other}`, limit].filter(Boolean);
	const verdict = result.passed ? 'met' : 'MISSED';
	const notes = result.notes.map((note) => `    ${note}\n`).join('');
	return `  ${title}: ${ratio} (target ${target}: ${verdict})\n    ${parts.join('; ')}\n${notes}`;
}
