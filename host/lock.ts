import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const pause = 100;
/** A lock without an owner's note is being taken this very moment, unless it is older than this. */
const noteDeadline = 5_000;

/** A lock that another process held for longer than the caller would wait. */
export class LockHeld extends Error {
	constructor(path: string) {
		super(`Another process still holds ${path}`);
	}
}

/**
 * Runs `work` while no other process (or other call in this one) holds the lock at `path`, a folder
 * that exists only as long as it is held. A lock whose owner has died is taken over.
 *
 * @param patience how long to wait for it, in milliseconds
 * @throws {LockHeld} when it is still held after `patience`; and whatever `work` throws
 */
export async function withLock<T>(
	path: string,
	work: () => Promise<T>,
	patience = 30 * 60_000,
): Promise<T> {
	await acquire(path, patience);
	try {
		return await work();
	} finally {
		await rm(path, { recursive: true, force: true });
	}
}

async function acquire(path: string, patience: number): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	const deadline = Date.now() + patience;
	for (;;) {
		try {
			await mkdir(path);
			await writeFile(ownerNote(path), String(process.pid));
			return;
		} catch (error) {
			if (!hasCode(error, 'EEXIST')) throw error;
		}
		if (await isAbandoned(path)) await discard(path);
		else if (Date.now() >= deadline) throw new LockHeld(path);
		else await sleep(pause);
	}
}

function ownerNote(path: string): string {
	return join(path, 'pid');
}

async function isAbandoned(path: string): Promise<boolean> {
	try {
		const owner = Number(await readFile(ownerNote(path), 'utf8'));
		if (owner > 0) return !isAlive(owner);
	} catch (error) {
		if (!hasCode(error, 'ENOENT')) throw error;
	}
	const info = await stat(path).catch(() => undefined);
	return info !== undefined && Date.now() - info.mtimeMs > noteDeadline;
}

// Renaming first: of several that find the same dead lock only one moves it away, and none removes
// a lock that was taken anew meanwhile.
async function discard(path: string): Promise<void> {
	const aside = `${path}.abandoned-${process.pid}`;
	try {
		await rename(path, aside);
	} catch (error) {
		if (hasCode(error, 'ENOENT')) return;
		throw error;
	}
	await rm(aside, { recursive: true, force: true });
}

/** Whether a process of this machine is running. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return hasCode(error, 'EPERM');
	}
}

/** Whether `error` is a system error with this code, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
	return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
