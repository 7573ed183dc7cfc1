import { randomUUID } from 'node:crypto';
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
});

test('a lock that is held is refused at once without patience, and free when the work has failed', async () => {
	const name = randomUUID();
	const work = async () => {
		await expect(withLock(name, nothing, 0)).rejects.toThrow(LockHeld);
		throw new Error('no');
	};
	await expect(withLock(name, work)).rejects.toThrow('no');
	await expect(withLock(name, nothing, 0)).resolves.toBeUndefined();
});
