import type { ServerResponse } from 'node:http';
import { answer, jsonType } from './http';
import type { FaultAction } from './schemas';
import type { Answer } from './service';

/** Whether a fault lets the service carry the request out before it strikes. */
export function isProcessed(action: FaultAction | null): boolean {
	switch (action?.kind) {
		case 'reset-before':
		case 'failure':
		case 'redirect':
			return false;
		case 'hang':
		case 'respond':
		case 'big':
			return action.process;
		default:
			return true;
	}
}

/** An answer as it goes out, and the failure type in it. */
interface PlainAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
	readonly type?: unknown;
}

/** What a fault, or else the service, answers; null where there is no answer. */
function answerOf(action: FaultAction | null, given: Answer | null): PlainAnswer | null {
	switch (action?.kind) {
		case 'respond':
			return action;
		case 'failure': {
			const { type, description, status, headers } = action;
			const body = JSON.stringify({ status: 'failure', type, description });
			return { status, headers: { ...jsonType, ...headers }, body, type };
		}
		case 'redirect':
			return { status: action.status, headers: { location: action.location }, body: '' };
		case 'big':
			return { status: 200, headers: jsonType, body: 'x'.repeat(action.megabytes * 1_000_000) };
	}
	if (given === null) return null;
	return {
		status: given.status,
		headers: { ...jsonType, ...given.headers },
		body: JSON.stringify(given.body),
		type: given.body['type'],
	};
}

/**
 * Gives an answer, or what a fault makes of it. `given` is null where nothing was processed.
 * Gives the HTTP status and failure type that the client can read, null where it gets no answer.
 */
export function deliver(
	response: ServerResponse,
	given: Answer | null,
	action: FaultAction | null,
): { status: number; type: string | null } | null {
	if (response.destroyed || action?.kind === 'hang') return null;
	if (action?.kind === 'reset-before' || action?.kind === 'reset-after') {
		response.socket?.resetAndDestroy();
		return null;
	}
	const plain = answerOf(action, given);
	if (plain === null) return null;
	const { status, headers, body, type } = plain;
	if (action?.kind === 'truncate') {
		response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
		response.write(body.slice(0, body.length / 2), () => response.destroy());
		return null;
	}
	answer(response, status, headers, body);
	return { status, type: typeof type === 'string' ? type : null };
}
