import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { LockHeld, withLock } from '../../../host/process/lock';

const nothing = async () => undefined;

test('a lock lets one piece of work in at a time, and gives what the work gives', async () => {
	const name = randomUUID();
	let inside = 0;
	const work = async () => {
		expect(++inside).toBe(1);
		await new Promise((resolve) => setImmediate(resolve));
		return inside--;
	};
	const three = [withLock(name, work), withLock(name, work), withLock(name, work)];
	expect(await Promise.all(three)).toEqual([1, 1, 1]);
	await expect(withLock(name, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
	await expect(withLock(name, nothing, 0)).resolves.toBeUndefined();
});

test('a lock that another process holds is refused at once without patience, and free when that one was killed', async () => {
	const name = randomUUID();
	// The timer keeps the child running: neither the lock nor its channel does.
	const script = `require('./lock').withLock('${name}', () => {
		setInterval(() => undefined, 60_000);
		return new Promise(() => process.send('in'));
	})`;
	const child = fork('-e', [script], {
		cwd: join(__dirname, '../../../host/process'),
		execArgv: ['--import', 'tsx'],
	});
	await once(child, 'message');
	await expect(withLock(name, nothing, 0)).rejects.toThrow(LockHeld);
	const waiting = [1, 2, 3].map(async () => await withLock(name, nothing));
	child.kill('SIGKILL');
	await once(child, 'exit');
	await expect(Promise.all(waiting)).resolves.toHaveLength(3);
});
