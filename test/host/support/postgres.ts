import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import execa from 'execa';
import { freePort, hostOf, startProgram, type Program } from '../../../host';
import { requireProgram } from './index';

/** An empty PostgreSQL of its own, on a loopback port. */
export interface Postgres {
	/** The variables by which n8n finds it. */
	env: Record<string, string>;
	/** Runs SQL; gives its rows as JSON. */
	query(sql: string): Promise<string>;
	close(): Promise<void>;
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

interface User {
	uid: number;
	gid: number;
}

const superuser = 'n8n';
const readyWithinMs = 60_000;

/** Whom the server runs as: PostgreSQL refuses to run as root. Undefined: as whoever runs the tests. */
async function unprivilegedUser(): Promise<User | undefined> {
	if (process.getuid?.() !== 0) return undefined;
	for (const name of ['postgres', 'nobody']) {
		try {
			const [uid, gid] = await Promise.all(
				['-u', '-g'].map(async (of) => Number((await execa('id', [of, name])).stdout)),
			);
			if (uid !== undefined && gid !== undefined) return { uid, gid };
		} catch {
			// Not every system has each of them.
		}
	}
	throw new Error('PostgreSQL must not run as root, and there is no user postgres or nobody');
}

/** Starts a database server that keeps nothing. Close it in any case. */
export async function startPostgres(): Promise<Postgres> {
	const user = await unprivilegedUser();
	const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
	const data = join(folder, 'data');
	let server: Program | undefined;
	const close = async () => {
		// A fast shutdown: it does not wait for clients.
		await server?.stop('SIGINT');
		await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
	};
	try {
		await mkdir(data, { mode: 0o700 });
		if (user !== undefined) {
			await chown(folder, user.uid, user.gid);
			await chown(data, user.uid, user.gid);
		}
		await execa(
			requireProgram('initdb'),
			['-D', data, '-A', 'trust', '-U', superuser, '-E', 'UTF8', '--locale=C', '--no-sync'],
			{ cwd: folder, ...user },
		);
		const port = await freePort();
		const run = [
			requireProgram('postgres'),
			...['-D', data, '-p', String(port), '-h', '127.0.0.1'],
			...['-c', 'unix_socket_directories=', '-c', 'fsync=off', '-c', 'max_connections=100'],
		];
		const asUser =
			user === undefined
				? run
				: [
						'setpriv',
						`--reuid=${user.uid}`,
						`--regid=${user.gid}`,
						'--clear-groups',
						'--no-new-privs',
						...run,
					];
		const [command = '', ...args] = asUser;
		const logFile = join(folder, 'postgres.log');
		server = await startProgram({ name: 'PostgreSQL', command, args, cwd: folder, logFile });
		const { log } = server;
		const ready = 'database system is ready to accept connections';
		await server.untilReady(() => log().includes(ready), readyWithinMs);
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
	} catch (error) {
		await close();
		throw error;
	}
}
