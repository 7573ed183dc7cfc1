import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import execa from 'execa';
import { z } from 'zod';
import { projectFolder, Progress } from '../host';
import { cases, type Case } from './cases';
import { toChart } from './chart';
import { describeMachine } from './machine';
import { reportSchema, type Report, type Result } from './result';
import { Stage } from './stage';
import { toLine, toMarkdown } from './table';

const usage = `Usage: npm run bench [-- options]

Measures this package in a real n8n against the HTTP Request node, beside a simulator of the push
service. Saves docs/performance.md, docs/performance.svg and bench/results.json.

  --case <id>       only this case; may be given several times. Nothing is saved then
  --save            saves also with --case: the other cases keep what they had
  --pairs <number>  how often each node runs, default 5
  --profile <dir>   writes a CPU profile of the server there

Cases: ${cases.map(({ id }) => id).join(', ')}
`;

const resultsFile = join(projectFolder, 'bench', 'results.json');
const pageFile = join(projectFolder, 'docs', 'performance.md');
const chartFile = join(projectFolder, 'docs', 'performance.svg');
const begin = '<!-- measured: begin -->';
const end = '<!-- measured: end -->';

const say = (text: string): void => {
	process.stdout.write(text);
};

async function measure(
	chosen: readonly Case[],
	pairs: number,
	profile?: string,
): Promise<Result[]> {
	const progress = new Progress(process.stdout);
	const stage = await progress.step('Starting n8n and the simulator', () => Stage.start(profile));
	const results: Result[] = [];
	try {
		for (const { id, title, measure: measureCase } of chosen) {
			const measured = await progress.step(title, (rename) =>
				measureCase({ stage, pairs, tell: (what) => rename(`${title}: ${what}`) }),
			);
			const result = { id, title, ...measured };
			results.push(result);
			say(toLine(result));
		}
	} finally {
		await progress.step('Stopping', () => stage.stop());
	}
	return results;
}

async function earlierResults(): Promise<readonly Result[]> {
	const saved = await readFile(resultsFile, 'utf8').catch(() => undefined);
	return saved === undefined ? [] : reportSchema.parse(JSON.parse(saved)).results;
}

async function save(results: readonly Result[], machine: string): Promise<void> {
	const known = await earlierResults();
	const report: Report = {
		machine,
		date: new Date().toISOString().slice(0, 10),
		results: cases.flatMap(({ id }) => {
			const found = [...results, ...known].find((result) => result.id === id);
			return found ?? [];
		}),
	};
	await writeFile(resultsFile, JSON.stringify(report, null, '\t'));
	await writeFile(chartFile, toChart(report));
	const page = await readFile(pageFile, 'utf8');
	const [before, after] = [page.indexOf(begin), page.indexOf(end)];
	if (before < 0 || after < before) throw new Error(`${pageFile} has lost its marks`);
	const head = page.slice(0, before + begin.length);
	await writeFile(pageFile, `${head}\n\n${toMarkdown(report)}\n\n${page.slice(after)}`);
	// The formatter's check covers these files too.
	await execa('oxfmt', [resultsFile, pageFile], { cwd: projectFolder, preferLocal: true });
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			case: { type: 'string', multiple: true },
			save: { type: 'boolean', default: false },
			pairs: { type: 'string', default: '5' },
			profile: { type: 'string' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		say(usage);
		return;
	}
	const pairs = z.coerce.number().int().min(1).max(100).parse(values.pairs);
	const chosen = values.case?.map((id) => {
		const found = cases.find((each) => each.id === id);
		if (found === undefined) throw new Error(`There is no case '${id}'\n\n${usage}`);
		return found;
	});
	const machine = describeMachine();
	const results = await measure(chosen ?? cases, pairs, values.profile);
	if (chosen === undefined || values.save) await save(results, machine);
	const missed = results.filter(({ passed }) => !passed);
	say(`\n${results.length - missed.length} of ${results.length} targets met.\n`);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => process.exit(130));
}

main().then(
	() => process.exit(0),
	(error: unknown) => {
		process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
		process.exit(1);
	},
);
