import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import execa from 'execa';
import { killGroup } from './program';

/** What an npm script hands down of its own package, which npm in another folder must not go by. */
const notHandedDown = { npm_config_local_prefix: undefined, npm_config_ignore_scripts: undefined };

/**
 * Runs npm and gives what it printed on its standard output.
 *
 * @param logFile a file that everything npm prints is added to
 * @throws when it ends with another code than 0, with all that it printed
 */
export async function runNpm(
	args: readonly string[],
	cwd: string,
	logFile?: string,
): Promise<string> {
	const child = execa('npm', args, {
		cwd,
		env: notHandedDown,
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
		if (failed) throw new Error(`npm ${args.join(' ')} ended with code ${exitCode}\n${all}`);
		return stdout;
	} finally {
		process.off('exit', stop);
		if (log) await finished(log.end());
	}
}
