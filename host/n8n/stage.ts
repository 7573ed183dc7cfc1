import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EndedAtStart } from '../process/program';
import { until } from '../process/until';
import { N8nClient } from './client';
import { startN8n, type N8nServer, type StartOptions } from './server';
import { credentialType, type Credential } from './workflows';

export interface StageOptions<S> extends Omit<StartOptions, 'userFolder'> {
	/** Starts the push service, before n8n: a simulator, in this process or in another. */
	startService: () => Promise<S>;
	/** The push service's key and token. */
	access: { apiKey: string; authToken: string };
	/** Prepares the user folder before the first start. */
	prepare?: (userFolder: string) => Promise<void>;
}

/** An n8n with the package in it, its owner logged in, and a push service with a credential for it. */
export interface Stage<S> {
	/** The running n8n; another one after a restart. */
	readonly server: N8nServer;
	readonly simulator: S;
	readonly client: N8nClient;
	readonly credential: Credential;
	/**
	 * Kills n8n with everything that it started, by SIGKILL, and starts it again on its data and port.
	 *
	 * @param downMs for how long it is gone, in milliseconds
	 */
	crash(downMs?: number): Promise<void>;
	/** Stops n8n in order and starts it again on its data and port. */
	restart(whileStopped?: () => Promise<void>): Promise<void>;
	close(): Promise<void>;
}

/** Prints how a server ended if nobody ended it: the test that fails next can only say that nobody answers. */
async function reportEnd({ ended, log }: N8nServer): Promise<void> {
	const how = await ended;
	if (how === undefined) return;
	const lastLines = log().split('\n').slice(-40).join('\n');
	process.stderr.write(`n8n ended by itself: ${how}\n${lastLines}\n`);
}

/** How many starts of n8n on its data were completed: each prints this last. */
const startsIn = ({ log }: N8nServer) => log().split('Editor is now accessible').length - 1;

/** How often n8n is started after a crash, at most. */
const mostStarts = 3;

/** Starts a stage. Close it in any case. */
export async function startStage<S extends { url: string; close(): Promise<void> }>({
	startService,
	access,
	tarball,
	prepare,
	...options
}: StageOptions<S>): Promise<Stage<S>> {
	const userFolder = await mkdtemp(join(tmpdir(), 'n8n-host-'));
	const simulator = await startService();
	const servers: N8nServer[] = [];
	const close = async () => {
		for (const server of servers) await server.stop();
		await simulator.close();
		await rm(userFolder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
	};
	const start = async (changes: Partial<StartOptions>) => {
		const started = await startN8n({ ...options, userFolder, ...changes });
		servers.push(started);
		void reportEnd(started);
		return started;
	};
	try {
		await prepare?.(userFolder);
		let current = await start(tarball === undefined ? {} : { tarball });
		const startAgain = async () => {
			// If it finds this, n8n waits for ten seconds lest it crashes again and again.
			await rm(join(userFolder, '.n8n', 'crash.journal'), { force: true });
			current = await start({ port: current.port });
		};
		/**
		 * n8n answers before its start is complete: it still recovers the executions that a crash cut off, and ends
		 * with an error if one of them had not started, because it reads when that was (n8n 2.41.1:
		 * modules/insights/insights-collection.service.js, handleWorkflowExecuteAfter). The next start skips the
		 * recovery. So it is started again, as a service manager does.
		 */
		const startAfterCrash = async () => {
			for (let starts = 1; starts <= mostStarts; starts += 1) {
				const before = startsIn(current);
				let hasEnded = false;
				try {
					await startAgain();
				} catch (error) {
					if (!(error instanceof EndedAtStart)) throw error;
					continue;
				}
				void current.ended.then(() => {
					hasEnded = true;
				});
				await until(
					() => hasEnded || startsIn(current) > before,
					(isOver) => isOver,
					{ within: 300_000, late: () => 'n8n did not complete its start' },
				);
				if (!hasEnded) return;
			}
			throw new Error(`n8n ended by itself at each of ${mostStarts} starts\n${current.log()}`);
		};
		const client = new N8nClient(current.url);
		await client.setupOwner();
		await client.login();
		const data = { baseUrl: simulator.url, ...access };
		return {
			get server() {
				return current;
			},
			simulator,
			client,
			credential: await client.createCredential('Push service', credentialType, data),
			crash: async (downMs = 0) => {
				await current.kill();
				await sleep(downMs);
				await startAfterCrash();
			},
			restart: async (whileStopped = async () => undefined) => {
				await current.stop();
				await whileStopped();
				await startAgain();
			},
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}
