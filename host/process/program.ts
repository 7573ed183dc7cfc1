import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { killGroup } from './run';
import { until } from './until';

/** A program ended before it could be used. */
export class EndedAtStart extends Error {}

/** A program that runs beside this process, in a process group of its own, and ends with it. */
export interface Program {
	/** It leads its process group. */
	pid: number;
	/** Settles when it has ended. If it ended by itself, with how: `code 1`, or a signal such as `SIGSEGV`. */
	ended: Promise<string | undefined>;
	/** Everything that is in its log file, of earlier starts too. */
	log(): string;
	/**
	 * Waits until it can be used.
	 *
	 * @throws {EndedAtStart} when it ends by itself, with the last lines of its log
	 */
	untilReady(isReady: () => boolean | Promise<boolean>): Promise<void>;
	/** Ends it in order: by a signal, and by SIGKILL what is left after a while. */
	stop(signal?: NodeJS.Signals): Promise<void>;
	/** Ends it and its children by SIGKILL. */
	kill(): Promise<void>;
}

export interface ProgramOptions {
	/** What messages call it. */
	name: string;
	command: string;
	args: string[];
	cwd: string;
	/** What it prints is added here. */
	logFile: string;
	/** Left out: this process's own. */
	env?: NodeJS.ProcessEnv;
}

/** How long a program may take to start on a machine that does much else, and to end by itself. */
const startMs = 300_000;
const graceMs = 15_000;

/** Starts a program. Throws if it can't be started. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
	const { name, command, args, cwd, logFile, env = process.env } = options;
	const output = openSync(logFile, 'a');
	// In a group of its own: Ctrl+C in the terminal is for this process, which then ends it in order.
	const stdio = ['ignore' as const, output, output];
	const child = spawn(command, args, { cwd, env, detached: true, stdio });
	closeSync(output);
	await once(child, 'spawn');
	const { pid } = child;
	if (pid === undefined) throw new Error(`${name} was not started`);
	const killAll = () => killGroup(pid, 'SIGKILL');
	process.once('exit', killAll);
	let isRunning = true;
	let isMeantToEnd = false;
	const ended = new Promise<string | undefined>((resolve) => {
		child.once('exit', (code, signal) => {
			isRunning = false;
			killAll();
			process.off('exit', killAll);
			resolve(isMeantToEnd ? undefined : (signal ?? `code ${code}`));
		});
	});
	const log = () => readFileSync(logFile, 'utf8');
	const lastLines = () => log().split('\n').slice(-40).join('\n');
	return {
		pid,
		ended,
		log,
		untilReady: async (isReady) => {
			await until(
				async () => !isRunning || (await isReady()),
				(isOver) => isOver,
				{ within: startMs, late: () => `${name} was not ready in time\n${lastLines()}` },
			);
			if (!isRunning) throw new EndedAtStart(`${name} ended at its start\n${lastLines()}`);
		},
		kill: async () => {
			isMeantToEnd = true;
			if (isRunning) killAll();
			await ended;
		},
		stop: async (signal = 'SIGTERM') => {
			isMeantToEnd = true;
			// The ID of one that is gone may be another's by now.
			if (isRunning) child.kill(signal);
			await Promise.race([ended, sleep(graceMs, undefined, { ref: false })]);
			if (isRunning) killAll();
			await ended;
		},
	};
}
