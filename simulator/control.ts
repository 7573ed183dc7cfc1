import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { counterChangesSchema } from './counters';
import { answerJson, type ReadBody } from './http';
import { parseJson } from './json';
import { faultSchema, newCampaignSchema, settingsChangesSchema } from './schemas';
import type { Simulator } from './simulator';

export const controlPath = '/_simulator/';

const count = z.coerce.number().int().nonnegative();

/** By the name of the simulator's method: calls it with the arguments as they came. */
const methods: Record<string, (to: Simulator, args: unknown) => unknown> = {
	state: (to, args) => to.state(...z.tuple([count]).or(z.tuple([])).parse(args)),
	addFault: (to, args) => to.addFault(...z.tuple([faultSchema]).parse(args)),
	clearFaults: (to) => to.clearFaults(),
	requests: (to) => to.requests,
	clearRequests: (to) => to.clearRequests(),
	reset: (to) => to.reset(),
	setCounters: (to, args) =>
		to.setCounters(...z.tuple([z.string(), counterChangesSchema]).parse(args)),
	click: (to, args) => to.click(...z.tuple([z.string(), count]).parse(args)),
	age: (to, args) => to.age(...z.tuple([z.number()]).parse(args)),
	addCampaign: (to, args) => to.addCampaign(...z.tuple([newCampaignSchema]).parse(args)),
	configure: (to, args) => to.configure(...z.tuple([settingsChangesSchema]).parse(args)),
};

const loopback = /^(?:127\.|::1$|::ffff:127\.)/;

function handle(
	simulator: Simulator,
	{ socket, method, url = '' }: IncomingMessage,
	{ bytes }: ReadBody,
): [number, unknown] {
	if (!loopback.test(socket.remoteAddress ?? '')) {
		return [403, { message: 'The control interface answers this machine only' }];
	}
	const call = methods[url.slice(controlPath.length)];
	if (method !== 'POST' || !call) {
		return [404, { message: `The control interface has no such path: ${url}` }];
	}
	try {
		return [200, { result: call(simulator, parseJson(bytes.toString('utf8'))) }];
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
