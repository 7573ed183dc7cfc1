import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import execa from 'execa';
import { killGroup } from './processes';

/** An npm command that ended badly; `output` is all that it printed. */
export class NpmFailed extends Error {
	constructor(
		readonly args: readonly string[],
		readonly exitCode: number | undefined,
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
	const [command, ...before] = npmCommand();
	const child = execa(command, [...before, ...args], {
		cwd,
		env: { ...withoutNpmOfParent(process.env), ...env },
		extendEnv: false,
		// A group of its own, so that compilers that npm started end with it.
		detached: process.platform !== 'win32',
		stdin: 'ignore',
		all: true,
		reject: false,
	});
	// npm lets SIGTERM pass; what it was installing is taken up again by its next run.
	const stop = () => {
		if (child.pid !== undefined) killGroup(child.pid, 'SIGKILL');
	};
	process.once('exit', stop);
	const log = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' });
	if (log) child.all?.pipe(log);
	try {
		const { failed, exitCode, stdout, all = '' } = await child;
		if (failed) throw new NpmFailed(args, exitCode, all);
		return stdout;
	} finally {
		process.off('exit', stop);
		if (log) await finished(log.end());
	}
}

function npmCommand(): [string, ...string[]] {
	const script = process.env['npm_execpath'];
	return script?.endsWith('npm-cli.js') ? [process.execPath, script] : ['npm'];
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
