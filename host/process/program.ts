import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
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
	 * @param within milliseconds
	 * @throws {EndedAtStart} when it ends by itself, with the last lines of its log
	 * @throws when it is not ready in time, with the same
	 */
	untilReady(isReady: () => boolean | Promise<boolean>, within: number): Promise<void>;
	/** Ends it in order: with a signal, and SIGKILL for what is left after a while. */
	stop(signal?: NodeJS.Signals): Promise<void>;
	/** Sends a signal to it and all its children. After SIGKILL, resolves when it is gone. */
	kill(signal: NodeJS.Signals): Promise<void>;
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

/** How long a program may take to end by itself, in milliseconds. */
const graceMs = 15_000;

/**
 * Sends a signal to a process group, by the id of the process that leads it; where the system knows
 * no groups (Windows), to that process alone. A group that is gone already is fine.
 */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
	try {
		process.kill(process.platform === 'win32' ? leader : -leader, signal);
	} catch {
		// Nobody left to signal.
	}
}

/** Starts a program. Throws where it can't be started. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
	const { name, command, args, cwd, logFile, env = process.env } = options;
	const output = openSync(logFile, 'a');
	// A group of its own: a Ctrl-C in the terminal is for this process, which then ends it in order.
	const child = spawn(command, args, {
		cwd,
		env,
		detached: true,
		stdio: ['ignore', output, output],
	});
	closeSync(output);
	await once(child, 'spawn');
	const { pid } = child;
	if (pid === undefined) throw new Error(`${name} was not started`);
	const end = () => killGroup(pid, 'SIGKILL');
	process.once('exit', end);
	let running = true;
	let isMeantToEnd = false;
	const ended = new Promise<string | undefined>((resolve) => {
		child.once('exit', (code, signal) => {
			running = false;
			end();
			process.off('exit', end);
			resolve(isMeantToEnd ? undefined : (signal ?? `code ${code}`));
		});
	});
	const log = () => readFileSync(logFile, 'utf8');
	return {
		pid,
		ended,
		log,
		untilReady: async (isReady, within) => {
			const isOver = async () => !running || (await isReady());
			const lastLines = () => log().split('\n').slice(-40).join('\n');
			const late = () => `${name} was not ready after ${within / 1000} s\n${lastLines()}`;
			await until(isOver, (over) => over, { within, late });
			if (!running) throw new EndedAtStart(`${name} ended while it was starting\n${lastLines()}`);
		},
		kill: async (signal) => {
			isMeantToEnd = true;
			if (running) killGroup(pid, signal);
			if (signal === 'SIGKILL') await ended;
		},
		stop: async (signal = 'SIGTERM') => {
			// The id of one that is gone may be another's by now.
			if (!running) return;
			isMeantToEnd = true;
			child.kill(signal);
			await Promise.race([ended, sleep(graceMs, undefined, { ref: false })]);
			if (running) end();
			await ended;
		},
	};
}
