import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import { z } from 'zod';
import * as host from '../host';
import { cases, type Case, type Item } from './cases';
import { expectQuiet } from './quiet';
import { access, Service } from './service';

// Measures the node Push Campaign and n8n's HTTP Request node in a real n8n, and writes docs/performance.md.
// It takes five minutes, on a machine that does nothing else: before each case it looks whether that is so.
// `npm run bench -- <text>` measures the cases whose titles hold the text, on any machine, and writes nothing.

/** How often each node runs in each case, after a run to warm up. */
const runs = 5;

type Stage = host.Stage<Service>;

/** Runs a node once with these items; gives the time that n8n recorded for the node, in milliseconds. */
type Runner = (items: readonly Item[]) => Promise<number>;

interface Result {
	readonly measured: Case;
	/** The times of the node Push Campaign, in milliseconds. */
	readonly ours: readonly number[];
	/** Those of HTTP Request; empty if the limit's is the measure. */
	readonly others: readonly number[];
}

const measuredName = 'Measured';

const runSchema = z.object({ executionTime: z.number() });

async function runnerOf({ client }: Stage, node: INode): Promise<Runner> {
	const path = randomUUID();
	const { id: workflowId } = await client.createWorkflow(host.webhookWorkflow(path, [node]));
	await client.activate(workflowId);
	let count = 0;
	return async (items) => {
		count += 1;
		const { status, text } = await client.runWebhook(path, { items });
		if (status !== 200) throw new Error(`The workflow answered ${status}: ${text}`);
		const [latest] = await client.waitForExecutions({ workflowId, count });
		const { data } = await client.waitForExecution(latest?.id ?? '');
		return runSchema.parse(data.resultData.runData[measuredName]?.at(-1)).executionTime;
	};
}

/** This package's node: sends to all subscribers for each item. */
async function ourRunner(stage: Stage, { texts, options = {} }: Case): Promise<Runner> {
	const parameters = { operation: 'sendToAll', ...texts, options };
	const { credential } = stage;
	const node = host.pushCampaign(parameters, { name: measuredName, credential });
	return await runnerOf(stage, node);
}

/** The same by the HTTP Request node. */
async function otherRunner(stage: Stage, { texts }: Case): Promise<Runner> {
	const { targetUrl, ...others } = texts;
	const fields = Object.entries({ ...others, target_url: targetUrl });
	const parameters = {
		method: 'POST',
		url: `${stage.simulator.url}/v1/notification/send/all`,
		authentication: 'predefinedCredentialType',
		nodeCredentialType: 'pushCampaignApi',
		sendBody: true,
		contentType: 'json',
		specifyBody: 'keypair',
		bodyParameters: { parameters: fields.map(([name, value]) => ({ name, value })) },
		options: {},
	};
	const settings = { typeVersion: 4.2, credential: stage.credential };
	const node = host.node(measuredName, 'n8n-nodes-base.httpRequest', parameters, settings);
	return await runnerOf(stage, node);
}

/** Runs a node on a service that was reset. Throws unless all was sent, once. */
async function runOnce(
	{ simulator }: Stage,
	{ title, latencyMs, perSecond, items }: Case,
	runner: Runner,
): Promise<{ time: number; sent: string[] }> {
	await simulator.reset({ latencyMs, perSecond: perSecond ?? null });
	const given = items(randomUUID());
	const time = await runner(given);
	const bodies = (await simulator.sent()).map((body) => Object.entries(body).sort());
	const sent = bodies.map((fields) => JSON.stringify(fields)).sort();
	const isWhole = sent.length === given.length && new Set(sent).size === sent.length;
	if (!isWhole) throw new Error(`${title}: ${sent.length} of ${given.length} arrived`);
	return { time, sent };
}

/** Runs both nodes by turns. */
async function measure(stage: Stage, measured: Case): Promise<Result> {
	const ourNode = await ourRunner(stage, measured);
	const otherNode = await otherRunner(stage, measured);
	const ours: number[] = [];
	const others: number[] = [];
	for (let turn = 0; turn <= runs; turn += 1) {
		const own = await runOnce(stage, measured, ourNode);
		if (turn > 0) ours.push(own.time);
		if (measured.neededMs !== undefined) continue;
		const other = await runOnce(stage, measured, otherNode);
		if (turn > 0) others.push(other.time);
		if (own.sent.join() !== other.sent.join()) {
			throw new Error(`${measured.title}: the nodes sent different notifications`);
		}
	}
	return { measured, ours, others };
}

function median(values: readonly number[]): number {
	const sorted = [...values].sort((one, other) => one - other);
	const half = sorted.length / 2;
	return ((sorted[Math.floor(half)] ?? NaN) + (sorted[Math.ceil(half) - 1] ?? NaN)) / 2;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
const times = (ratio: number) => `${ratio.toFixed(2)} ×`;

/** The median, and in brackets the shortest and the longest. */
const spread = (values: readonly number[]) =>
	`${seconds(median(values))} (${seconds(Math.min(...values))} to ${seconds(Math.max(...values))})`;

const ratioOf = ({ measured, ours, others }: Result) =>
	median(ours) / (measured.neededMs ?? median(others));

const isMet = (result: Result) => ratioOf(result) <= result.measured.atMost;

function rowOf(result: Result): string[] {
	const { measured, ours, others } = result;
	const { title, neededMs, atMost } = measured;
	const ratio = times(ratioOf(result));
	return [
		title,
		spread(ours),
		neededMs === undefined ? spread(others) : `The limit needs ${seconds(neededMs)}`,
		isMet(result) ? ratio : `**${ratio}**`,
		times(atMost),
	];
}

const headings = ['', 'Push Campaign', 'HTTP Request', 'Ratio', 'At most'];

function toPage(results: readonly Result[]): string {
	const rows = [headings, headings.map(() => '---'), ...results.map(rowOf)];
	const date = new Date().toISOString().slice(0, 10);
	const processor = cpus()[0]?.model ?? 'unknown processor';
	return `# Performance

How long the node Push Campaign takes beside n8n's own HTTP Request node, which sends the same and checks nothing, on a real n8n with a simulator of the push service. Both run by turns, and a time is what n8n records for the node: the median of ${runs} runs, and the shortest and the longest. Nothing else was running.

${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

Measured ${date} on ${cpus().length} cores (${processor}). \`npm run bench\` measures again and writes this page.
`;
}

async function main(only = ''): Promise<void> {
	const progress = new host.Progress(process.stdout);
	const isWhole = only === '';
	if (isWhole) await expectQuiet();
	const stage = await progress.step('Starting n8n and the simulator', async () => {
		const { tarball } = await host.packPackage();
		const env = { N8N_DISABLE_UI: 'true' };
		const startService = () => Service.start();
		return await host.startStage({ major: '2', tarball, env, access, startService });
	});
	const results: Result[] = [];
	try {
		for (const measured of cases.filter(({ title }) => title.includes(only))) {
			if (isWhole) await expectQuiet();
			const result = await progress.step(measured.title, () => measure(stage, measured));
			results.push(result);
			process.stdout.write(`  ${rowOf(result).slice(1).join(' | ')}\n`);
		}
	} finally {
		await stage.close();
	}
	if (isWhole) {
		const page = join(host.projectFolder, 'docs', 'performance.md');
		await writeFile(page, toPage(results));
		await host.run('npx', ['oxfmt', page], { cwd: host.projectFolder });
	}
	if (!results.every(isMet)) throw new Error('A time is longer than it may be.');
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => process.exit(130));
}

main(process.argv[2]).catch((error: unknown) => {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exit(1);
});
