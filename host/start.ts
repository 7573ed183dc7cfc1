import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startSimulator } from '../simulator';
import { N8nClient } from './client';
import { runDemoCampaign } from './demoCampaign';
import { readDemoState, writeDemoState, type DemoState } from './demoState';
import { demoOwner, prepareDemo, type Notice } from './demoWorkflows';
import { artifactsFolder, projectFolder } from './hosts';
import { installHost } from './install';
import { LockHeld, withLock } from './lock';
import { whenLeftAlone } from './orphan';
import { packPackage } from './pack';
import { firstFree } from './ports';
import { Progress } from './progress';
import { startN8n } from './server';

const usage = `Usage: npm start [-- --fresh]

Starts n8n with this package in it, and a simulator of the push service.

  --fresh   begins anew: forgets the workflows, credentials and executions made before
`;

const demoFolder = join(projectFolder, '.demo');
const stateFile = join(demoFolder, 'state.json');
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

	await progress.step('Looking for n8n', async (rename) => {
		await installHost('2', { onProgress: ({ doing }) => rename(doing) });
	});
	const { tarball } = await progress.step('Building the package', () => packPackage());
	if (fresh) await rm(demoFolder, { recursive: true, force: true });

	const known = await readDemoState(stateFile);
	const ports = {
		n8n: await firstFree(defaultPorts.n8n, known?.ports.n8n),
		service: await firstFree(defaultPorts.service, known?.ports.service),
	};
	const before: DemoState = {
		campaignSince: known?.campaignSince ?? Date.now(),
		workflows: known?.workflows ?? {},
		...(known?.credential === undefined ? {} : { credential: known.credential }),
		ports,
	};
	const simulator = await startSimulator({
		port: ports.service,
		serviceKey: access.apiKey,
		authToken: access.authToken,
	});
	const endCampaign = runDemoCampaign(simulator, before.campaignSince);
	try {
		const userFolder = join(demoFolder, 'n8n');
		await rm(join(userFolder, 'n8n.log'), { force: true });
		const server = await progress.step('Starting n8n', () =>
			startN8n({ major: '2', userFolder, tarball, port: ports.n8n }),
		);
		try {
			const { state, notices } = await progress.step('Preparing the examples', () =>
				prepareDemo(new N8nClient(server.url), before, { ...access, baseUrl: simulator.url }),
			);
			await writeDemoState(stateFile, state);
			say(welcome(server.url, simulator.origin, notices));
			stop.ready();
			const ended = server.ended.then(() => 'ended' as const);
			if ((await Promise.race([ended, stop.wished])) === 'ended') {
				throw new Error(`n8n ended by itself. Its log: ${join(userFolder, 'n8n.log')}`);
			}
			await progress.step('Stopping', () => server.stop());
		} finally {
			await server.stop();
		}
	} finally {
		endCampaign();
		await simulator.close();
	}
}

function welcome(n8n: string, service: string, notices: readonly Notice[]): string {
	const login = notices.some(({ kind }) => kind === 'login-changed')
		? '  Login           as you changed it (so the examples were not looked at)'
		: `  Login           ${demoOwner.email}\n  Password        ${demoOwner.password}`;
	const hints = notices.flatMap((notice) =>
		notice.kind === 'not-activated'
			? [`\nThe workflow '${notice.workflow}' was not activated: ${notice.reason}\n`]
			: [],
	);
	return `
n8n is running with Push Campaign in it.

  n8n             ${n8n}
${login}
  Push service    ${service}   (a simulator: shows what subscribers see)

Try this:
  1. Open ${n8n} and log in.
  2. Open the workflow 'Send to all, then read its status' and click 'Execute workflow'.
  3. Look at ${service}: your notification is there, and its counters move.
  4. Open 'Report counter changes', then its tab 'Executions': it runs by itself every minute
     in which the counters of campaign 1001 moved.

Ctrl-C stops both. What you make in n8n is kept; 'npm start -- --fresh' begins anew.
The push service forgets its campaigns when it stops.
${hints.join('')}
`;
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
		await withLock(join(artifactsFolder, 'demo.lock'), () => run(values.fresh), 0);
	} catch (error) {
		if (!(error instanceof LockHeld)) throw error;
		const running = await readDemoState(stateFile);
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
