import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { graceMs, guardReportSchema, type GuardOrder } from './guard';
import { killGroup } from './processes';
import { until } from './until';

/** A program that ends with this process, whatever way this process ends. */
export interface Guarded {
	/** It leads a process group of its own. */
	pid: number;
	/** Settles when it has ended, however it ended. */
	ended: Promise<void>;
	/** Everything that is in its log file, of earlier starts too. */
	log(): string;
	/**
	 * Waits until it can be used.
	 *
	 * @param within milliseconds
	 * @throws {NotReady} when it ends by itself or is not ready in time
	 */
	untilReady(isReady: () => boolean | Promise<boolean>, within: number): Promise<void>;
	/** Ends it in order: with a signal, and SIGKILL for what is left after a while. */
	stop(signal?: NodeJS.Signals): Promise<void>;
	/** Sends a signal to it and all its children. After SIGKILL, resolves when it is gone. */
	kill(signal: NodeJS.Signals): Promise<void>;
}

/** A program that did not become ready; the message ends with the last lines of its log. */
export class NotReady extends Error {
	constructor(
		reason: string,
		readonly log: string,
	) {
		super(`${reason}\n${log.split('\n').slice(-40).join('\n')}`);
	}
}

export interface Order extends GuardOrder {
	/** What messages call it. */
	name: string;
	/** Left out: this process's own. */
	env?: NodeJS.ProcessEnv;
}

/** Starts a program under a guard of its own. Throws where it can't be started. */
export async function startGuarded({ name, env = process.env, ...order }: Order): Promise<Guarded> {
	const guard = fork(join(__dirname, 'guard.ts'), [], {
		// Away from this process's terminal: only the closed channel tells it to stop.
		detached: true,
		stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
		env,
		execArgv: ['--import', pathToFileURL(require.resolve('tsx')).href],
	});
	const gone = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
	let running = true;
	const ended = endOf(guard, gone).then(() => {
		running = false;
	});
	guard.send(order satisfies GuardOrder);
	const pid = await pidFrom(guard, name);
	const log = () => {
		try {
			return readFileSync(order.logFile, 'utf8');
		} catch {
			return '';
		}
	};
	const tidy = async () => {
		killGroup(pid, 'SIGKILL');
		await ended;
		if (guard.connected) guard.disconnect();
		await gone;
	};
	return {
		pid,
		ended,
		log,
		untilReady: async (isReady, within) => {
			const isOver = async () => !running || (await isReady());
			const late = () => new NotReady(`${name} was not ready after ${within / 1000} s`, log());
			await until(isOver, (over) => over, { within, late });
			if (!running) throw new NotReady(`${name} ended while it was starting`, log());
		},
		kill: async (signal) => {
			killGroup(pid, signal);
			if (signal === 'SIGKILL') await tidy();
		},
		stop: async (signal = 'SIGTERM') => {
			if (running) {
				try {
					process.kill(pid, signal);
				} catch {
					// It has just ended by itself.
				}
				const patience = new AbortController();
				await Promise.race([
					ended,
					sleep(graceMs, undefined, { signal: patience.signal }).catch(() => undefined),
				]);
				patience.abort();
			}
			await tidy();
		},
	};
}

async function endOf(guard: ChildProcess, gone: Promise<void>): Promise<void> {
	const told = new Promise<void>((resolve) => {
		guard.on('message', (message) => {
			if ('exitCode' in guardReportSchema.parse(message)) resolve();
		});
	});
	await Promise.race([told, gone]);
}

async function pidFrom(guard: ChildProcess, name: string): Promise<number> {
	return await new Promise((resolve, reject) => {
		guard.once('error', reject);
		guard.once('exit', () => reject(new Error(`${name} was not started`)));
		guard.once('message', (message) => {
			const report = guardReportSchema.parse(message);
			if ('pid' in report) {
				resolve(report.pid);
				return;
			}
			guard.disconnect();
			reject(new Error('failure' in report ? report.failure : `${name} ended at once`));
		});
	});
}
