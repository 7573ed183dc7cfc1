import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { guardReportSchema, type GuardOrder } from '../../../host/guard';
import { projectFolder } from '../../../host/hosts';
import { killGroup } from '../../../host/processes';

/** A program that ends with the tests, however they end. */
export interface GuardedProcess {
	pid: number;
	/** Settles when it has ended. */
	ended: Promise<void>;
	/** What it printed. */
	log(): string;
	/** Sends it a signal and waits until it is gone; SIGKILL follows after a while. */
	end(signal: NodeJS.Signals): Promise<void>;
}

const graceMs = 10_000;

/** Starts a program under the same guard as the servers. Throws where it can't be started. */
export async function startGuarded(
	order: Pick<GuardOrder, 'command' | 'args' | 'cwd'>,
): Promise<GuardedProcess> {
	const logFile = join(order.cwd, 'process.log');
	const guard = fork(join(projectFolder, 'host', 'guard.ts'), [], {
		detached: true,
		stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
		execArgv: ['--import', pathToFileURL(require.resolve('tsx')).href],
	});
	const ended = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
	guard.send({ ...order, logFile, graceMs } satisfies GuardOrder);
	const pid = await new Promise<number>((resolve, reject) => {
		guard.once('error', reject);
		guard.once('exit', () => reject(new Error(`${order.command} was not started`)));
		guard.once('message', (message) => {
			const report = guardReportSchema.parse(message);
			if ('pid' in report) resolve(report.pid);
			else reject(new Error(`${order.command} ended at once`));
		});
	});
	// The guard stays as long as its starter has something to read from it.
	guard.on('message', (message) => {
		if ('exitCode' in guardReportSchema.parse(message) && guard.connected) guard.disconnect();
	});
	const log = () => readFileSync(logFile, 'utf8');
	return {
		pid,
		ended,
		log,
		end: async (signal) => {
			const force = setTimeout(() => killGroup(pid, 'SIGKILL'), graceMs);
			try {
				process.kill(pid, signal);
			} catch {
				// It has ended by itself.
			}
			await ended;
			clearTimeout(force);
		},
	};
}
