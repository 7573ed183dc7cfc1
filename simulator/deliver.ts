import type { ServerResponse } from 'node:http';
import type { Answer } from './answer';
import type { FaultAction } from './faults';

const jsonType = { 'content-type': 'application/json' };

/** An answer as it goes out. */
interface PlainAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
}

/** What a client gets for a request. */
export interface Reply {
	/** Undefined: none, and the connection is reset or hangs. */
	readonly answer?: PlainAnswer;
	readonly end: 'whole' | 'half' | 'reset' | 'hang';
}

function plain({ status, headers, body }: Answer): PlainAnswer {
	return { status, headers: { ...jsonType, ...headers }, body: JSON.stringify(body) };
}

/**
 * What a request gets under a fault.
 *
 * @param carryOut has the service carry the request out
 */
export function replyTo(action: FaultAction | undefined, carryOut: () => Answer): Reply {
	switch (action?.kind) {
		case 'reset-before':
			return { end: 'reset' };
		case 'reset-after':
			carryOut();
			return { end: 'reset' };
		case 'hang':
			if (action.process) carryOut();
			return { end: 'hang' };
		case 'truncate':
			return { answer: plain(carryOut()), end: 'half' };
		case 'respond': {
			const { status = 200, headers = jsonType, body, process = false } = action;
			if (process) carryOut();
			return { answer: { status, headers, body }, end: 'whole' };
		}
		case 'failure': {
			const { type, description, status = 200, headers = {} } = action;
			const body = { status: 'failure', type, description };
			return { answer: plain({ status, headers, body }), end: 'whole' };
		}
		case 'redirect': {
			const { status = 302, location } = action;
			return { answer: { status, headers: { location }, body: '' }, end: 'whole' };
		}
		default:
			return { answer: plain(carryOut()), end: 'whole' };
	}
}

/** Answers with a whole body. */
export function answerWith(response: ServerResponse, { status, headers, body }: PlainAnswer): void {
	response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
	response.end(body);
}

/** Whether the client, if it is still there, gets a whole answer. */
export function deliver(response: ServerResponse, { answer, end }: Reply): boolean {
	if (response.destroyed || end === 'hang') return false;
	if (!answer) {
		response.socket?.resetAndDestroy();
		return false;
	}
	if (end === 'whole') {
		answerWith(response, answer);
		return true;
	}
	const { status, headers, body } = answer;
	response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
	response.write(body.slice(0, body.length / 2), () => response.destroy());
	return false;
}
