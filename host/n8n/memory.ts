import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../process/until';

/** A server that collects its garbage when it is told to. */
export interface Collecting {
	readonly pid: number;
	/** Where it notes how many bytes are in use then. */
	readonly memoryFile: string;
}

/** The variables that make a server collect; its `NODE_OPTIONS` too. */
export function collectorVariables(memoryFile: string) {
	return {
		COLLECTOR_FILE: memoryFile,
		NODE_OPTIONS: `--require=${join(__dirname, 'collector.cjs')}`,
	};
}

/**
 * Has a server collect its garbage, which takes it some tenths of a second.
 *
 * @returns how many bytes are really in use then
 */
export async function bytesInUse({ pid, memoryFile }: Collecting): Promise<number> {
	const noted = async () => (await readFile(memoryFile, 'utf8').catch(() => '')).split('\n');
	const before = (await noted()).length;
	process.kill(pid, 'SIGUSR2');
	const lines = await until(noted, ({ length }) => length > before, {
		within: 60_000,
		every: 25,
		late: () => 'The server does not collect its garbage',
	});
	return Number(lines.at(-2));
}
