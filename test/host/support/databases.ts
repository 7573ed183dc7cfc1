import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import execa from 'execa';
import { freePort, hostOf, startProgram, type Program } from '../../../host';
import { requireProgram } from './requirements';

/** An empty database of its own, on a loopback port, that keeps nothing. */
export interface Database {
	/** The variables by which n8n finds it. */
	env: Record<string, string>;
	close(): Promise<void>;
}

/**
 * Starts a database server in a temporary folder.
 *
 * @param ready what its log says then
 * @param prepare readies the folder, and returns what gives the command line for a port
 */
async function startDatabase(
	name: string,
	ready: string,
	prepare: (folder: string) => Promise<(port: number) => string[]>,
): Promise<{ port: number; close: () => Promise<void> }> {
	const folder = await mkdtemp(join(tmpdir(), 'database-'));
	let server: Program | undefined;
	const close = async () => {
		// Neither waits for its clients after this one.
		await server?.stop('SIGINT');
		await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
	};
	try {
		const commandLine = await prepare(folder);
		// Last: until it is used, another program may take it.
		const port = await freePort();
		const [command = '', ...args] = commandLine(port);
		const logFile = join(folder, 'server.log');
		const started = await startProgram({ name, command, args, cwd: folder, logFile });
		server = started;
		await started.untilReady(() => started.log().includes(ready), 60_000);
		return { port, close };
	} catch (error) {
		await close();
		throw error;
	}
}

/** Starts Redis. Close it in any case. */
export async function startRedis(): Promise<Database> {
	const { port, close } = await startDatabase(
		'Redis',
		'Ready to accept connections',
		async () => (port) => [
			requireProgram('redis-server'),
			...['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
		],
	);
	return {
		env: { QUEUE_BULL_REDIS_HOST: '127.0.0.1', QUEUE_BULL_REDIS_PORT: String(port) },
		close,
	};
}

export interface Postgres extends Database {
	/** Runs SQL; gives its rows as JSON. */
	query(sql: string): Promise<string>;
}

/** n8n brings the client. */
const script = `
const { Client } = require('pg');
const [connectionString, sql] = process.argv.slice(1);
const client = new Client({ connectionString });
client.connect()
	.then(() => client.query(sql))
	.then(({ rows }) => process.stdout.write(JSON.stringify(rows)))
	.then(() => client.end());
`;

const superuser = 'n8n';

/** PostgreSQL refuses to run as root: as its Debian package's own user then. */
const unprivileged =
	process.getuid?.() === 0
		? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--no-new-privs']
		: [];

/** Starts PostgreSQL. Close it in any case. */
export async function startPostgres(): Promise<Postgres> {
	const { port, close } = await startDatabase(
		'PostgreSQL',
		'database system is ready to accept connections',
		async (folder) => {
			if (unprivileged.length > 0) await execa('chown', ['postgres:', folder]);
			const data = join(folder, 'data');
			const [command = '', ...args] = [
				...unprivileged,
				...[requireProgram('initdb'), '-D', data, '-A', 'trust', '-U', superuser],
				...['-E', 'UTF8', '--locale=C', '--no-sync'],
			];
			await execa(command, args, { cwd: folder });
			return (port) => [
				...unprivileged,
				...[requireProgram('postgres'), '-D', data, '-p', String(port), '-h', '127.0.0.1'],
				...['-c', 'unix_socket_directories=', '-c', 'fsync=off', '-c', 'max_connections=100'],
			];
		},
	);
	return {
		env: {
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(port),
			DB_POSTGRESDB_USER: superuser,
			DB_POSTGRESDB_DATABASE: 'postgres',
		},
		query: async (sql) => {
			const { node, directory } = hostOf('2');
			const address = `postgres://${superuser}@127.0.0.1:${port}/postgres`;
			return (await execa(node, ['-e', script, address, sql], { cwd: directory })).stdout;
		},
		close,
	};
}
