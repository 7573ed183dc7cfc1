import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Leftover {
	pid: number;
	command: string;
}

/**
 * The living processes of a test run, by its temporary folder: all inherit the variable that names it.
 * Linux alone shows other processes' environments: elsewhere none are found.
 */
async function processesOf(folder: string): Promise<Leftover[]> {
	const entries = await readdir('/proc').catch(() => []);
	const found: Leftover[] = [];
	for (const pid of entries.map(Number)) {
		if (Number.isNaN(pid) || pid === process.pid) continue;
		try {
			const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
			if (!environment.split('\0').includes(`TMPDIR=${folder}`)) continue;
			const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
			// One that has ended and waits for its parent to notice shows no command.
			if (command !== '') found.push({ pid, command: command.replaceAll('\0', ' ').trim() });
		} catch {
			// It ended meanwhile, or belongs to somebody else.
		}
	}
	return found;
}

/**
 * Gives a run's processes a while to end by themselves, and ends those that did not.
 *
 * @param folder the run's temporary folder
 * @param patience milliseconds
 * @returns those that had to be ended
 */
export async function endProcessesOf(folder: string, patience: number): Promise<Leftover[]> {
	const deadline = Date.now() + patience;
	let left = await processesOf(folder);
	while (left.length > 0 && Date.now() < deadline) {
		await sleep(250);
		left = await processesOf(folder);
	}
	for (const { pid } of left) {
		try {
			process.kill(pid, 'SIGKILL');
		} catch {
			// It has just ended.
		}
	}
	return left;
}
