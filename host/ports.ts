import { createServer } from 'node:net';

/** A port of the loopback interface that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
	const port = await listenOnce(0);
	if (port === undefined) throw new Error('No free port was found on 127.0.0.1');
	return port;
}

/** The first of these ports that is free on the loopback interface, otherwise any free one. */
export async function firstFree(...preferred: Array<number | undefined>): Promise<number> {
	for (const port of preferred) {
		if (port !== undefined && (await listenOnce(port)) !== undefined) return port;
	}
	return await freePort();
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
