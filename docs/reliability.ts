// Writes docs/reliability-tests.md from the results of `npm run test:host`: the titles of the tests that passed.
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
			suite: name.replace(/^.*\/test\/(host\/.*)\.test\.ts$/, '$1'),
			groups: ancestorTitles,
			title,
			status,
		})),
	);
}

/** A chapter of the page. */
export interface Chapter {
	title: string;
	/** Whose tests it lists: suites, or a `describe` in one, as in `host/versions > credentials`. */
	suites: readonly string[];
}

/** Splits an entry of a chapter into the suite and, if it names one, a group in it. */
export function readSource(source: string): { suite: string; group: string | undefined } {
	const [suite = '', group] = source.split(' > ');
	return { suite, group };
}

const isFrom = (source: string) => {
	const { suite, group } = readSource(source);
	return (test: TestResult) =>
		test.suite === suite && (group === undefined || test.groups.includes(group));
};

export const chapters: readonly Chapter[] = [
	{ title: 'Sends', suites: ['host/reliabilitySends', 'host/versions > the time of a send'] },
	{ title: 'Stops, crashes and queue mode', suites: ['host/retryOfStopped', 'host/queue'] },
	{
		title: 'Idempotency keys and tests on one subscriber',
		suites: ['host/idempotencyKeys', 'host/keyPairs', 'host/sharedNodeId', 'host/sendOptions'],
	},
	{
		title: 'The trigger',
		suites: [
			'host/reliabilityTrigger',
			'host/triggerEdits',
			'host/triggerKills',
			'host/triggerBudget',
			'host/versions > the trigger in the classic engine',
		],
	},
	{ title: "An AI agent's tool", suites: ['host/agent'] },
	{ title: 'What nobody meant', suites: ['host/notMeant'] },
	{
		title: 'The credential, its test and its secrets',
		suites: ['host/secrets', 'host/versions > credentials', 'host/credential'],
	},
];

const beginning = `# What the tests show

Each row is the title of a test that passed on real n8n servers, with a simulated push service that counts what arrives, and the versions of n8n that it ran on. \`npm run docs:reliability\` writes this page from the results of \`npm run test:host\`. What is promised is in [reliability.md](reliability.md).
`;

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

function chapterOf({ title, suites }: Chapter, results: readonly TestResult[]): string {
	// Jest lists suites as they end, in another order each time.
	const tests = suites.flatMap((source) => results.filter(isFrom(source)));
	const titles = [...new Set(tests.map((test) => test.title))];
	const rows = titles.map((row) => {
		const on = ranOn(tests.filter((test) => test.title === row));
		return `| ${capitalized(row).replaceAll('|', '\\|')} | ${on} |`;
	});
	return [`## ${title}`, '', '| What a test shows | n8n |', '| --- | --- |', ...rows, ''].join(
		'\n',
	);
}

/**
 * Writes the page.
 *
 * @returns the page, and a sentence for each test that is not to be listed
 */
export function writePage(
	parts: readonly Chapter[],
	results: readonly TestResult[],
): { page: string; faults: string[] } {
	const sources = parts.flatMap((chapter) => chapter.suites);
	const suites = new Set(sources.map((source) => readSource(source).suite));
	const ofSuites = results.filter(({ suite }) => suites.has(suite));
	const faults = [
		...sources
			.filter((source) => !results.some(isFrom(source)))
			.map((source) => `Not run: ${source}`),
		...ofSuites
			.filter(({ status }) => status !== 'passed')
			.map(({ suite, title, status }) => `${status}: ${suite}: ${title}`),
		...ofSuites
			.filter((test) => !sources.some((source) => isFrom(source)(test)))
			.map(({ suite, title }) => `In no chapter: ${suite}: ${title}`),
	];
	const page = [beginning, ...parts.map((chapter) => chapterOf(chapter, results))].join('\n');
	return { page, faults };
}

/** Whether two pages say the same. The formatter aligns their tables. */
export function saysTheSame(one: string, other: string): boolean {
	const [first, second] = [one, other].map((page) =>
		page.replace(/ +/g, ' ').replace(/-{3,}/g, '---'),
	);
	return first === second;
}

function readRun(): TestResult[] {
	const file = join('.artifacts', 'test-host.json');
	try {
		return readResults(readFileSync(join(projectFolder, file), 'utf8'));
	} catch {
		throw new Error(`There are no results in ${file}: run \`npm run test:host\` first`);
	}
}

function main(isCheck: boolean): void {
	const path = join(projectFolder, 'docs', 'reliability-tests.md');
	const { page, faults } = writePage(chapters, readRun());
	if (isCheck && faults.length === 0 && !saysTheSame(page, readFileSync(path, 'utf8'))) {
		faults.push('The page and the results differ: run `npm run docs:reliability`');
	}
	for (const fault of faults) console.error(fault);
	process.exitCode = faults.length === 0 ? 0 : 1;
	if (isCheck || faults.length > 0) return;
	writeFileSync(path, page);
	spawnSync('npx', ['oxfmt', path], { cwd: projectFolder, stdio: 'inherit' });
}

if (require.main === module) main(process.argv.includes('--check'));
