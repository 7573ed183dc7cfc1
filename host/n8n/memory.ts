import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../process/until';
import type { N8nServer } from './server';

/** The variables that make a server collect its garbage when it is told to. */
export const collectorVariables = {
	NODE_OPTIONS: `--require=${join(__dirname, 'collector.cjs')}`,
};

/**
 * Has a server that was started with `collectorVariables` collect its garbage, which takes it some tenths
 * of a second.
 *
 * @returns how many bytes are really in use then
 */
export async function bytesInUse({ pid, userFolder }: N8nServer): Promise<number> {
	const memoryFile = join(userFolder, 'bytes-in-use');
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
