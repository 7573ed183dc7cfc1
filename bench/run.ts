import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import execa from 'execa';
import { z } from 'zod';
import { projectFolder, Progress } from '../host';
import { cases } from './cases';
import type { Case } from './contest';
import { reportSchema, toLines, toMarkdown, type Report, type Result } from './report';
import { Stage } from './stage';

const usage = `Usage: npm run bench [-- options]

Measures this package in a real n8n against the HTTP Request node, beside a simulator of the push
service. Saves docs/performance.md and bench/results.json.

  --case <id>       only this case; may be given several times. Nothing is saved then
  --save            saves also with --case: the other cases keep what they had
  --pairs <number>  how often each node runs, default 5

Cases: ${cases.map(({ id }) => id).join(', ')}
`;

const resultsFile = join(projectFolder, 'bench', 'results.json');
const pageFile = join(projectFolder, 'docs', 'performance.md');
const begin = '<!-- measured: begin -->';
const end = '<!-- measured: end -->';

const say = (text: string): void => {
	process.stdout.write(text);
};

/** The machine's shape, and how busy it is already (processes that run or could), in words. */
function describeMachine(): string {
	const [core] = cpus();
	const [busy = 0] = loadavg();
	const model = core?.model.trim().replace(/\s+/g, ' ') ?? 'unknown processor';
	const gigabytes = (totalmem() / 2 ** 30).toFixed(0);
	return `${cpus().length} cores (${model}), ${gigabytes} GB, load ${busy.toFixed(1)} before it began`;
}

async function measure(chosen: readonly Case[], pairs: number): Promise<Result[]> {
	const progress = new Progress(process.stdout);
	const stage = await progress.step('Starting n8n and the simulator', () => Stage.start());
	const results: Result[] = [];
	try {
		for (const { id, title, measure: measureCase } of chosen) {
			const measured = await progress.step(title, (rename) =>
				measureCase({ stage, pairs, tell: (what) => rename(`${title}: ${what}`) }),
			);
			const result = { id, title, ...measured };
			results.push(result);
			say(toLines(result));
		}
	} finally {
		await progress.step('Stopping', () => stage.stop());
	}
	return results;
}

async function save(results: readonly Result[], machine: string): Promise<void> {
	const saved = await readFile(resultsFile, 'utf8').catch(() => undefined);
	const known = saved === undefined ? [] : reportSchema.parse(JSON.parse(saved)).results;
	const report: Report = {
		machine,
		date: new Date().toISOString().slice(0, 10),
		results: cases.flatMap(
			({ id }) => [...results, ...known].find((result) => result.id === id) ?? [],
		),
	};
	await writeFile(resultsFile, JSON.stringify(report, null, '\t'));
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
	const results = await measure(chosen ?? cases, pairs);
	if (chosen === undefined || values.save) await save(results, machine);
	const judged = results.filter(({ passed }) => passed !== undefined);
	const met = judged.filter(({ passed }) => passed);
	say(`\n${met.length} of ${judged.length} targets met.\n`);
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
