/** A request to the service as it came, and what became of it. */
export interface RecordedRequest {
	/** Counts up from 1, also over requests that are no longer kept. */
	readonly id: number;
	readonly method: string;
	/** As it came: with prefix and query. */
	readonly path: string;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	/** The raw text, numbers as they were written. */
	readonly body: string;
	/** The parsed body; undefined where it is no JSON. Numbers beyond 2^53 have lost digits. */
	readonly json?: unknown;
	/** Epoch milliseconds. */
	readonly at: number;
	/** What was answered: null while nothing is, and for good where the answer was lost. */
	answered: { readonly status: number; readonly type: string | null; readonly at: number } | null;
	/** The fault that befell it. */
	fault: number | null;
	/** The campaign that it created, whether or not the client heard of it. */
	campaignId: string | null;
}

export type ArrivedRequest = Omit<RecordedRequest, 'id' | 'answered' | 'fault' | 'campaignId'>;

/** The latest requests: at least `limit` of them, at most a quarter more. */
export class Recorder {
	readonly requests: RecordedRequest[] = [];
	private counted = 0;

	constructor(private readonly limit: number) {}

	/** How many requests came in all. */
	get count(): number {
		return this.counted;
	}

	add(arrived: ArrivedRequest): RecordedRequest {
		this.counted += 1;
		const request = { ...arrived, id: this.counted, answered: null, fault: null, campaignId: null };
		this.requests.push(request);
		// In lots: taking away the first of many at every request would cost more than the rest.
		if (this.requests.length > this.limit * 1.25) {
			this.requests.splice(0, this.requests.length - this.limit);
		}
		return request;
	}

	/** Forgets the requests and counts from 1 again. */
	clear(): void {
		this.requests.length = 0;
		this.counted = 0;
	}
}
