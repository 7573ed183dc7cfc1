/** What goes wrong with a request, and whether the service carries it out all the same. */
export type FaultAction =
	/** The connection is reset before anything is carried out. */
	| { readonly kind: 'reset-before' }
	/** The request is carried out, then the connection is reset without an answer. */
	| { readonly kind: 'reset-after' }
	/** No answer ever comes. */
	| { readonly kind: 'hang'; readonly process: boolean }
	/** The request is carried out, and answered so many milliseconds later. */
	| { readonly kind: 'delay'; readonly ms: number }
	/** The request is carried out, and the connection ends in the middle of its answer. */
	| { readonly kind: 'truncate' }
	/** Any other answer, such as a gateway's page. Carried out only if it says so. */
	| {
			readonly kind: 'respond';
			/** Default 200. */
			readonly status?: number;
			/** Default: JSON. */
			readonly headers?: Readonly<Record<string, string>>;
			readonly body: string;
			readonly process?: boolean;
	  }
	/** A failure of the service, without a type the generic one. Nothing is carried out. */
	| {
			readonly kind: 'failure';
			readonly type?: string;
			readonly description: string;
			/** Default 200. */
			readonly status?: number;
			readonly headers?: Readonly<Record<string, string>>;
	  }
	/** Nothing is carried out. The status is 302 by default. */
	| { readonly kind: 'redirect'; readonly location: string; readonly status?: number };

/** What goes wrong with which requests. */
export interface Fault {
	/** All of them if this is left out. */
	readonly match?: {
		readonly method?: string;
		/** Part of the path. */
		readonly path?: string;
		/** Part of the body as it came. */
		readonly bodyIncludes?: string;
	};
	/** How many of them pass first; default 0. */
	readonly skip?: number;
	/** How many it then befalls; default 1, and 0 is every one. */
	readonly times?: number;
	readonly action: FaultAction;
}

interface WaitingFault {
	readonly fault: Fault;
	skip: number;
	times: number;
}

interface Request {
	readonly method: string;
	readonly path: string;
	readonly body: string;
}

function isFor({ match = {} }: Fault, { method, path, body }: Request): boolean {
	if (match.method !== undefined && match.method !== method) return false;
	return path.includes(match.path ?? '') && body.includes(match.bodyIncludes ?? '');
}

/** The faults that wait for their requests, in the order in which they were added: the first that matches counts. */
export class Faults {
	private waiting: WaitingFault[] = [];

	add(fault: Fault): void {
		this.waiting.push({ fault, skip: fault.skip ?? 0, times: fault.times ?? 1 });
	}

	remove(fault: Fault): void {
		this.waiting = this.waiting.filter((one) => one.fault !== fault);
	}

	clear(): void {
		this.waiting = [];
	}

	/** How many requests a fault still waits for; undefined if it waits no more. */
	left(fault: Fault): number | undefined {
		return this.waiting.find((one) => one.fault === fault)?.times;
	}

	/** What goes wrong with a request, if anything does. */
	take(request: Request): FaultAction | undefined {
		for (const one of this.waiting) {
			if (!isFor(one.fault, request)) continue;
			if (one.skip > 0) {
				one.skip -= 1;
				continue;
			}
			if (one.times === 1) this.remove(one.fault);
			if (one.times > 1) one.times -= 1;
			return one.fault.action;
		}
		return undefined;
	}
}
