import type { ServerResponse } from 'node:http';

export const jsonType = { 'content-type': 'application/json' };

/** Answers with a whole body. */
export function answer(
	response: ServerResponse,
	status: number,
	headers: Readonly<Record<string, string>>,
	body: string,
): void {
	response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
	response.end(body);
}

/** Answers with a JSON value. */
export function answerJson(response: ServerResponse, status: number, value: unknown): void {
	answer(response, status, jsonType, JSON.stringify(value));
}
