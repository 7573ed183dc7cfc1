import { spawn } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { killGroup } from './processes';

// Stands between a server and whoever started it, as a process of its own. When the starter is gone,
// however it went (its end, Ctrl-C, a closed terminal, SIGKILL), the channel between the two closes,
// and the guard ends the server and everything that it started.

const orderSchema = z.object({
	command: z.string(),
	args: z.array(z.string()),
	cwd: z.string(),
	logFile: z.string(),
	/** A folder that goes with the starter, when that is gone before it has ended the server. */
	temporaryFolder: z.string().optional(),
});

export type GuardOrder = z.infer<typeof orderSchema>;

/** How long what is to end may take to do so by itself, in milliseconds. */
export const graceMs = 15_000;

export const guardReportSchema = z.union([
	z.object({ pid: z.number() }),
	z.object({ exitCode: z.number().nullable(), signal: z.string().nullable() }),
	z.object({ failure: z.string() }),
]);

type GuardReport = z.infer<typeof guardReportSchema>;

function guard(order: GuardOrder): void {
	const log = openSync(order.logFile, 'a');
	// A process group of its own, so that a Ctrl-C in the terminal does not reach it and so that
	// what it starts can be ended with it.
	const server = spawn(order.command, order.args, {
		cwd: order.cwd,
		detached: true,
		stdio: ['ignore', log, log],
	});
	const { pid } = server;
	const report = (message: GuardReport) => {
		if (process.connected) process.send?.(message);
	};
	const leave = () => process.exit();
	server.once('error', (error) => report({ failure: error.message }));
	if (pid === undefined) {
		process.once('disconnect', leave);
		return;
	}
	let running = true;
	server.once('exit', (exitCode, signal) => {
		running = false;
		killGroup(pid, 'SIGKILL');
		report({ exitCode, signal });
		if (process.connected) return;
		if (order.temporaryFolder !== undefined) {
			rmSync(order.temporaryFolder, { recursive: true, force: true, maxRetries: 5 });
		}
		leave();
	});
	process.once('disconnect', () => {
		if (!running) leave();
		server.kill('SIGTERM');
		setTimeout(() => killGroup(pid, 'SIGKILL'), graceMs);
	});
	report({ pid });
}

if (require.main === module) {
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
	process.once('message', (message) => guard(orderSchema.parse(message)));
}
