import { createServer } from 'node:net';

/** A port of the loopback interface that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
	const port = await listenOnce(0);
	if (port === undefined) throw new Error('No free port was found on 127.0.0.1');
	return port;
}

/** `preferred` when it is free on the loopback interface, otherwise another free port. */
export async function portNear(preferred: number): Promise<number> {
	return (await listenOnce(preferred)) ?? (await freePort());
}

async function listenOnce(port: number): Promise<number | undefined> {
	const server = createServer();
	try {
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject).listen(port, '127.0.0.1', resolve);
		});
		const address = server.address();
		return typeof address === 'object' ? address?.port : undefined;
	} catch {
		return undefined;
	} finally {
		await new Promise((resolve) => server.close(resolve));
	}
}
