import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A service on a loopback port that stands in for one outside. */
export interface LoopbackService {
	url: string;
	close(): Promise<void>;
}

type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => void;

/** Starts one; `answer` gets each request when its body has come. */
export async function serve(answer: Answer): Promise<LoopbackService> {
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => answer(request, Buffer.concat(chunks).toString('utf8'), response));
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
	return {
		url: `http://127.0.0.1:${address.port}`,
		close: async () => {
			await new Promise<void>((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			});
		},
	};
}

export function answerJson(response: ServerResponse, body: unknown, status = 200): void {
	response.writeHead(status, { 'content-type': 'application/json' });
	response.end(JSON.stringify(body));
}
