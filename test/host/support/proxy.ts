import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** What a proxy does with whatever it is asked. */
const answers = {
	'asks for a password': (socket: Socket) =>
		socket.end(
			'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n',
		),
	'ends the connection': (socket: Socket) => socket.end(),
	'does not answer': () => undefined,
};

export type ProxyAnswer = keyof typeof answers;

/** A proxy on a loopback port that lets nothing through. */
export interface Proxy {
	/** Its host and port. */
	readonly host: string;
	/** Its address with a user name and a password, as n8n's environment has it. */
	readonly url: string;
	/** The password: no message may hold it. */
	readonly password: string;
	answer: ProxyAnswer;
	/** From then on its port refuses connections. */
	close(): Promise<void>;
}

/** Starts a proxy. */
export async function startProxy(): Promise<Proxy> {
	const sockets = new Set<Socket>();
	const server = createServer((socket) => {
		sockets.add(socket);
		socket.on('error', () => undefined);
		socket.once('data', () => answers[proxy.answer](socket));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
	const host = `127.0.0.1:${address.port}`;
	const password = 'password-of-the-proxy';
	const proxy: Proxy = {
		host,
		url: `http://user:${password}@${host}`,
		password,
		answer: 'does not answer',
		close: async () => {
			if (!server.listening) return;
			server.close();
			for (const socket of sockets) socket.destroy();
			await once(server, 'close');
		},
	};
	return proxy;
}
