import type { ServerResponse } from 'node:http';
import { answerJson } from './http';
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

function truncate(response: ServerResponse, answer: Answer): void {
	const body = Buffer.from(JSON.stringify(answer.body));
	response.writeHead(answer.status, {
		'content-type': 'application/json',
		'content-length': body.length,
		...answer.headers,
	});
	response.write(body.subarray(0, Math.floor(body.length / 2)), () => {
		response.destroy();
	});
}

function answerBig(response: ServerResponse, megabytes: number): void {
	const megabyte = Buffer.alloc(1_000_000, 'x');
	let left = Math.round(megabytes * megabyte.length);
	response.writeHead(200, { 'content-type': 'application/json', 'content-length': left });
	const writeOn = (): void => {
		while (left > 0 && !response.destroyed) {
			const chunk = megabyte.subarray(0, Math.min(left, megabyte.length));
			left -= chunk.length;
			if (!response.write(chunk)) {
				response.once('drain', writeOn);
				return;
			}
		}
		response.end();
	};
	writeOn();
}

/**
 * Gives an answer, or what a fault makes of it. `answer` is null where nothing was processed.
 * Gives the HTTP status and failure type that the client can read, null where it gets no answer.
 */
export function deliver(
	response: ServerResponse,
	answer: Answer | null,
	action: FaultAction | null,
): { status: number; type: string | null } | null {
	if (response.destroyed) return null;
	switch (action?.kind) {
		case 'reset-before':
		case 'reset-after':
			response.socket?.resetAndDestroy();
			return null;
		case 'hang':
			return null;
		case 'truncate':
			if (answer) truncate(response, answer);
			return null;
		case 'respond':
			response.writeHead(action.status, {
				'content-length': Buffer.byteLength(action.body),
				...action.headers,
			});
			response.end(action.body);
			return { status: action.status, type: null };
		case 'failure': {
			const { type, description, status, headers } = action;
			const body = { status: 'failure', ...(type === undefined ? {} : { type }), description };
			answerJson(response, status, body, headers);
			return { status, type: type ?? null };
		}
		case 'redirect':
			response.writeHead(action.status, { location: action.location, 'content-length': 0 });
			response.end();
			return { status: action.status, type: null };
		case 'big':
			answerBig(response, action.megabytes);
			return { status: 200, type: null };
		default: {
			if (!answer) return null;
			answerJson(response, answer.status, answer.body, answer.headers);
			const type = answer.body['type'];
			return { status: answer.status, type: typeof type === 'string' ? type : null };
		}
	}
}
