import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { killGroup } from './processes';

/** An npm command that ended badly; `output` is all that it printed. */
export class NpmFailed extends Error {
	constructor(
		readonly args: readonly string[],
		readonly exitCode: number | null,
		readonly output: string,
	) {
		super(`npm ${args.join(' ')} ended with code ${exitCode ?? 'none'}`);
	}
}

export interface NpmOptions {
	cwd: string;
	/** A file that everything npm prints is added to. */
	logFile?: string;
	env?: Record<string, string>;
}

/**
 * Runs npm and gives what it printed on its standard output.
 *
 * @throws {NpmFailed} when it ends with another code than 0
 */
export async function runNpm(
	args: readonly string[],
	{ cwd, logFile, env = {} }: NpmOptions,
): Promise<string> {
	const { command, before, shell } = npmCommand();
	const child = spawn(command, [...before, ...args], {
		cwd,
		shell,
		env: { ...withoutNpmOfParent(process.env), ...env },
		// A group of its own, so that compilers that npm started end with it.
		detached: process.platform !== 'win32',
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	// npm lets SIGTERM pass; what it was installing is taken up again by its next run.
	const stop = () => {
		if (child.pid !== undefined) killGroup(child.pid, 'SIGKILL');
	};
	process.once('exit', stop);
	const log = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' });
	const printed: string[] = [];
	const everything: string[] = [];
	for (const [stream, keep] of [
		[child.stdout, true],
		[child.stderr, false],
	] as const) {
		stream.setEncoding('utf8').on('data', (text: string) => {
			if (keep) printed.push(text);
			everything.push(text);
			log?.write(text);
		});
	}
	try {
		const exitCode = await new Promise<number | null>((resolve, reject) => {
			child.once('error', reject).once('close', resolve);
		});
		if (exitCode !== 0) throw new NpmFailed(args, exitCode, everything.join(''));
		return printed.join('');
	} finally {
		process.off('exit', stop);
		log?.end();
		if (log) await finished(log);
	}
}

function npmCommand(): { command: string; before: string[]; shell: boolean } {
	const script = process.env['npm_execpath'];
	if (script?.endsWith('npm-cli.js')) {
		return { command: process.execPath, before: [script], shell: false };
	}
	return { command: 'npm', before: [], shell: process.platform === 'win32' };
}

/**
 * The environment without what an npm script hands down about its own package (`npm start` runs
 * npm again in other folders, which must not take this project for theirs).
 */
export function withoutNpmOfParent(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const ofParent =
		/^npm_(package_|lifecycle_|command$|config_local_prefix$|config_ignore_scripts$)/;
	return Object.fromEntries(Object.entries(environment).filter(([name]) => !ofParent.test(name)));
}
