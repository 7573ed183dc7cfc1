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
 * this name.
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
	let held = await take(name);
	while (held === undefined) {
		if (Date.now() >= deadline) throw new LockHeld(name);
		// Not all at the same time: several that each got one port would do so again.
		await sleep(50 + 100 * Math.random());
		held = await take(name);
	}
	try {
		return await work();
	} finally {
		await release(held);
	}
}

// A lock is most of three loopback ports: the system gives a port to one process alone and takes it
// back however that ends, so that no dead owner has to be found out. One of the three may belong to
// a stranger; any two owners would still need a port in common.
async function take(name: string): Promise<Server[] | undefined> {
	const held: Server[] = [];
	for (const port of portsOf(name)) {
		const server = await listen(port);
		if (server !== undefined) held.push(server);
	}
	if (held.length >= 2) return held;
	await release(held);
	return undefined;
}

/** The ports of a lock, below those that systems hand out by themselves, from 32768 up. */
export function portsOf(name: string): number[] {
	const hash = createHash('sha256').update(name).digest();
	return [20_000, 24_000, 28_000].map((from, i) => from + (hash.readUInt16BE(2 * i) % 4_000));
}

async function listen(port: number): Promise<Server | undefined> {
	const server = createServer((socket) => socket.destroy());
	return await new Promise((resolve) => {
		server.once('error', () => resolve(undefined));
		server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server.unref()));
	});
}

async function release(held: readonly Server[]): Promise<void> {
	await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
}
