import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { installCommunityPackage } from './communityPackage';
import { guardReportSchema, type GuardOrder } from './guard';
import type { Major } from './hosts';
import { installHost } from './install';
import { freePort } from './ports';
import { killGroup } from './processes';

export interface StartOptions {
	major: Major;
	/** The folder that holds the server's state. Left out: a temporary one that goes with the server. */
	userFolder?: string;
	/** A packed community package to install before the start. */
	tarball?: string;
	/** Variables that win over the ones that a closed, quiet server gets. */
	env?: Record<string, string>;
	/** A worker takes its work from the queue and answers `/healthz` alone. Default `main`. */
	mode?: 'main' | 'worker';
	/** Left out: any free port. */
	port?: number;
	/** How long the server may take to be ready, in milliseconds. Default 120000. */
	readyWithin?: number;
}

export interface N8nServer {
	major: Major;
	url: string;
	port: number;
	/** The server process; it leads a process group of its own. */
	pid: number;
	userFolder: string;
	/** Everything that the server printed in this folder's life, its earlier starts included. */
	log(): string;
	/** Settles when the server has ended, however it ended. */
	ended: Promise<void>;
	/** Ends the server in order: SIGTERM, and SIGKILL for what is left after a while. */
	stop(): Promise<void>;
	/** Sends a signal to the server and all its children. After SIGKILL, resolves when it is gone. */
	kill(signal: NodeJS.Signals): Promise<void>;
}

const graceMs = 15_000;
const attempts = 3;

/**
 * Starts a pinned n8n on loopback ports, closed to the outside, and waits until it and its REST
 * interface answer. The server ends with this process, whatever way this process ends.
 *
 * @throws when it ends by itself or is not ready in time, with the last lines of its log
 */
export async function startN8n(options: StartOptions): Promise<N8nServer> {
	const { major, tarball, mode = 'main' } = options;
	const host = await installHost(major);
	const temporary = options.userFolder === undefined;
	const userFolder = options.userFolder ?? (await mkdtemp(join(tmpdir(), 'n8n-host-')));
	try {
		await mkdir(userFolder, { recursive: true });
		if (tarball !== undefined) await installCommunityPackage(userFolder, tarball);
		for (let attempt = 1; ; attempt++) {
			const ports = { main: options.port ?? (await freePort()), broker: await freePort() };
			const env = { ...serverEnv(userFolder, mode, ports), ...host.env, ...options.env };
			const order: GuardOrder = {
				command: host.node,
				args: [host.script, mode === 'worker' ? 'worker' : 'start'],
				cwd: userFolder,
				logFile: join(userFolder, 'n8n.log'),
				graceMs,
				...(temporary ? { temporaryFolder: userFolder } : {}),
			};
			const server = await launch(order, env, { major, userFolder, port: ports.main });
			try {
				await untilReady(server, mode, options.readyWithin ?? 120_000);
				return server;
			} catch (error) {
				const taken = error instanceof NotReady && error.portTaken;
				await server.kill('SIGKILL');
				if (!taken || options.port !== undefined || attempt >= attempts) throw error;
				await mkdir(userFolder, { recursive: true });
				if (tarball !== undefined) await installCommunityPackage(userFolder, tarball);
			}
		}
	} catch (error) {
		if (temporary) await removeFolder(userFolder);
		throw error;
	}
}

class NotReady extends Error {
	readonly portTaken: boolean;

	constructor(reason: string, log: string) {
		super(`${reason}\n${log.split('\n').slice(-40).join('\n')}`);
		this.portTaken = /EADDRINUSE|is already in use/.test(log);
	}
}

interface Identity {
	major: Major;
	userFolder: string;
	port: number;
}

async function launch(
	order: GuardOrder,
	env: Record<string, string>,
	{ major, userFolder, port }: Identity,
): Promise<N8nServer> {
	const guard = fork(join(__dirname, 'guard.ts'), [], {
		// Away from this process's terminal: only the closed channel tells it to stop.
		detached: true,
		stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
		env,
		execArgv: ['--import', pathToFileURL(require.resolve('tsx')).href],
	});
	const gone = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
	const ended = endOf(guard, gone);
	guard.send(order);
	const pid = await pidFrom(guard);
	const tidy = async () => {
		killGroup(pid, 'SIGKILL');
		await ended;
		if (guard.connected) guard.disconnect();
		await gone;
	};
	return {
		major,
		url: `http://127.0.0.1:${port}`,
		port,
		pid,
		userFolder,
		ended,
		log: () => {
			try {
				return readFileSync(order.logFile, 'utf8');
			} catch {
				return '';
			}
		},
		kill: async (signal) => {
			killGroup(pid, signal);
			if (signal === 'SIGKILL') await tidy();
		},
		stop: async () => {
			if (guard.connected) {
				try {
					process.kill(pid, 'SIGTERM');
				} catch {
					// It has just ended by itself.
				}
				const patience = new AbortController();
				await Promise.race([
					ended,
					sleep(graceMs, undefined, { signal: patience.signal }).catch(() => undefined),
				]);
				patience.abort();
			}
			await tidy();
		},
	};
}

async function endOf(guard: ChildProcess, gone: Promise<void>): Promise<void> {
	const told = new Promise<void>((resolve) => {
		guard.on('message', (message) => {
			if ('exitCode' in guardReportSchema.parse(message)) resolve();
		});
	});
	await Promise.race([told, gone]);
}

async function pidFrom(guard: ChildProcess): Promise<number> {
	return await new Promise((resolve, reject) => {
		guard.once('error', reject);
		guard.once('exit', () => reject(new Error('The server was not started')));
		guard.once('message', (message) => {
			const report = guardReportSchema.parse(message);
			if ('pid' in report) {
				resolve(report.pid);
				return;
			}
			guard.disconnect();
			reject(new Error('failure' in report ? report.failure : 'The server ended at once'));
		});
	});
}

async function untilReady(
	server: N8nServer,
	mode: 'main' | 'worker',
	readyWithin: number,
): Promise<void> {
	const deadline = Date.now() + readyWithin;
	let ended = false;
	void server.ended.then(() => {
		ended = true;
	});
	while (!(await answers(server.url, mode))) {
		if (ended) throw new NotReady('n8n ended while it was starting', server.log());
		if (Date.now() > deadline) {
			throw new NotReady(`n8n was not ready after ${readyWithin / 1000} s`, server.log());
		}
		await sleep(200);
	}
}

async function answers(url: string, mode: 'main' | 'worker'): Promise<boolean> {
	try {
		const health = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2000) });
		await health.arrayBuffer();
		if (!health.ok || mode === 'worker') return health.ok;
		// The health page answers before the REST interface is there.
		const settings = await fetch(`${url}/rest/settings`, { signal: AbortSignal.timeout(2000) });
		await settings.arrayBuffer();
		return settings.ok && /json/.test(settings.headers.get('content-type') ?? '');
	} catch {
		return false;
	}
}

async function removeFolder(folder: string): Promise<void> {
	await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Variables of the caller's environment that would change how a server behaves. */
const foreign =
	/^(N8N_|NODE_|npm_|DB_|QUEUE_|EXECUTIONS_|WEBHOOK_|GENERIC_|CREDENTIALS_|OFFLOAD_|EXTERNAL_|JEST_)/;

function serverEnv(
	userFolder: string,
	mode: 'main' | 'worker',
	{ main, broker }: { main: number; broker: number },
): Record<string, string> {
	const inherited: Record<string, string> = {};
	for (const [name, value] of Object.entries(process.env)) {
		if (value !== undefined && !foreign.test(name)) inherited[name] = value;
	}
	return {
		...inherited,
		NODE_ENV: 'production',
		N8N_USER_FOLDER: userFolder,
		N8N_HOST: '127.0.0.1',
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_EDITOR_BASE_URL: `http://127.0.0.1:${main}`,
		WEBHOOK_URL: `http://127.0.0.1:${main}`,
		N8N_RUNNERS_BROKER_PORT: String(broker),
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
		...(mode === 'worker'
			? {
					QUEUE_HEALTH_CHECK_ACTIVE: 'true',
					QUEUE_HEALTH_CHECK_PORT: String(main),
					N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
				}
			: { N8N_PORT: String(main) }),
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_HIRING_BANNER_ENABLED: 'false',
		N8N_DYNAMIC_BANNERS_ENABLED: 'false',
		N8N_VERIFIED_PACKAGES_ENABLED: 'false',
		N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
		N8N_SECURE_COOKIE: 'false',
		N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '10',
	};
}
