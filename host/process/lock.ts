import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A lock that another process held for longer than the caller would wait. */
export class LockHeld extends Error {
	constructor(name: string) {
		super(`Another process still holds ${name}`);
	}
}

/**
 * Runs `work` while no other process of this machine (or other call in this one) holds the lock of
 * this name. The lock is a loopback port: the system gives it to one process alone and takes it back
 * however that ends.
 *
 * @param name any text, such as the path of what is to be had alone
 * @param patience how long to wait for it, in milliseconds
 * @throws {LockHeld} when it is still held after `patience`; and whatever `work` throws
 */
export async function withLock<T>(
	name: string,
	work: () => Promise<T>,
	patience = 30 * 60_000,
): Promise<T> {
	const deadline = Date.now() + patience;
	// Below the ports that systems hand out by themselves, from 32768 up.
	const port = 20_000 + (createHash('sha256').update(name).digest().readUInt16BE(0) % 12_000);
	let held = await listen(port);
	while (held === undefined) {
		if (Date.now() >= deadline) throw new LockHeld(name);
		await sleep(100);
		held = await listen(port);
	}
	try {
		return await work();
	} finally {
		held.close();
	}
}

async function listen(port: number): Promise<Server | undefined> {
	const server = createServer((socket) => socket.destroy());
	return await new Promise((resolve) => {
		server.once('error', () => resolve(undefined));
		server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server.unref()));
	});
}
