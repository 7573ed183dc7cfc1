import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import execa from 'execa';
import { z } from 'zod';
import { projectFolder, Progress } from '../host';
import type { Case } from './contest';
import { limits } from './limits';
import { loading, poll } from './reads';
import { toLines, toMarkdown, type Result } from './report';
import { keyedSends, memoryInUse, personalSends, sends } from './sends';
import { startStage } from './stage';

const cases: readonly Case[] = [
	sends('sends-50ms', 50, 0.25),
	sends('sends-5ms', 5, 0.2),
	personalSends,
	keyedSends('keys', '500 sends with idempotency keys, latency 50 ms', 0, 2),
	keyedSends('keys-10000', 'The same with 10,000 keys remembered', 10_000, 2),
	...limits,
	memoryInUse,
	poll,
	loading,
];

const usage = `Usage: npm run bench [-- options]

Measures this package in a real n8n against the HTTP Request node, beside a simulator of the push
service. Writes the table of docs/performance.md.

  --case <id>       only this case; may be given several times. Nothing is written then
  --pairs <number>  how often each node runs, default 5

Cases: ${cases.map(({ id }) => id).join(', ')}
`;

const pageFile = join(projectFolder, 'docs', 'performance.md');
const measuredPart = /(?<=<!-- measured: begin -->)[^]*(?=<!-- measured: end -->)/;

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
	const stage = await progress.step('Starting n8n and the simulator', startStage);
	const results: Result[] = [];
	try {
		for (const { title, measure: measureCase } of chosen) {
			const measured = await progress.step(title, (rename) =>
				measureCase({ stage, pairs, tell: (what) => rename(`${title}: ${what}`) }),
			);
			const result = { title, ...measured };
			results.push(result);
			say(toLines(result));
		}
	} finally {
		await progress.step('Stopping', () => stage.close());
	}
	return results;
}

async function save(results: readonly Result[], machine: string): Promise<void> {
	const page = await readFile(pageFile, 'utf8');
	if (!measuredPart.test(page)) throw new Error(`${pageFile} has lost its marks`);
	const table = toMarkdown(results, machine, new Date());
	await writeFile(
		pageFile,
		page.replace(measuredPart, () => `\n\n${table}\n\n`),
	);
	// The formatter's check covers this file too.
	await execa('oxfmt', [pageFile], { cwd: projectFolder, preferLocal: true });
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			case: { type: 'string', multiple: true },
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
	if (chosen === undefined) await save(results, machine);
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
