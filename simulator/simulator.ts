import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerControl, controlPath } from './control';
import { ControlledService, type SimulatorOptions } from './controlled';
import { answerJson, readBody, type ReadBody } from './http';
import { isJsonObject, parseJson } from './json';
import { answerPage } from './page';

/** A chat's incoming webhook, as Slack, Mattermost and Google Chat have them. */
const chatPath = '/chat';

const serverTimeouts = {
	// A client that reuses a connection just as the server ends it sees a reset that no test made.
	keepAliveTimeout: 120_000,
	headersTimeout: 125_000,
};

/** The push service on a loopback port, with its page and its control interface. */
export class Simulator extends ControlledService {
	private readonly server = createServer(serverTimeouts, (request, response) => {
		this.receive(request, response).catch(() => {
			response.destroy();
		});
	});

	/** Starts listening; rejects where the port is taken. */
	async listen(host: string, port: number): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			this.server.once('error', reject);
			this.server.listen({ host, port, backlog: 4096 }, () => {
				this.server.off('error', reject);
				resolve();
			});
		});
		const address = this.server.address();
		if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
		const name = host.includes(':') ? `[${host}]` : host;
		this.address = `http://${name}:${address.port}`;
	}

	/** Ends every connection, also those that hang, and frees the port. */
	async close(): Promise<void> {
		if (!this.server.listening) return;
		await new Promise<void>((resolve) => {
			this.server.close(() => {
				resolve();
			});
			this.server.closeAllConnections();
		});
		this.closeState();
	}

	/** The address of the chat's webhook: takes `{ "text": … }`, which the page shows. */
	get chatUrl(): string {
		return this.address + chatPath;
	}

	private answerChat(response: ServerResponse, { bytes }: ReadBody): void {
		const message = parseJson(bytes.toString('utf8'));
		const text = isJsonObject(message) ? message['text'] : undefined;
		if (typeof text !== 'string') {
			answerJson(response, 400, { message: 'A message to the chat is JSON with a text' });
			return;
		}
		this.post(text);
		answerJson(response, 200, { ok: true });
	}

	private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const path = request.url ?? '/';
		const body = await readBody(request);
		if (path.startsWith(controlPath)) {
			answerControl(this, request, response, body);
		} else if (path === '/' && request.method === 'GET') {
			answerPage(response);
		} else if (path === chatPath && request.method === 'POST') {
			this.answerChat(response, body);
		} else {
			this.serve(request, response, body);
		}
	}
}

/** Starts a simulator; it listens when the promise resolves. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
	const simulator = new Simulator(options);
	await simulator.listen(options.host ?? '127.0.0.1', options.port ?? 0);
	return simulator;
}
