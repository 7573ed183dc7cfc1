import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startN8n, type Major, type N8nServer } from '../../../host';
import type { SimulatorOptions } from '../../../simulator';
import { startPostgres, type Postgres } from './postgres';
import { startRedis } from './redis';
import { startStage, tarball, type Stage } from './index';

export interface ClusterOptions {
	/** Default `2`. */
	major?: Major;
	env?: Record<string, string>;
	/** Default 2. */
	workers?: number;
	simulator?: SimulatorOptions;
}

/** A main and workers that share PostgreSQL, Redis and an encryption key, and a push service. */
export interface Cluster extends Stage {
	workers: readonly N8nServer[];
	/** Adds a worker, with variables of its own. */
	addWorker(own?: Record<string, string>): Promise<N8nServer>;
	/** Runs SQL in the database that all share; gives its rows as JSON. */
	query: Postgres['query'];
}

/** Starts the lot. Close it in any case. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
	const { major = '2', workers: count = 2, simulator = {} } = options;
	// The last started ends first.
	const closers: Array<() => Promise<void>> = [];
	const closing = <T extends { close(): Promise<void> }>(started: T): T => {
		closers.push(() => started.close());
		return started;
	};
	const close = async () => {
		for (const closer of closers.reverse()) await closer();
	};
	try {
		const [postgres, redis] = await Promise.all([
			startPostgres().then(closing),
			startRedis().then(closing),
		]);
		const env = {
			EXECUTIONS_MODE: 'queue',
			N8N_ENCRYPTION_KEY: randomBytes(16).toString('hex'),
			N8N_LOG_LEVEL: 'debug',
			...postgres.env,
			...redis.env,
			...options.env,
		};
		const stage = await startStage({ major, env, simulator });
		closers.push(stage.close);
		const packed = await tarball();
		const workers: N8nServer[] = [];
		const addWorker = async (own: Record<string, string> = {}) => {
			const userFolder = await mkdtemp(join(tmpdir(), 'n8n-queue-'));
			closers.push(() => rm(userFolder, { recursive: true, force: true, maxRetries: 10 }));
			const worker = await startN8n({
				major,
				mode: 'worker',
				userFolder,
				tarball: packed,
				env: { ...env, ...own },
			});
			closers.push(() => worker.stop());
			workers.push(worker);
			return worker;
		};
		await Promise.all(Array.from({ length: count }, () => addWorker()));
		return Object.assign(stage, { workers, addWorker, query: postgres.query, close });
	} catch (error) {
		await close();
		throw error;
	}
}
