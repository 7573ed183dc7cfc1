import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../process/ports';
import { startProgram, type Program } from '../process/program';
import { installCommunityPackage } from './communityPackage';
import type { Major } from './hosts';
import { installHost } from './install';

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

const attempts = 3;

/** Another program may have a port that is to be used again, but not for long, in milliseconds. */
const portFreeWithin = 60_000;

/** A machine that does much else may take this long to start a server, in milliseconds. */
const readyWithin = 300_000;

/**
 * Starts a pinned n8n on loopback ports, closed to the outside, and waits until it and its REST
 * interface answer. The server ends with this process.
 *
 * @throws when it ends by itself or is not ready in time, with the last lines of its log
 */
export async function startN8n(options: StartOptions): Promise<N8nServer> {
	const { major, userFolder, tarball, mode = 'main' } = options;
	const host = await installHost(major);
	await mkdir(userFolder, { recursive: true });
	if (tarball !== undefined) await installCommunityPackage(userFolder, tarball);
	const began = Date.now();
	for (let attempt = 1; ; attempt++) {
		const ports = { main: options.port ?? (await freePort()), broker: await freePort() };
		const url = `http://127.0.0.1:${ports.main}`;
		const program = await startProgram({
			name: 'n8n',
			command: host.node,
			args: [host.script, mode === 'worker' ? 'worker' : 'start'],
			cwd: userFolder,
			logFile: join(userFolder, 'n8n.log'),
			env: { ...serverEnv(userFolder, ports), ...host.env, ...options.env },
		});
		try {
			await program.untilReady(() => answers(url, mode), readyWithin);
			return { ...program, major, url, port: ports.main, userFolder };
		} catch (error) {
			await program.kill('SIGKILL');
			const portTaken = /EADDRINUSE|is already in use/.test(String(error));
			const isLast =
				options.port === undefined ? attempt >= attempts : Date.now() - began > portFreeWithin;
			if (!portTaken || isLast) throw error;
		}
	}
}

async function answers(url: string, mode: 'main' | 'worker'): Promise<boolean> {
	// The health page answers before the REST interface is there, of which this needs neither a login nor
	// the editor.
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

function serverEnv(
	userFolder: string,
	{ main, broker }: { main: number; broker: number },
): NodeJS.ProcessEnv {
	return {
		...Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))),
		NODE_ENV: 'production',
		N8N_USER_FOLDER: userFolder,
		N8N_HOST: '127.0.0.1',
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_EDITOR_BASE_URL: `http://127.0.0.1:${main}`,
		WEBHOOK_URL: `http://127.0.0.1:${main}`,
		N8N_RUNNERS_BROKER_PORT: String(broker),
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
		// Worker and main heed one of these ports each.
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		QUEUE_HEALTH_CHECK_PORT: String(main),
		N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
		N8N_PORT: String(main),
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
