import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	credentialType,
	N8nClient,
	startN8n,
	type Credential,
	type Major,
	type N8nServer,
} from '../../../host';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../simulator';
import { secrets, tarball } from './index';

export interface BedOptions {
	/** Default `2`. */
	major?: Major;
	/** Variables for the server. */
	env?: Record<string, string>;
	simulator?: SimulatorOptions;
	/** The push service's key and token. */
	access?: { apiKey: string; authToken: string };
}

/** A server with the package in it, a push service, and a credential that connects the two. */
export interface Bed {
	n8n: N8nClient;
	simulator: Simulator;
	credential: Credential;
	access: { apiKey: string; authToken: string };
	userFolder: string;
	server(): N8nServer;
	/**
	 * Kills the server with everything that it started, by SIGKILL, and starts it again on its data.
	 *
	 * @param downMs for how long it is gone, in milliseconds
	 */
	crash(downMs?: number): Promise<void>;
	/** Stops the server in order and starts it again on its data. */
	restart(): Promise<void>;
	close(): Promise<void>;
}

/** A machine that runs other suites beside may take this long to start a server, in milliseconds. */
const readyWithin = 300_000;

/** Starts the lot. Close it in any case: it has a folder, a server and a port. */
export async function startBed(options: BedOptions = {}): Promise<Bed> {
	const { major = '2', env = {}, access = secrets } = options;
	const packed = await tarball();
	const userFolder = await mkdtemp(join(tmpdir(), 'n8n-host-'));
	const simulator = await startSimulator({
		lifeSpeed: 0,
		serviceKey: access.apiKey,
		authToken: access.authToken,
		...options.simulator,
	});
	let server: N8nServer | undefined;
	const running = () => {
		if (server === undefined) throw new Error('The server does not run');
		return server;
	};
	const close = async () => {
		await server?.stop();
		await simulator.close();
		await rm(userFolder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
	};
	try {
		server = await startN8n({ major, userFolder, tarball: packed, env, readyWithin });
		const n8n = new N8nClient(server.url);
		await n8n.setupOwner();
		await n8n.login();
		const credential = await n8n.createCredential('Push', credentialType, {
			baseUrl: simulator.url,
			...access,
		});
		const startAgain = async (port: number) => {
			// Where it finds this, n8n waits for ten seconds lest it crashes again and again.
			await rm(join(userFolder, '.n8n', 'crash.journal'), { force: true });
			server = await startN8n({ major, userFolder, env, port, readyWithin });
		};
		return {
			n8n,
			simulator,
			credential,
			access,
			userFolder,
			server: running,
			crash: async (downMs = 0) => {
				const { port } = running();
				await running().kill('SIGKILL');
				await sleep(downMs);
				await startAgain(port);
			},
			restart: async () => {
				const { port } = running();
				await running().stop();
				await startAgain(port);
			},
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}
