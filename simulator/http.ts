import type { IncomingMessage, ServerResponse } from 'node:http';

/** The most that a body may hold, in bytes. */
export const bodyLimit = 1_000_000;
// A client that is still sending would not see an answer that came before its body's end.
const patienceLimit = 16 * bodyLimit;

export interface ReadBody {
	/** Empty where the body was larger than the limit. */
	readonly bytes: Buffer;
	readonly tooLarge: boolean;
}

/** Reads a request's body to its end; rejects where the client goes away or never stops. */
export function readBody(request: IncomingMessage): Promise<ReadBody> {
	return new Promise((resolve, reject) => {
		let chunks: Buffer[] = [];
		let size = 0;
		request.on('data', (chunk: Buffer) => {
			size += chunk.length;
			if (size <= bodyLimit) chunks.push(chunk);
			else chunks = [];
			if (size > patienceLimit) request.destroy();
		});
		request.on('end', () => {
			resolve({ bytes: Buffer.concat(chunks), tooLarge: size > bodyLimit });
		});
		request.on('error', reject);
		request.on('close', () => {
			reject(new Error('The client went away'));
		});
	});
}

/** Answers with a JSON value. */
export function answerJson(
	response: ServerResponse,
	status: number,
	value: unknown,
	headers: Readonly<Record<string, string>> = {},
): void {
	const body = JSON.stringify(value);
	response.writeHead(status, {
		'content-type': 'application/json',
		'content-length': Buffer.byteLength(body),
		...headers,
	});
	response.end(body);
}
