import { z } from 'zod';
import { sendPathStart } from './operations';
import type { RecordedRequest } from './request';
import { faultSchema, type Fault, type FaultAction, type ReadyFault } from './schemas';

type WaitingFault = ReadyFault & { readonly id: number; readonly name: FaultName | null };

function matches({ match }: ReadyFault, request: RecordedRequest): boolean {
	const { method, path, bodyIncludes } = match;
	if (method !== undefined && method.toUpperCase() !== request.method) return false;
	if (path !== undefined && !request.path.includes(path)) return false;
	return bodyIncludes === undefined || request.body.includes(bodyIncludes);
}

export const faultNameSchema = z.enum(['serviceDown', 'tooManyRequests', 'lostAnswer']);

/** A fault that a button of the page switches on. */
export type FaultName = z.infer<typeof faultNameSchema>;

/** They apply to sends alone, because a trigger that polls would use them up. */
const match = { path: sendPathStart };

const namedFaults: Record<FaultName, Fault> = {
	serviceDown: {
		match,
		action: {
			kind: 'failure',
			description: 'Something went wrong. Please try again after some time',
			status: 503,
		},
	},
	tooManyRequests: {
		match,
		times: 3,
		action: {
			kind: 'failure',
			type: 'rate_limit',
			description: 'Too many requests',
			status: 429,
		},
	},
	lostAnswer: { match, action: { kind: 'reset-after' } },
};

/** The faults that are switched on, tried in the order in which they were added. */
export class Faults {
	private waiting: WaitingFault[] = [];
	private nextId = 1;

	/** Switches a fault on and gives its ID; throws a ZodError if it is malformed. */
	add(fault: Fault, name: FaultName | null = null): number {
		const id = this.nextId++;
		this.waiting.push({ ...faultSchema.parse(fault), id, name });
		return id;
	}

	/** Switches a fault of the page on, or off if it is on. */
	toggle(name: FaultName): void {
		const others = this.waiting.filter((fault) => fault.name !== name);
		if (others.length < this.waiting.length) this.waiting = others;
		else this.add(namedFaults[name], name);
	}

	clear(): void {
		this.waiting = [];
	}

	/** The faults that still apply to coming requests. */
	get list(): readonly WaitingFault[] {
		return this.waiting;
	}

	/** The action of the first fault that matches a request, if any; notes the fault on the request. */
	take(request: RecordedRequest): FaultAction | null {
		for (const fault of this.waiting) {
			if (!matches(fault, request)) continue;
			if (fault.skip > 0) {
				fault.skip -= 1;
				continue;
			}
			if (fault.times === 1) this.waiting = this.waiting.filter((other) => other !== fault);
			if (fault.times > 1) fault.times -= 1;
			request.fault = fault.id;
			return fault.action;
		}
		return null;
	}
}
