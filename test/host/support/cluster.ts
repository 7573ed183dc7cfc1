import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, run, startN8n, startProgram, type N8nServer } from '../../../host';
import { requireProgram } from './requirements';
import { startStage, tarball, type Stage } from './stage';

/** An empty database of its own, on a loopback port, that keeps nothing. */
interface Database {
	/** The variables by which n8n finds it. */
	env: Record<string, string>;
	close(): Promise<void>;
}

interface SqlDatabase extends Database {
	/** Executes a statement, as an administrator does. */
	execute(sql: string): Promise<void>;
}

async function temporaryFolder(name: string): Promise<[string, () => Promise<void>]> {
	const folder = await mkdtemp(join(tmpdir(), name));
	return [folder, async () => await rm(folder, { recursive: true, force: true, maxRetries: 10 })];
}

async function startDatabase(
	[command = '', ...args]: string[],
	cwd: string,
	ready: string,
): Promise<() => Promise<void>> {
	const logFile = join(cwd, 'server.log');
	const program = await startProgram({ name: command, command, args, cwd, logFile });
	await program.untilReady(() => program.log().includes(ready));
	// It does not wait for its clients after this signal.
	return async () => await program.stop('SIGINT');
}

async function startRedis(): Promise<Database> {
	const [folder, remove] = await temporaryFolder('redis-');
	const port = String(await freePort());
	const quick = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
	const commandLine = [requireProgram('redis-server'), '--port', port, ...quick];
	const stop = await startDatabase(commandLine, folder, 'Ready to accept connections');
	return {
		env: { QUEUE_BULL_REDIS_HOST: '127.0.0.1', QUEUE_BULL_REDIS_PORT: port },
		close: async () => {
			await stop();
			await remove();
		},
	};
}

/** PostgreSQL refuses to run as root: as its Debian package's own user then. */
const unprivileged =
	process.getuid?.() === 0
		? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--no-new-privs']
		: [];

async function startPostgres(): Promise<SqlDatabase> {
	const [folder, remove] = await temporaryFolder('postgres-');
	if (unprivileged.length > 0) await run('chown', ['postgres:', folder]);
	const data = join(folder, 'data');
	const settings = ['-A', 'trust', '-U', 'n8n', '-E', 'UTF8', '--locale=C', '--no-sync'];
	const [command, ...args] = [...unprivileged, requireProgram('initdb'), '-D', data];
	await run(command, [...args, ...settings], { cwd: folder });
	const port = String(await freePort());
	const quick = ['-c', 'unix_socket_directories=', '-c', 'fsync=off'];
	const options = ['-D', data, '-h', '127.0.0.1', '-p', port, ...quick];
	const stop = await startDatabase(
		[...unprivileged, requireProgram('postgres'), ...options],
		folder,
		'database system is ready to accept connections',
	);
	return {
		env: {
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: port,
			DB_POSTGRESDB_USER: 'n8n',
			DB_POSTGRESDB_DATABASE: 'postgres',
		},
		execute: async (sql) => {
			const to = ['-h', '127.0.0.1', '-p', port, '-U', 'n8n', '-d', 'postgres'];
			await run(requireProgram('psql'), [...to, '-v', 'ON_ERROR_STOP=1', '-c', sql]);
		},
		close: async () => {
			await stop();
			await remove();
		},
	};
}

/** A main process and workers that share PostgreSQL, Redis and an encryption key, and a push service. */
export interface Cluster extends Stage {
	workers: readonly N8nServer[];
	/** Stops all workers in order, and starts so many on their folders again. */
	restartWorkers(count: number): Promise<void>;
	execute: SqlDatabase['execute'];
}

/**
 * The cluster of a suite: started before its first test, closed after the last, its push service reset before each.
 *
 * @returns a function that gives the cluster to a test
 */
export function useCluster(workerCount: number): () => Cluster {
	let cluster: Cluster | undefined;
	// The last started ends first, also if the start fails halfway.
	const closers: Array<() => Promise<void>> = [];
	beforeAll(async () => {
		const postgres = await startPostgres();
		closers.push(postgres.close);
		const redis = await startRedis();
		closers.push(redis.close);
		const env = {
			EXECUTIONS_MODE: 'queue',
			N8N_ENCRYPTION_KEY: randomBytes(16).toString('hex'),
			// What it says of each execution tells which worker took it.
			N8N_LOG_LEVEL: 'debug',
			...postgres.env,
			...redis.env,
		};
		const stage = await startStage({ env });
		closers.push(stage.close);
		const workers: N8nServer[] = [];
		const stop = async () => {
			await Promise.all(workers.splice(0).map((worker) => worker.stop()));
		};
		const folders: string[] = [];
		for (let count = 0; count < workerCount; count += 1) {
			const [folder, remove] = await temporaryFolder('n8n-worker-');
			closers.push(remove);
			folders.push(folder);
		}
		closers.push(stop);
		const packed = await tarball();
		const restartWorkers = async (count: number) => {
			await stop();
			for (const userFolder of folders.slice(0, count)) {
				const options = { major: '2', mode: 'worker', tarball: packed } as const;
				workers.push(await startN8n({ ...options, userFolder, env }));
			}
		};
		await restartWorkers(workerCount);
		cluster = Object.assign(stage, { workers, restartWorkers, execute: postgres.execute });
	});
	beforeEach(() => cluster?.simulator.reset());
	afterAll(async () => {
		for (const close of closers.reverse()) await close();
	});
	return () => {
		if (cluster === undefined) throw new Error('The cluster is there only while a test runs');
		return cluster;
	};
}

/** How many executions each worker took, by its own log. */
export const takenBy = ({ workers }: Cluster): number[] =>
	workers.map((worker) => worker.log().split('Worker started execution').length - 1);
