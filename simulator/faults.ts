import type { RecordedRequest } from './request';
import { faultSchema, type Fault, type FaultAction, type ReadyFault } from './schemas';

type WaitingFault = ReadyFault & { readonly id: number };

function matches({ match }: ReadyFault, request: RecordedRequest): boolean {
	const { method, path, bodyIncludes } = match;
	if (method !== undefined && method.toUpperCase() !== request.method) return false;
	if (path !== undefined && !request.path.includes(path)) return false;
	return bodyIncludes === undefined || request.body.includes(bodyIncludes);
}

/** The faults that are switched on, tried in the order in which they were added. */
export class Faults {
	private waiting: WaitingFault[] = [];
	private nextId = 1;

	/** Switches a fault on and gives its ID; throws a ZodError where it is not well formed. */
	add(fault: Fault): number {
		const id = this.nextId++;
		this.waiting.push({ ...faultSchema.parse(fault), id });
		return id;
	}

	clear(): void {
		this.waiting = [];
	}

	/** The faults that have not struck for the last time. */
	get list(): readonly WaitingFault[] {
		return this.waiting;
	}

	/** The action that befalls a request, if any; notes the fault on the request. */
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
