import { readFile } from 'node:fs/promises';
import execa from 'execa';

/** The id of a process's parent; undefined where the system does not tell. */
export async function parentOf(pid: number): Promise<number | undefined> {
	try {
		if (process.platform === 'linux') {
			const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
			// The program's name comes second, in brackets, and may hold anything.
			return idFrom(
				stat
					.slice(stat.lastIndexOf(')') + 1)
					.trim()
					.split(' ')[1],
			);
		}
		const { stdout } = await execa('ps', ['-o', 'ppid=', '-p', String(pid)]);
		return idFrom(stdout);
	} catch {
		return undefined;
	}
}

function idFrom(text: string | undefined): number | undefined {
	const id = Number(text);
	return Number.isInteger(id) && id > 0 ? id : undefined;
}

/**
 * Calls back once when this script was left alone: when the shell that npm runs scripts in has ended
 * without a signal reaching this process (npm hands SIGTERM to its shell, which hands it to nobody).
 * Does not keep the process alive.
 */
export async function whenLeftAlone(callback: () => void): Promise<void> {
	// Between the shell and this process stands the runner of TypeScript.
	const runner = process.ppid;
	const shell = await parentOf(runner);
	if (shell === undefined) return;
	const looking = setInterval(() => {
		void parentOf(runner).then((parent) => {
			if (parent === shell) return;
			clearInterval(looking);
			callback();
		});
	}, 2_000);
	looking.unref();
}
