import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { credentialsFor } from './pushCampaign';

/** A service that never ends an answer: it begins each one, and goes on with it as given. */
export async function startEndless(goOn: (socket: Socket) => void = () => undefined) {
	const sockets: Socket[] = [];
	const server = createServer((socket) => {
		sockets.push(socket.resume());
		socket.on('error', () => undefined);
		socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{');
		goOn(socket);
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
	const { port } = address;

	/** Waits until each socket is closed from the other side. `once` would reject if the connection is reset. */
	async function close(): Promise<void> {
		const open = sockets.filter(({ closed }) => !closed);
		await Promise.all(
			open.map(async (socket) => await new Promise((resolve) => socket.once('close', resolve))),
		);
		server.close();
	}
	return { sockets, close, port, credentials: credentialsFor({ url: `http://127.0.0.1:${port}` }) };
}
