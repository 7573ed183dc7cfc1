import { z } from 'zod';
import { counterChangesSchema } from './counters';
import { faultNameSchema } from './faults';
import { parseJson } from './json';
import { faultSchema, newCampaignSchema, settingsChangesSchema } from './schemas';
import type { Simulator } from './simulator';

export const controlPath = '/_simulator/';

const count = z.coerce.number().int().nonnegative();

/** By the name of the simulator's method: calls it with the arguments as they came. */
const methods: Record<string, (to: Simulator, args: unknown) => unknown> = {
	state: (to, args) => {
		const [last, search] = z.array(z.unknown()).parse(args);
		return to.state(count.optional().parse(last), z.string().optional().parse(search));
	},
	addFault: (to, args) => to.addFault(...z.tuple([faultSchema]).parse(args)),
	toggleFault: (to, args) => to.toggleFault(...z.tuple([faultNameSchema]).parse(args)),
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

/**
 * Carries out a request to the control interface, by which another process drives the simulator.
 *
 * @returns the HTTP status and the JSON of the answer
 */
export function control(
	simulator: Simulator,
	method: string,
	path: string,
	body: string,
): [number, unknown] {
	const call = methods[path.slice(controlPath.length)];
	if (method !== 'POST' || !call) {
		return [404, { message: `The control interface has no such path: ${path}` }];
	}
	try {
		return [200, { result: call(simulator, parseJson(body)) }];
	} catch (error) {
		return [400, { message: error instanceof Error ? error.message : String(error) }];
	}
}
