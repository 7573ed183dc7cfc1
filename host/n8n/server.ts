import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { startProgram, type Program } from '../process/program';
import { freePort, run } from '../process/run';
import { installHost, type Major } from './install';

export interface StartOptions {
	major: Major;
	/** The folder that holds the server's state. */
	userFolder: string;
	/** A packed community package to install before the start. */
	tarball?: string;
	/** Variables that win over the ones that a closed, quiet server gets. */
	env?: Record<string, string>;
	/** A worker takes its work from the queue and answers `/healthz` alone. Default `main`. */
	mode?: 'main' | 'worker';
	/** Left out: any free port. */
	port?: number;
}

/** A running server; its log holds what it printed in its folder's whole life. */
export interface N8nServer extends Program {
	major: Major;
	url: string;
	port: number;
	userFolder: string;
}

/** How often a start is tried because another program has just taken a port; each try takes seconds. */
const mostTries = 10;

/**
 * Starts a pinned n8n on loopback ports, closed to the outside, and waits until it and its REST interface
 * answer. The server ends with this process.
 *
 * @throws {EndedAtStart} with the last lines of its log
 */
export async function startN8n(options: StartOptions): Promise<N8nServer> {
	const { major, userFolder, tarball, mode = 'main' } = options;
	const host = await installHost(major);
	await mkdir(userFolder, { recursive: true });
	if (tarball !== undefined) await installCommunityPackage(userFolder, tarball);
	for (let tries = 1; ; tries++) {
		const port = options.port ?? (await freePort());
		const url = `http://127.0.0.1:${port}`;
		const env = { ...serverEnv(userFolder, port, await freePort()), ...host.env, ...options.env };
		const program = await startProgram({
			name: 'n8n',
			command: host.node,
			args: [host.script, mode === 'worker' ? 'worker' : 'start'],
			cwd: userFolder,
			logFile: join(userFolder, 'n8n.log'),
			env,
		});
		try {
			await program.untilReady(() => answers(url, mode));
			return { ...program, major, url, port, userFolder };
		} catch (error) {
			await program.kill();
			const isPortTaken = /EADDRINUSE|is already in use/.test(String(error));
			if (!isPortTaken || tries === mostTries) throw error;
		}
	}
}

async function answers(url: string, mode: 'main' | 'worker'): Promise<boolean> {
	// The health page of a main process answers before its REST interface is there.
	const path = mode === 'worker' ? 'healthz' : 'rest/options/timezones';
	try {
		const answer = await fetch(`${url}/${path}`, { signal: AbortSignal.timeout(2000) });
		await answer.arrayBuffer();
		return answer.ok && /json/.test(answer.headers.get('content-type') ?? '');
	} catch {
		return false;
	}
}

/** Variables of the caller's environment that would change how a server behaves. */
const foreign =
	/^(N8N_|NODE_|npm_|DB_|QUEUE_|EXECUTIONS_|WEBHOOK_|GENERIC_|CREDENTIALS_|OFFLOAD_|EXTERNAL_|JEST_)/;

function serverEnv(userFolder: string, port: number, brokerPort: number): NodeJS.ProcessEnv {
	const own = Object.entries(process.env).filter(([name]) => !foreign.test(name));
	return {
		...Object.fromEntries(own),
		NODE_ENV: 'production',
		N8N_USER_FOLDER: userFolder,
		N8N_HOST: '127.0.0.1',
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_PORT: String(port),
		N8N_EDITOR_BASE_URL: `http://127.0.0.1:${port}`,
		WEBHOOK_URL: `http://127.0.0.1:${port}`,
		N8N_RUNNERS_BROKER_PORT: String(brokerPort),
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		QUEUE_HEALTH_CHECK_PORT: String(port),
		N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_DYNAMIC_BANNERS_ENABLED: 'false',
		N8N_VERIFIED_PACKAGES_ENABLED: 'false',
		N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
		N8N_SECURE_COOKIE: 'false',
		N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '10',
	};
}

const manifestSchema = z.object({ name: z.string(), version: z.string() }).passthrough();
const installedSchema = z.object({ dependencies: z.record(z.string()).default({}) }).passthrough();

/** The folder under a user folder that n8n loads community packages from. */
export const packagesFolder = (userFolder: string): string => join(userFolder, '.n8n', 'nodes');

/**
 * Installs a packed tarball as a community package of a server that is not running, with the steps that
 * n8n's own installer takes for a package without scope and dependencies: unpack it, drop its development
 * and peer dependencies, note its version. A version that was there is replaced.
 */
export async function installCommunityPackage(userFolder: string, tarball: string): Promise<void> {
	const folder = packagesFolder(userFolder);
	const modules = join(folder, 'node_modules');
	await mkdir(modules, { recursive: true });
	const unpacked = await mkdtemp(join(modules, '.unpacked-'));
	await run('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components=1']);
	const manifestFile = join(unpacked, 'package.json');
	const manifest = manifestSchema.parse(JSON.parse(await readFile(manifestFile, 'utf8')));
	const kept = { ...manifest, devDependencies: undefined, peerDependencies: undefined };
	await writeFile(manifestFile, JSON.stringify(kept, null, 2));
	const target = join(modules, manifest.name);
	await rm(target, { recursive: true, force: true });
	await rename(unpacked, target);

	const notes = join(folder, 'package.json');
	const text = await readFile(notes, 'utf8').catch(() => '{ "name": "installed-nodes" }');
	const noted = installedSchema.parse(JSON.parse(text));
	const dependencies = { ...noted.dependencies, [manifest.name]: manifest.version };
	await writeFile(notes, JSON.stringify({ ...noted, dependencies, private: true }, null, 2));
}
