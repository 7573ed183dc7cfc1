import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startSimulator } from '../../simulator';
import { projectFolder } from '../folders';
import { N8nClient } from '../n8n/client';
import { installHost } from '../n8n/install';
import { startN8n } from '../n8n/server';
import { LockHeld, withLock } from '../process/lock';
import { packPackage } from '../process/pack';
import { Progress } from '../process/progress';
import { freePort } from '../process/run';
import { followEdits, reloadingEnv } from './edits';
import { access, demoStateSchema, prepareDemo, type DemoState } from './prepare';
import { addDemoCampaign, sampleRows } from './samples';
import { expectation, help, machineTimezone, welcome } from './welcome';

const folder = join(projectFolder, '.demo');
const stateFile = join(folder, 'state.json');

const say = (text: string): void => {
	process.stdout.write(text);
};

async function readState(): Promise<DemoState | undefined> {
	const text = await readFile(stateFile, 'utf8').catch(() => undefined);
	return text === undefined ? undefined : demoStateSchema.safeParse(JSON.parse(text)).data;
}

/** Stops the demo. While it is starting, npm and the server end with this process. */
let stop = (): void => process.exit(130);

/** Stops when the user wants to. */
function stopOnRequest(): void {
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop());
	// npm passes SIGTERM to the shell that runs the script, and the shell passes it on to nobody.
	const shell = process.ppid;
	setInterval(() => {
		if (process.ppid !== shell) stop();
	}, 1_000).unref();
}

async function start(isFresh: boolean): Promise<void> {
	stopOnRequest();
	const progress = new Progress(process.stdout);
	say(expectation);
	await installHost('2', progress);
	const since = Date.now();
	const { tarball } = await progress.step('Building the package', packPackage);
	if (isFresh) await rm(folder, { recursive: true, force: true });
	const userFolder = join(folder, 'n8n');
	await mkdir(userFolder, { recursive: true });

	const known = await readState();
	const ports = {
		n8n: await freePort(known?.ports.n8n ?? 5678, 5678),
		service: await freePort(known?.ports.service ?? 8787, 8787),
	};
	const before = { since, workflows: {}, ...known, ports };
	const timezone = machineTimezone();
	const simulator = await startSimulator({
		port: ports.service,
		serviceKey: access.apiKey,
		authToken: access.authToken,
		stateFile: join(folder, 'simulator.json'),
	});
	const logFile = join(userFolder, 'n8n.log');
	await rm(logFile, { force: true });
	// n8n's own default is New York, whatever the machine says.
	const env = { GENERIC_TIMEZONE: timezone, TZ: timezone, ...reloadingEnv };
	const server = await progress.step('Starting n8n', () =>
		startN8n({ major: '2', userFolder, tarball, port: ports.n8n, env }),
	);
	try {
		addDemoCampaign(simulator, before.since);
		const rows = sampleRows(since, timezone);
		const { state, isLoginChanged } = await progress.step('Preparing the examples', () =>
			prepareDemo(new N8nClient(server.url), before, simulator.url, rows),
		);
		await writeFile(stateFile, JSON.stringify(state));
		const { workflows } = state;
		const addresses = { n8n: server.url, service: simulator.origin, baseUrl: simulator.url };
		const wished = new Promise<'stop'>((resolve) => {
			stop = () => resolve('stop');
		});
		say(welcome({ ...addresses, timezone, workflows, isLoginChanged }));
		void followEdits(userFolder, since, say);
		if ((await Promise.race([wished, server.ended])) !== 'stop') {
			throw new Error(`n8n ended by itself. Its log: ${logFile}`);
		}
		await progress.step('Stopping', () => server.stop());
	} finally {
		await server.stop();
		await simulator.close();
	}
}

async function main(): Promise<void> {
	const flag = { type: 'boolean', default: false } as const;
	const { values } = parseArgs({ options: { fresh: flag, help: { ...flag, short: 'h' } } });
	if (values.help) return say(help);
	try {
		await withLock('demo', () => start(values.fresh), 0);
	} catch (error) {
		if (!(error instanceof LockHeld)) throw error;
		const known = await readState();
		const where = known === undefined ? '' : ` at http://127.0.0.1:${known.ports.n8n}`;
		throw new Error(`It is running already${where}. Stop it with Ctrl+C in its terminal first.`);
	}
}

main().then(
	() => process.exit(0),
	(error: unknown) => {
		process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
		process.exit(1);
	},
);
