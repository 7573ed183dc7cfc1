import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startSimulator } from '../simulator';
import { N8nClient } from './client';
import { addDemoCampaign } from './demoCampaign';
import { demoStateFile, type DemoState } from './demoState';
import { demoTables } from './demoTables';
import { prepareDemo, type Notice } from './demoWorkflows';
import { projectFolder } from './hosts';
import { installHost, isHostInstalled } from './install';
import { LockHeld, withLock } from './lock';
import { whenLeftAlone } from './orphan';
import { packPackage } from './pack';
import { firstFree } from './ports';
import { Progress } from './progress';
import { startServers } from './stage';
import { machineTimezone } from './timezone';
import { reloadingEnv, watchEdits } from './watch';
import { afterEdit, expectation, welcome } from './welcome';

const usage = `Usage: npm start [-- --fresh]

Starts n8n with this package in it, and a simulator of the push service.

  --fresh   begins anew: forgets all workflows, credentials, executions and campaigns made before
`;

const demoFolder = join(projectFolder, '.demo');
const stateFile = demoStateFile(join(demoFolder, 'state.json'));
const defaultPorts = { n8n: 5678, service: 8787 };
const access = { apiKey: 'demo-key', authToken: 'demo-token' };

const say = (text: string): void => {
	process.stdout.write(text);
};

/** One wish to stop may arrive as several signals: the terminal's own and those handed down. */
const sameWishMs = 2_000;

/**
 * Resolves when the user wants to stop. Before `ready` is called, and when the user insists, all
 * ends at once: what is under way (npm, a server) ends with this process.
 */
function stopWish(): { wished: Promise<void>; ready(): void } {
	let ready = false;
	let since: number | undefined;
	const wished = new Promise<void>((resolve) => {
		const wish = () => {
			if (!ready || (since !== undefined && Date.now() - since > sameWishMs)) process.exit(130);
			since ??= Date.now();
			resolve();
		};
		for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, wish);
		void whenLeftAlone(wish);
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
	const { tarball } = await progress.step('Building the package', () => packPackage());
	if (fresh) await rm(demoFolder, { recursive: true, force: true });

	const known = stateFile.read();
	const ports = {
		n8n: await firstFree(defaultPorts.n8n, known?.ports.n8n),
		service: await firstFree(defaultPorts.service, known?.ports.service),
	};
	const before: DemoState = {
		campaignSince: known?.campaignSince ?? Date.now(),
		workflows: known?.workflows ?? {},
		tables: known?.tables ?? [],
		...(known?.credential === undefined ? {} : { credential: known.credential }),
		ports,
	};
	const timezone = machineTimezone();
	const lost: Notice[] = [];
	const userFolder = join(demoFolder, 'n8n');
	await rm(join(userFolder, 'n8n.log'), { force: true });
	const servers = await progress.step('Starting n8n', () =>
		startServers({
			major: '2',
			userFolder,
			tarball,
			port: ports.n8n,
			// n8n's own default is New York, whatever the machine says.
			env: { GENERIC_TIMEZONE: timezone, TZ: timezone, ...reloadingEnv },
			startService: () =>
				startSimulator({
					port: ports.service,
					serviceKey: access.apiKey,
					authToken: access.authToken,
					maxCampaigns: 5_000,
					stateFile: join(demoFolder, 'simulator.json'),
					onUnreadableState: (file) => lost.push({ kind: 'campaigns-lost', file }),
				}),
		}),
	);
	const { server, simulator } = servers;
	addDemoCampaign(simulator, before.campaignSince);
	let endWatching = () => {};
	try {
		const { state, notices } = await progress.step('Preparing the examples', () =>
			prepareDemo(new N8nClient(server.url), before, {
				service: { ...access, baseUrl: simulator.url },
				tables: demoTables(Date.now(), before.campaignSince, timezone),
			}),
		);
		stateFile.write(state);
		const { workflows } = state;
		const running = { n8n: server.url, service: simulator.origin, timezone, workflows };
		say(welcome({ ...running, notices: [...lost, ...notices] }));
		stop.ready();
		endWatching = watchEdits({ server, tell: (edit) => say(afterEdit(edit, new Date())) });
		const ended = server.ended.then(() => 'ended' as const);
		if ((await Promise.race([ended, stop.wished])) === 'ended') {
			throw new Error(`n8n ended by itself. Its log: ${join(userFolder, 'n8n.log')}`);
		}
		await progress.step('Stopping', () => server.stop());
	} finally {
		endWatching();
		await servers.close();
	}
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			fresh: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		say(usage);
		return;
	}
	try {
		await withLock(demoFolder, () => run(values.fresh), 1_000);
	} catch (error) {
		if (!(error instanceof LockHeld)) throw error;
		const running = stateFile.read();
		const where = running === undefined ? '' : ` at http://127.0.0.1:${running.ports.n8n}`;
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
