import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { artifactsFolder } from '../folders';

/** Another process held a lock for longer than the caller would wait. */
export class LockHeld extends Error {}

const beatMs = 1_000;
/** A process that has its number from one that ended before a restart of the machine does not beat. */
const deadAfterMs = 30_000;

/**
 * Runs `work` while no other process (or other call in this one) holds the lock of this name.
 *
 * A lock is a folder with one file, which is named by its holder. The one atomic operation is to rename
 * a prepared folder to the lock's name: it succeeds only if there is no such folder, or an empty one.
 *
 * @param patienceMs how long to wait for it
 * @throws {LockHeld} if it is still held then; and whatever `work` throws
 */
export async function withLock<T>(
	name: string,
	work: () => Promise<T>,
	patienceMs = 30 * 60_000,
): Promise<T> {
	const lock = join(artifactsFolder, 'locks', name);
	const holder = `${process.pid}-${randomUUID()}`;
	const prepared = `${lock}.${holder}`;
	await mkdir(prepared, { recursive: true });
	await writeFile(join(prepared, holder), '');
	const deadline = Date.now() + patienceMs;
	while (!(await wasRenamed(prepared, lock))) {
		const [other = ''] = await readdir(lock).catch(() => []);
		// Of several that find a dead holder one succeeds: for the others the new name is taken for good.
		if (await isDead(join(lock, other))) await wasRenamed(lock, `${lock}.${other}`);
		else if (Date.now() < deadline) await sleep(100);
		else {
			await rm(prepared, { recursive: true });
			throw new LockHeld(`Another process still holds ${name}`);
		}
	}
	const file = join(lock, holder);
	const beating = setInterval(() => void utimes(file, new Date(), new Date()), beatMs).unref();
	try {
		return await work();
	} finally {
		clearInterval(beating);
		await unlink(file);
	}
}

const wasRenamed = async (from: string, to: string): Promise<boolean> =>
	await rename(from, to).then(
		() => true,
		() => false,
	);

async function isDead(file: string): Promise<boolean> {
	const pid = Number.parseInt(basename(file), 10);
	if (Number.isNaN(pid)) return false;
	try {
		process.kill(pid, 0);
	} catch {
		return true;
	}
	const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
	return Date.now() - mtimeMs > deadAfterMs;
}
