import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { ControlledService } from './controlled';
import { counterChangesSchema } from './counters';
import { answerJson, type ReadBody } from './http';
import { parseJson } from './json';
import { faultSchema, newCampaignSchema, settingsChangesSchema } from './schemas';

export const controlPath = '/_simulator/';

type Handler = (simulator: ControlledService, body: unknown, query: URLSearchParams) => unknown;

const whole = z.coerce.number().int().nonnegative();
const countersSchema = z.object({ id: z.string(), counters: counterChangesSchema }).strict();
const subscribersSchema = z.object({ ids: z.array(z.string().min(1)) }).strict();
const durationSchema = z.object({ ms: z.number() }).strict();
const clickSchema = z.object({ id: z.string(), people: z.number().int().positive() }).strict();
const removeSchema = z.object({ id: z.string() }).strict();

/** By method and path; what gives nothing is answered with `{ ok: true }`. */
const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
	['GET state', (to, _, query) => to.state(whole.optional().parse(query.get('last') ?? undefined))],
	[
		'GET requests',
		(to, _, query) => {
			const after = whole.parse(query.get('after') ?? 0);
			return { count: to.requestCount, requests: to.requests.filter(({ id }) => id > after) };
		},
	],
	['DELETE requests', (to) => to.clearRequests()],
	['POST faults', (to, body) => ({ id: to.addFault(faultSchema.parse(body)) })],
	['DELETE faults', (to) => to.clearFaults()],
	['POST reset', (to) => to.reset()],
	[
		'POST counters',
		(to, body) => {
			const { id, counters } = countersSchema.parse(body);
			to.setCounters(id, counters);
		},
	],
	[
		'POST click',
		(to, body) => {
			const { id, people } = clickSchema.parse(body);
			return { clicked: to.click(id, people) };
		},
	],
	['POST age', (to, body) => to.age(durationSchema.parse(body).ms)],
	['POST campaigns', (to, body) => ({ id: to.addCampaign(newCampaignSchema.parse(body)) })],
	['DELETE campaigns', (to, body) => ({ removed: to.removeCampaign(removeSchema.parse(body).id) })],
	['POST subscribers', (to, body) => to.addSubscribers(subscribersSchema.parse(body).ids)],
	['POST settings', (to, body) => to.configure(settingsChangesSchema.parse(body))],
	['POST advance', (to, body) => to.advance(durationSchema.parse(body).ms)],
]);

const loopback = /^(?:127\.|::1$|::ffff:127\.)/;

function handle(
	simulator: ControlledService,
	request: IncomingMessage,
	body: ReadBody,
): [number, unknown] {
	if (!loopback.test(request.socket.remoteAddress ?? '')) {
		return [403, { message: 'The control interface answers this machine only' }];
	}
	const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
	const handler = handlers.get(`${request.method ?? ''} ${pathname.slice(controlPath.length)}`);
	if (!handler) return [404, { message: `The control interface has no such path: ${pathname}` }];
	try {
		const given = parseJson(body.bytes.toString('utf8'));
		return [200, handler(simulator, given, searchParams) ?? { ok: true }];
	} catch (error) {
		return [400, { message: error instanceof Error ? error.message : String(error) }];
	}
}

/** Answers a request to the control interface, by which another process drives the simulator. */
export function answerControl(
	simulator: ControlledService,
	request: IncomingMessage,
	response: ServerResponse,
	body: ReadBody,
): void {
	const [status, value] = handle(simulator, request, body);
	answerJson(response, status, value);
}
