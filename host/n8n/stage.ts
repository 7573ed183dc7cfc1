import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { N8nClient } from './client';
import { startN8n, type N8nServer, type StartOptions } from './server';
import { credentialType, type Credential } from './workflows';

/** What stands in for the push service: a simulator, in this process or in another. */
export interface Service {
	/** For the credential's Base URL. */
	url: string;
	close(): Promise<void>;
}

export interface ServersOptions<S> extends Omit<StartOptions, 'userFolder'> {
	/** Starts the push service, before n8n. */
	startService: () => Promise<S>;
	/** The folder that holds n8n's state. Left out: a temporary one. */
	userFolder?: string;
}

/** An n8n with the package in it, and a push service beside it. */
export interface Servers<S> {
	/** The running n8n; another one after a restart. */
	readonly server: N8nServer;
	readonly simulator: S;
	/**
	 * Kills n8n with everything that it started, by SIGKILL, and starts it again on its data and port.
	 *
	 * @param downMs for how long it is gone, in milliseconds
	 */
	crash(downMs?: number): Promise<void>;
	/** Stops n8n in order and starts it again on its data and port. */
	restart(): Promise<void>;
	close(): Promise<void>;
}

/** Starts the two. Close them in any case. */
export async function startServers<S extends Service>({
	startService,
	userFolder,
	tarball,
	...options
}: ServersOptions<S>): Promise<Servers<S>> {
	const folder = userFolder ?? (await mkdtemp(join(tmpdir(), 'n8n-host-')));
	const start = async (changes: Partial<StartOptions>) =>
		await startN8n({ ...options, userFolder: folder, ...changes });
	const removeFolder = async () => {
		if (userFolder !== undefined) return;
		await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
	};
	const simulator = await startService();
	try {
		let server = await start(tarball === undefined ? {} : { tarball });
		const startAgain = async () => {
			// Where it finds this, n8n waits for ten seconds lest it crashes again and again.
			await rm(join(folder, '.n8n', 'crash.journal'), { force: true });
			server = await start({ port: server.port });
		};
		return {
			get server() {
				return server;
			},
			simulator,
			crash: async (downMs = 0) => {
				await server.kill('SIGKILL');
				await sleep(downMs);
				await startAgain();
			},
			restart: async () => {
				await server.stop();
				await startAgain();
			},
			close: async () => {
				await server.stop();
				await simulator.close();
				await removeFolder();
			},
		};
	} catch (error) {
		await simulator.close();
		await removeFolder();
		throw error;
	}
}

export interface StageOptions<S> extends ServersOptions<S> {
	/** The push service's key and token. */
	access: { apiKey: string; authToken: string };
}

/** The same with its owner logged in, and a credential for the push service. */
export interface Stage<S> extends Servers<S> {
	readonly client: N8nClient;
	readonly credential: Credential;
}

/** Starts a stage. Close it in any case. */
export async function startStage<S extends Service>({
	access,
	...options
}: StageOptions<S>): Promise<Stage<S>> {
	const servers = await startServers(options);
	try {
		const client = new N8nClient(servers.server.url);
		await client.setupOwner();
		await client.login();
		const credential = await client.createCredential('Push service', credentialType, {
			baseUrl: servers.simulator.url,
			...access,
		});
		return Object.assign(servers, { client, credential });
	} catch (error) {
		await servers.close();
		throw error;
	}
}
