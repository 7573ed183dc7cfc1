import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { artifactsFolder } from '../folders';

/** Another process held a lock for longer than the caller would wait. */
export class LockHeld extends Error {}

const lookEveryMs = 250;

/**
 * Runs `work` while no other process (or other call in this one) holds the lock of this name. The lock of a
 * process that was killed is free ten seconds later.
 *
 * @param patienceMs how long to wait for it
 * @throws {LockHeld} if it is still held then; and whatever `work` throws
 */
export async function withLock<T>(
	name: string,
	work: () => Promise<T>,
	patienceMs = 30 * 60_000,
): Promise<T> {
	const folder = join(artifactsFolder, 'locks');
	await mkdir(folder, { recursive: true });
	const retries = {
		retries: Math.ceil(patienceMs / lookEveryMs),
		minTimeout: lookEveryMs,
		maxTimeout: lookEveryMs,
	};
	const release = await lock(join(folder, name), { realpath: false, retries }).catch(
		(error: unknown) => {
			const isHeld = error instanceof Error && 'code' in error && error.code === 'ELOCKED';
			throw isHeld ? new LockHeld(`Another process still holds ${name}`) : error;
		},
	);
	try {
		return await work();
	} finally {
		await release();
	}
}
