import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { LockHeld, withLock } from '../../../host/lock';

let folder: string;
let path: string;

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'lock-test-'));
	path = join(folder, 'some.lock');
});

afterEach(async () => {
	await rm(folder, { recursive: true, force: true });
});

function pidOfADeadProcess(): number {
	return spawnSync(process.execPath, ['-e', '']).pid;
}

test('one after another, whoever asks', async () => {
	let inside = 0;
	let most = 0;
	const work = async () => {
		most = Math.max(most, ++inside);
		for (let turns = 0; turns < 5; turns++) await turn();
		inside--;
	};
	await Promise.all([withLock(path, work), withLock(path, work), withLock(path, work)]);
	expect(most).toBe(1);
});

test('gives what the work gives and leaves nothing behind', async () => {
	await expect(withLock(path, () => Promise.resolve(7))).resolves.toBe(7);
	await expect(readdir(folder)).resolves.toEqual([]);
});

test('is free again after work that failed', async () => {
	await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
	await expect(withLock(path, () => Promise.resolve('yes'))).resolves.toBe('yes');
});

test('refuses when its owner lives and patience has run out', async () => {
	await withLock(path, async () => {
		await expect(withLock(path, () => Promise.resolve(), 0)).rejects.toThrow(LockHeld);
	});
});

test('takes over from an owner that has died', async () => {
	await mkdir(path);
	await writeFile(join(path, 'pid'), String(pidOfADeadProcess()));
	await expect(withLock(path, () => Promise.resolve('mine'), 0)).resolves.toBe('mine');
});
