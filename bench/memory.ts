import { setTimeout as sleep } from 'node:timers/promises';
import { bytesInUse, type N8nServer } from '../host';

/** Seldom enough that a run has time for its own work: a collection takes some tenths of a second. */
const collectEveryMs = 2000;

/**
 * Watches what is really in use in a server while something runs, its garbage collected every two seconds.
 *
 * @returns how far that rose above what was in use before, in megabytes
 */
export async function watchCollectedMemory<T>(
	server: N8nServer,
	work: () => Promise<T>,
): Promise<{ result: T; megabytes: number }> {
	const before = await bytesInUse(server);
	let highest = before;
	let running = true;
	const watch = async () => {
		for (; running; await sleep(collectEveryMs)) {
			highest = Math.max(highest, await bytesInUse(server));
		}
	};
	const watching = watch();
	try {
		const result = await work();
		return { result, megabytes: (highest - before) / 2 ** 20 };
	} finally {
		running = false;
		await watching;
	}
}
