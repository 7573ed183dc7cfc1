import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { artifactsFolder } from '../folders';

/** A lock that another process held for longer than the caller would wait. */
export class LockHeld extends Error {
	constructor(name: string) {
		super(`Another process still holds ${name}`);
	}
}

/** The lock of a process that was killed is free after this time. */
export const staleMs = 5_000;

const retryEveryMs = 100;

const isHeld = (error: unknown): boolean =>
	error instanceof Error && 'code' in error && error.code === 'ELOCKED';

/**
 * Runs `work` while no other process that uses this folder (or other call in this one) holds the lock of this name.
 *
 * @param name what is to be had alone; part of a file name
 * @param patienceMs how long to wait for it
 * @throws {LockHeld} if it is still held after `patienceMs`; and whatever `work` throws
 */
export async function withLock<T>(
	name: string,
	work: () => Promise<T>,
	patienceMs = 30 * 60_000,
): Promise<T> {
	const folder = join(artifactsFolder, 'locks');
	await mkdir(folder, { recursive: true });
	const release = await lock(join(folder, name), {
		// The file need not exist.
		realpath: false,
		stale: staleMs,
		retries: { retries: Math.ceil(patienceMs / retryEveryMs), factor: 1, minTimeout: retryEveryMs },
	}).catch((error: unknown) => {
		throw isHeld(error) ? new LockHeld(name) : error;
	});
	try {
		return await work();
	} finally {
		await release();
	}
}
