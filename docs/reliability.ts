// Writes the tables of docs/reliability.md from the results of the last test run: the titles of the tests that passed.
// `--check` writes nothing, and fails if the page and the results differ.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const projectFolder = join(__dirname, '..');

const resultsSchema = z.object({
	testResults: z.array(
		z.object({
			name: z.string(),
			assertionResults: z.array(
				z.object({ ancestorTitles: z.array(z.string()), title: z.string(), status: z.string() }),
			),
		}),
	),
});

/** One test of a run. */
export interface TestResult {
	/** Its file below `test/`, without an ending. */
	suite: string;
	/** The titles of what is around it, from the outside in. */
	groups: string[];
	title: string;
	/** As jest says it: only `passed` counts. */
	status: string;
}

/** Reads what jest wrote with `--json`. */
export function readResults(json: string): TestResult[] {
	return resultsSchema.parse(JSON.parse(json)).testResults.flatMap(({ name, assertionResults }) =>
		assertionResults.map(({ ancestorTitles, title, status }) => ({
			suite: name.replace(/^.*\/test\/((?:unit|engine|host|verify)\/.*)\.test\.ts$/, '$1'),
			groups: ancestorTitles,
			title,
			status,
		})),
	);
}

/** A table of the page: a comment that names the suites, the table, and a comment that ends it. */
const tablePattern = /(<!-- tests: ([\w/, ]+) -->\n)[^]*?(<!-- end -->)/g;

/** The suites whose titles the page lists, in its order. */
export const suitesIn = (page: string): string[] =>
	[...page.matchAll(tablePattern)].flatMap(([, , names = '']) => names.split(', '));

/** The versions and engines of n8n in the titles around the tests. */
function ranOn(tests: readonly TestResult[]): string {
	const titles = tests.flatMap(({ groups, title }) => [...groups, title]).join('\n');
	const all = (pattern: RegExp) => [
		...new Set([...titles.matchAll(pattern)].map(([, word = '']) => word)),
	];
	const versions = all(/n8n ([12]\.x)/g)
		.sort()
		.reverse();
	const engines = all(/(classic|durable) engine/g).sort();
	const version = versions.length === 0 ? '2.x' : versions.join(', ');
	return engines.length === 0 ? version : `${version} (${engines.join(', ')})`;
}

/** A title as a sentence begins; n8n is written small everywhere. */
const capitalized = (text: string) =>
	text.startsWith('n8n') ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

function tableOf(suites: readonly string[], results: readonly TestResult[]): string {
	// Jest lists suites as they end, in another order each time.
	const tests = suites.flatMap((name) => results.filter(({ suite }) => suite === name));
	const titles = [...new Set(tests.map(({ title }) => title))];
	const rows = titles.map((title) => {
		const on = ranOn(tests.filter((test) => test.title === title));
		return `| ${capitalized(title).replaceAll('|', '\\|')} | ${on} |`;
	});
	return ['| What a test shows | n8n |', '| --- | --- |', ...rows].join('\n');
}

/**
 * Writes the tables of the page again.
 *
 * @returns the page, and a sentence for each test that is not to be listed
 */
export function fill(
	page: string,
	results: readonly TestResult[],
): { page: string; faults: string[] } {
	const suites = suitesIn(page);
	const faults = [
		...suites
			.filter((name) => !results.some(({ suite }) => suite === name))
			.map((name) => `Not run: ${name}`),
		...results
			.filter(({ suite, status }) => suites.includes(suite) && status !== 'passed')
			.map(({ suite, title, status }) => `${status}: ${suite}: ${title}`),
	];
	const filled = page.replace(
		tablePattern,
		(_table, begin: string, names: string, end: string) =>
			`${begin}\n${tableOf(names.split(', '), results)}\n\n${end}`,
	);
	return { page: filled, faults };
}

/** Whether two pages say the same. The formatter aligns their tables. */
export function saysTheSame(one: string, other: string): boolean {
	const [first, second] = [one, other].map((page) =>
		page.replace(/ +/g, ' ').replace(/-{3,}/g, '---'),
	);
	return first === second;
}

function readRun(): TestResult[] {
	return [
		{ file: 'test.json', command: 'npm test' },
		{ file: 'test-host.json', command: 'npm run test:host' },
	].flatMap(({ file, command }) => {
		try {
			return readResults(readFileSync(join(projectFolder, '.artifacts', file), 'utf8'));
		} catch {
			throw new Error(`There are no results in .artifacts/${file}: run \`${command}\` first`);
		}
	});
}

function main(isCheck: boolean): void {
	const path = join(projectFolder, 'docs', 'reliability.md');
	const before = readFileSync(path, 'utf8');
	const { page, faults } = fill(before, readRun());
	if (isCheck && faults.length === 0 && !saysTheSame(page, before)) {
		faults.push('The page and the results differ: run `npm run docs:reliability`');
	}
	for (const fault of faults) console.error(fault);
	process.exitCode = faults.length === 0 ? 0 : 1;
	if (isCheck || faults.length > 0) return;
	writeFileSync(path, page);
	spawnSync('npx', ['oxfmt', path], { cwd: projectFolder, stdio: 'inherit' });
}

if (require.main === module) main(process.argv.includes('--check'));
