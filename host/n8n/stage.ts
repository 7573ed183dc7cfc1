import { cp, mkdtemp, rm } from 'node:fs/promises';
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
	/** The user folder of a stopped n8n to begin with: one whose database is there starts sooner. */
	prepared?: string;
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
	restart(): Promise<void>;
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

/**
 * Waits for the end of n8n's start. n8n answers before that: it still recovers the executions that a crash cut
 * off, and ends with an error if one of them had not started, because it reads when that was (n8n 2.41.1:
 * packages/cli/src/modules/insights/insights-collection.service.ts, handleWorkflowExecuteAfter). The next start
 * skips the recovery (packages/cli/src/eventbus/message-event-bus/message-event-bus.ts, performStartupRecovery).
 * @param startsBefore how many starts were completed before
 * @returns whether the start was completed; otherwise n8n has ended
 */
async function completesItsStart(server: N8nServer, startsBefore: number): Promise<boolean> {
	let hasEnded = false;
	void server.ended.then(() => {
		hasEnded = true;
	});
	await until(
		() => hasEnded || startsIn(server) > startsBefore,
		(isOver) => isOver,
		{ within: 300_000, late: () => 'n8n did not complete its start' },
	);
	return !hasEnded;
}

/** Starts a stage. Close it in any case. */
export async function startStage<S extends { url: string; close(): Promise<void> }>({
	startService,
	access,
	tarball,
	prepared,
	...options
}: StageOptions<S>): Promise<Stage<S>> {
	const folder = await mkdtemp(join(tmpdir(), 'n8n-host-'));
	const simulator = await startService();
	const servers: N8nServer[] = [];
	const close = async () => {
		for (const server of servers) await server.stop();
		await simulator.close();
		await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
	};
	try {
		if (prepared !== undefined) {
			await cp(join(prepared, '.n8n'), join(folder, '.n8n'), { recursive: true });
		}
		const start = async (changes: Partial<StartOptions>) => {
			const started = await startN8n({ ...options, userFolder: folder, ...changes });
			servers.push(started);
			void reportEnd(started);
			return started;
		};
		let current = await start(tarball === undefined ? {} : { tarball });
		const startAgain = async () => {
			// Where it finds this, n8n waits for ten seconds lest it crashes again and again.
			await rm(join(folder, '.n8n', 'crash.journal'), { force: true });
			current = await start({ port: current.port });
		};
		/** Starts n8n again until it does not end by itself at its start, as a service manager does. */
		const startAfterCrash = async () => {
			for (let starts = 1; starts <= mostStarts; starts += 1) {
				const startsBefore = startsIn(current);
				try {
					await startAgain();
					if (await completesItsStart(current, startsBefore)) return;
				} catch (error) {
					// It can end before it answers, too.
					if (!(error instanceof EndedAtStart)) throw error;
				}
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
				await current.kill('SIGKILL');
				await sleep(downMs);
				await startAfterCrash();
			},
			restart: async () => {
				await current.stop();
				await startAgain();
			},
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}
