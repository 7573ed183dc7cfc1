import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startN8n, type Major, type N8nServer } from '../../../host';
import { startPostgres, startRedis, type Postgres } from './databases';
import { startStage, tarball, type Stage } from './stage';

interface ClusterOptions {
	major: Major;
	env: Record<string, string>;
	/** How many workers there are from the start. */
	workers: number;
}

/** A main and workers that share PostgreSQL, Redis and an encryption key, and a push service. */
export interface Cluster extends Stage {
	workers: readonly N8nServer[];
	/** Adds a worker, with variables of its own. */
	addWorker(own?: Record<string, string>): Promise<N8nServer>;
	/** Runs SQL in the database that all share; gives its rows as JSON. */
	query: Postgres['query'];
}

/**
 * A cluster for the tests of the surrounding `describe`: started before the first, closed after the
 * last, its push service reset before each.
 *
 * @returns a function that gives the cluster to a test
 */
export function useCluster({ major, workers: count, ...options }: ClusterOptions): () => Cluster {
	let cluster: Cluster | undefined;
	// The last started ends first, also where the start fails halfway.
	const closers: Array<() => Promise<void>> = [];

	beforeAll(async () => {
		const postgres = await startPostgres();
		closers.push(postgres.close);
		const redis = await startRedis();
		closers.push(redis.close);
		const env = {
			EXECUTIONS_MODE: 'queue',
			N8N_ENCRYPTION_KEY: randomBytes(16).toString('hex'),
			N8N_LOG_LEVEL: 'debug',
			...postgres.env,
			...redis.env,
			...options.env,
		};
		const stage = await startStage({ major, env });
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
		cluster = Object.assign(stage, { workers, addWorker, query: postgres.query });
	});
	beforeEach(() => cluster?.simulator.reset());
	afterAll(async () => {
		for (const closer of closers.reverse()) await closer();
	}, 300_000);

	return () => {
		if (cluster === undefined) throw new Error('The cluster is there only while a test runs');
		return cluster;
	};
}

/** The executions that a worker took, by its own log. */
export const takenBy = (worker: N8nServer): string[] =>
	[...worker.log().matchAll(/Worker started execution (\d+)/g)].map(([, id]) => id ?? '');

/**
 * How many workers took executions while something was done.
 * @returns what was done, and that number
 */
export async function countWorkers<Value>(
	{ workers }: Cluster,
	action: () => Promise<Value>,
): Promise<{ value: Value; took: number }> {
	const before = workers.map((worker) => takenBy(worker).length);
	const value = await action();
	const took = workers.filter((worker, index) => takenBy(worker).length > (before[index] ?? 0));
	return { value, took: took.length };
}

/** So often something is done again until several workers have a part in it. */
const mostRounds = 8;

/**
 * Does something again until executions of it ran in different workers: which worker takes one is up to chance.
 * @param action gets the number of the round
 * @throws if one worker took all of them in each round
 */
export async function untilShared(
	cluster: Cluster,
	action: (round: number) => Promise<void>,
): Promise<void> {
	for (let round = 1; round <= mostRounds; round += 1) {
		const { took } = await countWorkers(cluster, async () => await action(round));
		if (took > 1) return;
	}
	throw new Error(`One worker took all executions in each of ${mostRounds} rounds`);
}

/** Has a workflow remember so many sent keys, before its first run. */
export async function rememberKeys(
	{ query }: Cluster,
	{ id }: { id: string },
	count: number,
): Promise<void> {
	const value = `'{"mode":"entries","data":["xMpCOKC5I4INzFCab3WEmw=="]}'`;
	await query(
		`INSERT INTO processed_data ("workflowId", context, value) SELECT '${id}', 'n:push-campaign-key:' || (SELECT node ->> 'id' FROM workflow_entity, json_array_elements(nodes) AS node WHERE workflow_entity.id = '${id}' AND node ->> 'name' = 'Push Campaign') || ':' || md5(i::text) || what, ${value} FROM generate_series(1, ${count}) AS i CROSS JOIN (VALUES (':claim:1'), (':sent')) AS rows(what)`,
	);
}
