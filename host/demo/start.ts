import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startSimulator } from '../../simulator';
import { projectFolder } from '../folders';
import { N8nClient } from '../n8n/client';
import { installHost, isHostInstalled } from '../n8n/install';
import { startN8n } from '../n8n/server';
import { LockHeld, withLock } from '../process/lock';
import { packPackage } from '../process/pack';
import { firstFree } from '../process/ports';
import { Progress } from '../process/progress';
import { addDemoCampaign } from './campaign';
import { access, prepareDemo } from './prepare';
import { demoStateFile } from './state';
import { demoTables } from './tables';
import { reloadingEnv, watchEdits } from './watch';
import { afterEdit, expectation, machineTimezone, welcome } from './welcome';

const usage = `Usage: npm start [-- --fresh]

Starts n8n with this package in it, and a simulator of the push service.

  --fresh   begins anew: forgets all workflows, credentials, executions and campaigns made before
`;

const folder = join(projectFolder, '.demo');
const stateFile = demoStateFile(join(folder, 'state.json'));

const say = (text: string): void => {
	process.stdout.write(text);
};

/**
 * Resolves when the user wants to stop. Before `ready` is called all ends at once: what is under way
 * (npm, a server) ends with this process.
 */
function stopWish(): { wished: Promise<void>; ready(): void } {
	let ready = false;
	const wished = new Promise<void>((resolve) => {
		const wish = () => (ready ? resolve() : process.exit(130));
		for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, wish);
		// npm hands SIGTERM to the shell that it runs scripts in, and the shell hands it to nobody.
		const shell = process.ppid;
		const looking = setInterval(() => {
			if (process.ppid === shell) return;
			clearInterval(looking);
			wish();
		}, 1_000).unref();
	});
	return {
		wished,
		ready: () => {
			ready = true;
		},
	};
}

async function run(fresh: boolean): Promise<void> {
	const stop = stopWish();
	const progress = new Progress(process.stdout);
	say(expectation(await isHostInstalled('2')));

	await progress.step('Looking for n8n', async (rename) => {
		await installHost('2', { onProgress: ({ doing }) => rename(doing) });
	});
	const since = Date.now();
	const { tarball } = await progress.step('Building the package', () => packPackage());
	if (fresh) await rm(folder, { recursive: true, force: true });

	const known = stateFile.read();
	const ports = {
		n8n: await firstFree(5678, known?.ports.n8n),
		service: await firstFree(8787, known?.ports.service),
	};
	const before = { campaignSince: Date.now(), workflows: {}, tables: [], ...known, ports };
	const timezone = machineTimezone();
	const userFolder = join(folder, 'n8n');
	const logFile = join(userFolder, 'n8n.log');
	await rm(logFile, { force: true });
	const simulator = await startSimulator({
		port: ports.service,
		serviceKey: access.apiKey,
		authToken: access.authToken,
		stateFile: join(folder, 'simulator.json'),
	});
	// n8n's own default is New York, whatever the machine says.
	const env = { GENERIC_TIMEZONE: timezone, TZ: timezone, ...reloadingEnv };
	const server = await progress.step('Starting n8n', () =>
		startN8n({ major: '2', userFolder, tarball, port: ports.n8n, env }),
	);
	let endWatching = () => {};
	try {
		addDemoCampaign(simulator, before.campaignSince);
		const { state, isLoginChanged } = await progress.step('Preparing the examples', () =>
			prepareDemo(
				new N8nClient(server.url),
				before,
				simulator.url,
				demoTables(Date.now(), before.campaignSince, timezone),
			),
		);
		stateFile.write(state);
		const { workflows } = state;
		const addresses = { n8n: server.url, service: simulator.origin };
		say(welcome({ ...addresses, timezone, workflows, isLoginChanged }));
		stop.ready();
		endWatching = watchEdits({ server, since, tell: (edit) => say(afterEdit(edit, new Date())) });
		const ended = server.ended.then(() => 'ended' as const);
		if ((await Promise.race([ended, stop.wished])) === 'ended') {
			throw new Error(`n8n ended by itself. Its log: ${logFile}`);
		}
		await progress.step('Stopping', () => server.stop());
	} finally {
		endWatching();
		await server.stop();
		await simulator.close();
	}
}

async function main(): Promise<void> {
	const isOff = { type: 'boolean', default: false } as const;
	const { values } = parseArgs({ options: { fresh: isOff, help: isOff } });
	if (values.help) {
		say(usage);
		return;
	}
	try {
		await withLock(folder, () => run(values.fresh), 1_000);
	} catch (error) {
		if (!(error instanceof LockHeld)) throw error;
		const port = stateFile.read()?.ports.n8n;
		const where = port === undefined ? '' : ` at http://127.0.0.1:${port}`;
		throw new Error(`It is running already${where}. Stop it with Ctrl-C in its terminal first.`);
	}
}

main().then(
	() => process.exit(0),
	(error: unknown) => {
		process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
		process.exit(1);
	},
);
