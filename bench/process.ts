import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesInUse, type Collecting } from '../host';

/** The memory that a process holds now, in megabytes; undefined where the system does not tell. */
async function residentMegabytes(pid: number): Promise<number | undefined> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
	const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
	return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

/** Milliseconds of one tick of the kernel's clock, in which it counts processor time. */
const tickMs = 10;

/**
 * The processor time that a process has used so far, in milliseconds; undefined where the system does
 * not tell. Unlike the time on the clock it hardly depends on what else the machine does.
 */
export async function processorTime(pid: number): Promise<number | undefined> {
	const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
	// The fields after the name, which may hold spaces: user time is the 12th, system time the 13th.
	const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
	const ticks = Number(fields[11]) + Number(fields[12]);
	return Number.isNaN(ticks) ? undefined : ticks * tickMs;
}

/**
 * Watches the memory of a process while something runs.
 *
 * @returns how far it rose above what the process held before, in megabytes
 */
export async function watchMemory<T>(
	pid: number,
	work: () => Promise<T>,
): Promise<{ result: T; megabytes: number }> {
	const before = (await residentMegabytes(pid)) ?? NaN;
	let highest = before;
	const end = new AbortController();
	const watching = (async () => {
		while (!end.signal.aborted) {
			highest = Math.max(highest, (await residentMegabytes(pid)) ?? NaN);
			await sleep(25, undefined, { signal: end.signal }).catch(() => undefined);
		}
	})();
	try {
		const result = await work();
		return { result, megabytes: highest - before };
	} finally {
		end.abort();
		await watching;
	}
}

/** Seldom enough that a run has time for its own work: a collection takes some tenths of a second. */
const collectEveryMs = 2000;

/**
 * Watches what is really in use in a server while something runs, its garbage collected every two seconds.
 *
 * @returns how far that rose above what was in use before, in megabytes
 */
export async function watchCollectedMemory<T>(
	server: Collecting,
	work: () => Promise<T>,
): Promise<{ result: T; megabytes: number }> {
	const before = await bytesInUse(server);
	let highest = before;
	const end = new AbortController();
	const watching = (async () => {
		while (!end.signal.aborted) {
			highest = Math.max(highest, await bytesInUse(server));
			await sleep(collectEveryMs, undefined, { signal: end.signal }).catch(() => undefined);
		}
	})();
	try {
		const result = await work();
		return { result, megabytes: (highest - before) / 2 ** 20 };
	} finally {
		end.abort();
		await watching;
	}
}
