import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { answerJson, type ReadBody } from './http';
import { parseJson } from './json';
import {
	counterChangesSchema,
	faultSchema,
	newCampaignSchema,
	settingsChangesSchema,
} from './schemas';
import type { Simulator } from './simulator';

export const controlPath = '/_simulator/';

type Handler = (simulator: Simulator, body: unknown, query: URLSearchParams) => unknown;

const whole = z.coerce.number().int().nonnegative();
const countersSchema = z.object({ id: z.string(), counters: counterChangesSchema }).strict();
const subscribersSchema = z.object({ ids: z.array(z.string().min(1)) }).strict();
const advanceSchema = z.object({ ms: z.number() }).strict();
const removeSchema = z.object({ id: z.string() }).strict();

const done = { ok: true };

const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
	[
		'GET state',
		(simulator, _body, query) => {
			const last = query.get('last');
			return simulator.state(last === null ? undefined : whole.parse(last));
		},
	],
	[
		'GET requests',
		(simulator, _body, query) => {
			const after = whole.parse(query.get('after') ?? 0);
			const requests = simulator.requests.filter(({ id }) => id > after);
			return { count: simulator.requestCount, requests };
		},
	],
	[
		'DELETE requests',
		(simulator) => {
			simulator.clearRequests();
			return done;
		},
	],
	['POST faults', (simulator, body) => ({ id: simulator.addFault(faultSchema.parse(body)) })],
	[
		'DELETE faults',
		(simulator) => {
			simulator.clearFaults();
			return done;
		},
	],
	[
		'POST reset',
		(simulator) => {
			simulator.reset();
			return done;
		},
	],
	[
		'POST counters',
		(simulator, body) => {
			const { id, counters } = countersSchema.parse(body);
			simulator.setCounters(id, counters);
			return done;
		},
	],
	[
		'POST campaigns',
		(simulator, body) => ({ id: simulator.addCampaign(newCampaignSchema.parse(body)) }),
	],
	[
		'DELETE campaigns',
		(simulator, body) => ({ removed: simulator.removeCampaign(removeSchema.parse(body).id) }),
	],
	[
		'POST subscribers',
		(simulator, body) => {
			simulator.addSubscribers(subscribersSchema.parse(body).ids);
			return done;
		},
	],
	[
		'POST settings',
		(simulator, body) => {
			simulator.configure(settingsChangesSchema.parse(body));
			return done;
		},
	],
	[
		'POST advance',
		(simulator, body) => {
			simulator.advance(advanceSchema.parse(body).ms);
			return done;
		},
	],
]);

const loopback = /^(?:127\.|::1$|::ffff:127\.)/;

function handle(simulator: Simulator, request: IncomingMessage, body: ReadBody): [number, unknown] {
	if (!loopback.test(request.socket.remoteAddress ?? '')) {
		return [403, { message: 'The control interface answers this machine only' }];
	}
	const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
	const handler = handlers.get(`${request.method ?? ''} ${pathname.slice(controlPath.length)}`);
	if (!handler) return [404, { message: `The control interface has no such path: ${pathname}` }];
	try {
		return [200, handler(simulator, parseJson(body.bytes.toString('utf8')), searchParams)];
	} catch (error) {
		return [400, { message: error instanceof Error ? error.message : String(error) }];
	}
}

/** Answers a request to the control interface, by which another process drives the simulator. */
export function answerControl(
	simulator: Simulator,
	request: IncomingMessage,
	response: ServerResponse,
	body: ReadBody,
): void {
	const [status, value] = handle(simulator, request, body);
	answerJson(response, status, value);
}
