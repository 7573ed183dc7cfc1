import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
	credentialType,
	N8nClient,
	startN8n,
	type Credential,
	type Major,
	type N8nServer,
} from '../../../host';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../simulator';
import { startPostgres } from './postgres';
import { startRedis } from './redis';
import { secrets, tarball } from './index';

export interface ClusterOptions {
	/** Default `2`. */
	major?: Major;
	env?: Record<string, string>;
	/** Default 2. */
	workers?: number;
	simulator?: SimulatorOptions;
}

/** A main and workers that share PostgreSQL, Redis and an encryption key, and a push service. */
export interface Cluster {
	n8n: N8nClient;
	simulator: Simulator;
	credential: Credential;
	access: { apiKey: string; authToken: string };
	workers: readonly N8nServer[];
	/** Ends the main, by SIGKILL or in order, and starts it again on its port. */
	restartMain(how: 'killed' | 'stopped'): Promise<void>;
	/** Adds a worker, with variables of its own. */
	addWorker(own?: Record<string, string>): Promise<N8nServer>;
	close(): Promise<void>;
}

/** Starts the lot. Close it in any case. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
	const { major = '2', workers: count = 2 } = options;
	// The last started ends first.
	const closers: Array<() => Promise<void>> = [];
	const close = async () => {
		for (const closer of closers.reverse()) await closer();
	};
	const userFolder = async () => {
		const folder = await mkdtemp(join(tmpdir(), 'n8n-queue-'));
		closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
		return folder;
	};
	try {
		const packed = await tarball();
		const [postgres, redis] = await Promise.all([
			startPostgres().then((started) => {
				closers.push(started.close);
				return started;
			}),
			startRedis().then((started) => {
				closers.push(started.close);
				return started;
			}),
		]);
		const simulator = await startSimulator({
			lifeSpeed: 0,
			serviceKey: secrets.apiKey,
			authToken: secrets.authToken,
			...options.simulator,
		});
		closers.push(() => simulator.close());
		const env = {
			EXECUTIONS_MODE: 'queue',
			N8N_ENCRYPTION_KEY: randomBytes(16).toString('hex'),
			N8N_LOG_LEVEL: 'debug',
			...postgres.env,
			...redis.env,
			...options.env,
		};

		const mainFolder = await userFolder();
		const startMain = async (port?: number) =>
			await startN8n({
				major,
				env,
				userFolder: mainFolder,
				...(port === undefined ? { tarball: packed } : { port }),
			});
		let main = await startMain();
		closers.push(() => main.stop());
		const workers: N8nServer[] = [];
		const addWorker = async (own: Record<string, string> = {}) => {
			const folder = await userFolder();
			const worker = await startN8n({
				major,
				mode: 'worker',
				userFolder: folder,
				tarball: packed,
				env: { ...env, ...own },
			});
			closers.push(() => worker.stop());
			workers.push(worker);
			return worker;
		};
		await Promise.all(Array.from({ length: count }, () => addWorker()));

		const n8n = new N8nClient(main.url);
		await n8n.setupOwner();
		await n8n.login();
		const credential = await n8n.createCredential('Push service', credentialType, {
			baseUrl: simulator.url,
			...secrets,
		});
		return {
			n8n,
			simulator,
			credential,
			access: secrets,
			workers,
			addWorker,
			restartMain: async (how) => {
				const { port } = main;
				if (how === 'killed') await main.kill('SIGKILL');
				else await main.stop();
				main = await startMain(port);
			},
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}
